package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"crossgate/proxy/web"
)

// Dependency is something that the gateway needs, as it is at the moment.
type Dependency struct {
	Kind  string `json:"kind"` // chain, endpoint, store or cache
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	State string `json:"state"` // in words
}

// readiness is what operators read at /readyz.
type readiness struct {
	Status       string       `json:"status"` // ok or unavailable
	Reason       string       `json:"reason,omitempty"`
	Dependencies []Dependency `json:"dependencies"`
}

// Admin answers operators, on a listener that the outside does not reach: measurements, health with the state of
// every dependency as JSON and as a page, profiles. Whoever reaches it may read; to change something takes the token.
func (s *Server) Admin(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, alive()) })
	mux.HandleFunc("GET /readyz", s.tellReadiness)
	mux.HandleFunc("GET /{$}", s.operatorsPage)
	mux.HandleFunc("GET /assets/{file}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, web.Assets(), r.PathValue("file"))
	})
	mux.Handle("POST /purge", s.guarded(s.purge))
	s.mountEndpoints(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// tellReadiness says the same as the public /readyz, and why. A dependency that is not well does not make the
// gateway unready: others may answer in its place, and all replicas share it.
func (s *Server) tellReadiness(w http.ResponseWriter, r *http.Request) {
	status, said := http.StatusOK, readiness{Status: "ok", Dependencies: []Dependency{}}
	if err := s.ready(); err != nil {
		status, said.Status, said.Reason = http.StatusServiceUnavailable, "unavailable", err.Error()
	}
	if s.options.Dependencies != nil {
		said.Dependencies = s.options.Dependencies(r.Context())
	}
	writeJSON(w, status, said)
}

// operatorsPage shows how everything is that the gateway needs.
func (s *Server) operatorsPage(w http.ResponseWriter, r *http.Request) {
	shown := web.Operators{Cache: web.CacheCounts(s.answers.Stats()), Now: time.Now()}
	if err := s.ready(); err != nil {
		shown.Unready = err.Error()
	}
	if s.options.Condition != nil {
		shown.Condition = s.options.Condition(r.Context())
	}
	var page bytes.Buffer
	if err := s.pages.Operators(&page, shown); err != nil {
		s.log.ErrorContext(r.Context(), "page of operators", "error", err)
		http.Error(w, "the page cannot be written: see the log", http.StatusInternalServerError)
		return
	}
	sendPage(w, http.StatusOK, page.Bytes())
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	header := w.Header()
	header["Content-Type"], header["Cache-Control"] = jsonType, noStore
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // who does not wait for it does not get it
}

// RunAdmin serves Admin on listener until ctx ends. Profiles that are being taken then are cut off.
func (s *Server) RunAdmin(ctx context.Context, listener net.Listener, metrics http.Handler) error {
	const longest = 2 * time.Minute // of a profile
	server := &http.Server{
		Handler: s.Admin(metrics), ReadTimeout: readLimit,
		WriteTimeout: longest, IdleTimeout: idleLimit,
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- server.Close() })
	err := server.Serve(listener)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve operators: %w", err)
	}
	return <-closed
}
