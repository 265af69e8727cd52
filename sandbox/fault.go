package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"crossgate/sandbox/balancer"
	"crossgate/sandbox/venues"
)

// Kinds of fault.
const (
	Slow    = "slow"    // answers late
	Down    = "down"    // breaks the connection
	Wrong   = "wrong"   // answers 200 with a wrong body; see Fault.As
	Limited = "limited" // refuses with 429 and a time to wait
	// Unreliable has nodes that lag or lack entries answer each call, even within a batch; chains only.
	Unreliable = "unreliable"
	NoFault    = "none" // ends a fault
)

// How a wrong endpoint answers.
const (
	AsHTML    = "html"    // with an error page
	AsGarbage = "garbage" // with truncated JSON
	AsChain   = "chain"   // like an endpoint of another chain; chains only
)

// Fault is how an endpoint misbehaves.
type Fault struct {
	Kind  string        // Slow, Down, Wrong, Limited, Unreliable or NoFault
	Delay time.Duration // of Slow; default 5 s
	As    string        // of Wrong; default AsHTML
	// RetryAfter is the pause that Limited requests, in whole seconds; default 1 s.
	RetryAfter time.Duration
	// Requests is how many requests the fault affects before it ends by itself. Zero: until NoFault.
	Requests int
	// Rules say how nodes of an Unreliable endpoint misbehave (balancer.ParseRule); Seed selects the affected calls.
	Rules []string
	Seed  uint64

	balancer http.Handler // of Unreliable
}

const (
	defaultDelay      = 5 * time.Second
	defaultRetryAfter = time.Second
	maxRequestBytes   = 5 << 20
	// strangeChainID is the EIP-155 chain ID that AsChain claims.
	strangeChainID = "0x3e7"
)

// faults holds the active faults by target: a chain's ID or a venue's name.
type faults struct {
	ended chan struct{} // closed when the world closes

	mu      sync.Mutex
	targets []string
	nodes   map[string]nodes
	active  map[string]*Fault
}

// nodes returns a node of a chain that lags by a number of blocks or slots.
type nodes func(behind uint64) http.Handler

func newFaults() *faults {
	return &faults{ended: make(chan struct{}), nodes: map[string]nodes{}, active: map[string]*Fault{}}
}

// Inject makes the endpoint of a chain (target: its ID) or of a venue (target: its name) misbehave.
func (w *World) Inject(target string, f Fault) error { return w.faults.inject(target, f) }

func (f *faults) inject(target string, fault Fault) error {
	switch {
	case !slices.Contains([]string{Slow, Down, Wrong, Limited, Unreliable, NoFault}, fault.Kind):
		return fmt.Errorf("kind %q: want slow, down, wrong, limited, unreliable or none", fault.Kind)
	case !slices.Contains([]string{"", AsHTML, AsGarbage, AsChain}, fault.As):
		return fmt.Errorf("as %q: want html, garbage or chain", fault.As)
	case fault.Delay < 0 || fault.RetryAfter < 0 || fault.Requests < 0:
		return errors.New("negative delay, retryAfter or requests")
	}
	if fault.Delay == 0 {
		fault.Delay = defaultDelay
	}
	if fault.RetryAfter == 0 {
		fault.RetryAfter = defaultRetryAfter
	}
	rules, err := balancer.ParseRules(fault.Rules...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.targets, target) {
		return fmt.Errorf("target %q: want one of %q", target, f.targets)
	}
	if fault.Kind == Unreliable {
		nodes, isChain := f.nodes[target]
		if !isChain || len(rules) == 0 {
			return fmt.Errorf("%s of target %q with rules %q: want a chain and rules", Unreliable, target, fault.Rules)
		}
		fault.balancer = balancer.New(nodes, fault.Seed, rules...)
	}
	delete(f.active, target)
	if fault.Kind != NoFault {
		f.active[target] = &fault
	}
	return nil
}

// look describes the active faults by target.
func (f *faults) look() object {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := object{}
	for target, fault := range f.active {
		shown := object{"kind": fault.Kind}
		if fault.Requests > 0 {
			shown["requests"] = fault.Requests
		}
		switch {
		case fault.Kind == Slow:
			shown["delayMs"] = fault.Delay.Milliseconds()
		case fault.Kind == Wrong && fault.As != "":
			shown["as"] = fault.As
		case fault.Kind == Limited:
			shown["retryAfter"] = int64(fault.RetryAfter.Seconds())
		case fault.Kind == Unreliable:
			shown["rules"], shown["seed"] = fault.Rules, fault.Seed
		}
		seen[target] = shown
	}
	return seen
}

// take returns the fault for the target's next request, counting it.
func (f *faults) take(target string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.active[target]
	if fault == nil {
		return Fault{Kind: NoFault}
	}
	if fault.Requests > 0 {
		if fault.Requests--; fault.Requests == 0 {
			delete(f.active, target)
		}
	}
	return *fault
}

// end releases every request that a fault delays.
func (f *faults) end() { close(f.ended) }

// guard wraps target's handler with its faults.
func (f *faults) guard(target string, next http.Handler) http.Handler {
	f.targets = append(f.targets, target)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault := f.take(target)
		switch fault.Kind {
		case Slow:
			// Read the body first: only then does the server notice that the client has gone.
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
			if err != nil || !f.wait(r.Context(), fault.Delay) {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		case Down:
			breakConnection(w)
		case Wrong:
			answerWrong(w, r, fault.As, next)
		case Limited:
			venues.Limited(target, max(fault.RetryAfter, time.Second)).ServeHTTP(w, r)
		case Unreliable:
			fault.balancer.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// guardChain is guard for a chain's endpoint, which an Unreliable fault spreads over several nodes.
func (f *faults) guardChain(target string, behind nodes) http.Handler {
	all := func(blocks uint64) http.Handler { return allowBrowsers(behind(blocks)) }
	f.nodes[target] = all
	return f.guard(target, all(0))
}

// wait reports whether the delay passed before the client left or the world ended.
func (f *faults) wait(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-f.ended:
	}
	return false
}

// breakConnection resets the connection without sending a response.
func breakConnection(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes it without a reset
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // close sends a reset
	}
	_ = connection.Close()
}

func answerWrong(w http.ResponseWriter, r *http.Request, as string, next http.Handler) {
	switch as {
	case AsGarbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"amou`)
	case AsChain:
		answerAsOtherChain(w, r, next)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Just a moment...</title></head>"+
			"<body>Checking your browser</body></html>")
	}
}
