package stories_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGoldenLedgersBehindABadProvider indexes the golden ledgers while they grow, through a balancer over nodes that lag,
// lose and forget: once all of it is proven the answers are those of honest nodes.
func TestGoldenLedgersBehindABadProvider(t *testing.T) {
	t.Parallel()
	ledgers := replayLedgers(t)
	for seed, l := range ledgers {
		l.move(t, `{"op":"head","number":100}`)
		l.rpc = badProvider(t, l.rpc, "--seed", strconv.Itoa(seed+1), "lag:1:0.3", "lag:3:0.3", "empty:0.2", "drop:0.1", "null:0.05")
	}
	g, url := serveGateway(t, replayConfig(t, ledgers, 0))
	if err := g.AwaitIndexed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, l := range ledgers {
		l.move(t, `{"op":"auto","everyMs":15}`)
	}
	eventually(t, func() bool { return isProven(t, url, ledgers) })
	for _, l := range ledgers { // what is looked up beside the index is not under test here
		if response, body := ask(t, http.MethodPost, l.rpc+"/rules", "[]"); response.StatusCode != http.StatusOK {
			t.Fatalf("rules: %s", body)
		}
	}
	front := goldenFront{url: url}
	front.orders(t)
	front.locked(t)
}

// badProvider stands before a node until the test ends, and returns its own address.
func badProvider(t *testing.T, target string, rules ...string) (rpc string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{filepath.Join(golden, "bad-provider.mjs"), "--listen", "0", "--target", target}
	return strings.Fields(startServer(t, node, append(arguments, rules...)...))[2]
}

// isProven reports whether an answer says that all of the recorded ledgers is proven.
func isProven(t *testing.T, url string, ledgers []*ledger) bool {
	t.Helper()
	said := headersAt(t, url+"/api/Satistics/0x0000000000000000000000000000000000000001/lockedAssets").Get("Index-Basis")
	for _, l := range ledgers {
		block := regexp.MustCompile(fmt.Sprintf(`(?:^|, )%d;[^,]*;proven=(\d+)`, l.DeBridgeID)).FindStringSubmatch(said)
		if block == nil {
			return false
		}
		if number, err := strconv.ParseUint(block[1], 10, 64); err != nil || number < l.Head {
			return false
		}
	}
	return true
}
