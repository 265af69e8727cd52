// Package admin serves the admin listener: metrics, readiness with the state of every dependency, a status page,
// profiles, and the commands that change something.
//
//	GET  /metrics, /healthz, /readyz, /, /assets/*, /debug/pprof/*      no token needed
//	POST /purge                                                         drop cached answers
//	POST /endpoints/{of}/{name}/{command}                               cordon or uncordon an endpoint
//	POST /token                                                         nothing; to see whether the token is right
//
// A POST needs the operators' token, as a bearer token or as the field "token" of a form's body; without a configured
// token nothing can be changed. It is rejected if sent from a page of another origin, as is any request under a host
// name that an outsider may have pointed here. Programs are answered in JSON, browsers with the status page. The
// effects of commands last until the process ends.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
	"crossgate/upstream"
)

// Server is the public server whose state operators see and whose cached answers they purge.
type Server interface {
	// Ready returns why requests should be sent elsewhere, nil if they are accepted.
	Ready() error
	// Purge purges the cached answers about any of the orders and chains.
	Purge(how cache.Purge, orders []order.ID, chains []chain.ID)
	// PurgeHosts purges stored responses of pass-through hosts: those of paths, with any query, or all if paths is
	// empty. If a host is not configured, it fails and purges nothing.
	PurgeHosts(how cache.Purge, hosts, paths []string) error
	// Served returns counts of requests, cache lookups and comparisons since the start.
	Served() web.Served
}

// Gateway is everything that the public server depends on.
type Gateway interface {
	// Dependencies returns the state of everything that the gateway needs.
	Dependencies(context.Context) []Dependency
	// Condition returns the same in numbers, for the status page.
	Condition(context.Context) web.Condition
	// Pulse returns the sampled part of the condition, without any requests.
	Pulse() Pulse
	// Endpoint returns the endpoint called name of a chain (by id), a venue or a price service, nil if there is none.
	Endpoint(of, name string) *upstream.Endpoint
}

// Dependency is the current state of something that the gateway needs.
type Dependency struct {
	Kind  string `json:"kind"` // chain, endpoint, store, cache or token list
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	State string `json:"state"` // in words
}

// Pulse says how far the chains are indexed and how endpoints are called.
type Pulse struct {
	Lag      time.Duration // the longest of any chain; negative if none is known
	Calls    float64       // of endpoints, per second
	Unusable int           // endpoints that get no calls
}

// Options configures the listener. All fields but Webhooks, Token and Listen are required.
type Options struct {
	Server  Server
	Gateway Gateway
	Pages   *web.Pages
	Metrics http.Handler
	// Webhooks mounts the operators' paths of webhooks, with commands behind guard. done answers commands from the
	// status page. Nil means no webhooks.
	Webhooks func(
		mux *http.ServeMux, guard func(http.HandlerFunc) http.Handler, done func(w http.ResponseWriter, r *http.Request, command string, body any),
	)
	Token  string // for the commands, which are all rejected if it is empty
	Listen string // host:port of the listener, as configured
	Logger *slog.Logger
}

type admin struct {
	Options
	history history
}

// Handler returns a handler for operators' requests, without a history.
func Handler(o Options) http.Handler { return (&admin{Options: o}).handler() }

func (a *admin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", a.readiness)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		a.statusPage(w, r, http.StatusOK, web.Notice{Text: commandsDone[r.URL.Query().Get("done")]})
	})
	mux.HandleFunc("GET /assets/{file}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, web.Assets(), r.PathValue("file"))
	})
	mux.Handle("POST /token", a.guarded(func(w http.ResponseWriter, r *http.Request) {
		succeed(w, r, "token", map[string]string{"token": "right"})
	}))
	mux.Handle("POST /purge", a.guarded(a.purge))
	if a.Webhooks != nil {
		a.Webhooks(mux, a.guarded, succeed)
	}
	for command, run := range endpointCommands {
		mux.Handle("POST /endpoints/{of}/{name}/"+command, a.guarded(a.commandEndpoint(command, run)))
	}
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return a.ownHosts(mux)
}

// Run serves operators on listener until ctx ends, and records the history that the status page shows. Profiles in
// progress at the end are cut off.
func Run(ctx context.Context, listener net.Listener, o Options) error {
	const longestProfile = 2 * time.Minute
	a := &admin{Options: o}
	ctx, end := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for order.Wait(ctx, sampledEvery, nil) {
			a.history.add(a.Server.Served().Cache, a.Gateway.Pulse())
		}
	})
	defer watching.Wait()
	defer end()
	server := &http.Server{
		Handler: a.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: longestProfile, IdleTimeout: time.Minute,
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- server.Close() })
	err := server.Serve(listener)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve admin listener: %w", err)
	}
	return <-closed
}

type readiness struct {
	Status       string       `json:"status"` // ok or unavailable
	Reason       string       `json:"reason,omitempty"`
	Dependencies []Dependency `json:"dependencies"`
}

// readiness answers as the public /readyz does, and says why. A failing dependency does not make the gateway unready,
// since all replicas share it, unless others can still use it.
func (a *admin) readiness(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, readiness{Status: "ok", Dependencies: a.Gateway.Dependencies(r.Context())}
	if err := a.Server.Ready(); err != nil {
		status, body.Status, body.Reason = http.StatusServiceUnavailable, "unavailable", err.Error()
	}
	writeJSON(w, status, body)
}

// statusPage shows the condition of everything that the gateway needs, and the result of a command.
func (a *admin) statusPage(w http.ResponseWriter, r *http.Request, status int, notice web.Notice) {
	shown := web.Operators{
		Condition: a.Gateway.Condition(r.Context()), Served: a.Server.Served(),
		TakesCommands: a.Token != "", Notice: notice, Now: time.Now(), History: a.history.lines(),
	}
	if err := a.Server.Ready(); err != nil {
		shown.Unready = err.Error()
	}
	var page bytes.Buffer
	if err := a.Pages.Operators(&page, shown); err != nil {
		a.Logger.ErrorContext(r.Context(), "status page not rendered", "error", err)
		http.Error(w, "status page not rendered; see the log", http.StatusInternalServerError)
		return
	}
	web.Send(w, status, page.Bytes())
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has left
}

// ownHosts passes on requests whose Host no outsider can have pointed here (DNS rebinding): otherwise a page in an
// operator's browser could read everything under a name of its own. A token proves as much, and so does TLS.
func (a *admin) ownHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, _ := bearer(r); r.TLS != nil || a.isOwn(r.Host) || a.isToken(token) {
			next.ServeHTTP(w, r)
			return
		}
		writeJSON(w, http.StatusMisdirectedRequest, map[string]string{
			"error": "Host is a public name that is not this listener's: use its IP address, the name in telemetry.admin, " +
				"a name of the private network, or send telemetry.token as a bearer token",
		})
	})
}

// isOwn reports whether a Host is an address, the listener's or the machine's name, or a name outside the public DNS.
func (a *admin) isOwn(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") {
		return true
	}
	listener, _, _ := net.SplitHostPort(a.Listen)
	machine, _ := os.Hostname()
	return strings.EqualFold(name, listener) || strings.EqualFold(name, machine) || !isPublic(name)
}

// isPublic reports whether a name with a dot is, or may be, in the public DNS.
func isPublic(name string) bool {
	switch suffix, isListed := publicsuffix.PublicSuffix(name); suffix {
	case "example", "invalid", "test": // reserved, but not for private networks (RFC 6761)
		return true
	default:
		return isListed || strings.Contains(suffix, ".")
	}
}
