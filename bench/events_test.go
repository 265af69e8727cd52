package bench

import (
	"bufio"
	"context"
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

// TestSubscribers is such a process. It reads how many events to wait for, and then prints their delays in microseconds:
// the 50th and 99th of a hundred, and the longest.
func TestSubscribers(t *testing.T) {
	address := os.Getenv(subscribersAt)
	if address == "" {
		t.Skip("it is a part of BenchmarkEvents")
	}
	all, wanted := make(chan int64, 1<<16), make(chan int)
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
					all <- time.Now().UnixMicro() - id
				}
			}
		})
	}
	fmt.Println("subscribed")
	go func() {
		var count int
		_, _ = fmt.Scan(&count) // of events; 0 if the benchmark has ended
		wanted <- count
	}()
	var delays []int64
	for want := -1; want < 0 || len(delays) < want; {
		select {
		case delay := <-all:
			delays = append(delays, delay)
		case want = <-wanted:
		}
	}
	slices.Sort(delays)
	if len(delays) > 0 {
		fmt.Println("heard", delays[len(delays)/2], delays[len(delays)*99/100], delays[len(delays)-1])
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, each := range connections {
		each.Close()
	}
	reading.Wait()
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
// events a second are written to SQLite, for ten seconds, or one with -short. It reports their delays, the memory per subscriber, and the effect on lookups.
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
	span := time.Duration(size(10, 1)) * time.Second
	lookups(span / 10)
	alone, before, goroutines := lookups(span/3), inUse(), runtime.NumGoroutine()
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
		asked.Go(func() { beside = lookups(span) })
		tick := time.NewTicker(time.Second / (perSecond / each))
		for begun := time.Now(); time.Since(begun) < span; written += each {
			<-tick.C
			write(b, log, written, each)
			f.Look()
		}
		tick.Stop()
		asked.Wait()
	}
	must.Get(fmt.Fprintln(input, written*subscribers/makers))(b)
	var usual, most, longest int64
	for longest == 0 && lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "heard %d %d %d", &usual, &most, &longest)
	}
	loaded := float64(inUse())
	must.Do(b, input.Close())
	must.Do(b, child.Wait())
	for runtime.NumGoroutine() > goroutines+10 {
		time.Sleep(10 * time.Millisecond)
	}
	loaded = (loaded - float64(inUse())) / subscribers // without the feed's own buffers
	b.ReportMetric(float64(usual)/1000, "p50-ms")
	b.ReportMetric(float64(most)/1000, "p99-ms")
	b.ReportMetric(float64(longest)/1000, "longest-ms")
	b.ReportMetric(float64(written)/(span.Seconds()*float64(b.N)), "events/s")
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
