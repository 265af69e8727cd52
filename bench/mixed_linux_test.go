package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/redistest"
	"crossgate/order"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// What a mixed load is made of.
const (
	mixedRate = 2000 // requests a second
	missOf    = 10   // requests of which one is a miss
	keptOnes  = 300  // orders that hits ask for
	slowBy    = 2 * time.Second

	// sparseApart is between two orders of the chains: a search of 5000 blocks finds ten of them.
	sparseApart = 500
)

// BenchmarkMixedLoad asks a gateway for 2000 orders a second, whether it keeps up or not. Nine of ten are kept; every
// tenth is one that nobody asked for and the index has not read, so that it is made of what the nodes of two chains tell.
// Each chain has three endpoints, and the gateway a Redis behind its cache. Twice everything is well for a while; and
// twice, for as long, one endpoint of each chain is down, another takes 2 s more for each answer, and Redis is stopped
// for a third of the time. The first time the endpoint that is in use goes down, the second time it becomes slow.
//
// Times count from when a request was due. Every answer must be, byte for byte, what the ledger of the chains comes to.
// The gateway is the command with the GOGC that it sets where it knows its limit of memory; nodes and client are in this
// process.
func BenchmarkMixedLoad(b *testing.B) {
	server := redistest.Serve(b) // or says what is missing
	span, rate := time.Duration(size(20, 1))*time.Second, int(size(mixedRate, mixedRate/20))
	phases := []*phase{
		{kind: other, name: "first seconds", span: span / 4},
		{kind: well, name: "well", span: span},
		{kind: usedDown, name: "used is down", span: span},
		{kind: other, name: "healing", span: span / 2},
		{kind: well, name: "well", span: span},
		{kind: usedSlow, name: "used is slow", span: span},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(roomyGC))
	for b.Loop() {
		m := newMixed(b, server, keptOnes+mostMisses(phases))
		m.run(b, phases, rate)
	}
	report(b, phases)
}

// roomyGC is what a gateway sets that knows its limit of memory (cmd/crossgate).
const roomyGC = 400

// mostMisses is more than chance makes of the phases' requests.
func mostMisses(phases []*phase) (orders uint64) {
	for _, each := range phases {
		orders += uint64(each.span.Seconds() * mixedRate / missOf)
	}
	return orders + orders/5
}

// mixed is a gateway with what it needs.
type mixed struct {
	give, take *ledger
	endpoints  [][]*endpoint // of each chain
	shared     *redistest.Server
	gateway    command
	encoder    wire.Encoder
	wanted     [][]byte // bodies of the orders that are kept
	next       uint64   // order that nobody asked for
}

func newMixed(b *testing.B, shared *redistest.Server, orders uint64) *mixed {
	b.Helper()
	m := &mixed{
		give:   &ledger{id: giveChain, orders: orders, apart: sparseApart},
		take:   &ledger{id: takeChain, orders: orders, apart: sparseApart},
		shared: shared, encoder: wire.Encoder{Chains: chain.Documented()}, next: keptOnes,
	}
	var chains strings.Builder
	for _, l := range []*ledger{m.give, m.take} {
		n := sparseNode(l)
		var three []*endpoint
		var listed []string
		for i := range 3 {
			e := newEndpoint(b, n)
			three = append(three, e)
			listed = append(listed, fmt.Sprintf("{name: %d-%d, url: %q}", l.id, i, "http://"+e.address))
		}
		m.endpoints = append(m.endpoints, three)
		fmt.Fprintf(&chains, "  - {id: %d, blockTime: %v, contracts: {dlnSource: %q, dlnDestination: %q}, endpoints: [%s]}\n",
			l.id, blockTime, contracts.DlnSource, contracts.DlnDestination, strings.Join(listed, ", "))
	}
	roomy := func(c *exec.Cmd) { c.Env = append(os.Environ(), fmt.Sprintf("GOGC=%d", roomyGC)) }
	m.gateway = startCommand(b, roomy, "chains:\n", chains.String(), ownTokens(),
		fmt.Sprintf("index: {path: %q, lookback: 1}\ncache: {shared: %q}\n", filepath.Join(b.TempDir(), "orders.db"), shared.URL()))
	for number := range uint64(keptOnes) {
		m.wanted = append(m.wanted, m.body(number))
	}
	return m
}

// sparseNode is a node of a ledger with blocks between its orders. It makes new blocks from now on.
func sparseNode(l *ledger) *node {
	n := newNode(l)
	for number := range l.orders {
		n.keep(number)
		for delay := range uint64(claimedAfter + 1) {
			block := number*l.apart + delay
			n.write(l.block(block), l.make(block))
		}
	}
	n.began = time.Now()
	return n
}

// plainToken is every token of the ledgers.
var plainToken = token.Token{Decimals: 18, Name: "Token", Symbol: "TKN", LogoURI: "https://logos.example/tkn.png"}

// body is what the gateway must answer of an order, by the ledgers.
func (m *mixed) body(number uint64) []byte {
	created := number * sparseApart
	var events []order.Event
	for _, l := range []*ledger{m.give, m.take} {
		told, err := l.Events(context.Background(), created, created+claimedAfter)
		if err != nil {
			panic(err) // a mistake in the ledger
		}
		events = append(events, told...)
	}
	folded, _ := order.Fold(events)
	return m.encoder.AppendOrder(nil, wire.Record{Order: folded, Give: plainToken, Take: plainToken})
}

// question asks for an order.
func (m *mixed) question(number uint64) question {
	q := question{
		text:  fmt.Appendf(nil, "GET /api/Orders/creationTxHash/%s HTTP/1.1\r\nHost: crossgate\r\n\r\n", m.give.transactionOf(number, 0)),
		check: is(func() []byte { return m.body(number) }),
	}
	if q.isHit = number < keptOnes; q.isHit {
		q.check = is(func() []byte { return m.wanted[number] })
	}
	return q
}

// mix makes one of ten questions a miss.
func (m *mixed) mix() question {
	if rand.IntN(missOf) > 0 {
		return m.question(rand.Uint64N(keptOnes))
	}
	m.next++
	return m.question(m.next - 1)
}

// run has all phases follow one another, when what is to be kept is, with so many requests a second.
func (m *mixed) run(b *testing.B, phases []*phase, rate int) {
	b.Helper()
	p := &pacer{address: strings.TrimPrefix(m.gateway.url, "http://")}
	defer p.close()
	const warmRate = 100
	kept, warm := uint64(0), &phase{span: keptOnes * time.Second / warmRate}
	p.run(warm, warmRate, func() question { kept++; return m.question(kept - 1) })
	p.under.Wait()
	if len(warm.wrong) > 0 {
		b.Fatalf("%d of %d orders are wrong, such as %s\nwant %s", len(warm.wrong), keptOnes, warm.wrong[0], m.wanted[0])
	}
	var faults sync.WaitGroup
	for _, each := range phases {
		used := m.usage(b)
		if each.kind.isIll() {
			faults.Go(func() { m.suffer(b, each) })
		}
		p.run(each, rate, m.mix)
		faults.Wait()
		each.usage = m.usage(b).since(used)
	}
}

// suffer takes one endpoint of each chain down and makes another one slow, one of which is the one in use, and stops Redis
// in the second third of the time.
func (m *mixed) suffer(b *testing.B, during *phase) {
	over := time.After(during.span)
	for _, three := range m.endpoints {
		used := mostAsked(three)
		down, slow := three[used], three[(used+1)%len(three)]
		if during.kind == usedSlow {
			down, slow = slow, down
		}
		down.goDown()
		slow.late.Store(int64(slowBy))
		defer down.goUp(b)
		defer slow.late.Store(0)
	}
	<-time.After(during.span / 3)
	if err := m.shared.Kill(); err != nil {
		b.Error(err)
	}
	<-time.After(during.span / 3)
	if err := m.shared.Resume(); err != nil {
		b.Error(err)
	}
	<-over
}

// mostAsked is the endpoint that was asked most since this was last looked at.
func mostAsked(endpoints []*endpoint) (index int) {
	most := int64(-1)
	for i, e := range endpoints {
		if asked := e.asked.Swap(0); asked > most {
			index, most = i, asked
		}
	}
	return index
}
