package processes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// question is a panel's expression.
type question struct{ panel, expression string }

// questions returns all expressions of the dashboard, for every replica and at this test's scrape interval.
func questions(t *testing.T) (all []question) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "deploy", "grafana", "dashboard.json")))(t)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal(text, &dashboard))
	filled := strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, question{panel.Title, filled.Replace(target.Expr)})
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d questions: the test looks at nothing", len(all))
	}
	return all
}

// troubled returns a configuration in which the endpoints of the first chain have everything that panels show.
func troubled(t *testing.T, r replicated, operators string) string {
	t.Helper()
	asksForPause := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(asksForPause.Close)
	chains := r.world.Chains()
	own := fmt.Sprintf(`[{url: %q}]`, chains[0].RPC)
	several := fmt.Sprintf("[{name: own, url: %q}, {name: twin, url: %q, requestsPerSecond: 500}, {name: alien, url: %q}, {name: busy, url: %q}, {name: gone, url: %q}]",
		chains[0].RPC, chains[0].RPC, chains[1].RPC, asksForPause.URL, "http://"+freeAddress(t))
	text := withOperators(r.config, operators) +
		"limits: {keys: [{name: scanner, key: scanner-0123456789, quota: {units: 10, window: 1h}}]}\n" +
		"swap: {execution: direct}\n" // such transactions have to be simulated
	if !strings.Contains(text, own) {
		t.Fatalf("the configuration has no %s", own)
	}
	return strings.Replace(text, own, several, 1)
}

// TestEveryPanelShowsSomething takes a gateway through everything that the dashboard covers: Prometheus must answer
// every expression.
func TestEveryPanelShowsSomething(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a gateway, a PostgreSQL and a Prometheus take some 30 s: run without -short")
	}
	r, operators := startReplicated(t, sandbox.Options{}), freeAddress(t)
	g := serveApart(t, troubled(t, r, operators))
	g.until(t, "level", lockedFor(r.taker), isLevel)
	p := startPrometheus(t, map[string][]string{"": {operators}})
	must.Do(t, syscall.Kill(g.id, syscall.SIGHUP))
	if cordoned := request(t, http.MethodPost, "http://"+operators+"/endpoints/1/twin/cordon", operatorsToken); cordoned.status != http.StatusOK {
		t.Errorf("cordoning an endpoint: %d %s", cordoned.status, cordoned.body)
	}
	o := deliver(t, r.world)
	g.until(t, "level with a delivery that a reorg drops", lockedFor(r.taker), o.isLocked)
	sandboxtest.Control(t, r.world, "reorg", `{"chainId":137,"depth":1}`, new(any))
	isAway, round := false, 0
	left := questions(t)
	defer func() {
		for _, each := range left {
			t.Errorf("panel %q shows nothing: %s", each.panel, each.expression)
		}
	}()
	eventually(t, "every panel shows something", func() (string, bool) {
		round++
		g.provoke(t, r, round, isAway)
		left = slices.DeleteFunc(left, func(each question) bool { return len(p.query(t, each.expression)) > 0 })
		if !isAway && !slices.ContainsFunc(left, func(each question) bool { return !strings.HasPrefix(each.panel, "Fail") }) {
			isAway = true // only failures are left
			must.Do(t, r.server.Stop())
			t.Cleanup(func() { must.Do(t, r.server.Resume()) })
		}
		return fmt.Sprint(left), len(left) == 0
	})
}

// provoke triggers everything that panels show.
func (p process) provoke(t *testing.T, r replicated, round int, withoutDatabase bool) {
	t.Helper()
	world := r.world
	p.ask(t, fmt.Sprintf("/api/Orders/0x%064x", round))
	if withoutDatabase {
		return
	}
	const rounds = 20 // between two of a kind
	if round%rounds == 1 {
		p.ask(t, deliver(t, world).path())
	}
	token := world.Chains()[0].Tokens[1] // the first is the wrapped coin
	swap := fmt.Sprintf("/v1.0/chain/transaction?chainId=1&tokenIn=0x%040x&tokenInAmount=%d&tokenOut=%s&tokenOutRecipient=",
		0, 1_000_000_000_000_000+round, token.Address.Hex())
	p.ask(t, swap+world.Takers()[0].Address.Hex())
	if round%rounds == 3 {
		sandboxtest.Control(t, world, "fault", `{"target":1,"kind":"slow","delayMs":1000}`, new(any))
		p.giveUp(t, swap+world.Takers()[2].Address.Hex(), 100*time.Millisecond)
		sandboxtest.Control(t, world, "fault", `{"target":1,"kind":"none"}`, new(any))
	}
	if round%rounds == 2 {
		// Quotes are shared for a moment; a transaction built from one now cannot be simulated.
		sandboxtest.Control(t, world, "fault", `{"target":1,"kind":"down"}`, new(any))
		p.ask(t, swap+world.Takers()[1].Address.Hex())
		sandboxtest.Control(t, world, "fault", `{"target":1,"kind":"none"}`, new(any))
	}
	request(t, http.MethodGet, p.url+"/v1.0/chain/transaction/explain?chainId=1", "scanner-0123456789")
}

// giveUp sends a request and abandons it after a while.
func (p process) giveUp(t *testing.T, path string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil))(t)
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
	}
}
