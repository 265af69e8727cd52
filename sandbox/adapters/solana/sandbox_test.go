package solana_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	sandbox "crossgate/sandbox/solana"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/solana"
)

// The tests run over the sandbox's Solana, which shares no code with the packages under test.

var (
	beginning = time.Unix(1_800_000_000, 0)
	maker     = account("maker")
	taker     = account("taker")
	other     = account("other")
	usdc      = sandbox.Tokens[1]
	onEVM     = []byte("an address of 20 byt")
)

const mostBytes = 1 << 20 // of a request to a node with altered answers

func account(name string) sandbox.Account {
	return sandbox.NewAccount(name, sha256.Sum256([]byte(name)))
}

// world is a ledger behind a node.
type world struct {
	*sandbox.Chain
	t     *testing.T
	now   time.Time
	nonce uint64
	trips atomic.Int64
}

func newWorld(t *testing.T) *world {
	w := &world{Chain: sandbox.New(beginning), t: t, now: beginning.Add(time.Minute), nonce: 1_800_000_000_000}
	w.Connect(1, onEVM, onEVM)
	for _, each := range []sandbox.Account{maker, taker, other} {
		w.Fund(each.Key, 1e12, 1e12)
	}
	return w
}

// ServeHTTP counts requests.
func (w *world) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	w.trips.Add(1)
	w.Chain.ServeHTTP(out, in)
}

// later returns a time some seconds after the latest event.
func (w *world) later() time.Time {
	w.now = w.now.Add(5 * time.Second)
	return w.now
}

// create creates an order from Solana to Ethereum.
func (w *world) create(way sandbox.Way) sandbox.Order {
	w.t.Helper()
	w.nonce++
	referral := uint32(30195)
	made := must.Get(w.Create(w.later(), way, sandbox.Creation{
		Maker: maker, Give: usdc, Amount: 1_000_000, Take: sandbox.Offer{Chain: 1, Token: onEVM, Amount: big.NewInt(990_000)},
		Receiver: onEVM, Authority: onEVM, Affiliate: &sandbox.Affiliate{Beneficiary: other.Key, Amount: 1000},
		Referral: &referral, Nonce: w.nonce, Metadata: []byte("metadata"),
	}))(w.t)
	return made[0]
}

// terms returns the terms of an order from Ethereum to Solana.
func (w *world) terms(call []byte) sandbox.Terms {
	w.nonce++
	receiver := other.Key
	if len(call) > 0 {
		receiver = sandbox.Executor
	}
	return sandbox.Terms{
		Nonce: w.nonce, Maker: onEVM, GiveChain: big.NewInt(1), GiveToken: onEVM, GiveAmount: big.NewInt(1_000_000),
		TakeChain: big.NewInt(sandbox.ID), TakeToken: usdc.Mint[:], TakeAmount: big.NewInt(990_000),
		Receiver: receiver[:], PatchAuthority: onEVM, Authority: other.Key[:], ExternalCall: call,
	}
}

func (w *world) fulfil(way sandbox.Way, call []byte) order.ID {
	w.t.Helper()
	return w.deliver(way, w.terms(call))
}

func (w *world) deliver(way sandbox.Way, terms sandbox.Terms) order.ID {
	w.t.Helper()
	must.Do(w.t, w.Fulfil(w.later(), way, sandbox.Fulfilment{Terms: terms, Taker: taker}))
	return terms.ID()
}

// chain returns a client of the chain over the nodes and the ledger's own.
func (w *world) chain(nodes ...http.Handler) *solana.Chain {
	w.t.Helper()
	return w.chainOver(append(nodes, w)...)
}

// chainOver returns a client of the chain over the nodes.
func (w *world) chainOver(nodes ...http.Handler) *solana.Chain {
	w.t.Helper()
	known, _ := chain.Documented().Chain(chain.Solana)
	return solana.New(known, w.clientOver(nodes...))
}

// clientOver returns a client of the nodes, whose endpoints are node-0, node-1 and so on.
func (w *world) clientOver(nodes ...http.Handler) *jsonrpc.Client {
	w.t.Helper()
	return jsonrpc.New(pooltest.Of(w.t, nodes...))
}

// tripsOf counts the requests of a step.
func (w *world) tripsOf(step func()) int64 {
	before := w.trips.Load()
	step()
	return w.trips.Load() - before
}

// facts returns the facts of events with their orders, in sequence.
func facts(events []order.Event) []string {
	var list []string
	for _, e := range events {
		text := fmt.Sprintf("%T", e.Fact)
		switch fact := e.Fact.(type) {
		case order.Sent:
			text = fmt.Sprintf("%s %d", text, fact.Kind)
		case order.Claimed:
			text = fmt.Sprintf("%s %d", text, fact.Kind)
		case order.ExternalCall:
			text = fmt.Sprintf("%s %d", text, fact.Step)
		}
		list = append(list, text+" "+e.Order.String()[:10])
	}
	return list
}

func expect(id order.ID, texts ...string) []string {
	for i := range texts {
		texts[i] = "order." + texts[i] + " " + id.String()[:10]
	}
	return texts
}

func txOf(s sandbox.Signature) chain.TxHash { return chain.NewTxHash(s[:]) }

// slotOf returns the slot of a transaction.
func (w *world) slotOf(s sandbox.Signature) uint64 {
	w.t.Helper()
	var told struct{ Slot uint64 }
	must.Do(w.t, json.Unmarshal(w.raw("getTransaction", s.String(), map[string]any{"maxSupportedTransactionVersion": 0}), &told))
	return told.Slot
}
