package bench

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

// BenchmarkMemory requests a quarter of a million different orders from a gateway with a million of them, the command in
// a control group of its own, at an even pace for the time in CROSSGATE_SOAK, and watches its memory and goroutines. Its
// cache is full after some 100,000. It needs permission to create a control group (version 1, as root); otherwise
// GOMEMLIMIT sets the limit.
func BenchmarkMemory(b *testing.B) {
	const (
		limit       = 512 << 20
		cacheBytes  = 256 << 20
		connections = 8
	)
	span, err := time.ParseDuration(os.Getenv("CROSSGATE_SOAK"))
	if err != nil {
		if !testing.Short() {
			b.Skip("CROSSGATE_SOAK says no time, 10m for instance: make soak does")
		}
		span = time.Second
	}
	orders := size(1_000_000, 1000)
	requests := orders / 4
	path := storeOf(b, orders)
	_, store := fill(b, path, ledgers(orders))
	must.Do(b, store.Close())
	g := startCommand(b, within(b, limit), chainsAtRest(b, orders), fmt.Sprintf("index: {path: %q}\ncache: {maxBytes: %dMiB}\n", path, cacheBytes>>20))
	for warm := range 2 * connections {
		_ = askOrder(b, g, uint64(warm))
	}
	calm := g.goroutines(b)
	var next atomic.Uint64
	var grown, most atomic.Int64
	var clients sync.WaitGroup
	begun := time.Now()
	for range connections {
		clients.Go(func() {
			for number := next.Add(1); number < requests; number = next.Add(1) {
				if ahead := time.Duration(number)*span/time.Duration(requests) - time.Since(begun); ahead > 0 {
					<-time.After(ahead)
				}
				if !askOrder(b, g, number) {
					next.Store(requests) // so do the others
				}
				if number%(requests/100) == 0 {
					storeMax(&grown, g.anonymous(b))
					storeMax(&most, g.goroutines(b))
				}
			}
		})
	}
	clients.Wait()
	took := time.Since(begun)
	http.DefaultClient.CloseIdleConnections()
	after := g.goroutines(b)
	// Longer than idle connections to nodes, which have goroutines, are kept. With -short those do not count as a leak.
	idle := time.Duration(size(180, 0)) * time.Second
	for deadline := time.Now().Add(idle); after > calm && time.Now().Before(deadline); after = g.goroutines(b) {
		<-time.After(time.Second)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(requests)/took.Seconds(), "req/s")
	b.ReportMetric(float64(grown.Load())/(1<<20), "MiB-most")
	b.ReportMetric(limit/(1<<20), "MiB-limit")
	b.ReportMetric(float64(calm), "goroutines-before")
	b.ReportMetric(float64(most.Load()), "goroutines-most")
	b.ReportMetric(float64(after), "goroutines-after")
	if grown.Load() > limit {
		b.Errorf("the gateway took %d bytes, more than its limit of %d", grown.Load(), limit)
	}
	if after > calm && idle > 0 {
		b.Errorf("%d goroutines are left, %d more than before", after, after-calm)
	}
}

// askOrder requests an order, and again after a second, as answers say, for a minute: on a busy machine the index may
// lag, and the nodes know only what it does not have to ask for.
func askOrder(b *testing.B, g command, number uint64) (isAnswered bool) {
	id := onchain.ID(termsOf(number))
	var err error
	for range 60 {
		if _, err = g.get(b.Context(), g.url+"/api/Orders/0x"+fmt.Sprintf("%x", id[:])); err == nil {
			return true
		}
		<-time.After(time.Second)
	}
	b.Error(err)
	return false
}

// chainsAtRest configures the ledgers' chains, without new events, and their tokens.
func chainsAtRest(b *testing.B, orders uint64) string {
	b.Helper()
	var chains strings.Builder
	for _, id := range []chain.ID{giveChain, takeChain} {
		at := httptest.NewServer(newNode(&ledger{id: id, orders: orders}))
		b.Cleanup(at.Close)
		fmt.Fprintf(&chains, "  - {id: %d, endpoints: [{url: %q}]}\n", id, at.URL)
	}
	return "chains:\n" + chains.String() + ownTokens()
}

// ownTokens configures the tokens of the ledgers' orders.
func ownTokens() string {
	var tokens strings.Builder
	for number := range uint64(5) {
		for _, offer := range []order.Offer{termsOf(number).Give, termsOf(number).Take} {
			fmt.Fprintf(&tokens, "    - {chain: %d, address: %q, name: %q, symbol: %q, decimals: %d}\n",
				offer.Chain, offer.Token, plainToken.Name, plainToken.Symbol, plainToken.Decimals)
		}
	}
	return "tokens:\n  own:\n" + tokens.String()
}

// within runs a command in a control group with bounded memory, or with GOMEMLIMIT if none can be created.
func within(b *testing.B, limit int) func(*exec.Cmd) {
	b.Helper()
	group, err := controlGroup(b, limit)
	if err != nil {
		b.Logf("no control group can be made (%v): the limit is GOMEMLIMIT", err)
		return func(c *exec.Cmd) { c.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(limit/10*9)) }
	}
	return func(c *exec.Cmd) {
		c.Args = append([]string{"sh", "-c", `echo $$ > "$0/tasks" && exec "$@"`, group}, c.Args...)
		c.Path = "/bin/sh"
	}
}

// controlGroup creates a control group with bounded memory until the benchmark ends.
func controlGroup(b *testing.B, limit int) (directory string, err error) {
	b.Helper()
	directory = fmt.Sprintf("/sys/fs/cgroup/memory/crossgate-%d", os.Getpid())
	if err := os.Mkdir(directory, 0o755); err != nil {
		return "", err
	}
	b.Cleanup(func() { _ = os.Remove(directory) })
	return directory, os.WriteFile(filepath.Join(directory, "memory.limit_in_bytes"), []byte(strconv.Itoa(limit)), 0)
}

// anonymous returns the gateway's own memory in bytes, without the pages of files that it reads.
func (g command) anonymous(b *testing.B) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.pid))
	if err != nil {
		b.Error(err)
	}
	_, after, found := strings.Cut(string(status), "RssAnon:")
	if !found {
		b.Error(errors.New("the status of a process has no RssAnon"))
		return 0
	}
	return number(b, strings.Fields(after)[0]) << 10
}

func storeMax(most *atomic.Int64, value int64) {
	for known := most.Load(); value > known && !most.CompareAndSwap(known, value); known = most.Load() {
	}
}
