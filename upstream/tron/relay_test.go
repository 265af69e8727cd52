package tron_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/tron"
)

// TestRelayPassesOnWhatAPageMayAsk has a first endpoint without TRON's HTTP API, or one whose node takes nothing now;
// each path's first request is cut off.
func TestRelayPassesOnWhatAPageMayAsk(t *testing.T) {
	call := regexp.MustCompile(`\{("jsonrpc":"2.0","id":\d+),[^{}]*(\{[^{}]*\}[^{}]*)?\}`)
	const sent = `{"method":"broadcasttransaction","params":[{"txID":"ab"}]}`
	for _, test := range []struct{ asked, node, want string }{
		{sent, `{"result":true,"txid":"busy"}`, `{"result":"busy"}`},
		{sent, `{"result":true,"txid":"limited"}`, `{"result":"limited"}`},
		{`{"method":"eth_sendRawTransaction","params":["0x"]}`, "", `{"error":"method \"eth_sendRawTransaction\" is not relayed"}`},
		{`{"method":"eth_getTransactionReceipt","params":["daily quota"]}`, "null", `{"error":"params must be hexadecimal"}`},
		{`{"method":"eth_call","params":[{"to":"0xab","data":"0x","quota":"0x"},"latest"]}`, "null", `{"error":"params must be hexadecimal"}`},
		{`{"method":"eth_call","params":[{"to":"0xab","data":"0x"},"latest"]}`, `"0x01"`, `{"result":"0x01"}`},
		{`{`, "", `{"error":"the body must be JSON with a method and params"}`},
		{`{"method":"eth_gasPrice","params":[]}`, `"0x64"`, `{"result":"0x64"}`},
		{`{"method":"eth_getTransactionReceipt","params":["0xab"]}`, "null", `{"result":null}`},
		{sent, `{"result":true,"txid":"ab"}`, `{"result":"ab"}`},
		{sent, `{"code":"DUP_TRANSACTION_ERROR","txid":"ab","message":"447570"}`, `{"result":"ab"}`},
		{sent, `{"code":"SIGERROR","txid":"ab","message":"4e6f"}`, `{"error":"TRON refuses the transaction: No (SIGERROR)"}`},
	} {
		var hungUp sync.Map // by path
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, before := hungUp.LoadOrStore(r.URL.Path, true); !before {
				panic(http.ErrAbortHandler)
			}
			body := string(must.Get(io.ReadAll(r.Body))(t))
			if r.URL.Path == "/key/wallet/broadcasttransaction" && body != `{"txID":"ab"}` {
				t.Errorf("%s was sent", body)
			}
			if r.URL.Path == "/wallet/broadcasttransaction" { // of the first endpoint
				switch {
				case strings.Contains(test.node, "busy"):
					_, _ = io.WriteString(w, `{"code":"SERVER_BUSY","txid":"ab","message":"53657276657220627573792e"}`)
				case strings.Contains(test.node, "limited"):
					_, _ = io.WriteString(w, `{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}`)
				default:
					http.NotFound(w, r)
				}
				return
			}
			if call.MatchString(body) {
				answered := call.ReplaceAllString(body, `{$1,"result":`+test.node+`}`)
				_, _ = io.WriteString(w, strings.Replace(answered, test.node, `"0x2b6653dc"`, 1)) // the chain ID comes first
				return
			}
			_, _ = io.WriteString(w, test.node)
		}))
		defer server.Close()
		var endpoints []*upstream.Endpoint
		for _, path := range []string{"/tron", "/key/jsonrpc"} {
			endpoints = append(endpoints, pooltest.Endpoint(t, path, nil, upstream.EndpointOptions{URL: server.URL + path}))
		}
		facts, _ := chain.Documented().Chain(chain.Tron)
		relay := tron.Relay{Nodes: evm.New(facts, jsonrpc.New(upstream.NewPool("TRON", endpoints...))).Client()}
		if got, err := relay.Answer(t.Context(), []byte(test.asked)); err != nil || string(got) != test.want {
			t.Errorf("Answer(%s) = %s, %v, want %s", test.asked, got, err, test.want)
		}
	}
}

func TestRecordedEnergyPriceIsTheSameForEverybody(t *testing.T) {
	c := swap.NewFees(serve(t, exchanged(t, "eth_gasPrice")))
	for _, priority := range []quote.Priority{quote.Normal, quote.Aggressive} {
		price, err := c.GasPrice(t.Context(), priority)
		if want := (quote.GasPrice{Expected: chain.NewAmount(100), Legacy: true}); err != nil || price != want {
			t.Errorf("GasPrice(%d) = %+v, %v, want 100 sun", priority, price, err)
		}
	}
}

// TestBandwidthCoversARecordedTransaction compares with the transaction that TRON's own API made of a call.
func TestBandwidthCoversARecordedTransaction(t *testing.T) {
	var told struct {
		Response struct {
			Body struct {
				Transaction struct {
					Raw string `json:"raw_data_hex"`
				}
			}
		}
	}
	recorded.JSON(t, "recorded/chains/tron-wallet-triggersmartcontract.json", &told)
	made := told.Response.Body.Transaction
	const signatureAndOutcome, room = 67 + 3 + 64, 14 // room: for a value sent along, and longer lengths
	size := uint64(len(made.Raw)/2 + signatureAndOutcome)
	fee, err := swap.NewFees(serve(t, exchange{})).DataFee(t.Context(), quote.Tx{Data: make([]byte, 4+2*32)}, 0) // a transfer
	if least, most := chain.NewAmount(1000*size), chain.NewAmount(1000*(size+room)); err != nil || fee.Cmp(least) < 0 || fee.Cmp(most) > 0 {
		t.Errorf("DataFee() = %s, %v, want %s to %s sun", fee, err, least, most)
	}
}
