package bench

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/sandbox"
)

// The load on a fleet while parts of it fail.
const (
	chaosRate = 200 // requests a second
	// longestAnswer limits answers, longestCold those read from chains or venues: about unknown transactions, new
	// orders and swaps, and about other orders if the database is away and they are not cached.
	longestAnswer = 2 * time.Second
	longestCold   = 6 * time.Second
	longestSwap   = 9 * time.Second // after which the balancer gives up
	// slowLink is the delay of each piece of up to 16 KiB.
	slowLink = 100 * time.Millisecond
)

// fault is one way in which a part of a fleet fails.
type fault struct {
	name       string
	begin, end func(t *testing.T)
	takes      missing
}

// missing is what answers have to do without.
type missing struct {
	index bool // the database: uncached orders come from their chains, or are declined if that is slow, like the rest
	chain bool // one endpoint of a chain, or all: what only chains know may be declined
	proof bool // index and a chain: it is impossible to know that an order does not exist
	reply bool // that of a gateway which accepts requests: its swap requests wait as long as the balancer does
}

// TestChaos makes each part of a fleet fail in each way under 200 requests a second: a gateway, PostgreSQL, Redis, the
// link from the balancer to a gateway, and a chain's endpoint are killed, hang, lose everything, and become slow. No
// answer may be a 500, wrong, or take more than 2 s. CROSSGATE_CHAOS is how long each fault lasts.
func TestChaos(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("CROSSGATE_CHAOS"))
	if err != nil {
		t.Skip("CROSSGATE_CHAOS says no time, 5s for instance: make soak does")
	}
	f := startFleet(t, buildCommand(t), 2, "")
	is := look(t, f.world)
	for _, balancer := range []string{"haproxy", "nginx"} {
		faults := f.faults()
		if balancer == "nginx" {
			faults = f.slowChain() // otherwise configured like HAProxy
		}
		t.Run(balancer, func(t *testing.T) {
			f.balance(t, balancers(t)[balancer], f.replicas[0].link.Address(), f.replicas[1].link.Address())
			f.meet(t, is, span, faults)
		})
	}
}

// meet applies each fault for a span of time, and reports the outcome of 200 requests a second.
func (f *fleet) meet(t *testing.T, is *truth, span time.Duration, faults []fault) {
	t.Helper()
	is.settle(t, "http://"+f.address)
	p := &pacer{address: f.address}
	defer p.close()
	var phases []*phase
	during := func(name string, without missing, span time.Duration) {
		each := &phase{name: name, span: span}
		phases = append(phases, each)
		p.run(each, chaosRate, func() question { return is.mix(without) })
		p.under.Wait()
	}
	during("nothing fails", missing{}, span)
	for _, each := range faults {
		t.Run(each.name, func(t *testing.T) {
			each.begin(t)
			o := is.deliver(t)
			during(each.name, each.takes, span)
			each.end(t)
			healed := time.Now()
			each.takes.proof = false
			during("afterwards", each.takes, min(span, 5*time.Second))
			is.until(t, "http://"+f.address, "/api/Orders/"+o.OrderID, isOrder(o))
			is.until(t, "http://"+f.address, is.lockedPath(), func(got head, body []byte) error {
				if !strings.Contains(string(body), o.OrderID) {
					return fmt.Errorf("%d without %s: %.200s", got.status, o.OrderID, body)
				}
				return is.isLocked(got, body)
			})
			for _, r := range f.replicas { // an endpoint that failed is not used for a while
				is.until(t, "http://"+r.public, "/api/Orders/creationTxHash/"+strange(), isStatus(http.StatusNotFound))
			}
			t.Logf("what happened meanwhile is told, and all chains are heard, %v after the end", time.Since(healed).Round(100*time.Millisecond))
		})
	}
	reportPhases(t, phases)
}

// faults returns all faults that a fleet meets, one after the other.
func (f *fleet) faults() (all []fault) {
	first := f.replicas[0]
	all = append(all,
		fault{name: "gateway killed", begin: func(t *testing.T) { first.end(t, syscall.SIGKILL) }, end: func(t *testing.T) { first.start(t) }},
		fault{
			name:  "gateway stopped",
			begin: func(t *testing.T) { first.signal(t, syscall.SIGSTOP) }, end: func(t *testing.T) { first.signal(t, syscall.SIGCONT) },
			takes: missing{reply: true},
		},
		fault{name: "PostgreSQL killed", begin: trying(f.database.Kill), end: trying(f.database.Resume), takes: missing{index: true}},
		fault{name: "PostgreSQL stopped", begin: trying(f.database.Suspend), end: trying(f.database.Continue), takes: missing{index: true}},
		f.lockedTables(),
		f.databaseAndChainAway(),
		fault{name: "Redis killed", begin: trying(f.cache.Kill), end: trying(f.cache.Resume)},
		fault{name: "Redis stopped", begin: trying(f.cache.Pause), end: trying(f.cache.Continue)},
	)
	for _, each := range []struct {
		name string
		link *linktest.Link
		is   missing
	}{
		{"PostgreSQL", f.databaseLink.Link, missing{index: true}},
		{"Redis", f.cacheLink, missing{}},
		{"gateway", first.link, missing{reply: true}},
		{"endpoint", f.chainLink, missing{chain: true}},
	} {
		ways := []fault{
			{name: "link to " + each.name + " loses everything", begin: always(each.link.Lose)},
			{name: "link to " + each.name + " is slow", begin: always(func() { each.link.Slow(slowLink) })},
		}
		if each.link == first.link || each.link == f.chainLink {
			ways = append(ways,
				fault{name: "link to " + each.name + " refuses", begin: always(each.link.Refuse)},
				fault{name: "link to " + each.name + " stands still", begin: always(each.link.Stand)},
			)
		}
		for _, way := range ways {
			way.end, way.takes = trying(each.link.Heal), each.is
			all = append(all, way)
		}
	}
	return append(all, f.slowChain()...)
}

// lockedTables lets another session lock the tables that every answer needs.
func (f *fleet) lockedTables() fault {
	var release func() error
	return fault{name: "tables locked", takes: missing{index: true}, begin: func(t *testing.T) {
		release = must.Get(f.database.Hold("orders", "BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE"))(t)
	}, end: func(t *testing.T) {
		if err := release(); err != nil {
			t.Error(err)
		}
	}}
}

// databaseAndChainAway makes it impossible to know that an order does not exist.
func (f *fleet) databaseAndChainAway() fault {
	return fault{name: "PostgreSQL killed, a chain down", takes: missing{index: true, chain: true, proof: true}, begin: func(t *testing.T) {
		trying(f.database.Kill)(t)
		f.chain(sandbox.Fault{Kind: sandbox.Down})(t)
	}, end: func(t *testing.T) {
		f.chain(sandbox.Fault{Kind: sandbox.NoFault})(t)
		trying(f.database.Resume)(t)
	}}
}

// slowChain makes both endpoints of a chain take 4 s.
func (f *fleet) slowChain() []fault {
	return []fault{{
		name: "a chain is slow", takes: missing{chain: true},
		begin: f.chain(sandbox.Fault{Kind: sandbox.Slow, Delay: 4 * time.Second}), end: f.chain(sandbox.Fault{Kind: sandbox.NoFault}),
	}}
}

func (f *fleet) chain(does sandbox.Fault) func(*testing.T) {
	return trying(func() error { return f.world.Inject("1", does) })
}

func trying(act func() error) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if err := act(); err != nil {
			t.Error(err)
		}
	}
}

func always(act func()) func(*testing.T) { return func(*testing.T) { act() } }

// reportPhases reports the outcome of each phase, and fails if one had no good answer.
func reportPhases(t *testing.T, phases []*phase) {
	t.Helper()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\trequests\tkept p50\tp99\tlongest\tmade p50\tp99\tlongest\tdeclined\twrong\t")
	for _, each := range phases {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%d\t%d\t\n", each.name, len(each.late), quantiles(each.hits), quantiles(each.misses), len(each.declined), len(each.wrong))
		if len(each.wrong) > 0 {
			t.Errorf("%s: %d of %d answers are wrong, such as %s", each.name, len(each.wrong), len(each.late), each.wrong[0])
		}
	}
	_ = table.Flush()
	t.Logf("milliseconds\n%s", text.String())
}
