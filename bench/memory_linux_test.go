package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	"crossgate/order"
	"crossgate/order/onchain"
)

// BenchmarkMemory asks a gateway, the command itself in a control group of its own, for a million different orders
// at an even pace for as long as CROSSGATE_SOAK says, and looks at its memory and goroutines. It needs a control group
// that it may make (version 1, as root); elsewhere the gateway gets the limit by GOMEMLIMIT.
func BenchmarkMemory(b *testing.B) {
	const (
		orders      = 1_000_000
		limit       = 512 << 20
		cacheBytes  = 256 << 20
		connections = 8
	)
	span, err := time.ParseDuration(os.Getenv("CROSSGATE_SOAK"))
	if err != nil {
		b.Skip("CROSSGATE_SOAK says no time, 10m for instance: make soak does")
	}
	path := storeOf(b, orders)
	_, store := fill(b, path, ledgers(orders))
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	g := startLimited(b, path, orders, limit, cacheBytes)
	for warm := range 2 * connections {
		g.ask(b, warm)
	}
	calm := g.goroutines(b)
	var next, grown, most atomic.Int64
	var clients sync.WaitGroup
	begun := time.Now()
	for range connections {
		clients.Go(func() {
			for number := next.Add(1); number < orders; number = next.Add(1) {
				if ahead := time.Duration(number)*span/orders - time.Since(begun); ahead > 0 {
					<-time.After(ahead)
				}
				g.ask(b, int(number))
				if number%10_000 == 0 {
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
	for deadline := time.Now().Add(time.Minute); after > calm && time.Now().Before(deadline); after = g.goroutines(b) {
		<-time.After(time.Second)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(orders)/took.Seconds(), "req/s")
	b.ReportMetric(float64(grown.Load())/(1<<20), "MiB-most")
	b.ReportMetric(limit/(1<<20), "MiB-limit")
	b.ReportMetric(float64(calm), "goroutines-before")
	b.ReportMetric(float64(most.Load()), "goroutines-most")
	b.ReportMetric(float64(after), "goroutines-after")
	if grown.Load() > limit {
		b.Errorf("the gateway took %d bytes, more than its limit of %d", grown.Load(), limit)
	}
	if after > calm {
		b.Errorf("%d goroutines are left, %d more than before", after, after-calm)
	}
}

func storeMax(most *atomic.Int64, value int64) {
	for known := most.Load(); value > known && !most.CompareAndSwap(known, value); known = most.Load() {
	}
}

// limited is a gateway with bounded memory.
type limited struct {
	pid        int
	url, admin string
}

func startLimited(b *testing.B, store string, orders uint64, limit, cacheBytes int) limited {
	b.Helper()
	directory := b.TempDir()
	program := filepath.Join(directory, "crossgate")
	if out, err := exec.Command("go", "build", "-o", program, "crossgate/cmd/crossgate").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	g := limited{url: "http://" + freeAddress(b), admin: "http://" + freeAddress(b)}
	file := filepath.Join(directory, "crossgate.yaml")
	if err := os.WriteFile(file, g.config(b, store, orders, cacheBytes), 0o600); err != nil {
		b.Fatal(err)
	}
	command := exec.Command(program, "serve", "--config", file)
	if group, err := controlGroup(b, limit); err == nil {
		command = exec.Command("sh", "-c", `echo $$ > "$0/tasks" && exec "$@"`, group, program, "serve", "--config", file)
	} else {
		b.Logf("no control group can be made (%v): the limit is GOMEMLIMIT", err)
		command.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(limit/10*9))
	}
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	g.pid = command.Process.Pid
	b.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil || b.Failed() {
			b.Errorf("the gateway ended: %v\n%s", err, said.String())
		}
	})
	awaitListener(b, strings.TrimPrefix(g.url, "http://"))
	awaitListener(b, strings.TrimPrefix(g.admin, "http://"))
	return g
}

// config has the gateway know the ledgers' tokens, and chains with nothing new.
func (g limited) config(b *testing.B, store string, orders uint64, cacheBytes int) []byte {
	b.Helper()
	var chains, tokens []byte
	for _, id := range []chain.ID{giveChain, takeChain} {
		at := httptest.NewServer(&node{ledger: &ledger{id: id, orders: orders}, native: nativeIDs[id]})
		b.Cleanup(at.Close)
		chains = fmt.Appendf(chains, "  - {id: %d, endpoints: [{url: %q}]}\n", id, at.URL)
	}
	for number := range uint64(5) {
		for _, offer := range []order.Offer{termsOf(number).Give, termsOf(number).Take} {
			tokens = fmt.Appendf(tokens, "    - {chain: %d, address: %q, name: Token, symbol: TKN, decimals: 18}\n", offer.Chain, offer.Token)
		}
	}
	return fmt.Appendf(nil, `
listen: %s
index: {path: %q}
cache: {maxBytes: %dMiB}
chains:
%stokens:
  own:
%stelemetry: {admin: %q}
`, strings.TrimPrefix(g.url, "http://"), store, cacheBytes>>20, chains, tokens, strings.TrimPrefix(g.admin, "http://"))
}

// controlGroup makes one with bounded memory until the benchmark ends.
func controlGroup(b *testing.B, limit int) (directory string, err error) {
	b.Helper()
	directory = fmt.Sprintf("/sys/fs/cgroup/memory/crossgate-%d", os.Getpid())
	if err := os.Mkdir(directory, 0o755); err != nil {
		return "", err
	}
	b.Cleanup(func() { _ = os.Remove(directory) })
	return directory, os.WriteFile(filepath.Join(directory, "memory.limit_in_bytes"), []byte(strconv.Itoa(limit)), 0)
}

// ask asks for one of the orders.
func (g limited) ask(b *testing.B, number int) {
	id := onchain.ID(termsOf(uint64(number)))
	if _, err := g.get(b, g.url+"/api/Orders/0x"+fmt.Sprintf("%x", id[:])); err != nil {
		b.Error(err)
	}
}

func (g limited) get(b *testing.B, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", response.Status, body)
	}
	return body, err
}

// goroutines reads one line of the measurements.
func (g limited) goroutines(b *testing.B) int64 {
	b.Helper()
	text, err := g.get(b, g.admin+"/metrics")
	if err != nil {
		b.Error(err)
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("go_goroutines ")); found {
			return number(b, string(bytes.TrimSpace(value)))
		}
	}
	b.Error("the measurements do not count goroutines")
	return 0
}

// anonymous is the memory that the gateway has of its own, bytes: without the pages of files that it reads.
func (g limited) anonymous(b *testing.B) int64 {
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

func number(b *testing.B, text string) int64 {
	b.Helper()
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		b.Error(err)
	}
	return value
}
