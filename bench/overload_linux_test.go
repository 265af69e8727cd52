package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Parameters of the overload of a gateway.
const (
	leastRate = 300 // requests a second, and the factor until a higher rate does not get more answers
	rateSteps = 1.4
	hotOrders = 100
	// leastServed is the share of good answers down to which a gateway serves its load.
	leastServed = 0.9
	// leastShare is the share of full load's good answers that must remain at twice that load.
	leastShare = 0.8
	// longestRefusal is the limit for nineteen of twenty refusals while the database is away. Otherwise they take as
	// long as hits, which fill the processor.
	longestRefusal = 100 * time.Millisecond
	// lateSender is how late at most one request in a hundred may be sent.
	lateSender = 50 * time.Millisecond
	// roomyGC is the GOGC that a gateway sets if it knows its memory limit (cmd/crossgate).
	roomyGC = 400
	// sparseApart is the number of blocks between two orders of the chains: a search of 5000 blocks finds ten.
	sparseApart = 500
	// Requests a second, a tenth of them for orders not in the cache, and the limit for 99 in 100 of those.
	mixedRate   = 2000
	longestMiss = 25 * time.Millisecond
	// leastBusy is how busy the gateway's processor must be under twice its load if nothing else uses it.
	leastBusy = 0.85
)

// TestOverload finds the load that a gateway on one processor serves, and sends twice as much: once with everything
// well, and once with PostgreSQL away, so that cold orders are read from their chains. The rate of good answers must
// not fall below 80 %, none may be wrong, and refusals must be quick. Nodes, database and client have the other
// processors. CROSSGATE_OVERLOAD is how long each load lasts.
func TestOverload(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("CROSSGATE_OVERLOAD"))
	if err != nil {
		t.Skip("CROSSGATE_OVERLOAD says no time, 5s for instance: make soak does")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("a gateway on a processor of its own needs another one for what asks it")
	}
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("taskset is not there; Debian and Ubuntu: apt-get install util-linux")
	}
	run(t, ".", taskset, "-a", "-p", "-c", fmt.Sprintf("1-%d", runtime.NumCPU()-1), strconv.Itoa(os.Getpid()))
	o := startOverloaded(t, taskset)
	t.Run("a tenth is not kept", func(t *testing.T) { o.misses(t, span) })
	t.Run("everything is well", func(t *testing.T) { o.slope(t, span) })
	must.Do(t, o.database.Kill())
	o.isAway, o.kept = true, 70 // because the nodes share the client's processors
	t.Run("PostgreSQL is away", func(t *testing.T) { o.slope(t, span) })
	must.Do(t, o.database.Resume())
}

// overloaded is a gateway on one processor, in front of two chains whose orders it has indexed.
type overloaded struct {
	give, take *ledger
	gateway    command
	encoder    wire.Encoder
	next       uint64 // order that is not in the cache
	database   *postgrestest.Server
	isAway     bool // the database
	kept       int  // questions in a hundred about orders that are in the cache
}

func startOverloaded(t *testing.T, taskset string) *overloaded {
	t.Helper()
	const orders = 3000
	o := &overloaded{
		give: &ledger{id: giveChain, orders: orders, apart: sparseApart}, take: &ledger{id: takeChain, orders: orders, apart: sparseApart},
		encoder: wire.Encoder{Chains: chain.Documented()}, kept: 50,
	}
	var err error
	if o.database, err = postgrestest.Start(); err != nil {
		t.Skipf("no PostgreSQL to test with: %v", err)
	}
	t.Cleanup(func() { closed(t, o.database.Remove) })
	database := must.Get(o.database.Create("orders"))(t)
	var chains strings.Builder
	for _, l := range []*ledger{o.give, o.take} {
		node := httptest.NewServer(sparseNode(l))
		t.Cleanup(node.Close)
		fmt.Fprintf(&chains, "  - {id: %d, blockTime: %v, firstBlock: 1, contracts: {dlnSource: %q, dlnDestination: %q}, endpoints: [{url: %q}]}\n",
			l.id, blockTime, contracts.DlnSource, contracts.DlnDestination, node.URL)
	}
	alone := func(c *exec.Cmd) {
		c.Env = append(os.Environ(), fmt.Sprintf("GOGC=%d", roomyGC), "GOMAXPROCS=1")
		c.Args, c.Path = append([]string{taskset, "-c", "0"}, c.Args...), taskset
	}
	o.gateway = startCommand(t, alone, "chains:\n", chains.String(), ownTokens(), fmt.Sprintf(
		"index: {postgres: %q, lookback: 0}\ncache: {maxBytes: 2MiB}\nlimits: {proxies: [127.0.0.0/8]}\n", database))
	await(t, "level for some looks, which also prove blocks", func(context.Context) error {
		proven := must.Get(o.database.Query("orders", "SELECT COUNT(*) FROM checkpoints WHERE was_level = 1 AND proven_end > 100000"))(t)
		if n, _ := strconv.Atoi(strings.TrimSpace(proven)); n < 2 {
			return fmt.Errorf("%d chains are", n)
		}
		return nil
	})
	return o
}

// misses sends less than the gateway can serve.
func (o *overloaded) misses(t *testing.T, span time.Duration) {
	p, load := &pacer{address: strings.TrimPrefix(o.gateway.url, "http://")}, &phase{span: span}
	defer p.close()
	p.run(load, mixedRate, func() question {
		isHit := rand.IntN(10) > 0
		q := o.known(isHit)
		q.isHit = isHit
		return q
	})
	p.under.Wait()
	t.Logf("%d requests a second, ms (p50, p99, longest): kept %s, not kept %s, sent late %s", mixedRate,
		quantiles(load.hits), quantiles(load.misses), quantiles(load.late))
	if late := quantile(load.late, 0.99); late > longestMiss/5 {
		t.Skipf("the machine is too busy: one of a hundred requests was sent %v late", late)
	}
	if len(load.wrong)+len(load.declined) > 0 {
		t.Errorf("%d answers are wrong, %d requests declined: %q", len(load.wrong), len(load.declined), load.wrong)
	}
	if took := quantile(load.misses, 0.99); took > longestMiss {
		t.Errorf("one of a hundred orders that are not kept takes %v, longer than %v", took, longestMiss)
	}
}

// slope finds the full load of a mix and sends twice that, three times.
func (o *overloaded) slope(t *testing.T, span time.Duration) {
	p := &pacer{address: strings.TrimPrefix(o.gateway.url, "http://")}
	defer p.close()
	during := func(name string, rate float64) (each *phase, busy float64) {
		each = &phase{name: name, span: span}
		began, before := time.Now(), o.used(t)
		p.run(each, int(rate), o.mix)
		p.under.Wait()
		return each, (o.used(t) - before).Seconds() / time.Since(began).Seconds()
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tgood/s\tgood p50\tp99\tlongest\tdeclined/s\tp50\tp95\tlongest\tsent late p99\twrong\t")
	defer func() { _ = table.Flush(); t.Logf("milliseconds\n%s", text.String()) }()
	full := 0.0
	for rate := float64(leastRate); ; rate *= rateSteps {
		step, _ := during(fmt.Sprintf("%.0f/s", rate), rate)
		good := o.report(t, table, step)
		if full = max(full, good); good < leastServed*rate {
			break
		}
	}
	var shares []float64
	for range 3 {
		twice, busy := during(fmt.Sprintf("twice %.0f/s", full), 2*full)
		share := o.report(t, table, twice) / full
		if late := quantile(twice.late, 0.99); late > lateSender || busy < leastBusy {
			t.Logf("one of a hundred requests was sent %v late, the gateway had %.2f of a processor: that says nothing of it", late, busy)
			continue
		}
		shares = append(shares, share)
		if late := quantile(twice.declined, 0.95); o.isAway && late > longestRefusal {
			t.Errorf("one of twenty refusals comes after %v, later than %v", late, longestRefusal)
		}
	}
	if len(shares) == 0 {
		t.Skip("the machine is too busy, or too small, for a client that asks twice as much as the gateway can serve")
	}
	if share := slices.Min(shares); share < leastShare {
		t.Errorf("at twice the load the rate of good answers is %.0f %% of that at full load, want %.0f", 100*share, 100*leastShare)
	}
}

// used returns the gateway's processor time.
func (o *overloaded) used(t *testing.T) time.Duration {
	t.Helper()
	used, err := processorTimeOf(o.gateway.pid)
	if err != nil {
		t.Error(err)
	}
	return used
}

// report writes the outcome of a phase and returns the number of good answers per second.
func (o *overloaded) report(t *testing.T, table *tabwriter.Writer, each *phase) (good float64) {
	t.Helper()
	right := slices.Concat(each.hits, each.misses)
	good = float64(each.good) / each.span.Seconds()
	fmt.Fprintf(table, "%s\t%.0f\t%s\t%.0f\t%s\t%s\t%s\t%s\t%d\t\n", each.name, good, quantiles(right),
		float64(len(each.declined))/each.span.Seconds(), milliseconds(quantile(each.declined, 0.5)), milliseconds(quantile(each.declined, 0.95)),
		milliseconds(quantile(each.declined, 1)), milliseconds(quantile(each.late, 0.99)), len(each.wrong))
	if len(each.wrong) > 0 {
		t.Errorf("%s: %d of %d answers are wrong, such as %s", each.name, len(each.wrong), len(each.late), each.wrong[0])
	}
	return good
}

// mix asks for cached orders, for one that is not cached, and for one that does not exist.
func (o *overloaded) mix() question {
	switch n := rand.IntN(100); {
	case n < 97:
		return o.known(n < o.kept)
	case o.isAway:
		return o.ask(strange(), isStatus(http.StatusServiceUnavailable)) // it cannot say that an order does not exist
	}
	return o.ask(strange(), isStatus(http.StatusNotFound))
}

// known asks for a cached order, or for one that has long not been requested.
func (o *overloaded) known(isKept bool) question {
	if isKept {
		return o.order(1 + rand.Uint64N(hotOrders))
	}
	o.next++
	return o.order(1 + hotOrders + o.next%(o.give.orders-hotOrders-1))
}

func (o *overloaded) order(number uint64) question {
	return o.ask(o.give.transactionOf(number, 0).String(), is(func() []byte { return o.body(number) }))
}

func (o *overloaded) ask(hash string, check func(head, []byte) error) question {
	return ask("/api/Orders/creationTxHash/"+hash, 0, func(got head, body []byte) error {
		if got.status == http.StatusServiceUnavailable && got.retryAfter != "" {
			return errDeclined
		}
		return check(got, body)
	})
}

// sparseNode returns a node of a ledger with blocks between its orders. It makes new blocks from now on.
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

// plainToken is every token of the ledgers, except for its logo.
var plainToken = token.Token{Decimals: 18, Name: "Token", Symbol: "TKN"}

func tokenOf(o order.Offer) token.Token {
	t := plainToken
	t.LogoURI = fmt.Sprintf("https://tokens.debridge.finance/Logo/%d/%s/big/token-logo.png", o.Chain, strings.ToLower(o.Token.String()))
	return t
}

// body returns the correct answer about an order, according to the ledgers.
func (o *overloaded) body(number uint64) []byte {
	created := number * sparseApart
	var events []order.Event
	for _, l := range []*ledger{o.give, o.take} {
		told, err := l.Events(context.Background(), created, created+claimedAfter)
		if err != nil {
			panic(err) // a bug in the ledger
		}
		events = append(events, told...)
	}
	folded, _ := order.Fold(events)
	return o.encoder.AppendOrder(nil, wire.Record{Order: folded, Give: tokenOf(termsOf(number).Give), Take: tokenOf(termsOf(number).Take)})
}
