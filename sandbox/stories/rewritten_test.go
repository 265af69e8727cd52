package stories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/config"
	"crossgate/doctor"
	"crossgate/gateway"
	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/order/audit"
)

// rewritten is a gateway in front of golden ledgers whose faster endpoints begin to lie.
type rewritten struct {
	goldenFront
	gateway *gateway.Gateway
	config  []byte
	ledgers []*ledger
	forked  []*ledger // those with a faster endpoint
	liars   []string  // URLs of the faster endpoints
}

// startRewritten serves golden ledgers, two of them by endpoints that may lie, with slower honest ones next to them if
// isBeside.
func startRewritten(t *testing.T, isBeside bool, rules ...string) *rewritten {
	t.Helper()
	r := &rewritten{ledgers: replayLedgers(t)}
	r.forked = r.ledgers[:2]
	config := string(replayConfig(t, r.ledgers, 0))
	for _, l := range r.ledgers {
		l.move(t, `{"op":"head","number":120}`)
	}
	for _, l := range r.forked {
		lying := lyingProxy(t, l.rpc, rules...)
		endpoints := fmt.Sprintf("{name: fast, url: %q}", lying)
		if isBeside {
			endpoints += fmt.Sprintf(", {name: honest, url: %q}", lyingProxy(t, l.rpc, "slow:60"))
		}
		config = strings.Replace(config, fmt.Sprintf("{url: %q}", l.rpc), endpoints, 1)
		r.liars = append(r.liars, lying)
	}
	r.config = []byte(config)
	r.gateway, r.url = serveGateway(t, r.config)
	return r
}

// lyingProxy starts a proxy in front of a node until the test ends, and returns its URL.
func lyingProxy(t *testing.T, target string, rules ...string) (rpc string) {
	t.Helper()
	port := strings.Fields(startLiar(t, "liar.mjs", target, "0", rules...))[2]
	return "http://127.0.0.1:" + port
}

// startLiar starts a proxy that lies by rule, and returns its first line of output.
func startLiar(t *testing.T, program, target, port string, rules ...string) string {
	t.Helper()
	arguments := []string{filepath.Join(golden, program), "--listen", port, "--target", target}
	return startServer(t, "node", append(arguments, rules...)...)
}

// lie makes the faster endpoints lie from now on.
func (r *rewritten) lie(t *testing.T, rules ...string) {
	t.Helper()
	text := must.Get(json.Marshal(rules))(t)
	for _, url := range r.liars {
		if response, body := ask(t, http.MethodPost, url+"/rules", string(text)); response.StatusCode != http.StatusOK {
			t.Fatalf("rules: %s", body)
		}
	}
}

// grow lets the chains grow to the end of the recording and beyond.
func (r *rewritten) grow(t *testing.T) {
	t.Helper()
	for _, l := range r.ledgers {
		l.move(t, `{"op":"auto","everyMs":40}`)
	}
}

// answers requests every order by its creation and by its ID, and returns how many answers are right and how many
// requests were refused as unanswerable. Others fail the test.
func (r *rewritten) answers(t *testing.T) (right, withheld int) {
	t.Helper()
	for _, want := range readExpectation(t).Orders {
		for _, path := range []string{
			fmt.Sprintf("/api/Orders/creationTxHash/%s?index=%d", want.CreationTxHash, want.IndexInTx), "/api/Orders/" + want.OrderID,
		} {
			response, body := ask(t, http.MethodGet, r.url+path, "")
			switch response.StatusCode {
			case http.StatusOK:
				var got map[string]any
				decode(t, path, body, &got)
				compare(t, path, got, want.json())
				right++
			case http.StatusServiceUnavailable:
				withheld++
			default:
				t.Errorf("%s = %d: %s", path, response.StatusCode, body)
			}
		}
	}
	return right, withheld
}

// areRead reports whether an answer says that the recorded ledgers are completely indexed.
func areRead(t *testing.T, url string, ledgers []*ledger) bool {
	t.Helper()
	said := headersAt(t, url+"/api/Satistics/0x0000000000000000000000000000000000000001/lockedAssets").Get("Index-Basis")
	return !slices.ContainsFunc(ledgers, func(l *ledger) bool { return basisBlock(t, said, fmt.Sprint(l.DeBridgeID), "block") < l.Head })
}

// basisBlock returns a chain's newest indexed or proven block in an Index-Basis, or 0.
func basisBlock(t *testing.T, basis, id, what string) uint64 {
	t.Helper()
	found := regexp.MustCompile(fmt.Sprintf(`(?:^|, )%s;(?:[^,]*;)?%s=(\d+)`, id, what)).FindStringSubmatch(basis)
	if found == nil {
		return 0
	}
	return must.Get(strconv.ParseUint(found[1], 10, 64))(t)
}

// state returns the readiness of a dependency of the gateway.
func (r *rewritten) state(t *testing.T, kind, name string) (state string, isOK bool) {
	t.Helper()
	for _, each := range r.gateway.Dependencies(t.Context()) {
		if each.Kind == kind && each.Name == name {
			return each.State, each.OK
		}
	}
	t.Fatalf("readiness has no %s %s", kind, name)
	return "", false
}

// TestEndpointOfAnotherBranchIsOutOfUse proves that an endpoint that leaves the branch of final blocks is not used.
func TestEndpointOfAnotherBranchIsOutOfUse(t *testing.T) {
	t.Parallel()
	r := startRewritten(t, true)
	must.Do(t, r.gateway.AwaitIndexed(t.Context()))
	r.lie(t, "fork:10:100000") // before what each chain calls final: later, either branch could be right
	r.grow(t)
	await(t, "indexed", func() bool { return areRead(t, r.url, r.ledgers) })
	await(t, "quarantined", func() bool {
		return !slices.ContainsFunc(r.forked, func(l *ledger) bool {
			state, _ := r.state(t, "endpoint", fmt.Sprintf("%d/fast", l.DeBridgeID))
			return !strings.Contains(state, "quarantined")
		})
	})
	right, withheld := r.answers(t)
	if withheld > 0 {
		t.Errorf("%d answers are withheld, %d are right", withheld, right)
	}
	r.locked(t)
	for _, l := range r.forked {
		id := fmt.Sprint(l.DeBridgeID)
		if state, _ := r.state(t, "endpoint", id+"/honest"); strings.Contains(state, "quarantined") || strings.Contains(state, "wrong answer") {
			t.Errorf("the honest endpoint is %s", state)
		}
		if state, _ := r.state(t, "chain", id); strings.Contains(state, "stopped") {
			t.Errorf("chain %s is %s", id, state)
		}
	}
	r.diagnosed(t)
}

// diagnosed requires doctor to report the faster endpoints and the age of the newest blocks.
func (r *rewritten) diagnosed(t *testing.T) {
	t.Helper()
	c := must.Get(config.Parse(r.config))(t)
	d := must.Get(doctor.Diagnose(t.Context(), c, func(audit.Progress) {}))(t)
	for _, chain := range d.Chains {
		for _, e := range chain.Endpoints {
			isOther := strings.Contains(strings.Join(e.Wrong, "; "), "on another branch")
			if isOther != (e.Endpoint == "fast") || !strings.Contains(strings.Join(e.Shortcomings, "; "), "stale") {
				t.Errorf("chain %d, endpoint %s: wrong %q, short of %q", chain.Chain, e.Endpoint, e.Wrong, e.Shortcomings)
			}
		}
	}
}

// TestChainOfWhichOnlyAnotherBranchIsLeftStops proves that what was read stays, and readiness gives the reason.
func TestChainOfWhichOnlyAnotherBranchIsLeftStops(t *testing.T) {
	t.Parallel()
	r := startRewritten(t, false)
	for _, l := range r.ledgers {
		l.move(t, fmt.Sprintf(`{"op":"head","number":%d}`, l.Head))
	}
	must.Do(t, r.gateway.AwaitIndexed(t.Context()))
	r.lie(t, "fork:40:100000")
	r.grow(t)
	await(t, "stopped on the forked chains", func() bool {
		for _, l := range r.forked {
			if state, _ := r.state(t, "chain", fmt.Sprint(l.DeBridgeID)); !strings.Contains(state, "stopped") {
				return false
			}
		}
		return true
	})
	right, withheld := r.answers(t)
	if withheld == 0 {
		t.Errorf("all %d answers are given though no endpoint is left", right)
	}
	for _, e := range readExpectation(t).Locked {
		if response, body := ask(t, http.MethodGet, r.url+"/api/Satistics/"+e.Taker+"/lockedAssets", ""); response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("locked for %s = %d: %s", e.Taker, response.StatusCode, body)
		}
	}
}

// TestSolanaGoesOnWithoutWhatNobodyShows proves that a slot that no endpoint shows, and a transaction of an unknown
// version, are quarantined: the chain goes on, and nothing unknown is answered as if it were known.
func TestSolanaGoesOnWithoutWhatNobodyShows(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(golden, "solliar.mjs")); err != nil {
		t.Skipf("the proxy that lies about Solana is not present: %v; it is in the folder shared, which lies beside the repository", err)
	}
	honest := readingFront(t)
	world := honest.world
	address := must.Get(linktest.FreeAddress())(t)
	_, port, _ := strings.Cut(address, ":")
	startLiar(t, "solliar.mjs", world.Solana().RPC, port, "skip:0.2", "txversion:0.3")
	config := string(world.Config(filepath.Join(t.TempDir(), "orders.db")))
	g, url := serveGateway(t, []byte(strings.Replace(config, world.Solana().RPC, "http://"+address, 1)))
	must.Do(t, g.AwaitIndexed(t.Context()))
	id := world.Solana().Facts.ID.String()
	var state string
	for _, each := range g.Dependencies(t.Context()) {
		if each.Kind == "chain" && each.Name == id {
			state = each.State
		}
	}
	if !strings.Contains(state, "blocks quarantined") {
		t.Errorf("the chain is %s, want to be told what is left out", state)
	}
	told := factsOf(t, world)
	right, withheld := 0, 0
	for _, o := range told.Orders {
		path := "/api/Orders/creationTxHash/" + o.CreationTxHash
		_, want := ask(t, http.MethodGet, honest.url+path, "")
		response, got := ask(t, http.MethodGet, url+path, "")
		switch response.StatusCode {
		case http.StatusOK:
			if !bytes.Equal(got, want) {
				t.Errorf("%s of %q (-want +got):\n%.600s", path, o.Title, cmp.Diff(string(want), string(got)))
			}
			right++
		case http.StatusServiceUnavailable:
			withheld++
		default:
			t.Errorf("%s of %q = %d: %s", path, o.Title, response.StatusCode, got)
		}
	}
	if right == 0 || withheld == 0 {
		t.Errorf("%d answers are right and %d withheld, want some of both", right, withheld)
	}
}

// checkStale requires headers and readiness to report an old newest block although it is read to the end, except on
// chains whose blocks are that rare.
func checkStale(t *testing.T, ledgers []*ledger) {
	const rare = "blockTime: 87600h"
	var r rewritten
	config := string(replayConfig(t, ledgers, 0))
	config = strings.Replace(config, "{id: 137,", "{id: 137, "+rare+",", 1)
	r.gateway, r.url = serveGateway(t, []byte(config))
	must.Do(t, r.gateway.AwaitIndexed(t.Context()))
	told := headersAt(t, r.url+"/api/Satistics/0x0000000000000000000000000000000000000001/lockedAssets")
	for each := range strings.SplitSeq(told.Get("Index-Basis"), ", ") {
		id, _, _ := strings.Cut(each, ";")
		state, isOK := r.state(t, "chain", id)
		isRare := id == "137"
		if isOK != isRare || strings.Contains(state, "stale") == isRare || strings.Contains(each, ";stale") == isRare {
			t.Errorf("chain %s is %s, ready: %t; its basis is %s", id, state, isOK, each)
		}
		_, after, _ := strings.Cut(each, ";lag=")
		lag, _, _ := strings.Cut(after, ";")
		if seconds, err := strconv.Atoi(lag); !isRare && (err != nil || seconds < 24*60*60) {
			t.Errorf("lag %q s behind blocks of long ago: %s", lag, each)
		}
	}
}
