package upstream_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// A cordoned endpoint gets no requests, neither callers' nor our own; requests in flight complete.
func TestCordonedEndpointIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 100*time.Millisecond, 100*time.Millisecond)
		under := make(chan error, 1)
		go func() {
			_, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
			under <- err
		}()
		synctest.Wait()
		p.endA.Cordon()
		if err := <-under; err != nil {
			t.Errorf("Do() that was under way = %v, want its answer", err)
		}
		asked := p.askedA.Load()
		for range 100 {
			if got := p.ask(t); got != "b" {
				t.Fatalf("Do() = %q, want b's answer", got)
			}
			<-time.After(time.Second)
		}
		if p.askedA.Load() != asked || p.pool.Health()[0].Standing != "cordoned" {
			t.Errorf("asked %d times while %s", p.askedA.Load()-asked, p.pool.Health()[0].Standing)
		}
		p.endB.Cordon()
		_, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
		if upstream.ClassOf(err) != upstream.Unusable || !strings.Contains(err.Error(), "cordoned by an operator") {
			t.Errorf("Do() with all endpoints cordoned = %v, want to be told so", err)
		}
		p.endB.Uncordon()
		if got := p.ask(t); got != "b" {
			t.Errorf("Do() = %q after b is in use again", got)
		}
	})
}

func TestBrokenEndpointIsNotProbedWhileCordoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, next := failing(t, pooltest.Always(500, ""), upstream.Request{})
		e.Cordon()
		next.To(pooltest.Always(200, "{}"))
		asked := next.Asked.Load()
		<-time.After(time.Minute)
		if next.Asked.Load() != asked {
			t.Errorf("probed %d times while cordoned", next.Asked.Load()-asked)
		}
		e.Uncordon()
		<-time.After(15 * time.Second)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after that = %v, want an answer", err)
		}
	})
}

// TestUncordonEndsAQuarantine also covers an endpoint whose plan was spent: its operator may have bought more.
func TestUncordonEndsAQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 100*time.Millisecond, 100*time.Millisecond)
		spent := &upstream.Error{Class: upstream.RateLimited, Closed: true}
		_ = p.endA.Attempt(t.Context(), upstream.Request{}, 1).Settle(t.Context(), spent)
		p.endA.Quarantine(t.Context(), errors.New("of another branch"))
		if got := p.ask(t); got != "b" {
			t.Fatalf("Do() = %q from an endpoint in quarantine", got)
		}
		p.endA.Uncordon()
		if standing := p.pool.Health()[0].Standing; standing != "ready" {
			t.Errorf("standing %q", standing)
		}
	})
}

func TestQuarantineIsLoggedWhenItBegins(t *testing.T) {
	var log bytes.Buffer
	e := pooltest.Endpoint(t, "a", pooltest.Always(200, ""), upstream.EndpointOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		e.Quarantine(t.Context(), errors.New("of another branch"))
	}
	if lines := strings.Count(log.String(), "endpoint quarantined"); lines != 1 {
		t.Errorf("the log has %d lines of a quarantine, want one: %s", lines, log.String())
	}
}
