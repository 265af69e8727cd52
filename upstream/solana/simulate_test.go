package solana

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestSimulationsShowAnOutcome has nodes that say of a simulation that nothing failed, and not what the recipient has
// then, or not even that it was run: the word of a venue stands for nothing without.
func TestSimulationsShowAnOutcome(t *testing.T) {
	known, _ := chain.Documented().Chain(chain.Solana)
	const nobody = `{"value":[null,null,null]}` // of the accounts before it
	for name, test := range map[string]struct {
		said string
		ok   bool
	}{
		"accounts":         {`{"value":{"err":null,"unitsConsumed":7,"accounts":[null,null,null]}}`, true},
		"no accounts":      {`{"value":{"err":null,"unitsConsumed":7}}`, false},
		"too few accounts": {`{"value":{"err":null,"unitsConsumed":7,"accounts":[null]}}`, false},
		"no outcome":       {`{"value":{"unitsConsumed":7,"accounts":[null,null,null]}}`, false},
		"no value":         {`{"value":null}`, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answerAll(w, r, func(method string, _ []json.RawMessage) string {
				switch method {
				case "getGenesisHash":
					return fmt.Sprintf("%q", known.Genesis.Format(chain.SVM))
				case "simulateTransaction":
					return test.said
				}
				return nobody
			})
		}))
		t.Cleanup(server.Close)
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		c := New(known, jsonrpc.New(upstream.NewPool("solana", e)))
		account := known.Contracts.DlnSource // any will do
		got, err := c.Simulate(t.Context(), quote.Simulation{
			Sender: account, Recipient: account, In: known.Contracts.DlnDestination, Out: known.Contracts.DlnDestination, AmountIn: chain.NewAmount(1),
		})
		if (err == nil) != test.ok || got.Measured != test.ok {
			t.Errorf("%s: Simulate() = %+v, %v", name, got, err)
		}
	}
}
