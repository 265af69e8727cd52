package stories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// worldJSON is GET /sandbox/world, with the members that the tests need.
type worldJSON struct {
	Chains []struct {
		ID, EVMChainID                                       uint64
		Family, RPC, EVMRPC                                  string
		DlnSource, DlnDestination, Gate, ExternalCallAdapter string
		Coin                                                 struct{ Decimals int }
	}
	Orders []struct {
		ChainID, TakeChainID                  uint64
		CreationTxHash, OrderID, State, Title string
	}
	OtherTransactions []struct{ TransactionHash, Title string }
	Takers            []struct{ Address, PrivateKey string }
	Tokens            []struct {
		ChainID         uint64
		Address, Symbol string
	}
	Venues   []struct{ Name string }
	Accounts []struct{ Address, PrivateKey, Wallet string } // the wallet is on Solana
	Actors   []struct{ Name, Address, Wallet string }
}

// front is a gateway in front of a sandbox.
type front struct {
	url   string
	world *sandbox.World
}

// facts returns the current world.
func (f front) facts(t testing.TB) worldJSON { t.Helper(); return factsOf(t, f.world) }

func factsOf(t testing.TB, world *sandbox.World) (seen worldJSON) {
	t.Helper()
	get(t, world.URL()+"/sandbox/world", &seen)
	return seen
}

// token returns the address of a token by symbol.
func (w worldJSON) token(t testing.TB, id uint64, symbol string) string {
	t.Helper()
	for _, each := range w.Tokens {
		if each.ChainID == id && each.Symbol == symbol {
			return each.Address
		}
	}
	t.Fatalf("no %s on chain %d", symbol, id)
	return ""
}

// configOf returns the configuration of a gateway that knows a world, with an order index of its own.
func configOf(t testing.TB, world *sandbox.World) config.Config {
	t.Helper()
	return tested(must.Get(config.Parse(world.Config(filepath.Join(t.TempDir(), "orders.db"))))(t))
}

// oftenAsked is a short interval between two polls of a chain, so that tests do not wait long.
const oftenAsked = 500 * time.Millisecond

// tested adjusts a configuration for a busy machine and polls the chains often.
func tested(c config.Config) config.Config {
	c.Index.Asked = oftenAsked
	c.Swap.Window, c.Swap.Deadline = 10*time.Second, 30*time.Second
	return c
}

// serveSwaps serves only swaps, with a changed configuration, on some chains or on all. It reads no history of orders,
// seldom asks for new ones, and returns the gateway's URL.
func serveSwaps(t testing.TB, world *sandbox.World, change func(*config.Config), on ...chain.ID) (url string) {
	t.Helper()
	c := configOf(t, world)
	c.Index.Lookback, c.Index.Asked = 1, time.Minute
	c.Chains = slices.DeleteFunc(c.Chains, func(c config.Chain) bool { return len(on) > 0 && !slices.Contains(on, c.ID) })
	change(&c)
	_, url = serveConfig(t, c)
	return url
}

// onlyVenues removes all venues except those with these names from a configuration.
func onlyVenues(c *config.Config, names ...string) {
	c.Venues = slices.DeleteFunc(c.Venues, func(v config.Venue) bool { return !slices.Contains(names, v.Name) })
}

// startFront starts a world and a gateway that knows it. Both end with the test.
func startFront(t testing.TB) front {
	t.Helper()
	return inFrontOf(t, sandboxtest.Start(t, sandbox.Options{}))
}

// reading is a gateway that tests share, from the first that needs it until all have ended.
var reading struct {
	once sync.Once
	url  string
	stop func() error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if reading.stop != nil {
		if err := reading.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// readingFront returns the gateway that read-only tests share, in front of the world that they share.
func readingFront(t testing.TB) front {
	t.Helper()
	world := sandboxtest.Shared(t)
	reading.once.Do(func() {
		directory := must.Get(os.MkdirTemp("", "crossgate-stories-"))(t)
		c := must.Get(config.Parse(world.Config(filepath.Join(directory, "orders.db"))))(t)
		c.Index.Asked = oftenAsked
		g, url, stop := run(t, c, slog.New(slog.DiscardHandler))
		reading.stop = func() error { return errors.Join(stop(), os.RemoveAll(directory)) }
		must.Do(t, g.AwaitIndexed(t.Context()))
		reading.url = url
	})
	if reading.url == "" {
		t.Fatal("the gateway that tests share did not start: another test says why")
	}
	return front{reading.url, world}
}

// inFrontOf starts a gateway with further sections of configuration and waits until it is level with a world.
func inFrontOf(t testing.TB, world *sandbox.World, sections ...string) front {
	t.Helper()
	text := string(world.Config(filepath.Join(t.TempDir(), "orders.db"))) + strings.Join(sections, "\n") + "\n"
	g, url := serveGateway(t, []byte(text))
	must.Do(t, g.AwaitIndexed(t.Context()))
	return front{url, world}
}

// patientlyInFrontOf is inFrontOf with time for swaps that take long on a busy machine.
func patientlyInFrontOf(t testing.TB, world *sandbox.World) front {
	t.Helper()
	g, url := serveConfig(t, configOf(t, world))
	must.Do(t, g.AwaitIndexed(t.Context()))
	return front{url, world}
}

// serveGateway runs the gateway of a configuration's text on its own port until the test ends.
func serveGateway(t testing.TB, text []byte) (g *gateway.Gateway, url string) {
	t.Helper()
	c := must.Get(config.Parse(text))(t)
	c.Index.Asked = oftenAsked
	return serveConfig(t, c)
}

// serveConfig is serveGateway for a parsed configuration.
func serveConfig(t testing.TB, c config.Config) (g *gateway.Gateway, url string) {
	t.Helper()
	return serveLogging(t, c, slog.New(slog.DiscardHandler))
}

// serveLogging is serveConfig with a log.
func serveLogging(t testing.TB, c config.Config, log *slog.Logger) (g *gateway.Gateway, url string) {
	t.Helper()
	g, url, stop := run(t, c, log)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return g, url
}

// run runs a gateway until it is stopped.
func run(t testing.TB, c config.Config, log *slog.Logger) (g *gateway.Gateway, url string, stop func() error) {
	t.Helper()
	g = must.Get(gateway.New(context.Background(), c, log))(t)
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, listener) }()
	return g, "http://" + listener.Addr().String(), func() error { cancel(); return <-ended }
}

// ask sends a request, with header lines of the form "Name: value", and returns the response and its body.
func ask(t testing.TB, method, url, sent string, lines ...string) (*http.Response, []byte) {
	t.Helper()
	const patience = 20 // attempts; like clients, it repeats requests that were too late
	for attempt := 1; ; attempt++ {
		request := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(sent)))(t)
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			request.Header.Add(name, value)
		}
		response := must.Get(http.DefaultClient.Do(request))(t)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		must.Do(t, err)
		if attempt == patience || !isLate(response.StatusCode, body) {
			return response, body
		}
	}
}

// isLate reports whether a response says that a busy machine has not read or simulated something in time.
func isLate(status int, body []byte) bool {
	return status == http.StatusServiceUnavailable && bytes.Contains(body, []byte("continues")) ||
		status == http.StatusBadGateway && bytes.Contains(body, []byte("TRANSACTION_NOT_SIMULATED"))
}

// await waits until done returns true, or fails the test after a time that only a very busy machine needs.
func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	const patience = 4 * time.Minute
	for deadline := time.Now().Add(patience); !done(); <-time.After(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not %s", patience, what)
		}
	}
}

// get fetches url and decodes the JSON of a 200 response into out.
func get(t testing.TB, url string, out any) {
	t.Helper()
	response, body := ask(t, http.MethodGet, url, "")
	checkDocumented(t, response, body)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %d: %s", url, response.StatusCode, body)
	}
	decode(t, url, body, out)
}

// decode decodes JSON and keeps the digits of numbers.
func decode(t testing.TB, what string, body []byte, out any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// problemJSON is the body of an error response, with its status and headers.
type problemJSON struct {
	ErrorID string `json:"errorId"`
	Message string `json:"message"`
	ReqID   string `json:"reqId"`

	status int
	header http.Header
}

// problemAt fetches url, which must respond with a problem.
func problemAt(t *testing.T, url string) problemJSON {
	t.Helper()
	response, body := ask(t, http.MethodGet, url, "")
	checkDocumented(t, response, body)
	p := problemJSON{status: response.StatusCode, header: response.Header}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatalf("GET %s = %d: %v", url, response.StatusCode, err)
	}
	return p
}

// documentedRoutes are the routes of the API's document.
var documentedRoutes = sync.OnceValues(func() (routers.Router, error) {
	document, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "proxy", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(document)
})

// checkDocumented validates a response of the gateway against the API's document. It ignores other servers, such as the
// sandbox.
func checkDocumented(t testing.TB, response *http.Response, body []byte) {
	t.Helper()
	request := response.Request
	if path := request.URL.Path; request.Method != http.MethodGet && request.Method != http.MethodPost || !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/v1.0/") {
		return
	}
	known := must.Get(documentedRoutes())(t)
	route, parameters, err := known.FindRoute(request)
	if err != nil {
		return // a spelling that the original tolerates
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route, Options: options},
		Status:                 response.StatusCode, Header: response.Header, Options: options,
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(request.Context(), input); err != nil {
		t.Errorf("GET %s = %d is not as openapi.yaml has it: %.900v", request.URL, response.StatusCode, err)
	}
}
