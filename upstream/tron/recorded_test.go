package tron_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/recorded"
	"crossgate/internal/rpctest"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// exchange is a recorded request to a real node and its response.
type exchange struct {
	Request  struct{ Body rpctest.Call }
	Response struct {
		Body struct{ Result json.RawMessage }
	}
}

func exchanged(t *testing.T, name string) exchange {
	t.Helper()
	raw := recorded.File(t, "recorded/chains/tron-jsonrpc-"+name+".json")
	// The document that they come from shortens long bytes.
	text := strings.NewReplacer(`"0x0000...0000"`, `"0x`+strings.Repeat("00", 256)+`"`, `"0x0000...05f"`, `"0x"`).Replace(string(raw))
	var e exchange
	must.Do(t, json.Unmarshal([]byte(text), &e))
	return e
}

// serve returns TRON served by a node that answers every call of a method with the recorded result, and calls of other
// contract methods with a revert.
func serve(t *testing.T, e exchange) *evm.Chain {
	t.Helper()
	return serveBy(t, func(c rpctest.Call) string {
		if c.Method == "eth_feeHistory" {
			t.Error("the node is asked for the history of a price that is the same for everybody")
		}
		return e.members(c)
	})
}

// serveBy returns TRON served by a node that answers each call with members.
func serveBy(t *testing.T, members rpctest.Handler) *evm.Chain {
	t.Helper()
	facts, _ := chain.Documented().Chain(chain.Tron)
	facts.Contracts.Multicall = chain.Address{}
	return evm.New(facts, jsonrpc.New(pooltest.Of(t, members)))
}

func (e exchange) members(c rpctest.Call) string {
	switch {
	case c.Method == "eth_chainId":
		return `"result":"0x2b6653dc"`
	case c.Method == e.Request.Body.Method && (c.Method != "eth_call" || strings.Contains(string(c.Params[0]), "95d89b41")):
		return `"result":` + string(e.Response.Body.Result)
	}
	return reverts
}

func TestRecordedReceiptIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		c := serve(t, exchanged(t, "eth_getTransactionReceipt"))
		tx := must.Get(chain.ParseTxHash("01b4cde4197b9d1a1ff09ef5d2b1d939d3ec2401b3f002ebd0802c0f30a6e4ca"))(t)
		if events, err := c.EventsIn(t.Context(), tx); err != nil || len(events.Events) > 0 {
			t.Errorf("EventsIn() = %+v, %v, want a transaction without orders", events, err)
		}
		other := chain.NewTxHash(make([]byte, 32))
		if events, err := c.EventsIn(t.Context(), other); err == nil {
			t.Errorf("EventsIn() of another transaction = %+v, want the receipt refused", events)
		}
	})
}

func TestRecordedSymbolIsRead(t *testing.T) {
	c := serve(t, exchanged(t, "eth_call-symbol"))
	got, err := c.ReadTokens(t.Context(), []chain.Address{chain.NewAddress(make([]byte, 20))})
	if err != nil || len(got) != 1 || got[0] != (token.Reading{Symbol: "USDT", IsSingle: true}) {
		t.Errorf("ReadTokens() = %+v, %v, want USDT", got, err)
	}
}
