package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/postgrestest"
	"crossgate/internal/publicnet"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/ledger"
	"crossgate/store"
)

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// world is a database, its log, and a subscriber with the messages that it received.
type world struct {
	t       *testing.T
	db      *store.DB
	ledger  ledger.Ledger
	now     time.Time
	answer  func(w http.ResponseWriter, r *http.Request) // nil: 204
	server  *httptest.Server
	mu      sync.Mutex
	heard   []message
	nothing slog.Handler
}

type message struct {
	id, signature, timestamp, body string
	event                          struct {
		Type string
		Data struct{ ID, OrderID, Status, State string }
	}
}

func newWorld(t *testing.T, db *store.DB) *world {
	w := &world{t: t, db: db, ledger: ledger.Ledger{DB: db, Keep: 24 * time.Hour}, now: time.Now(), nothing: slog.DiscardHandler}
	w.server = httptest.NewServer(http.HandlerFunc(w.hear))
	t.Cleanup(w.server.Close)
	d := w.deliverer()
	must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: w.server.URL, Secrets: []string{secret}}))
	return w
}

func sqlite(t *testing.T) *store.DB {
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// deliverer returns a deliverer as in a process that has just started.
func (w *world) deliverer() *Deliverer {
	f := feed.New(w.db, w.ledger.Keep, func(e order.LogEntry) (text, event []byte) {
		return must.Get(json.Marshal(map[string]any{
			"id": strconv.FormatUint(e.Position, 10), "orderId": e.Order.String(), "status": e.Step.String(), "state": e.After.String(),
		}))(w.t), nil
	})
	d := New(w.db, f, Options{
		Logger: slog.New(w.nothing), Now: func() time.Time { return w.now },
		Filter: func(string) (feed.Filter, error) { return feed.Filter{}, nil },
	})
	d.guarded = d.trusted // the subscriber is on loopback
	return d
}

func (w *world) hear(to http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil { // the sender was killed
		return
	}
	m := message{id: r.Header.Get("webhook-id"), signature: r.Header.Get("webhook-signature"), timestamp: r.Header.Get("webhook-timestamp"), body: string(body)}
	must.Do(w.t, json.Unmarshal(body, &m.event))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answer != nil {
		recorder := httptest.NewRecorder()
		w.answer(recorder, r)
		for name, values := range recorder.Header() {
			to.Header()[name] = values
		}
		to.WriteHeader(recorder.Code)
		if recorder.Code >= 300 {
			return
		}
	}
	w.heard = append(w.heard, m)
}

// messages returns the messages received so far: a request of a killed process may still be in flight.
func (w *world) messages() []message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.heard)
}

// answering replaces the subscriber's answer.
func (w *world) answering(answer func(w http.ResponseWriter, r *http.Request)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// tell logs that an event of an order happened in a block, or that it is gone.
func (w *world) tell(id byte, block uint64, isGone bool, fact order.Fact) {
	w.t.Helper()
	must.Get(w.ledger.Write(w.t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
		e := order.Event{Order: order.ID{id}, Fact: fact, At: order.At{
			Chain: 1, Block: block, LogIndex: uint(id), BlockHash: chain.Hash{byte(block)}, Time: uint64(time.Now().Unix()),
		}}
		if isGone {
			return tx.Correct(w.t.Context(), ledger.Correction{Wrong: []order.Event{e}})
		}
		tx.Add(e)
		return nil
	}))(w.t)
}

func created(n byte) order.Created {
	return order.Created{Terms: order.Terms{Nonce: uint64(n), Give: order.Offer{Chain: 1, Amount: chain.NewAmount(5)}, Take: order.Offer{Chain: 137, Amount: chain.NewAmount(4)}}}
}

// pass delivers until nothing more is due.
func (w *world) pass(d *Deliverer) {
	w.t.Helper()
	for range 50 {
		before := len(w.messages())
		must.Get(d.Pass(w.t.Context(), store.Lease{}, "shop"))(w.t)
		if len(w.messages()) == before {
			return
		}
	}
}

func (w *world) hook(d *Deliverer) *Hook {
	w.t.Helper()
	return must.Get(d.Hooks(w.t.Context()))(w.t)[0]
}

// kills returns the number of kills in the chaos test, and of its blocks.
func kills(t *testing.T) int {
	if text := os.Getenv("CROSSGATE_KILLS"); text != "" {
		return must.Get(strconv.Atoi(text))(t)
	}
	return 5
}

// TestNothingIsLostAtAKill adds and withdraws orders while the delivering process is killed again and again during its
// requests, and the subscriber fails now and then.
func TestNothingIsLostAtAKill(t *testing.T) {
	open := map[string]*store.DB{"SQLite": sqlite(t)}
	if server, err := postgrestest.Start(); err == nil {
		t.Cleanup(func() { must.Do(t, server.Remove()) })
		db := must.Get(store.OpenPostgres(t.Context(), must.Get(server.Create("webhooks"))(t), store.PostgresOptions{}))(t)
		t.Cleanup(func() { db.Close() })
		open["PostgreSQL"] = db
	}
	for name, db := range open {
		t.Run(name, func(t *testing.T) {
			w, random := newWorld(t, db), rand.New(rand.NewPCG(1, 1))
			block := uint64(0)
			for range kills(t) {
				for range 6 {
					id := byte(random.IntN(200))
					block++
					w.tell(id, block, false, created(id))
					if random.IntN(2) == 0 {
						w.tell(id, block, true, created(id))
					}
				}
				ctx, kill := context.WithCancel(t.Context())
				left := 1 + random.IntN(9)
				w.answering(func(to http.ResponseWriter, _ *http.Request) {
					if left--; left == 0 {
						kill()
					}
					if left%5 == 3 {
						to.WriteHeader(http.StatusBadGateway)
					}
				})
				d := w.deliverer()
				for tries := 0; ctx.Err() == nil && tries < 20; tries++ {
					_, _ = d.Pass(ctx, store.Lease{}, "shop") // ended by the kill
					w.now = w.now.Add(time.Minute)
				}
				kill()
			}
			w.answering(nil)
			for range 30 {
				w.now = w.now.Add(time.Hour)
				w.pass(w.deliverer())
			}
			w.checkHeard()
		})
	}
}

// checkHeard compares the subscriber's messages with the log: it has everything, each entry under one ID, and each
// order's events in sequence.
func (w *world) checkHeard() {
	w.t.Helper()
	first, last := map[string]message{}, map[string]uint64{}
	heard := w.messages()
	for _, m := range heard {
		if was, again := first[m.id]; again && was.body != m.body {
			w.t.Fatalf("two messages have the id %s:\n%s\n%s", m.id, was.body, m.body)
		} else if again {
			continue
		}
		first[m.id] = m
		position := must.Get(strconv.ParseUint(m.event.Data.ID, 10, 64))(w.t)
		if of := m.event.Data.OrderID; position < last[of] {
			w.t.Fatalf("order %s: event %d came after %d", of, position, last[of])
		}
		last[m.event.Data.OrderID] = position
	}
	all := must.Get(w.ledger.Entries(w.t.Context(), 0, order.ID{}, 1<<20))(w.t)
	retracted := 0
	for _, e := range all {
		m, is := first["msg_"+strconv.FormatUint(e.Position, 10)]
		if !is || m.event.Type != "order."+e.Step.String() {
			w.t.Fatalf("entry %d (%s) was delivered as %q", e.Position, e.Step, m.event.Type)
		}
		if e.Step == order.Retracted {
			retracted++
		}
	}
	if len(all) == 0 || len(all) != len(first) || retracted == 0 {
		w.t.Fatalf("the log has %d entries, %d of them retractions; %d were delivered", len(all), retracted, len(first))
	}
	w.t.Logf("%d entries, %d retractions, %d messages", len(all), retracted, len(heard))
}

func TestADownSubscriberIsRetriedForADay(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d := w.deliverer()
	const waiting, failing = "waiting{crossgate.webhook=shop,}", "failing{crossgate.webhook=shop,}"
	const failed = "deliveries{crossgate.webhook=shop,crossgate.webhook.outcome=failed,}"
	const delivered = "deliveries{crossgate.webhook=shop,crossgate.webhook.outcome=delivered,}"
	now := measured.Start(t)
	isDown, tries := true, 0
	w.answer = func(to http.ResponseWriter, _ *http.Request) {
		if isDown {
			tries++
			to.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	w.tell(1, 1, false, created(1))
	w.tell(1, 1, true, created(1))
	w.tell(2, 2, false, created(2))
	begun := w.now
	for range 60 { // one hour
		must.Get(d.Pass(t.Context(), store.Lease{}, "shop"))(t)
		w.now = w.now.Add(time.Minute)
	}
	if h := w.hook(d); tries < 8 || tries > 14 || h.Waiting != 3 || h.FailingSince != begun.Unix() || h.Error != "HTTP 503" || h.Delivered > 0 {
		t.Errorf("after an hour and %d tries: %+v", tries, h)
	}
	w.checkMeasured(d, now, map[string]float64{waiting: 3, failing: 3600, failed: float64(tries)})
	isDown = false
	w.now = w.now.Add(time.Hour)
	w.pass(d)
	w.checkHeard()
	w.checkMeasured(d, now, map[string]float64{waiting: 0, failing: 0, failed: float64(tries), delivered: 3})
	if h := w.hook(d); h.Waiting != 0 || h.Delivered != 3 || h.FailingSince != 0 {
		t.Errorf("when it is back: %+v", h)
	}
	isDown = true
	w.tell(3, 3, false, created(3))
	for range 26 * 4 { // a quarter of an hour each
		must.Get(d.Pass(t.Context(), store.Lease{}, "shop"))(t)
		w.now = w.now.Add(15 * time.Minute)
	}
	dead := must.Get(d.Dead(t.Context(), "shop"))(t)
	if len(dead) != 1 || dead[0].Attempts != len(schedule)+1 || dead[0].Error != "HTTP 503" || w.hook(d).Dead != 1 {
		t.Fatalf("after a day: %+v, %+v", dead, w.hook(d))
	}
	isDown = false
	must.Do(t, d.Resend(t.Context(), "shop"))
	w.pass(d)
	if w.checkHeard(); w.hook(d).Dead != 0 {
		t.Errorf("sent again: %+v", w.hook(d))
	}
}

// checkMeasured reads what is measured of the subscriber.
func (w *world) checkMeasured(d *Deliverer, now func() map[string]float64, want map[string]float64) {
	w.t.Helper()
	defer d.Observe()()
	got := map[string]float64{}
	for name, value := range now() {
		if own, is := strings.CutPrefix(name, "crossgate.webhook."); is {
			got[own] = math.Floor(value)
		}
	}
	if !maps.Equal(got, want) {
		w.t.Errorf("measured %v, want %v", got, want)
	}
}

func TestASubscriberThatAsksForAPauseHasIt(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d, tries := w.deliverer(), 0
	w.answer = func(to http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			to.Header().Set("Retry-After", "600")
			to.WriteHeader(http.StatusTooManyRequests)
		}
	}
	w.tell(1, 1, false, created(1))
	w.pass(d)
	w.tell(2, 2, false, created(2))
	w.now = w.now.Add(590 * time.Second)
	d = w.deliverer()
	if w.pass(d); tries != 1 {
		t.Errorf("%d requests within the ten minutes, want 1", tries)
	}
	must.Do(t, d.Resend(t.Context(), "shop"))
	if w.pass(d); tries != 3 || w.hook(d).Delivered != 2 {
		t.Errorf("when all is sent again at once: %d requests, %+v", tries, w.hook(d))
	}
}

// TestASubscriberThatIsAddedAgainIsServed adds a subscriber after its deliverer found none.
func TestASubscriberThatIsAddedAgainIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sqlite(t)
		w := &world{t: t, db: db, ledger: ledger.Ledger{DB: db, Keep: 24 * time.Hour}, now: time.Now(), nothing: slog.DiscardHandler}
		d, heard := w.deliverer(), make(chan struct{})
		d.guarded = &http.Client{Transport: pooltest.Transport(func(*http.Request) (*http.Response, error) {
			close(heard)
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})}
		ctx, stop := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		serving.Go(func() { d.serve(ctx, store.Lease{}, "shop") })
		synctest.Wait()
		must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: "https://shop.example/hook", Secrets: []string{secret}}))
		w.tell(1, 1, false, created(1))
		select {
		case <-heard:
		case <-time.After(time.Minute):
			t.Error("nothing is delivered")
		}
		stop()
		serving.Wait()
	})
}

// TestOutagesAreNotLoggedPerWebhook fails three passes: the store logs itself that it does not answer, and another error
// is logged once.
func TestOutagesAreNotLoggedPerWebhook(t *testing.T) {
	for err, lines := range map[error]int{store.ErrUnavailable: 0, errors.New("no room"): 1} {
		synctest.Test(t, func(t *testing.T) {
			db, logged := sqlite(t), new(strings.Builder)
			w := &world{t: t, db: db, ledger: ledger.Ledger{DB: db, Keep: 24 * time.Hour}, now: time.Now(), nothing: slog.NewTextHandler(logged, nil)}
			d, passes := w.deliverer(), 0
			must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: "https://shop.example/hook"}))
			ctx, stop := context.WithCancel(t.Context())
			d.Filter = func(string) (feed.Filter, error) {
				if passes++; passes == 4 {
					stop()
				}
				return feed.Filter{}, err
			}
			if d.serve(ctx, store.Lease{}, "shop"); strings.Count(logged.String(), "\n") != lines {
				t.Errorf("%v: logged, want %d lines:\n%s", err, lines, logged)
			}
		})
	}
}

// run changes the database.
func (w *world) run(statement string) {
	w.t.Helper()
	must.Do(w.t, w.db.Update(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecContext(w.t.Context(), statement)
		return err
	}))
}

// TestWhatCannotBeRecordedIsNotSentAgain has a database that refuses changes, as with a full disk, while an event is due.
func TestWhatCannotBeRecordedIsNotSentAgain(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d := w.deliverer()
	w.tell(1, 1, false, created(1))
	w.run(`CREATE TRIGGER refuses BEFORE UPDATE ON webhooks BEGIN SELECT RAISE(ABORT, 'full'); END`)
	for range 5 {
		if _, err := d.Pass(t.Context(), store.Lease{}, "shop"); err == nil {
			t.Error("a pass that cannot be recorded is a success")
		}
	}
	if n := len(w.messages()); n != 1 {
		t.Errorf("it was sent %d times, want once", n)
	}
	w.run(`DROP TRIGGER refuses`)
	if w.pass(d); w.hook(d).Delivered != 1 || len(w.messages()) != 2 {
		t.Errorf("afterwards: %+v, %d messages", w.hook(d), len(w.messages()))
	}
}

// TestAStopSendsNothingAgain ends a pass between the two events of an order.
func TestAStopSendsNothingAgain(t *testing.T) {
	w := newWorld(t, sqlite(t))
	ctx, stop := context.WithCancel(t.Context())
	w.answer = func(http.ResponseWriter, *http.Request) {
		if len(w.heard) == 1 {
			stop()
		}
	}
	w.tell(1, 1, false, created(1))
	w.tell(1, 1, true, created(1))
	if _, err := w.deliverer().Pass(ctx, store.Lease{}, "shop"); err != nil {
		t.Errorf("the pass that is stopped: %v", err)
	}
	before := len(w.messages())
	w.pass(w.deliverer())
	for _, m := range w.messages()[before:] {
		if m.id == w.messages()[0].id {
			t.Errorf("event %s was delivered before the stop, and again after it", m.id)
		}
	}
	w.checkHeard()
}

// TestASubscriberThatIsAddedAgainBeginsAnew replaces a subscriber while the former one is sent an event.
func TestASubscriberThatIsAddedAgainBeginsAnew(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d := w.deliverer()
	w.answer = func(to http.ResponseWriter, _ *http.Request) {
		must.Do(t, d.Remove(t.Context(), "shop"))
		must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: w.server.URL, Secrets: []string{secret}}))
		to.WriteHeader(http.StatusServiceUnavailable)
	}
	w.tell(1, 1, false, created(1))
	_, err := d.Pass(t.Context(), store.Lease{}, "shop")
	newest, _, logErr := w.ledger.LogEnds(t.Context())
	must.Do(t, logErr)
	if h := w.hook(d); !errors.Is(err, ErrUnknown) || h.Waiting > 0 || h.Error != "" || h.Position != newest {
		t.Errorf("%v, %+v, want nothing of the one before", err, h)
	}
}

// TestASlowSubscriberHoldsUpNoOther lets one subscriber delay its answers while others are sent everything. Once it
// answers, it gets everything, too.
func TestASlowSubscriberHoldsUpNoOther(t *testing.T) {
	w := newWorld(t, sqlite(t))
	const events = 20
	hears := func(of *world, release <-chan struct{}) (first, all chan struct{}) {
		known := map[string]bool{}
		first, all = make(chan struct{}), make(chan struct{})
		of.answer = func(_ http.ResponseWriter, r *http.Request) {
			if known[r.Header.Get("webhook-id")] {
				return // a retry after it took too long
			}
			known[r.Header.Get("webhook-id")] = true
			switch len(known) {
			case 1:
				close(first)
				<-release
			case 2 * events:
				close(all)
			}
		}
		return first, all
	}
	slow, release, atOnce := newWorld(t, w.db), make(chan struct{}), make(chan struct{})
	close(atOnce)
	begun, slowHeard := hears(slow, release)
	_, heard := hears(w, atOnce)
	d := w.deliverer()
	must.Do(t, d.Put(t.Context(), Hook{Name: "slow", URL: slow.server.URL, Secrets: []string{secret}}))
	must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: w.server.URL}))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.feed.Run(ctx) })
	running.Go(func() { d.Run(ctx) })
	for n := byte(1); n <= events; n++ {
		w.tell(n, uint64(n), false, created(n))
		<-begun
		w.tell(n, uint64(n), true, created(n))
	}
	<-heard
	close(release)
	<-slowHeard
	stop()
	running.Wait()
	for _, each := range []*world{w, slow} {
		each.server.Close()
		each.checkHeard()
	}
}

// TestSubscribersAtOneHost has two at one host, which answers nothing until both have been sent all that may be in flight.
func TestSubscribersAtOneHost(t *testing.T) {
	w := newWorld(t, sqlite(t))
	var passing sync.WaitGroup
	sent, all := new(atomic.Int64), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if sent.Add(1) == 2*perHook {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	d, names := w.deliverer(), []string{"one", "other"}
	for _, name := range names {
		must.Do(t, d.Put(t.Context(), Hook{Name: name, URL: server.URL}))
	}
	for id := range byte(perHook) {
		w.tell(id, uint64(id), false, created(id))
	}
	for _, name := range names {
		passing.Go(func() { must.Get(d.Pass(t.Context(), store.Lease{}, name))(t) })
	}
	passing.Wait()
	for _, name := range names {
		if h := must.Get(hook(t.Context(), d.db, name))(t); h.Delivered != perHook {
			t.Errorf("%s: %d of %d delivered, %s", name, h.Delivered, perHook, h.Error)
		}
	}
}

// TestOthersEndNoDelivery adds another subscriber while one delays its answer.
func TestOthersEndNoDelivery(t *testing.T) {
	w := newWorld(t, sqlite(t))
	late, d := newWorld(t, w.db), w.deliverer()
	begun, lateHeard, release, heard := make(chan struct{}, 9), make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)
	w.answering(func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-release; heard <- struct{}{} })
	late.answering(func(http.ResponseWriter, *http.Request) { lateHeard <- struct{}{} })
	must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: w.server.URL}))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.feed.Run(ctx) })
	running.Go(func() { d.Run(ctx) })
	w.tell(1, 1, false, created(1))
	<-begun
	must.Do(t, d.Put(t.Context(), Hook{Name: "late", URL: late.server.URL, Secrets: []string{secret}}))
	w.tell(2, 2, false, created(2))
	<-lateHeard
	close(release)
	for range 2 {
		<-heard
	}
	stop()
	running.Wait()
	if w.server.Close(); len(w.messages()) != 2 {
		t.Errorf("%d messages, want each of two once", len(w.messages()))
	}
}

// TestBadSubscribers has subscribers that answer with any status, redirect, never end, have an untrusted certificate, or
// a forbidden address: each but a success is a failure in words, without the URL's query.
func TestBadSubscribers(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		to.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			_, _ = to.Write(make([]byte, 64<<10))
		}
	}))
	defer endless.Close()
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	secured.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer secured.Close()
	redirecting := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest", http.StatusFound))
	defer redirecting.Close()
	numbered := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		to.WriteHeader(must.Get(strconv.Atoi(r.URL.Path[1:]))(t))
	}))
	defer numbered.Close()
	for at, want := range map[string]string{
		numbered.URL + "/101": "HTTP 101", numbered.URL + "/299": "", numbered.URL + "/300": "HTTP 300: redirects are not followed",
		numbered.URL + "/399": "HTTP 399: redirects are not followed", numbered.URL + "/400": "HTTP 400", numbered.URL + "/500": "HTTP 500",
		endless.URL:                               "", // the status is enough
		redirecting.URL:                           "redirects are not followed",
		secured.URL + "?key=hidden":               "certificate",
		"http://10.0.0.1/?key=hidden":             "10.0.0.1 is not a public address",
		"http://169.254.169.254/":                 "not a public address",
		"http://100.64.0.1/":                      "not a public address",
		"http://[::ffff:192.168.0.1]/":            "not a public address",
		"http://[fd00::1]/":                       "not a public address",
		"http://127.0.0.1:1/":                     "refused",
		"http://no-such-host.invalid/?key=hidden": "no such host",
	} {
		w := newWorld(t, sqlite(t))
		d := w.deliverer()
		if !strings.HasPrefix(at, w.server.URL[:len("http://127.0.0.1")]) && !strings.HasPrefix(at, "https://127.0.0.1") {
			d.guarded = newClient(publicnet.Control)
		}
		must.Do(t, d.Put(t.Context(), Hook{Name: "shop", URL: at, Secrets: []string{secret}}))
		for id := range byte(perHook + 2) { // more than may wait for an endless body
			w.tell(id, uint64(id), false, created(id))
		}
		must.Get(d.Pass(t.Context(), store.Lease{}, "shop"))(t)
		h := w.hook(d)
		if !strings.Contains(h.Error, want) || (h.Error == "") != (want == "") || strings.Contains(h.Error, "hidden") {
			t.Errorf("%s: error %q, want %q", at, h.Error, want)
		}
	}
}

func TestURLsOfWebhooks(t *testing.T) {
	for text, isGood := range map[string]bool{
		"https://example.com/hook": true, "http://example.com/": false, "https://": false, "ftp://example.com": false,
		"https://localhost/": false, "https://10.1.2.3/": false, "https://[::1]/": false, "https://100.100.1.1/": false,
		"https://[64:ff9b::a00:1%25lo]/": false, "https://[64:ff9b:1::1]/": false, "https://[2002:a00:1::1]/": false,
		"https://0.0.0.1/": false, "https://198.18.0.1/": false, "https://240.0.0.1/": false, "https://[2606:4700::1111]/": true,
		"https://user:key@example.com/": false, "http://127.0.0.1:8080/": false, "": false, "https://8.8.8.8/": true,
	} {
		if err := CheckURL(text); (err == nil) != isGood {
			t.Errorf("CheckURL(%q) = %v", text, err)
		}
	}
}

// TestSecretsRotate signs with two secrets during a rotation.
func TestSecretsRotate(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d := w.deliverer()
	second := must.Get(d.Rotate(t.Context(), "shop"))(t)
	w.tell(1, 1, false, created(1))
	w.pass(d)
	third := must.Get(d.Rotate(t.Context(), "shop"))(t)
	w.tell(2, 2, false, created(2))
	w.pass(d)
	if len(w.messages()) != 2 {
		t.Fatalf("%d messages", len(w.messages()))
	}
	for i, valid := range [][]string{{second, secret}, {third, second}} {
		m := w.messages()[i]
		header := http.Header{}
		at := time.Unix(must.Get(strconv.ParseInt(m.timestamp, 10, 64))(t), 0)
		sign(header, m.id, at, []byte(m.body), valid)
		if got := header.Get("webhook-signature"); got != m.signature || strings.Count(got, "v1,") != 2 {
			t.Errorf("message %d is signed %s, want %s", i, m.signature, got)
		}
		for _, each := range valid {
			verifyByReference(t, each, m)
		}
	}
}

// verifyByReference verifies a message with the reference library of Standard Webhooks.
func verifyByReference(t *testing.T, secret string, m message) {
	t.Helper()
	folder := filepath.Join("testdata", "reference")
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Logf("not checked with the reference library: npm ci in webhook/%s", folder)
		return
	}
	for _, body := range []string{m.body, m.body + " "} {
		input := must.Get(json.Marshal(map[string]any{"secret": secret, "body": body, "headers": map[string]string{
			"webhook-id": m.id, "webhook-timestamp": m.timestamp, "webhook-signature": m.signature,
		}}))(t)
		command := exec.CommandContext(t.Context(), "node", "verify.mjs")
		command.Dir, command.Stdin = folder, strings.NewReader(string(input))
		if out, err := command.CombinedOutput(); (err == nil) != (body == m.body) {
			t.Errorf("the reference library: %v\n%.300s", err, out)
		}
	}
}

// TestSignature uses the example in Standard Webhooks' reference tests.
func TestSignature(t *testing.T) {
	header := http.Header{}
	sign(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if got := header.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signature %s", got)
	}
	if !slices.Equal([]bool{CheckSecret(NewSecret()) == nil, CheckSecret("whsec_short") == nil, CheckSecret(secret) == nil}, []bool{true, false, true}) {
		t.Error("secrets are not told apart")
	}
}

func TestTheFileNamesItsOwnWebhooks(t *testing.T) {
	w := newWorld(t, sqlite(t))
	d := w.deliverer()
	file, gone := Hook{Name: "file", URL: w.server.URL, Secrets: []string{secret}}, Hook{Name: "gone", URL: "https://example.com"}
	if err := d.Configure(t.Context(), []Hook{file, {Name: "shop"}}); !errors.Is(err, ErrTaken) || len(must.Get(d.Hooks(t.Context()))(t)) != 1 {
		t.Errorf("one of two cannot be added: %v, %+v, want neither", err, must.Get(d.Hooks(t.Context()))(t))
	}
	must.Do(t, d.Configure(t.Context(), []Hook{file, gone}))
	w.run(`CREATE TRIGGER refuses BEFORE UPDATE ON webhooks BEGIN SELECT RAISE(ABORT, 'full'); END`)
	if err := d.Configure(t.Context(), []Hook{file, gone}); err != nil {
		t.Errorf("the same again, in a database that takes no changes: %v", err)
	}
	w.run(`DROP TRIGGER refuses`)
	d.guarded = newClient(publicnet.Control)
	w.tell(1, 1, false, created(1))
	must.Get(d.Pass(t.Context(), store.Lease{}, "file"))(t)
	if len(w.messages()) != 1 {
		t.Error("the file's subscriber in a private network was sent nothing")
	}
	must.Do(t, d.Configure(t.Context(), nil))
	if all := must.Get(d.Hooks(t.Context()))(t); len(all) != 1 || all[0].Name != "shop" {
		t.Errorf("what is left: %+v", all)
	}
}
