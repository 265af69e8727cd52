package processes_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// reply is a gateway's response.
type reply struct {
	status int
	header http.Header
	body   string
}

func (p process) ask(t *testing.T, path string) reply {
	t.Helper()
	return request(t, http.MethodGet, p.url+path, "")
}

// request sends a request, with a key if one is given.
func request(t *testing.T, method, url, key string) reply {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, url, nil))(t)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	return reply{response.StatusCode, response.Header, string(must.Get(io.ReadAll(response.Body))(t))}
}

// until repeats a request until the response is as wanted.
func (p process) until(t *testing.T, what, path string, wanted func(reply) bool) reply {
	t.Helper()
	var got reply
	eventually(t, what+" by "+path, func() (string, bool) {
		got = p.ask(t, path)
		return fmt.Sprintf("%d %v %.600s", got.status, got.header, got.body), wanted(got)
	})
	return got
}

// isLevel reports whether a response covers all chains up to their heads.
func isLevel(r reply) bool {
	basis := r.header.Get("Index-Basis")
	return r.status == http.StatusOK && strings.Contains(basis, ";lag=") && !strings.Contains(basis, ";behind")
}

// delivered is a new order that the first taker has fulfilled.
type delivered struct{ sandboxtest.Order }

func deliver(t *testing.T, world *sandbox.World) delivered {
	t.Helper()
	return delivered{sandboxtest.Deliver(t, world)}
}

func (o delivered) path() string { return "/api/Orders/creationTxHash/" + o.CreationTxHash }

// isLocked reports whether a response contains the order, isOpen whether it does not.
func (o delivered) isLocked(r reply) bool {
	return r.status == http.StatusOK && strings.Contains(r.body, o.OrderID)
}

func (o delivered) isOpen(r reply) bool {
	return r.status == http.StatusOK && !strings.Contains(r.body, o.OrderID)
}

func lockedFor(taker string) string { return "/api/Satistics/" + taker + "/lockedAssets" }

// everything requests what is locked for every taker, and every order by its ID, which only the index knows.
func (p process) everything(t *testing.T, world *sandbox.World) map[string]string {
	t.Helper()
	answers := map[string]string{}
	for _, taker := range world.Takers() {
		path := lockedFor(taker.Address.Hex())
		answers[path] = p.ask(t, path).body
	}
	orders := must.Get(world.Orders(t.Context()))(t)
	for _, o := range orders {
		path := "/api/Orders/" + o.ID.Hex()
		answers[path] = p.ask(t, path).body
	}
	return answers
}

// replicated is a database that several gateways in front of a sandbox share.
type replicated struct {
	world  *sandbox.World
	server *postgrestest.Server
	config string
	taker  string // the first one, which fulfils
}

func startReplicated(t *testing.T, o sandbox.Options) replicated {
	t.Helper()
	server, err := postgrestest.Start()
	if err != nil {
		t.Skipf("no PostgreSQL to test with: %v", err)
	}
	t.Cleanup(func() { must.Do(t, server.Remove()) })
	address := must.Get(server.Create("orders"))(t)
	world := sandboxtest.Start(t, o)
	index := fmt.Sprintf("index: {postgres: %q, behind: 3s, lookback", address)
	text := strings.Replace(string(world.Config("nowhere")), `index: {path: "nowhere", lookback`, index, 1)
	return replicated{world, server, text, world.Takers()[0].Address.Hex()}
}

// untilAllFollowedBy waits until one process holds the lease of every chain.
func (r replicated) untilAllFollowedBy(t *testing.T, p process) {
	t.Helper()
	want := fmt.Sprint(p.id, "|", len(r.world.Chains())+1, "\n") // Solana beside the EVM chains and TRON
	const holders = `SELECT split_part(holder, '/', 2), COUNT(*) FROM leases WHERE job LIKE 'follow %' GROUP BY 1`
	eventually(t, "chains are followed by "+want, func() (string, bool) {
		got := must.Get(r.server.Query("orders", holders))(t)
		return got, got == want
	})
}

// TestTwoGatewaysOnOneDatabase kills the gateway that follows the chains, and stops the database for a while.
func TestTwoGatewaysOnOneDatabase(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("four gateways, and a lease that has to run out, take some 25 s: run without -short")
	}
	r := startReplicated(t, sandbox.Options{})
	locked := lockedFor(r.taker)
	leader := serveApart(t, r.config)
	leader.until(t, "level", locked, isLevel)
	r.untilAllFollowedBy(t, leader)
	second := serveApart(t, r.config)
	second.until(t, "level", locked, isLevel)
	first := deliver(t, r.world)
	leader.until(t, "told by the leader", locked, first.isLocked)
	second.until(t, "told by the other one", locked, first.isLocked)
	r.changesEndAnswersOf(t, second)

	_ = leader.end(os.Kill)
	killed := time.Now()
	missed := deliver(t, r.world)
	second.until(t, "taken over", locked, missed.isLocked)
	t.Logf("an order that was delivered after the leader was killed is told %v after that", time.Since(killed).Round(10*time.Millisecond))
	r.untilAllFollowedBy(t, second)
	third := serveApart(t, r.config)
	third.until(t, "level", locked, isLevel)
	r.untilAllFollowedBy(t, second)

	alone := serveApart(t, string(r.world.Config(filepath.Join(t.TempDir(), "orders.db"))))
	alone.until(t, "level", locked, isLevel)
	want := alone.everything(t, r.world)
	for name, each := range map[string]process{"the one that took over": second, "the new one": third} {
		if diff := cmp.Diff(want, each.everything(t, r.world)); diff != "" {
			t.Errorf("%s answers otherwise than a gateway that was never interrupted (-want +got):\n%s", name, diff)
		}
	}
	r.withoutDatabase(t, second, missed)
}

// changesEndAnswersOf keeps asking a gateway that follows no chain for what is locked, while orders are fulfilled. An
// answer that expires is served stale until there is another one. Only an answer that a change invalidates while it is
// fresh is replaced for the same request. A new order can also appear by chance with an answer that has just expired,
// so there are several rounds.
func (r replicated) changesEndAnswersOf(t *testing.T, p process) {
	t.Helper()
	const rounds = 10
	var seen []string
	for range rounds {
		o := deliver(t, r.world)
		var before string
		got := p.until(t, "told by the one that does not follow", lockedFor(r.taker), func(got reply) bool {
			if o.isLocked(got) {
				return true
			}
			before = got.header.Get("Cache-Status")
			return false
		})
		now := got.header.Get("Cache-Status")
		if strings.HasPrefix(before, "crossgate; hit; ttl=") && strings.HasPrefix(now, "crossgate; fwd=miss") {
			return
		}
		seen = append(seen, before+" then "+now)
	}
	t.Errorf("no fresh answer without a new order was followed by one that was loaded anew: %q", seen)
}

// withoutDatabase stops PostgreSQL and resumes it.
func (r replicated) withoutDatabase(t *testing.T, p process, o delivered) {
	t.Helper()
	must.Do(t, r.server.Stop())
	sandboxtest.Control(t, r.world, "unlock", fmt.Sprintf(`{"orderId":%q}`, o.OrderID), new(any))
	p.until(t, "told by its chains, with word of the lag", o.path(), func(got reply) bool {
		return strings.Contains(got.body, `"SentUnlock"`) && strings.Count(got.header.Get("Index-Basis"), ";behind") == 2
	})
	const stranger = "0x00000000000000000000000000000000000000aa" // with nothing in the cache
	unknownID := "0x" + strings.Repeat("ab", 32)
	refused := p.ask(t, lockedFor(stranger))
	if refused.status != http.StatusServiceUnavailable || refused.header.Get("Retry-After") == "" || !strings.Contains(refused.body, "INDEX_UNAVAILABLE") {
		t.Errorf("without the database: %d %s, want 503 INDEX_UNAVAILABLE with Retry-After", refused.status, refused.body)
	}
	for _, path := range []string{"/api/Orders/" + unknownID, "/v1.0/dln/order/" + unknownID + "/status"} {
		got := p.ask(t, path)
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "INDEX_UNAVAILABLE") {
			t.Errorf("without the database: GET %s = %d %s, want 503 INDEX_UNAVAILABLE with Retry-After", path, got.status, got.body)
		}
	}
	kept := p.until(t, "told from what is kept", lockedFor(r.taker), func(got reply) bool {
		return strings.Contains(got.header.Get("Cache-Status"), "stale-if-error")
	})
	if kept.status != http.StatusOK || kept.header.Get("Age") == "" || !strings.Contains(kept.header.Get("Index-Basis"), ";lag=") {
		t.Errorf("what is kept of the taker: %d %v, want it with its age and the index's lag", kept.status, kept.header)
	}
	sandboxtest.Control(t, r.world, "claim", fmt.Sprintf(`{"orderId":%q}`, o.OrderID), new(any))
	must.Do(t, r.server.Resume())
	resumed := time.Now()
	p.until(t, "recovered", lockedFor(stranger), isLevel)
	p.until(t, "what happened meanwhile", lockedFor(r.taker), o.isOpen)
	t.Logf("recovered %v after the database was there again", time.Since(resumed).Round(10*time.Millisecond))
}
