package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/feed"
	orderlog "crossgate/order/ledger"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/store"
)

// Subscribers of BenchmarkEvents, each to the orders of one maker.
const (
	subscribers = 1000
	makers      = 500
)

func makerText(n int) string { return fmt.Sprintf("0x%040x", 0xfeed0000+n%makers) }

// subscribersAt, an environment variable, makes the test binary a process of subscribers at that address.
const subscribersAt = "CROSSGATE_SUBSCRIBERS"

// heard is what such a process prints when its input ends.
type heard struct {
	Events  int
	Delays  []int64 // microseconds: 50th, 99th, and longest
	Missing string
}

// TestSubscribers is such a process.
func TestSubscribers(t *testing.T) {
	address := os.Getenv(subscribersAt)
	if address == "" {
		t.Skip("it is a part of BenchmarkEvents")
	}
	var mu sync.Mutex
	var delays []int64
	connections := make([]net.Conn, subscribers)
	var reading sync.WaitGroup
	for i := range connections {
		connections[i] = must.Get(net.Dial("tcp", address))(t)
		_, err := fmt.Fprintf(connections[i], "GET /v1.0/events?maker=%s HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n", makerText(i))
		must.Do(t, err)
		reader := bufio.NewReaderSize(connections[i], 8<<10)
		if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
			t.Fatalf("subscriber %d: %s %v", i, line, err)
		}
		reading.Go(func() {
			var id int64
			for {
				line, err := reader.ReadString('\n')
				if err != nil {
					return
				}
				if text, is := strings.CutPrefix(line, "id: "); is {
					id, _ = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				}
				if strings.HasPrefix(line, "event: ") {
					mu.Lock()
					delays = append(delays, time.Now().UnixMicro()-id)
					mu.Unlock()
				}
			}
		})
	}
	fmt.Println("subscribed")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, each := range connections {
		each.Close()
	}
	reading.Wait()
	slices.Sort(delays)
	said := heard{Events: len(delays)}
	if len(delays) > 0 {
		said.Delays = []int64{delays[len(delays)/2], delays[len(delays)*99/100], delays[len(delays)-1]}
	}
	text := must.Get(json.Marshal(said))(t)
	fmt.Printf("heard %s\n", text)
}

// inUse returns the memory of this process in use, stacks included, in bytes. Each collection halves stacks that are
// too large.
func inUse() uint64 {
	for range 4 {
		runtime.GC()
	}
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

// BenchmarkEvents lets a thousand subscribers in another process follow one maker's orders each, while two thousand
// events a second are written to SQLite. It reports their delays, the memory per subscriber, and the effect on lookups.
func BenchmarkEvents(b *testing.B) {
	const perSecond, each = 2000, 100
	db := must.Get(store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "orders.db")))(b)
	defer db.Close()
	log := orderlog.Ledger{DB: db, Keep: 48 * time.Hour}
	f := feed.New(db, log.Keep, orders.EncodeEntry(chain.Documented()))
	server := must.Get(newServerWith(f, func(o *proxy.Options) { o.Streams, o.StreamsPerAddress = 2*subscribers, 2*subscribers }))(b)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx, listener) })
	defer running.Wait()
	defer stop()
	address := listener.Addr().String()
	asking := must.Get(dial(b.Context(), address))(b)
	defer asking.Close()
	request := []byte("GET " + hotPath() + " HTTP/1.1\r\nHost: bench\r\n\r\n")
	lookups := func(d time.Duration) (median float64) { // in seconds, at a hundred a second
		var took []float64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for begun := time.Now(); time.Since(begun) < d; {
			<-tick.C
			asked := time.Now()
			must.Do(b, asking.ask(request))
			took = append(took, time.Since(asked).Seconds())
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	lookups(time.Second)
	alone, before, goroutines := lookups(3*time.Second), inUse(), runtime.NumGoroutine()
	child := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestSubscribers$")
	child.Env = append(os.Environ(), subscribersAt+"="+address)
	child.Stderr = os.Stderr
	input, output := must.Get(child.StdinPipe())(b), must.Get(child.StdoutPipe())(b)
	must.Do(b, child.Start())
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "subscribed" {
	}
	memory := float64(inUse()-before) / subscribers
	if path := os.Getenv("CROSSGATE_HEAP"); path != "" {
		out := must.Get(os.Create(path))(b)
		must.Do(b, pprof.WriteHeapProfile(out))
		must.Do(b, out.Close())
	}
	var written int
	var beside float64
	for b.Loop() {
		var asked sync.WaitGroup
		asked.Go(func() { beside = lookups(10 * time.Second) })
		tick := time.NewTicker(time.Second / (perSecond / each))
		for begun := time.Now(); time.Since(begun) < 10*time.Second; written += each {
			<-tick.C
			write(b, log, written, each)
			f.Look()
		}
		tick.Stop()
		asked.Wait()
	}
	time.Sleep(time.Second) // the last of them are on their way
	loaded := float64(inUse())
	must.Do(b, input.Close())
	var said heard
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "heard "); is {
			must.Do(b, json.Unmarshal([]byte(text), &said))
		}
	}
	must.Do(b, child.Wait())
	for runtime.NumGoroutine() > goroutines+10 {
		time.Sleep(10 * time.Millisecond)
	}
	loaded = (loaded - float64(inUse())) / subscribers // without the feed's own buffers
	if want := written * subscribers / makers; said.Events != want {
		b.Errorf("%d events were heard, want %d", said.Events, want)
	}
	if len(said.Delays) == 3 {
		b.ReportMetric(float64(said.Delays[0])/1000, "p50-ms")
		b.ReportMetric(float64(said.Delays[1])/1000, "p99-ms")
		b.ReportMetric(float64(said.Delays[2])/1000, "longest-ms")
	}
	b.ReportMetric(float64(written)/(10*float64(b.N)), "events/s")
	b.ReportMetric(memory, "B/subscriber")
	b.ReportMetric(loaded, "B/subscriber-after")
	b.ReportMetric(beside/alone, "lookup-ratio")
	b.ReportMetric(alone*1e6, "µs/lookup-alone")
}

// write stores the creations of some orders.
func write(b *testing.B, log orderlog.Ledger, from, count int) {
	b.Helper()
	must.Get(log.Write(b.Context(), store.Lease{}, func(tx *orderlog.Tx) error {
		for n := from; n < from+count; n++ {
			maker, _, err := chain.ParseAnyAddress(makerText(n))
			if err != nil {
				return err
			}
			id := order.ID(spread(uint64(n))) // random like real ones, because positions in lists depend on them
			tx.Add(order.Event{Order: id, At: order.At{
				Chain: 1, Block: uint64(from), BlockHash: chain.Hash{1}, LogIndex: uint(n), Tx: chain.NewTxHash(id[:]), Time: uint64(time.Now().Unix()),
			}, Fact: order.Created{Terms: order.Terms{
				Nonce: uint64(n), Maker: maker, Receiver: maker,
				Give: order.Offer{Chain: 1, Token: maker, Amount: chain.NewAmount(uint64(n))}, Take: order.Offer{Chain: 137, Token: maker, Amount: chain.NewAmount(uint64(n))},
			}}})
		}
		return nil
	}))(b)
}
