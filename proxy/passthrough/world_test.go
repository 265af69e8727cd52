package passthrough

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/proxy/transport"
	"crossgate/upstream"
)

// world is an origin, a handler in front of it, and a listener as in the gateway.
type world struct {
	t       *testing.T
	handler *Handler
	url     string
	address string
	asked   atomic.Int64 // requests that reached the origin
}

// pools implement Origins as in the gateway.
type pools map[string]*upstream.Pool

func (p pools) Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error) {
	return p[host].Forward(ctx, f)
}

// open starts a world whose origin answers by origin.
func open(t *testing.T, origin http.HandlerFunc, change ...func(*Host)) *world {
	t.Helper()
	w := &world{t: t}
	endpoint := pooltest.Serve(t, "origin", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		rw.Header().Set("Number", strconv.FormatInt(w.asked.Load(), 10))
		origin(rw, r)
	}), upstream.EndpointOptions{Forwards: true, Timeout: time.Minute})
	host := Host{Name: "o", MaxBody: 64 << 10}
	for _, each := range change {
		each(&host)
	}
	w.handler = must.Get(New(Options{
		Origins: pools{host.Name: upstream.NewPool("o", endpoint)}, MaxBytes: 8 << 20, Logger: slog.New(slog.DiscardHandler),
		Client: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") },
	}))(t)
	t.Cleanup(w.handler.Close)
	w.handler.Configure([]Host{host})
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(w.t)
	front := transport.New(transport.Options{
		Handler: http.HandlerFunc(w.serve), Refuse: func(rw http.ResponseWriter, status int) { rw.WriteHeader(status) },
		ReadLimit: 10 * time.Second, WriteLimit: 10 * time.Second, IdleLimit: time.Minute, BodyBytes: 1 << 10,
		Stream: func(*http.Request) bool { return true }, Logger: slog.New(slog.DiscardHandler),
	})
	served := make(chan error, 1)
	go func() { served <- front.Serve(listener) }()
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(front.Shutdown(ctx), <-served); err != nil {
			w.t.Error(err)
		}
	})
	w.address = listener.Addr().String()
	w.url = "http://" + w.address
	return w
}

// serve answers a request; the statuses of failures differ.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	err := w.handler.Serve(rw, r)
	switch {
	case err == nil:
	case errors.Is(err, ErrRefused), errors.Is(err, ErrNoHost):
		http.Error(rw, err.Error(), http.StatusNotFound)
	case errors.Is(err, ErrNotCached):
		http.Error(rw, err.Error(), http.StatusGatewayTimeout)
	default:
		http.Error(rw, err.Error(), http.StatusBadGateway)
	}
}

// client keeps no connections and follows no redirects.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// answer is a response as a client received it.
type answer struct {
	status int
	header http.Header
	body   string
}

// number returns the number of the origin's response, or 0 if the origin did not answer.
func (a answer) number() int {
	n, _ := strconv.Atoi(a.header.Get("Number"))
	return n
}

// ask sends a request with header lines.
func (w *world) ask(method, path, lines string, body ...string) answer {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if len(body) > 0 {
		r, err = http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body[0]))
	}
	must.Do(w.t, err)
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			r.Header.Add(name, strings.TrimSpace(value))
		}
	}
	response := must.Get(client.Do(r))(w.t)
	defer response.Body.Close()
	return answer{response.StatusCode, response.Header, string(must.Get(io.ReadAll(response.Body))(w.t))}
}

// get is ask for a GET without a header.
func (w *world) get(path string) answer {
	w.t.Helper()
	return w.ask("GET", path, "")
}

// send writes bytes to a new connection and returns it.
func (w *world) send(text string) (net.Conn, *bufio.Reader) {
	w.t.Helper()
	connection := must.Get((&net.Dialer{}).DialContext(w.t.Context(), "tcp", w.address))(w.t)
	w.t.Cleanup(func() { _ = connection.Close() })
	must.Get(io.WriteString(connection, text))(w.t)
	return connection, bufio.NewReader(connection)
}

// cached makes a response storable.
func cached(w http.ResponseWriter, lines string) {
	w.Header().Set("Cache-Control", "max-age=100")
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			w.Header().Set(name, strings.TrimSpace(value))
		}
	}
}
