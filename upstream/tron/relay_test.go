package tron_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/recorded"
	"crossgate/internal/rpctest"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/tron"
)

// TestRelayPassesOnWhatAPageMayAsk has two endpoints, the first one without TRON's HTTP API if it says nothing; each
// path's first request is cut off.
func TestRelayPassesOnWhatAPageMayAsk(t *testing.T) {
	const sent, took = `{"method":"broadcasttransaction","params":[{"txID":"ab"}]}`, `{"result":true,"txid":"ab"}`
	const pending, called = `{"method":"eth_getTransactionReceipt","params":["0xab"]}`, `{"method":"eth_call","params":[{"to":"0xab","data":"0x"},"latest"]}`
	const newest, block = `{"method":"eth_getBlockByNumber","params":["latest",false]}`, `{"timestamp":"0x1"}`
	const succeeded, failed = `{"status":"0x1"}`, `{"status":"0x0"}`
	const refused = `{"code":"SIGERROR","txid":"ab","message":"4e6f"}`
	none, some := fmt.Sprintf(`"0x%064x"`, 0), fmt.Sprintf(`"0x%064x"`, 5)
	for _, test := range []struct{ asked, first, second, want string }{
		{sent, `{"code":"SERVER_BUSY","txid":"ab","message":"53657276657220627573792e"}`, took, `{"result":"ab"}`},
		{sent, `{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}`, took, `{"result":"ab"}`},
		{sent, "", took, `{"result":"ab"}`},
		{sent, "", `{"code":"DUP_TRANSACTION_ERROR","txid":"ab","message":"447570"}`, `{"result":"ab"}`},
		{sent, "", refused, `{"error":"TRON refuses the transaction: No (SIGERROR)"}`},
		{sent, refused, refused, `{"error":"TRON refuses the transaction: No (SIGERROR)"}`},
		{sent, refused, took, `{"result":"ab"}`},
		{sent, `{"result":true,"txid":"cd"}`, took, `{"result":"ab"}`},
		{sent, `{"result":true}`, took, `{"result":"ab"}`},
		{`{"method":"broadcasttransaction","params":[{}]}`, took, took, `{"error":"the transaction must have a txID"}`},
		{`{"method":"eth_sendRawTransaction","params":["0x"]}`, "", "", `{"error":"method \"eth_sendRawTransaction\" is not relayed"}`},
		{`{"method":"eth_getTransactionReceipt","params":["daily quota"]}`, "null", "null", `{"error":"params must be hexadecimal"}`},
		{`{"method":"eth_call","params":[{"to":"0xab","data":"0x","quota":"0x"},"latest"]}`, "null", "null", `{"error":"params must be hexadecimal"}`},
		{`{`, "", "", `{"error":"the body must be JSON with a method and params"}`},
		{`{"method":"eth_gasPrice","params":[]}`, "null", `"0x64"`, `{"result":"0x64"}`},
		{called, `"0x01"`, `"0x01"`, `{"result":"0x01"}`},
		{called, "null", some, `{"result":` + some + `}`},
		{called, reverts, some, `{"result":` + some + `}`},
		{called, some, none, `{"result":` + none + `}`},
		{called, none, some, `{"result":` + none + `}`},
		{called, `"0x"`, some, `{"result":` + some + `}`},
		{pending, "null", "null", `{"result":null}`},
		{pending, "null", succeeded, `{"result":` + succeeded + `}`},
		{pending, failed, succeeded, `{"result":` + succeeded + `}`},
		{pending, failed, failed, `{"result":` + failed + `}`},
		{pending, failed, "null", ""},
		{newest, `{"timestamp":"0xffffffffffffffff"}`, block, `{"result":` + block + `}`},
	} {
		var endpoints []*upstream.Endpoint
		for i, answer := range []string{test.first, test.second} {
			below := []string{"/", "/key/"}[i]
			var hungUp sync.Map // by path
			node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, before := hungUp.LoadOrStore(r.URL.Path, true)
				switch {
				case !before:
					panic(http.ErrAbortHandler)
				case r.URL.Path == below+"jsonrpc":
					rpctest.Handler(func(c rpctest.Call) string {
						if c.Method == "eth_chainId" {
							return `"result":"0x2b6653dc"`
						}
						if answer == reverts {
							return reverts
						}
						return `"result":` + answer
					}).ServeHTTP(w, r)
				case r.URL.Path != below+"wallet/broadcasttransaction" || answer == "":
					http.NotFound(w, r)
				default:
					if body := must.Get(io.ReadAll(r.Body))(t); string(body) != `{"txID":"ab"}` {
						t.Errorf("%s was sent", body)
					}
					_, _ = io.WriteString(w, answer)
				}
			})
			endpoints = append(endpoints, pooltest.Serve(t, "node at "+below, node, upstream.EndpointOptions{URL: below + "jsonrpc"}))
		}
		facts, _ := chain.Documented().Chain(chain.Tron)
		relay := tron.Relay{Nodes: evm.New(facts, jsonrpc.New(upstream.NewPool("TRON", endpoints...))).Client()}
		if got, err := relay.Answer(t.Context(), []byte(test.asked)); (err == nil) != (test.want != "") || string(got) != test.want {
			t.Errorf("Answer(%s) of %s and %s = %s, %v, want %s", test.asked, test.first, test.second, got, err, test.want)
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
