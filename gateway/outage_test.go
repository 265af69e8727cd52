package gateway

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/cache/shared"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order/feed"
	"crossgate/quote"
	"crossgate/store"
	"crossgate/token"
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

// list requests the orders of a numbered maker, which are cached only if requested before.
func (a asker) list(maker int) *httptest.ResponseRecorder {
	return a.ask(http.MethodPost, "/api/Orders/filteredList", fmt.Sprintf(`{"maker":"0x%040x"}`, maker))
}

// store returns the database's state in /readyz.
func (a asker) store() (ok bool, state string) {
	for _, each := range a.gateway.Dependencies(a.Context()) {
		if each.Kind == "store" {
			return each.OK, each.State
		}
	}
	a.Fatal("no store among the dependencies")
	return false, ""
}

// waiting returns how many statements wait for a lock.
func (a asker) waiting(server *postgrestest.Server) string {
	count := must.Get(server.Query("locked", `SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`))(a)
	return strings.TrimSpace(count)
}

// onPostgres returns a gateway without chains on a server's database.
func onPostgres(t *testing.T, address string, log *bytes.Buffer, hooks ...config.Webhook) asker {
	t.Helper()
	c := config.Default()
	c.Chains, c.Venues = nil, nil
	c.Index.Postgres, c.Events.Webhooks = config.NewSecret(address), hooks
	g := must.Get(New(t.Context(), c, slog.New(slog.NewTextHandler(log, nil))))(t)
	t.Cleanup(func() { _ = g.Close() })
	return asker{t, g}
}

var shop = config.Webhook{Name: "shop", URL: config.NewSecret("https://shop.example.com/hook")}

func startPostgres(t *testing.T) (server *postgrestest.Server, address string) {
	t.Helper()
	server, err := postgrestest.Start()
	if err != nil {
		t.Skipf("no PostgreSQL to test with: %v", err)
	}
	t.Cleanup(func() { _ = server.Remove() })
	address = must.Get(server.Create("locked"))(t)
	return server, address
}

// TestAGatewayOnAStandbySaysSo serves from a read-only database, which lacks a webhook of the file.
func TestAGatewayOnAStandbySaysSo(t *testing.T) {
	server, address := startPostgres(t)
	onPostgres(t, address, new(bytes.Buffer)) // creates the tables
	standby := must.Get(server.Standby())(t)
	t.Cleanup(func() { _ = standby.Remove() })
	var log bytes.Buffer
	a := onPostgres(t, standby.To(address), &log, shop)
	const says = "the database is read-only: set index.postgres to the primary"
	if ok, state := a.store(); ok || !strings.Contains(state, says) || !strings.Contains(log.String(), says) {
		t.Errorf("readiness says %v, %q, and the log\n%s", ok, state, log.String())
	}
	if answer := a.list(0); answer.Code != http.StatusOK {
		t.Errorf("a list: %d %s", answer.Code, answer.Body)
	}
}

// TestAListEndsWhenItsClientLeaves locks a table that only lists need.
func TestAListEndsWhenItsClientLeaves(t *testing.T) {
	server, address := startPostgres(t)
	a := onPostgres(t, address, new(bytes.Buffer))
	release := must.Get(server.Hold("locked", "BEGIN; LOCK TABLE listed IN ACCESS EXCLUSIVE MODE"))(t)
	ctx, leave := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		body := strings.NewReader(`{"maker":"0x00000000000000000000000000000000000000aa"}`)
		request := httptest.NewRequest(http.MethodPost, "/api/Orders/filteredList", body).WithContext(ctx)
		a.gateway.server.Handler().ServeHTTP(httptest.NewRecorder(), request)
	})
	must.Await(a, "the list waits for the lock", func() bool { return a.waiting(server) == "1" })
	leave()
	asking.Wait()
	must.Await(a, "nothing does", func() bool { return a.waiting(server) == "0" })
	if ok, state := a.store(); !ok {
		t.Errorf("a table that lists alone need is locked, and readiness says %q", state)
	}
	must.Do(t, release())
}

// TestLockedTablesAreAnOutage lets another session lock tables of a PostgreSQL that answers pings.
func TestLockedTablesAreAnOutage(t *testing.T) {
	server, address := startPostgres(t)
	var log bytes.Buffer
	a := onPostgres(t, address, &log)
	if answer := a.list(0); answer.Code != http.StatusOK {
		t.Fatalf("a list before: %d %s", answer.Code, answer.Body)
	}
	for i, lock := range []string{
		"BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE",
		"BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE",
		"BEGIN; TRUNCATE events",
	} {
		release := must.Get(server.Hold("locked", lock))(t)
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
		if waiting := a.waiting(server); waiting > "1" || len(waiting) > 1 {
			t.Errorf("%s: %s statements wait for the lock, want none but a probe", lock, waiting)
		}
		must.Do(t, release())
		must.Await(a, "the database is available", func() bool { return a.gateway.store.Available() == nil })
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

// TestWebhooksOfTheFileAreSetUpOnceTheDatabaseAnswers starts a gateway whose database takes no webhook. A reload removes
// one from the file while it is being stored.
func TestWebhooksOfTheFileAreSetUpOnceTheDatabaseAnswers(t *testing.T) {
	server, address := startPostgres(t)
	onPostgres(t, address, new(bytes.Buffer)) // creates the tables
	for count, hooks := range [][]config.Webhook{nil, {shop}} {
		release := must.Get(server.Hold("locked", "BEGIN; LOCK TABLE webhooks IN SHARE MODE"))(t)
		a := onPostgres(t, address, new(bytes.Buffer), shop)
		var settingUp sync.WaitGroup
		settingUp.Go(func() { a.gateway.catchUpWebhooks(t.Context()) })
		must.Await(a, "the webhook waits for the lock", func() bool { return a.waiting(server) == "1" })
		reloaded := a.gateway.sets.now().config
		reloaded.Events.Webhooks = hooks
		_ = a.gateway.Reload(reloaded) // now or once the webhook is stored
		must.Do(t, release())
		settingUp.Wait()
		must.Do(t, a.gateway.Reload(reloaded))
		if stored := must.Get(a.gateway.webhooks.Hooks(t.Context()))(t); len(stored) != count || count > 0 && !stored[0].IsConfigured {
			t.Errorf("the file has %d webhooks, the database %+v", count, stored)
		}
	}
}

// TestAnAbsentRedisIsLoggedOnce lets a gateway try again and again to publish events.
func TestAnAbsentRedisIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
		defer db.Close()
		var log bytes.Buffer
		g := &Gateway{
			store: db, feed: feed.New(db, time.Hour, nil), log: slog.New(slog.NewTextHandler(&log, nil)),
			stream: must.Get(shared.NewStream("redis://127.0.0.1:1", "events"))(t),
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*store.LeaseInterval-time.Second)
		defer stop()
		if g.publish(ctx); strings.Count(log.String(), "not published to Redis") != 1 {
			t.Errorf("the log:\n%s", log.String())
		}
	})
}

// TestWinsThatCannotBeKeptAreKeptLater writes to a closed database, and then to an open one.
func TestWinsThatCannotBeKeptAreKeptLater(t *testing.T) {
	open := func() *store.DB {
		return must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	}
	away, there := open(), open()
	must.Do(t, away.Close())
	defer there.Close()
	wins := &quote.History{}
	b := newWinSaver(away, wins, slog.New(slog.DiscardHandler))
	wins.Add(quote.VenueDay{Day: 3, Venue: "a", Quoted: 2, Won: 1})
	b.update(t.Context())
	wins.Add(quote.VenueDay{Day: 3, Venue: "a", Quoted: 1, Won: 1})
	b.store = there
	b.update(t.Context())
	b.update(t.Context())
	got, err := there.Venues(t.Context(), 0, 9)
	if want := (quote.VenueDay{Venue: "a", Quoted: 3, Won: 2}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestTokensThatCannotBeStoredAreLoggedOnce stores metadata in a database that refuses it, as on a full disk.
func TestTokensThatCannotBeStoredAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	g := must.Get(New(t.Context(), plannedConfig(t), slog.New(slog.NewTextHandler(&log, nil))))(t)
	t.Cleanup(func() { _ = g.Close() })
	six := uint8(6)
	for _, statement := range []string{
		`CREATE TRIGGER refuses BEFORE INSERT ON tokens BEGIN SELECT RAISE(ABORT, 'full'); END`, `SELECT 1`, `DROP TRIGGER refuses`,
	} {
		must.Do(t, g.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		}))
		g.sets.now().parts.shelf.remember(t.Context(), map[token.Key]token.Reading{{Chain: 1}: {Decimals: &six}})
	}
	if failed, again := strings.Count(log.String(), "level=WARN"), strings.Count(log.String(), "level=INFO"); failed != 1 || again != 1 {
		t.Errorf("%d warnings and %d lines that it works again, want one of each: %s", failed, again, log.String())
	}
}
