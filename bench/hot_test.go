package bench

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
	"crossgate/proxy"
)

// serverVariable makes this binary one of hotServers, which prints its address and serves until its input ends:
//
//	go test -c -o hot ./bench && GOMAXPROCS=1 CROSSGATE_BENCH_SERVER=crossgate ./hot
const serverVariable = "CROSSGATE_BENCH_SERVER"

// certificateVariable is the file with a certificate and its key, with which hotServers speak TLS.
const certificateVariable = "CROSSGATE_BENCH_CERTIFICATE"

// hotTLS returns nil if hotServers speak plain HTTP.
func hotTLS() (*tls.Config, error) {
	file := os.Getenv(certificateVariable)
	if file == "" {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(file, file)
	return &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2", "http/1.1"}}, err
}

// hotServers all answer hotPath with the same order.
var hotServers = map[string]func(net.Listener) error{
	"crossgate":             crossgateHot,
	"crossgate-on-net-http": crossgateOnNetHTTP,
	"gin-ristretto":         ginHot,
	"net-http":              bareHot,
	"passthrough":           passingHot,
	"shadow":                shadowedHot,
}

func hotPath() string { return "/api/Orders/creationTxHash/" + claimed().Created.At.Tx.String() }

// crossgateHot is the server with everything enabled: metrics, a trace of one request in a hundred, the log.
func crossgateHot(listener net.Listener) error {
	server, err := newHotServer()
	if err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}

// crossgateOnNetHTTP is the same server on net/http's connections.
func crossgateOnNetHTTP(listener net.Listener) error {
	server, err := newHotServer()
	if err != nil {
		return err
	}
	return serveBare(listener, server.Handler())
}

func newHotServer(change ...func(*proxy.Options)) (*proxy.Server, error) {
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(tracetest.NewNoopExporter())))
	secured, err := hotTLS()
	if err != nil {
		return nil, err
	}
	return newOrderServer(append(change, func(o *proxy.Options) { o.Traced, o.TLS = 0.01, secured })...)
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

// ginHot is a minimal server with Gin and ristretto.
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
	secured, err := hotTLS()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, TLSConfig: secured}
	if secured != nil {
		return server.ServeTLS(listener, "", "")
	}
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

// BenchmarkHotHit requests the same cached order from every server over persistent connections, in alternating batches,
// each server on one processor; those in Go with the GOGC that the command sets when memory is bounded. The peers got
// the order from the gateway, so all send the same bytes and their own. The processor time of a request counts.
func BenchmarkHotHit(b *testing.B) {
	ours := []string{"crossgate", "crossgate-on-net-http", "gin-ristretto", "net-http"}
	b.Run("plain", func(b *testing.B) { askInTurn(b, overPlain, hotContenders(b, "", ours...)) })
	if _, err := exec.LookPath("h2load"); err != nil {
		b.Log("h2load is not installed, so hits over TLS are left out (Debian and Ubuntu: apt-get install nghttp2-client)")
		return
	}
	pair := redistest.NewAuthority(b).Issue(b, "127.0.0.1")
	certificate := filepath.Join(b.TempDir(), "both.pem")
	both := slices.Concat(must.Get(os.ReadFile(pair.Certificate))(b), must.Get(os.ReadFile(pair.Key))(b))
	must.Do(b, os.WriteFile(certificate, both, 0o600))
	for name, over := range map[string]load{"tls": overTLS, "h2": overTwo} {
		b.Run(name, func(b *testing.B) { askInTurn(b, over, hotContenders(b, certificate, "crossgate", "net-http")) })
	}
}

// mostOfNetHTTP bounds a hit's processor time through proxy/transport, as a share of that on net/http's server. Above
// it the package is not worth its lines (docs/decisions/0019-connections.md).
const mostOfNetHTTP = 0.6

// BenchmarkTransport fails if a hit takes more processor time than mostOfNetHTTP allows.
func BenchmarkTransport(b *testing.B) {
	own, library := startHot(b, "crossgate", hotPath()), startHot(b, "crossgate-on-net-http", hotPath())
	askInTurn(b, overPlain, []*contender{own, library})
	const enough = 300 * time.Millisecond // the clock of a process counts in ticks
	if share := float64(own.cpu) / float64(library.cpu); own.cpu >= enough && share > mostOfNetHTTP {
		b.Errorf("a hit takes %.2f of what it takes on net/http's server, want at most %.2f", share, mostOfNetHTTP)
	}
}

// hotContenders starts hotServers and all peers, with TLS if a certificate is given.
func hotContenders(b *testing.B, certificate string, ours ...string) (contenders []*contender) {
	b.Helper()
	for _, name := range ours {
		contenders = append(contenders, startHot(b, name, hotPath(), certificateVariable+"="+certificate))
	}
	origin := startHot(b, "crossgate", hotPath())
	all := peers(certificate)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if address, pid, installed := all[name].start(b, origin.address, "taskset", "-c", "0"); installed {
			contenders = append(contenders, &contender{name: name, path: hotPath(), pid: pid, address: address})
		}
	}
	return contenders
}

// BenchmarkPassedThroughHit requests an origin's stored response and a cached order of the same bytes.
func BenchmarkPassedThroughHit(b *testing.B) {
	askInTurn(b, overPlain, []*contender{startHot(b, "crossgate", hotPath()), startHot(b, "passthrough", passedPath)})
}

// BenchmarkShadowedHit requests the same cached order from servers that compare none, one in a hundred, and all of
// their answers with an origin in a separate process. If all are compared, most comparisons are dropped, as intended.
func BenchmarkShadowedHit(b *testing.B) {
	origin := startHot(b, "crossgate", hotPath())
	var contenders []*contender
	for _, share := range []string{"0", "0.01", "1"} {
		c := startHot(b, "shadow", hotPath(), shadowOrigin+"="+origin.address, shadowShare+"="+share)
		c.name = "share-" + share
		contenders = append(contenders, c)
	}
	askInTurn(b, overPlain, contenders)
}

// load is a way to send a batch of requests.
type load struct {
	batch int // requests
	send  func(c *contender, b *testing.B)
}

const plainBatch, plainConnections, securedBatch = 2000, 4, 8000

// Loads over persistent connections: of cheap clients, and of h2load.
var (
	overPlain = load{plainBatch, (*contender).askPlain}
	overTLS   = load{securedBatch, h2load("--h1")}
	overTwo   = load{securedBatch, h2load("-m", "4")}
)

// contender is a server with the time that its answers have taken.
type contender struct {
	name, path, address string
	pid                 int
	cpu, wall           time.Duration
}

// startHot starts one of hotServers in a separate process, on one processor.
func startHot(b *testing.B, name, path string, environment ...string) *contender {
	b.Helper()
	process := startProcess(b, append(environment, serverVariable+"="+name, "GOMAXPROCS=1", "GOGC=400")...)
	return &contender{name: name, path: path, pid: process.pid, address: process.line(b)}
}

// askInTurn sends batches to contenders in turn, and reports the first one's cost relative to each other one's.
func askInTurn(b *testing.B, over load, contenders []*contender) {
	b.Helper()
	for _, c := range contenders {
		c.ask(b, over) // the first requests fill the cache
		c.cpu, c.wall = 0, 0
	}
	for b.Loop() {
		for _, c := range contenders {
			c.ask(b, over)
		}
	}
	requests := float64(b.N * over.batch)
	for _, c := range contenders {
		b.ReportMetric(float64(c.cpu.Microseconds())/requests, c.name+"-cpu-µs/req")
		b.ReportMetric(requests/c.wall.Seconds(), c.name+"-req/s")
		if c != contenders[0] {
			b.ReportMetric(float64(contenders[0].cpu)/float64(c.cpu), "cpu-of-"+c.name)
			b.ReportMetric(float64(c.wall)/float64(contenders[0].wall), "rate-of-"+c.name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// ask sends a batch.
func (c *contender) ask(b *testing.B, over load) {
	b.Helper()
	before, began := c.spent(b), time.Now()
	over.send(c, b)
	c.wall += time.Since(began)
	c.cpu += c.spent(b) - before
}

// askPlain sends requests over several connections concurrently.
func (c *contender) askPlain(b *testing.B) {
	b.Helper()
	request := []byte("GET " + c.path + " HTTP/1.1\r\nHost: " + c.address + "\r\nAccept: */*\r\n\r\n")
	var clients sync.WaitGroup
	for range plainConnections {
		clients.Go(func() {
			if err := repeat(b.Context(), c.address, request, plainBatch/plainConnections); err != nil {
				b.Error(err)
			}
		})
	}
	clients.Wait()
}

// h2load sends requests over TLS on 16 connections.
func h2load(how ...string) func(*contender, *testing.B) {
	return func(c *contender, b *testing.B) {
		b.Helper()
		arguments := append(how, "-c", "16", "-n", strconv.Itoa(securedBatch), "https://"+c.address+c.path)
		said := run(b, ".", "h2load", arguments...)
		if all := fmt.Sprintf("%d 2xx,", securedBatch); !strings.Contains(said, all) {
			b.Errorf("%s: %s", c.name, said)
		}
	}
}

func (c *contender) spent(b *testing.B) time.Duration {
	b.Helper()
	return must.Get(processorTimeOf(c.pid))(b)
}

// repeat sends a request a number of times over one connection.
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
