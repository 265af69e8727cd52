package gateway

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/store/postgrestest"
)

// asker sends requests to a gateway's handler.
type asker struct {
	*testing.T
	gateway *Gateway
}

func (a asker) ask(method, target, body string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	a.gateway.server.Handler().ServeHTTP(answer, httptest.NewRequest(method, target, strings.NewReader(body)))
	return answer
}

// list asks for orders of a maker of that number, of whom nothing is kept unless it was asked before.
func (a asker) list(maker int) *httptest.ResponseRecorder {
	return a.ask(http.MethodPost, "/api/Orders/filteredList", fmt.Sprintf(`{"maker":"0x%040x"}`, maker))
}

// store is how the database is told of in /readyz.
func (a asker) store() (ok bool, state string) {
	for _, each := range a.gateway.Dependencies(a.Context()) {
		if each.Kind == "store" {
			return each.OK, each.State
		}
	}
	a.Fatal("no store among the dependencies")
	return false, ""
}

// TestLockedTablesAreAnOutage has another session lock tables of a PostgreSQL that answers pings.
func TestLockedTablesAreAnOutage(t *testing.T) {
	server, err := postgrestest.Start()
	if err != nil {
		t.Skipf("no PostgreSQL to test with: %v", err)
	}
	t.Cleanup(func() { _ = server.Remove() })
	address, err := server.Create("locked")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := config.Default()
	c.Chains, c.Venues = nil, nil
	c.Index.Postgres = config.NewSecret(address)
	g, err := New(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	a := asker{t, g}
	if answer := a.list(0); answer.Code != http.StatusOK {
		t.Fatalf("a list before: %d %s", answer.Code, answer.Body)
	}
	for i, lock := range []string{
		"BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE",
		"BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE",
		"BEGIN; TRUNCATE events",
	} {
		release, err := server.Hold("locked", lock)
		if err != nil {
			t.Fatal(err)
		}
		if ok, state := a.store(); ok || !strings.Contains(state, "no answer within") {
			t.Errorf("%s: readiness says %v, %q", lock, ok, state)
		}
		const many = 50
		for n := range many {
			answer := a.list(1 + i*many + n)
			if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "INDEX_UNAVAILABLE") {
				t.Fatalf("%s: a list: %d %s", lock, answer.Code, answer.Body)
			}
		}
		id := fmt.Sprintf("0x%064x", 1+i)
		if answer := a.ask(http.MethodGet, "/api/Orders/"+id, ""); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "INDEX_UNAVAILABLE") {
			t.Errorf("%s: an order by its id: %d %s", lock, answer.Code, answer.Body)
		}
		if answer := a.list(0); answer.Code != http.StatusOK {
			t.Errorf("%s: a kept list: %d %s", lock, answer.Code, answer.Body)
		}
		waiting, err := server.Query("locked", `SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
		if err != nil || len(waiting) != 2 || waiting > "1\n" {
			t.Errorf("%s: %q statements wait for the lock, %v; want none but a probe", lock, waiting, err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		for g.store.Available() != nil && t.Context().Err() == nil {
			<-time.After(5 * time.Millisecond)
		}
		if ok, state := a.store(); !ok {
			t.Errorf("after %s: %s", lock, state)
		}
		if answer := a.list(1 + i*many); answer.Code != http.StatusOK {
			t.Errorf("after %s: %d %s", lock, answer.Code, answer.Body)
		}
	}
	if lines := strings.Count(log.String(), "level=WARN"); lines != 3 {
		t.Errorf("the log has %d warnings, want one for each outage:\n%s", lines, log.String())
	}
}
