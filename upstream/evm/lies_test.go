package evm_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// lie alters a node's answers: each result, or the whole body.
type lie struct {
	result func(any) any
	body   func(string) string
}

// tell serves n's answers with the lie applied.
func (l lie) tell(n *node) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		truth := httptest.NewRecorder()
		n.ServeHTTP(truth, r)
		body := truth.Body.String()
		if l.result != nil {
			body = rewrite(body, l.result)
		}
		if l.body != nil {
			body = l.body(body)
		}
		_, _ = w.Write([]byte(body))
	})
}

// rewrite changes the result of each object in an answer.
func rewrite(body string, change func(any) any) string {
	var answers any
	_ = json.Unmarshal([]byte(body), &answers)
	list, batch := answers.([]any)
	if !batch {
		list = []any{answers}
	}
	for _, each := range list {
		object := each.(map[string]any)
		if result, told := object["result"]; told {
			object["result"] = change(result)
		}
	}
	changed, _ := json.Marshal(answers)
	return string(changed)
}

// ofReceipts applies change to results that are receipts.
func ofReceipts(change func(receipt map[string]any) any) func(any) any {
	return func(result any) any {
		if receipt, ok := result.(map[string]any); ok && receipt["logs"] != nil {
			return change(receipt)
		}
		return result
	}
}

// without removes one of a receipt's logs.
func without(index int) func(any) any {
	return ofReceipts(func(receipt map[string]any) any {
		logs := receipt["logs"].([]any)
		if len(logs) > index {
			receipt["logs"] = append(logs[:index:index], logs[index+1:]...)
		}
		return receipt
	})
}

// eachLog applies change to every log of a search.
func eachLog(change func(log map[string]any)) func(any) any {
	return func(result any) any {
		logs, _ := result.([]any)
		for _, log := range logs {
			change(log.(map[string]any))
		}
		return result
	}
}

// farAway moves a log to a place that a database of signed numbers cannot hold.
func farAway(log map[string]any) {
	log["logIndex"] = fmt.Sprintf("0x%x", 1<<63+parseQuantity(log["logIndex"].(string)))
}

var lies = map[string]struct {
	lie   lie
	class string // that it is counted under
}{
	"another chain": {lie{result: func(result any) any {
		if _, text := result.(string); text {
			return "0x3e7"
		}
		return result
	}}, "bad answer"},
	"the receipt of another transaction": {lie{result: ofReceipts(func(receipt map[string]any) any {
		other := "0x" + strings.Repeat("0d", 32)
		receipt["transactionHash"] = other
		for _, log := range receipt["logs"].([]any) {
			log.(map[string]any)["transactionHash"] = other
		}
		return receipt
	})}, "bad answer"},
	"a log of another transaction": {lie{result: ofReceipts(func(receipt map[string]any) any {
		receipt["logs"].([]any)[0].(map[string]any)["transactionHash"] = "0x" + strings.Repeat("0d", 32)
		return receipt
	})}, "bad answer"},
	"first log missing":  {lie{result: without(0)}, "bad answer"},
	"middle log missing": {lie{result: without(1)}, "bad answer"},
	"last log missing":   {lie{result: without(2)}, "bad answer"},
	"all logs missing": {lie{result: ofReceipts(func(receipt map[string]any) any {
		receipt["logs"] = []any{}
		return receipt
	})}, "bad answer"},
	"no such transaction":   {lie{result: ofReceipts(func(map[string]any) any { return nil })}, "rejected"},
	"truncated JSON":        {lie{body: func(body string) string { return body[:len(body)/2] }}, "bad answer"},
	"HTML":                  {lie{body: func(string) string { return "<html><title>Just a moment...</title></html>" }}, "bad answer"},
	"a log of a stranger":   {lie{result: eachLog(func(log map[string]any) { log["address"] = "0x" + strings.Repeat("ee", 20) })}, "bad answer"},
	"a log of later blocks": {lie{result: eachLog(func(log map[string]any) { log["blockNumber"] = "0xffffff" })}, "bad answer"},
	"logs at places that no block has": {lie{result: func(result any) any {
		return ofReceipts(func(receipt map[string]any) any {
			eachLog(farAway)(receipt["logs"])
			return receipt
		})(eachLog(farAway)(result))
	}}, "bad answer"},
}

// TestLiesAreRefused finds an order through two endpoints per chain, the first of which lies.
func TestLiesAreRefused(t *testing.T) {
	for name, test := range lies {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
				terms, id := delivery()
				give, take := newNode(1000), newNode(1000)
				give.chainID = 137
				creation := give.add(t, 500, true, paidLog(0x71), createdLog(t, terms), paidLog(0x72))
				take.add(t, 510, true, paidLog(0x71), fulfilledLog(t, terms), paidLog(0x72))
				take.keep(510, 0)
				give.storage = func(string, string, uint64) string {
					return "0x" + strings.Repeat("0", 63) + "1" + strings.Repeat("0", 64*7)
				}

				now := measured.Start(t)
				giveChain := testChain
				giveChain.ID, giveChain.Native = 137, 137
				found := findOrder(t, creation, map[chain.ID]order.Source{
					137: twoFaced(t, giveChain, give, test.lie), testChain.ID: twoFaced(t, testChain, take, test.lie),
				}, io.Discard)
				if found.ID != id || found.State != order.StateFulfilled || found.Created == nil {
					t.Errorf("found %s in state %s, want %s, Fulfilled", found.ID, found.State, id)
				}
				if told := failuresOf("liar", now()); told[test.class] == 0 {
					t.Errorf("counted %v against the liar, want %q", told, test.class)
				}
				if honest := failuresOf("honest", now()); len(honest) > 0 {
					t.Errorf("counted %v against the honest endpoint", honest)
				}
			})
		})
	}
}

// twoFaced returns a chain with a lying endpoint and an honest one.
func twoFaced(t *testing.T, c chain.Chain, n *node, l lie) *evm.Chain {
	t.Helper()
	return evm.New(c, jsonrpc.New(upstream.NewPool(c.ID.String(), endpointOf(t, "liar", l.tell(n)), endpointOf(t, "honest", n))))
}

// endpointOf uses a timeout that suffices on a loaded machine: an honest endpoint that is too late would be reported
// along with the liars.
func endpointOf(t *testing.T, name string, handler http.Handler) *upstream.Endpoint {
	t.Helper()
	return pooltest.Endpoint(t, name, pooltest.Near(handler), upstream.EndpointOptions{Timeout: time.Minute})
}

// findOrder looks up an order on chains without stored blocks.
func findOrder(t *testing.T, creation chain.TxHash, sources map[chain.ID]order.Source, logs io.Writer) query.Found {
	t.Helper()
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	x := query.New(follow.New(db, sources, follow.Options{Chains: chain.Documented(), Logger: slog.New(slog.NewTextHandler(logs, nil))}), query.Options{})
	found, _, err := x.Find(t.Context(), creation)
	if err != nil || len(found) == 0 {
		t.Fatalf("Find = %v, %v, want an order", found, err)
	}
	return found[0]
}

// TestOneReceiptIsNotBelieved looks up an order through endpoints, some of which alter the contents of its steps: the
// creation's fee, the fulfilment's taker, the unlock's submission, the claimed amount. The root in the block's header
// decides who is right or, if no endpoint returns all receipts of a block, a third endpoint.
func TestOneReceiptIsNotBelieved(t *testing.T) {
	recordings, truth := readRecordings(t), readTruth(t)
	want := truth.Orders[slices.IndexFunc(truth.Orders, func(o goldenOrder) bool { return o.TakeChainConfigured && o.Record.State == "ClaimedUnlock" })]
	contents := func(lying []bool, hasRoots bool, logs io.Writer) (query.Found, string) {
		sources := map[chain.ID]order.Source{}
		for _, r := range recordings {
			state := r.node()
			var endpoints []*upstream.Endpoint
			for i, isLying := range lying {
				p := &provider{recording: r, refuses: func(c rpctest.Call) string {
					switch {
					case c.Method == "eth_call":
						return state.read(c)
					case c.Method == "eth_getBlockReceipts" && !hasRoots:
						return rpctest.Fault(-32601, "the method does not exist")
					}
					return ""
				}}
				if isLying {
					p.alter = otherContents(want.OrderID)
				}
				endpoints = append(endpoints, endpointOf(t, strconv.Itoa(i), p))
			}
			sources[r.DeBridgeID] = evm.New(r.describe(), jsonrpc.New(upstream.NewPool("chain", endpoints...)))
		}
		found := findOrder(t, want.CreationTxHash, sources, logs)
		return found, fmt.Sprint(found.Created.Fact.FixFee, order.Statement(found.ID, found.Fulfilled.Fact), found.SentUnlock.Fact, found.ClaimedUnlock.Fact)
	}
	_, right := contents([]bool{false}, true, io.Discard)
	for name, test := range map[string]struct {
		lying    []bool // endpoints
		hasRoots bool
		isSingle bool
		wrong    string
	}{
		"by the root":              {lying: []bool{true, false}, hasRoots: true, wrong: "0"},
		"by the root, later":       {lying: []bool{false, true}, hasRoots: true, wrong: "1"},
		"by a third":               {lying: []bool{true, false, false}, wrong: "0"},
		"by a third, of the first": {lying: []bool{false, true, false}, wrong: "1"},
		"two agree":                {lying: []bool{false, false}},
		"two without roots":        {lying: []bool{false, true}, isSingle: true},
		"one":                      {lying: []bool{false}, hasRoots: true, isSingle: true},
	} {
		t.Run(name, func(t *testing.T) {
			var logs bytes.Buffer
			found, got := contents(test.lying, test.hasRoots, &logs)
			if got != right && !test.isSingle {
				t.Errorf("order %s, want %s", got, right)
			}
			for _, on := range []chain.ID{want.SourceChainID, want.TakeChainID} {
				if got := found.Basis.Of(on).Single; got != test.isSingle {
					t.Errorf("chain %d is one endpoint's word: %t, want %t", on, got, test.isSingle)
				}
			}
			for line := range strings.Lines(logs.String()) {
				if _, named, _ := strings.Cut(line, "endpoints="); strings.TrimSpace(named) != test.wrong {
					t.Errorf("named %q, want %q", named, test.wrong)
				}
			}
			if count := strings.Count(logs.String(), "endpoints="); count == 0 && test.wrong != "" {
				t.Errorf("nobody is named, want %q", test.wrong)
			}
		})
	}
}

// TestOneReceiptNamesNone verifies blocks whose nodes have no receipts roots, through endpoints that list different
// unlocks: the second of which returns no receipt at the time, or takes part in a list that the first one ends.
func TestOneReceiptNamesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		listing := func(id order.ID) *node {
			n := newNode(1000)
			n.add(t, 500, true, unlockLog(t, id))
			return n
		}
		_, id := delivery()
		honest, spent := listing(id), listing(id)
		spent.answers["eth_getTransactionReceipt"] = rpctest.Fault(-32000, "header not found")
		first := must.Get(honest.serve(t, testChain).Events(t.Context(), 400, 600))(t)
		proof, err := serveAll(t, testChain, listing(order.ID{1}), spent).Verify(t.Context(), 400, 600, first)
		if err != nil || proof.Standing != order.Single || len(proof.Wrong) > 0 {
			t.Errorf("Verify = %+v, %v, want the word of one, and nobody named", proof, err)
		}
		liar, whole := newNode(1000), newNode(1000)
		liar.add(t, 550, true, unlockLog(t, order.ID{1}))
		whole.maxRange, liar.maxRange, liar.pruned = 101, 101, 501
		liar.answers["eth_getTransactionReceipt"] = `"result":null`
		choosing := func(usual http.Handler, other func(body string) http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := must.Get(io.ReadAll(r.Body))(t)
				r.Body = io.NopCloser(bytes.NewReader(body))
				cmp.Or(other(string(body)), usual).ServeHTTP(w, r)
			})
		}
		var lists atomic.Int64
		ending := choosing(whole, func(body string) http.Handler {
			if strings.Contains(body, `"fromBlock":"0x1f5"`) && lists.Add(1) > 1 {
				return http.NotFoundHandler()
			}
			return nil
		})
		inventing := choosing(liar, func(body string) http.Handler {
			if strings.Contains(body, `"eth_getLogs","params":[{"blockHash"`) {
				return whole
			}
			return nil
		})
		proof, err = serveAll(t, testChain, inventing, ending).Verify(t.Context(), 400, 600, nil)
		if err != nil || lists.Load() < 2 || slices.Contains(proof.Wrong, "node-2") {
			t.Errorf("Verify = %+v, %v, want no blame for another one's part of a list", proof, err)
		}
	})
}

// TestOneListDecidesNoBlock verifies a block whose nodes have no receipts root, through an honest endpoint and another
// one whose lists are altered.
func TestOneListDecidesNoBlock(t *testing.T) {
	terms, id := delivery()
	n := newNode(1000)
	n.add(t, 500, true, fulfilledLog(t, terms))
	n.add(t, 500, true, unlockLog(t, id))
	n.add(t, 500, true, swapLogs(t, 1000, 9)...)
	want := must.Get(n.serve(t, swapChain()).Events(t.Context(), 400, 600))(t)
	const tx = "transactionHash"
	lists := func(alter func(logs []any, l map[string]any)) func(any) any {
		return func(result any) any {
			logs, _ := result.([]any)
			return eachLog(func(l map[string]any) { alter(logs, l) })(result)
		}
	}
	for name, change := range map[string]func(any) any{
		"an unknown transaction": lists(func(_ []any, l map[string]any) { l[tx] = unknownTx }),
		"one transaction":        lists(func(logs []any, l map[string]any) { l[tx] = logs[0].(map[string]any)[tx] }),
		"the others'":            lists(func(logs []any, l map[string]any) { l[tx] = logs[len(logs)-1].(map[string]any)[tx] }),
		"other contents":         lists(func(_ []any, l map[string]any) { l["data"] = flipped(l["data"].(string), 255) }),
		"senseless receipts": ofReceipts(func(receipt map[string]any) any {
			eachLog(func(l map[string]any) { l["data"] = "0x" })(receipt["logs"])
			return receipt
		}),
	} {
		for liar, nodes := range map[string][]http.Handler{"node-1": {lie{result: change}.tell(n), n}, "node-2": {n, lie{result: change}.tell(n)}} {
			t.Run(name+" by "+liar, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
					c := serveAll(t, swapChain(), nodes...)
					first, _ := c.Events(t.Context(), 400, 600)
					for _, first := range [][]order.Event{first, nil} {
						proof, err := c.Verify(t.Context(), 400, 600, first)
						isOther := func(name string) bool { return name != liar }
						if err != nil || !reflect.DeepEqual(proof.Events, want) || slices.ContainsFunc(proof.Wrong, isOther) {
							t.Errorf("after %d events: Verify = %+v, %v, want %+v, and no other named", len(first), proof, err, want)
						}
					}
				})
			})
		}
	}
}

// unknownTx is the hash of no transaction.
var unknownTx = "0x" + strings.Repeat("0d", 32)

// TestABlockThatOneListSpoilsIsRead follows such a chain, whose first endpoint lists an unknown transaction.
func TestABlockThatOneListSpoilsIsRead(t *testing.T) {
	_, id := delivery()
	n := newNode(1000)
	n.add(t, 500, true, unlockLog(t, id))
	lying := lie{result: eachLog(func(l map[string]any) { l["transactionHash"] = unknownTx })}.tell(n)
	c := tronLike()
	synctest.Test(t, func(t *testing.T) { // where the minute until a retry passes at once
		var said lockedBuffer
		db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
		defer db.Close()
		sources := map[chain.ID]order.Source{c.ID: serveAll[http.Handler](t, c, lying, n)}
		x := query.New(follow.New(db, sources, follow.Options{
			Chains: chain.NewRegistry(c), Pace: follow.Pace{Asked: time.Second}, Logger: slog.New(slog.NewTextHandler(&said, nil)),
		}), query.Options{})
		stop := runIndex(t, x)
		defer stop()
		late, ticks := time.After(5*time.Minute), time.Tick(time.Second)
		for !strings.Contains(said.String(), "quarantined block read") {
			select {
			case <-ticks:
			case <-late:
				t.Fatalf("the block is not read: %s", said.String())
			}
		}
	})
}

// otherContents alters a word in the receipts of an order's steps: a creation's fixed fee, a fulfilment's taker, an
// unlock's submission, a claim's amount.
func otherContents(id order.ID) func(method, members string) string {
	const word = 64 // hex digits
	own := id.String()[2:]
	return func(method, members string) string {
		if method != "eth_getTransactionReceipt" {
			return members
		}
		return rewriteOf(members, ofReceipts(func(receipt map[string]any) any {
			for _, each := range receipt["logs"].([]any) {
				log := each.(map[string]any)
				switch data := log["data"].(string); {
				case strings.HasPrefix(data[min(len(data), 2+word):], own):
					log["data"] = flipped(data, 4*word-1)
				case strings.HasPrefix(data[2:], own):
					log["data"] = flipped(data, 3*word-1)
				}
			}
			return receipt
		}))
	}
}

// A log that looks like an order's but comes from another contract is neither an order nor a lie.
func TestStrangersLogsAreNoOrders(t *testing.T) {
	terms, _ := delivery()
	n := newNode(1000)
	forged := createdLog(t, terms)
	forged.emitter = chain.NewAddress(repeat(0xee, 20))
	tx := n.add(t, 500, true, forged)
	if got, err := n.serve(t, testChain).EventsIn(t.Context(), tx); err != nil || len(got.Events) != 0 {
		t.Errorf("EventsIn() = %+v, %v, want no events", got, err)
	}
}

// An unknown transaction costs a second request only if there is another endpoint.
func TestUnknownTransactionsAreConfirmed(t *testing.T) {
	unknown := chain.NewTxHash(repeat(0xff, 32))
	alone := newNode(1000)
	if _, err := alone.serve(t, testChain).EventsIn(t.Context(), unknown); !errors.Is(err, order.ErrNotFound) || alone.trips() != 1 {
		t.Errorf("one endpoint: %v, want ErrNotFound after one request", err)
	}
	first, second := newNode(1000), newNode(1000)
	if _, err := serveAll(t, testChain, first, second).EventsIn(t.Context(), unknown); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("two endpoints: %v, want ErrNotFound", err)
	}
	if one, other := first.trips(), second.trips(); one != 1 || other != 1 {
		t.Errorf("%d and %d requests, want one each", one, other)
	}
	second.answers["eth_getTransactionReceipt"] = rpctest.Fault(-32000, "header not found")
	stranger := first.add(t, 500, true)
	for name, tx := range map[string]chain.TxHash{"unknown": unknown, "of no order": stranger} {
		if read, err := serveAll(t, testChain, first, second).EventsIn(t.Context(), tx); err == nil || errors.Is(err, order.ErrNotFound) {
			t.Errorf("%s, and the second cannot say: %+v, %v, want that it was not heard", name, read, err)
		}
	}
}

// failuresOf returns the failures measured of an endpoint, by class.
func failuresOf(endpoint string, measured map[string]float64) map[string]float64 {
	failures := map[string]float64{}
	for name, n := range measured {
		if _, class, is := strings.Cut(name, "crossgate.endpoint="+endpoint+",error.type="); is {
			failures[strings.TrimSuffix(class, ",}")] += n
		}
	}
	return failures
}
