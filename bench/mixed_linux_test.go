package bench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/wire"
	"crossgate/sandbox/redis"
	"crossgate/token"
)

// What a mixed load is made of.
const (
	mixedRate = 2000 // requests a second
	missOf    = 10   // requests of which one is a miss
	keptOnes  = 300  // orders that hits ask for
	mixedSpan = 20 * time.Second
	// apartBlocks is between two orders of the chains: a search of 5000 blocks finds ten of them.
	apartBlocks = 500
)

// BenchmarkMixedLoad asks a gateway for 2000 orders a second, whether it keeps up or not: nine of ten are kept, and
// every tenth is one that neither the gateway nor its index has seen, so that it is made of what the nodes of two chains
// tell. Each chain has three endpoints, the gateway a Redis behind its cache. Twice everything is well for a while, and
// then, as long, of each chain's endpoints one is down, another takes 2 s more for each answer, and Redis is stopped
// after a third of the time and started after another. The first time the endpoint in use goes down, the second time it becomes
// slow. Times are from when a request was due. Beside the 99th percentiles, and what those with faults are of those
// without, it looks at every answer: it must be, byte for byte, what the ledger of the chains comes to.
func BenchmarkMixedLoad(b *testing.B) {
	server := redis.Serve(b) // or skips
	phases := []*phase{
		{name: "first seconds", span: 5 * time.Second},
		{name: "well", span: mixedSpan}, {name: "ill", span: mixedSpan}, {name: "healing", span: 5 * time.Second},
		{name: "well", span: mixedSpan}, {name: "ill", span: mixedSpan},
	}
	var orders uint64 = keptOnes
	for _, each := range phases {
		orders += uint64(each.span.Seconds()*mixedRate/missOf*1.2) + 100
	}
	m := newMixed(b, server, orders)
	for b.Loop() {
		m.run(b, phases)
	}
	report(b, phases)
}

// mixed is a gateway and what it needs.
type mixed struct {
	give, take *ledger
	endpoints  [][]*endpoint // of each chain
	shared     *redis.Server
	gateway    command
	wanted     [][]byte // bodies, of the orders that are kept
	next       uint64   // order that nobody asked for
}

func newMixed(b *testing.B, shared *redis.Server, orders uint64) *mixed {
	b.Helper()
	m := &mixed{
		give:   &ledger{id: giveChain, orders: orders, apart: apartBlocks},
		take:   &ledger{id: takeChain, orders: orders, apart: apartBlocks},
		shared: shared, next: keptOnes,
	}
	var chains strings.Builder
	for _, l := range []*ledger{m.give, m.take} {
		n := sparseNode(l)
		var three []*endpoint
		var listed []string
		for i := range 3 {
			three = append(three, newEndpoint(b, n))
			listed = append(listed, fmt.Sprintf("{name: %d-%d, url: %q}", l.id, i, "http://"+three[i].address))
		}
		m.endpoints = append(m.endpoints, three)
		fmt.Fprintf(&chains, "  - {id: %d, blockTime: %v, contracts: {dlnSource: %q, dlnDestination: %q}, endpoints: [%s]}\n",
			l.id, blockTime, contracts.DlnSource, contracts.DlnDestination, strings.Join(listed, ", "))
	}
	m.gateway = startCommand(b, func(*exec.Cmd) {}, "chains:\n", chains.String(), ownTokens(),
		fmt.Sprintf("index: {path: %q, lookback: 1}\ncache: {shared: %q}\n", filepath.Join(b.TempDir(), "orders.db"), shared.URL()))
	m.awaitReady(b)
	for number := range uint64(keptOnes) {
		m.wanted = append(m.wanted, m.body(number))
	}
	return m
}

// sparseNode is a node of a ledger with blocks between its orders, of which it knows everything.
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

// awaitReady waits until the gateway wants requests, and its shared cache is there.
func (m *mixed) awaitReady(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for tick := time.Tick(20 * time.Millisecond); ; {
		text, err := m.gateway.get(ctx, m.gateway.admin+"/readyz")
		if err == nil {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			b.Fatalf("the gateway is not ready: %v %s", err, text)
		}
	}
}

// body is what the gateway must answer of an order, by the ledgers.
func (m *mixed) body(number uint64) []byte {
	created := number * apartBlocks
	var events []order.Event
	for _, l := range []*ledger{m.give, m.take} {
		told, err := l.Events(context.Background(), created, created+claimedAfter)
		if err != nil {
			panic(err)
		}
		events = append(events, told...)
	}
	folded, _ := order.Fold(events)
	return wire.Encoder{Chains: chain.Documented()}.AppendOrder(nil, wire.Record{Order: folded, Give: plainToken, Take: plainToken})
}

var plainToken = token.Token{Decimals: 18, Name: "Token", Symbol: "TKN", LogoURI: "https://logos.example/tkn.png"}

// question asks for an order.
func (m *mixed) question(number uint64) question {
	q := question{
		text: fmt.Appendf(nil, "GET /api/Orders/creationTxHash/%s HTTP/1.1\r\nHost: crossgate\r\n\r\n", m.give.transactionOf(number, 0)),
		want: func() []byte { return m.body(number) },
	}
	if q.isHit = number < keptOnes; q.isHit {
		q.want = func() []byte { return m.wanted[number] }
	}
	return q
}

// mix makes every tenth question a miss.
func (m *mixed) mix() question {
	if rand.IntN(missOf) > 0 {
		return m.question(rand.Uint64N(keptOnes))
	}
	m.next++
	return m.question(m.next - 1)
}

// run has all phases follow one another.
func (m *mixed) run(b *testing.B, phases []*phase) {
	p := &pacer{address: strings.TrimPrefix(m.gateway.url, "http://")}
	var kept uint64
	warm := &phase{span: keptOnes * time.Second / 100}
	p.run(warm, 100, func() question { kept++; return m.question(kept - 1) })
	p.under.Wait()
	if len(warm.wrong) > 0 {
		b.Fatalf("%d of %d orders are wrong, such as %s\nwant %s", len(warm.wrong), keptOnes, warm.wrong[0], m.wanted[0])
	}
	var faults sync.WaitGroup
	round := 0
	for _, each := range phases {
		own, err := processorTime()
		gateways, gatewayErr := processorTimeOf(m.gateway.pid)
		if cmp.Or(err, gatewayErr) != nil {
			b.Fatal(err, gatewayErr)
		}
		if each.name == "ill" {
			faults.Go(func() { m.suffer(b, round, each.span) })
		}
		p.run(each, mixedRate, m.mix)
		faults.Wait()
		if each.name == "ill" {
			round++
		}
		ownAfter, _ := processorTime()
		gatewaysAfter, _ := processorTimeOf(m.gateway.pid)
		each.own, each.gateways = ownAfter-own, gatewaysAfter-gateways
	}
	p.close()
}

// suffer takes one endpoint of each chain down and makes another one slow, and stops Redis for a third of the time. The
// endpoints that suffer are others in each round.
func (m *mixed) suffer(b *testing.B, round int, span time.Duration) {
	over := time.After(span)
	for _, three := range m.endpoints {
		down, slow := three[round%3], three[(round+1)%3]
		down.goDown()
		slow.late.Store(int64(2 * time.Second))
		defer down.goUp(b)
		defer slow.late.Store(0)
	}
	<-time.After(span / 3)
	if err := m.shared.Kill(); err != nil {
		b.Error(err)
	}
	<-time.After(span / 3)
	if err := m.shared.Resume(); err != nil {
		b.Error(err)
	}
	<-over
}

// report says how long answers took and what was wrong.
func report(b *testing.B, phases []*phase) {
	b.Helper()
	var all [2]phase // well, ill
	for _, each := range phases {
		slices.Sort(each.late)
		b.Logf("%s: %d hits p50 %v p99 %v max %v, %d loaded; %d misses p50 %v p99 %v max %v; sent late p50 %v p99 %v max %v; cores: gateway %.2f, here %.2f; refused %v, wrong %d",
			each.name, len(each.hits), quantile(each.hits, 0.5), quantile(each.hits, 0.99), quantile(each.hits, 1), each.loaded,
			len(each.misses), quantile(each.misses, 0.5), quantile(each.misses, 0.99), quantile(each.misses, 1),
			quantile(each.late, 0.5), quantile(each.late, 0.99), quantile(each.late, 1),
			each.gateways.Seconds()/each.span.Seconds(), each.own.Seconds()/each.span.Seconds(), each.refused, len(each.wrong))
		for _, wrong := range each.wrong[:min(3, len(each.wrong))] {
			b.Log(wrong)
		}
		if len(each.wrong) > 0 {
			b.Errorf("%s: %d answers were not what the chains say", each.name, len(each.wrong))
		}
		if i := slices.Index([]string{"well", "ill"}, each.name); i >= 0 {
			all[i].hits = append(all[i].hits, each.hits...)
			all[i].misses = append(all[i].misses, each.misses...)
		}
	}
	for _, each := range []struct {
		name      string
		well, ill []time.Duration
		most      float64
	}{{"hit", all[0].hits, all[1].hits, 2}, {"miss", all[0].misses, all[1].misses, 3}} {
		well, ill := quantile(each.well, 0.99), quantile(each.ill, 0.99)
		b.ReportMetric(well.Seconds()*1e3, each.name+"-p99-ms-well")
		b.ReportMetric(ill.Seconds()*1e3, each.name+"-p99-ms-ill")
		b.ReportMetric(ill.Seconds()/well.Seconds(), each.name+"-p99-ratio")
		if ill.Seconds() > each.most*well.Seconds() {
			b.Errorf("the 99th percentile of %s is %v with faults and %v without, more than %v times as much", each.name, ill, well, each.most)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// quantile is the share q of all.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(float64(len(all)-1)*q)]
}

var _ http.Handler = (*endpoint)(nil)
