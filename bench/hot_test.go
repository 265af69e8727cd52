package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/proxy"
)

// serverVariable makes this binary one of hotServers, which tells its address and serves until its input ends:
//
//	go test -c -o hot ./bench && GOMAXPROCS=1 CROSSGATE_BENCH_SERVER=crossgate ./hot
const serverVariable = "CROSSGATE_BENCH_SERVER"

// hotServers all answer hotPath by the same order.
var hotServers = map[string]func(net.Listener) error{
	"crossgate":             crossgateHot,
	"crossgate-on-net-http": crossgateOnNetHTTP,
	"gin-ristretto":         ginHot,
	"net-http":              bareHot,
	"passthrough":           passingHot,
	"shadow":                shadowedHot,
}

func hotPath() string { return "/api/Orders/creationTxHash/" + claimed().Created.At.Tx.String() }

// crossgateHot is the face with everything on: measurements, one of a hundred requests traced, the log.
func crossgateHot(listener net.Listener) error {
	server, err := newHotServer()
	if err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}

// crossgateOnNetHTTP is the same face on connections of net/http.
func crossgateOnNetHTTP(listener net.Listener) error {
	server, err := newHotServer()
	if err != nil {
		return err
	}
	return serveBare(listener, server.Handler())
}

func newHotServer() (*proxy.Server, error) {
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(tracetest.NewNoopExporter())))
	return newOrderServer(func(o *proxy.Options) { o.Tracing.Share = 0.01 })
}

func hotBody() ([]byte, error) {
	server, err := newOrderServer()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, hotPath(), nil))
	return answer.Body.Bytes(), nil
}

// ginHot is the least that one can do with Gin and ristretto.
func ginHot(listener net.Listener) error {
	store, err := ristretto.NewCache(&ristretto.Config[string, []byte]{NumCounters: 1e4, MaxCost: 1 << 20, BufferItems: 64})
	if err != nil {
		return err
	}
	body, err := hotBody()
	if err != nil {
		return err
	}
	store.Set(claimed().Created.At.Tx.String(), body, int64(len(body)))
	store.Wait()
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/api/Orders/creationTxHash/:hash", func(c *gin.Context) {
		kept, found := store.Get(c.Param("hash"))
		if !found {
			c.Status(http.StatusNotFound)
			return
		}
		c.Data(http.StatusOK, "application/json; charset=utf-8", kept)
	})
	return serveBare(listener, engine)
}

func bareHot(listener net.Listener) error {
	body, err := hotBody()
	if err != nil {
		return err
	}
	return serveBare(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
}

func serveBare(listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

func beServer(name string) error {
	serve, known := hotServers[name]
	if !known {
		return fmt.Errorf("no server is called %q", name)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	served := make(chan error, 1)
	go func() { served <- serve(listener) }()
	go func() { served <- untilInputEnds() }()
	return <-served
}

func untilInputEnds() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// mostOfNetHTTP is the share of the processor time of the same gateway on net/http's server that a hit may take through
// proxy/transport, which is not worth its lines otherwise (docs/decisions/0019-connections.md).
const mostOfNetHTTP = 0.6

// BenchmarkHotHit asks every server for the same kept order over kept connections, a batch at a time in turn, each
// server on one processor; those written in Go with the GOGC that the command sets where memory is bounded. The peers
// got it from the gateway, so all send the same bytes but for what they add. The processor time of a request counts.
func BenchmarkHotHit(b *testing.B) {
	const (
		batch       = 2000
		connections = 4
	)
	var contenders []*contender
	for _, name := range []string{"crossgate", "crossgate-on-net-http", "gin-ristretto", "net-http"} {
		process := startProcess(b, serverVariable+"="+name, "GOMAXPROCS=1", "GOGC=400")
		contenders = append(contenders, &contender{name: name, pid: process.pid, address: process.line(b)})
	}
	for _, name := range slices.Sorted(maps.Keys(peers)) {
		if address, pid, installed := peers[name].start(b, contenders[0].address, "taskset", "-c", "0"); installed {
			contenders = append(contenders, &contender{name: name, pid: pid, address: address})
		}
	}
	for _, c := range contenders {
		askHot(b, c.address, hotPath(), connections, batch/connections) // the first requests make the answer
	}
	for b.Loop() {
		for _, c := range contenders {
			before, began := c.spent(b), time.Now()
			askHot(b, c.address, hotPath(), connections, batch/connections)
			c.wall += time.Since(began)
			c.cpu += c.spent(b) - before
		}
	}
	requests := float64(b.N * batch)
	for _, c := range contenders {
		b.ReportMetric(float64(c.cpu.Microseconds())/requests, c.name+"-cpu-µs/req")
		b.ReportMetric(requests/c.wall.Seconds(), c.name+"-req/s")
		if c != contenders[0] {
			b.ReportMetric(float64(contenders[0].cpu)/float64(c.cpu), "cpu-of-"+c.name)
			b.ReportMetric(float64(c.wall)/float64(contenders[0].wall), "rate-of-"+c.name)
		}
	}
	b.ReportMetric(0, "ns/op")
	const enough = 10 // batches: the clock of a process counts in ticks
	if share := float64(contenders[0].cpu) / float64(contenders[1].cpu); b.N >= enough && share > mostOfNetHTTP {
		b.Errorf("a hit takes %.2f of what it takes on net/http's server, want at most %.2f", share, mostOfNetHTTP)
	}
}

type contender struct {
	name    string
	pid     int
	address string
	cpu     time.Duration
	wall    time.Duration
}

func (c *contender) spent(b *testing.B) time.Duration {
	b.Helper()
	used, err := processorTimeOf(c.pid)
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// askHot sends count requests over each of so many connections.
func askHot(b *testing.B, address, path string, connections, count int) {
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nAccept: */*\r\n\r\n")
	var clients sync.WaitGroup
	for range connections {
		clients.Go(func() {
			if err := repeat(b.Context(), address, request, count); err != nil {
				b.Error(err)
			}
		})
	}
	clients.Wait()
}

// repeat sends a request again and again over one connection.
func repeat(ctx context.Context, address string, request []byte, count int) error {
	client, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer client.Close()
	for range count {
		if err := client.ask(request); err != nil {
			return err
		}
	}
	return nil
}
