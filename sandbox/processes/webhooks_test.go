package processes_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// subscriber receives webhooks and refuses every seventh once.
type subscriber struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	refused  map[uint64]bool
	heard    map[uint64]string // accepted bodies by ID
	sequence []uint64          // IDs in the order in which they first arrived
	before   func()            // called once, before the next answer
}

func startSubscriber(t *testing.T) *subscriber {
	t.Helper()
	s := &subscriber{heard: map[uint64]string{}, refused: map[uint64]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		id, badID := strconv.ParseUint(strings.TrimPrefix(r.Header.Get("webhook-id"), "msg_"), 10, 64)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.requests++; err != nil || s.requests%7 == 0 && !s.refused[id] {
			s.refused[id] = true
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if was, again := s.heard[id]; badID != nil || again && was != string(body) {
			t.Errorf("id %q was of %s, and is of %s", r.Header.Get("webhook-id"), was, body)
		} else if !again {
			s.heard[id], s.sequence = string(body), append(s.sequence, id)
		}
		if s.before != nil {
			s.before()
			s.before = nil
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *subscriber) hasHeardOf(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.sequence, func(each uint64) bool { return strings.Contains(s.heard[each], text) })
}

// check requires that the webhooks received equal the database's log, with each order's events in sequence.
func (s *subscriber) check(t *testing.T, r replicated) {
	t.Helper()
	eventually(t, "everything is heard", func() (string, bool) {
		logged := must.Get(r.server.Query("orders", "SELECT position FROM log ORDER BY position"))(t)
		s.mu.Lock()
		defer s.mu.Unlock()
		var heard strings.Builder
		for _, id := range slices.Sorted(slices.Values(s.sequence)) {
			fmt.Fprintln(&heard, id)
		}
		return fmt.Sprintf("%d of %d", len(s.sequence), strings.Count(logged, "\n")), heard.String() == logged
	})
	s.mu.Lock() // a killed gateway's webhooks may arrive twice
	defer s.mu.Unlock()
	steps, last := map[string]int{}, map[string]uint64{}
	for _, id := range s.sequence {
		var message struct {
			Type string
			Data struct{ ID, OrderID string }
		}
		must.Do(t, json.Unmarshal([]byte(s.heard[id]), &message))
		of := message.Data.OrderID
		if message.Data.ID != fmt.Sprint(id) || id < last[of] {
			t.Errorf("order %s: %d (in the message %s) came after %d", of, id, message.Data.ID, last[of])
		}
		last[of] = id
		steps[message.Type]++
	}
	if steps["order.happened"] == 0 || steps["order.retracted"] == 0 {
		t.Errorf("heard %v", steps)
	}
	t.Logf("%d requests, %d messages about %d orders: %v", s.requests, len(s.sequence), len(last), steps)
}

// TestWebhooksOutliveKillsAndAnOutage kills the gateway that delivers webhooks (CROSSGATE_KILLS times) during requests,
// while blocks are withdrawn, and stops the database (for CROSSGATE_OUTAGE): nothing is lost, IDs are unique, and each
// order's events arrive in sequence.
func TestWebhooksOutliveKillsAndAnOutage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("leases have to run out: run without -short")
	}
	kills := must.Get(strconv.Atoi(cmp.Or(os.Getenv("CROSSGATE_KILLS"), "1")))(t)
	outage := must.Get(time.ParseDuration(cmp.Or(os.Getenv("CROSSGATE_OUTAGE"), "2s")))(t)
	r, s := startReplicated(t, sandbox.Options{}), startSubscriber(t)
	r.config += fmt.Sprintf("events: {webhooks: [{name: shop, url: %q, secrets: [whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=]}]}\n", s.URL)
	all := map[string]process{}
	start := func() {
		p := serveApart(t, r.config)
		all[fmt.Sprintln(p.id)] = p
	}
	start()
	start()
	for depth := range kills {
		killed := make(chan struct{})
		s.mu.Lock()
		s.before = func() {
			const delivering = `SELECT split_part(holder, '/', 2) FROM leases WHERE job = 'deliver webhooks'`
			id := must.Get(r.server.Query("orders", delivering))(t)
			_ = all[id].end(os.Kill)
			delete(all, id)
			close(killed)
		}
		s.mu.Unlock()
		deliver(t, r.world)
		<-killed
		start()
		withdrawn := deliver(t, r.world)
		eventually(t, "the other one delivers", func() (string, bool) { return "", s.hasHeardOf(withdrawn.CreationTxHash) })
		sandboxtest.Control(t, r.world, "reorg", fmt.Sprintf(`{"chainId":1,"depth":%d,"again":%t}`, 1+depth%20, depth%2 == 1), new(any))
	}
	must.Do(t, r.server.Kill())
	deliver(t, r.world)
	<-time.After(outage) // what is tested
	must.Do(t, r.server.Resume())
	deliver(t, r.world)
	eventually(t, "what was withdrawn is retracted", func() (string, bool) { return "", s.hasHeardOf("order.retracted") })
	s.check(t, r)
}
