package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
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
)

// serverVariable makes this binary one of hotServers, which tells its address and serves until its input ends:
//
//	go test -c -o hot ./bench && GOMAXPROCS=1 CROSSGATE_BENCH_SERVER=crossgate ./hot
const serverVariable = "CROSSGATE_BENCH_SERVER"

// hotServers all answer hotPath by the same order.
var hotServers = map[string]func() (http.Handler, error){
	"crossgate":     crossgateHot,
	"gin-ristretto": func() (http.Handler, error) { return ginHot(hotBody()) },
	"net-http":      func() (http.Handler, error) { return bareHot(hotBody()) },
}

func hotPath() string { return "/api/Orders/creationTxHash/" + claimed().Created.At.Tx.String() }

// crossgateHot is the face with everything on: measurements, one of a hundred requests traced, the log.
func crossgateHot() (http.Handler, error) {
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(tracetest.NewNoopExporter())))
	server, err := newOrderServer(func() bool { return rand.Float64() < 0.01 })
	if err != nil {
		return nil, err
	}
	return server.Handler(), nil
}

func hotBody() []byte {
	handler, err := crossgateHot()
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, hotPath(), nil))
	return answer.Body.Bytes()
}

// ginHot is the least that one can do with Gin and ristretto.
func ginHot(body []byte) (http.Handler, error) {
	store, err := ristretto.NewCache(&ristretto.Config[string, []byte]{NumCounters: 1e4, MaxCost: 1 << 20, BufferItems: 64})
	if err != nil {
		return nil, err
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
	return engine, nil
}

func bareHot(body []byte) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}), nil
}

func beServer(name string) error {
	build, known := hotServers[name]
	if !known {
		return fmt.Errorf("no server is called %q", name)
	}
	handler, err := build()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	fmt.Println(listener.Addr())
	if err := tellSpent(); err != nil {
		return err
	}
	return server.Close()
}

// BenchmarkHotHit asks every server for the same kept order over kept connections, a batch at a time in turn, each
// server on one processor. What counts is the processor time that a server spends on a request.
func BenchmarkHotHit(b *testing.B) {
	const (
		batch       = 2000
		connections = 4
	)
	type contender struct {
		name    string
		process *outside
		address string
		cpu     time.Duration
		wall    time.Duration
	}
	var contenders []*contender
	for _, name := range []string{"crossgate", "gin-ristretto", "net-http"} {
		process := startProcess(b, serverVariable+"="+name, "GOMAXPROCS=1")
		contenders = append(contenders, &contender{name: name, process: process, address: process.line(b)})
	}
	for _, c := range contenders {
		askHot(b, c.address, connections, batch/connections) // the first requests make the answer
	}
	for b.Loop() {
		for _, c := range contenders {
			before, began := c.process.spent(b), time.Now()
			askHot(b, c.address, connections, batch/connections)
			c.wall += time.Since(began)
			c.cpu += c.process.spent(b) - before
		}
	}
	requests := float64(b.N * batch)
	for _, c := range contenders {
		b.ReportMetric(float64(c.cpu.Microseconds())/requests, c.name+"-cpu-µs/req")
		b.ReportMetric(requests/c.wall.Seconds(), c.name+"-req/s")
	}
	b.ReportMetric(float64(contenders[0].cpu)/float64(contenders[1].cpu), "cpu-of-gin")
	b.ReportMetric(0, "ns/op")
}

// askHot sends count requests over each of so many connections.
func askHot(b *testing.B, address string, connections, count int) {
	request := []byte("GET " + hotPath() + " HTTP/1.1\r\nHost: " + address + "\r\nAccept: */*\r\n\r\n")
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

// repeat sends a request again and again over one connection, and reads every answer whole.
func repeat(ctx context.Context, address string, request []byte, count int) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	reader := bufio.NewReaderSize(connection, 64<<10)
	for range count {
		if _, err := connection.Write(request); err != nil {
			return err
		}
		if err := readAnswer(reader); err != nil {
			return err
		}
	}
	return nil
}

// readAnswer reads a 200 with a Content-Length. It costs less than a client of net/http, which would compete with
// the server for the machine.
func readAnswer(reader *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("answer %q", line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 1024 {
		return fmt.Errorf("answer of %d bytes", length)
	}
	_, err := reader.Discard(length)
	return err
}
