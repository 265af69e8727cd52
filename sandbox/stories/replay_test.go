package stories_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// The golden ledgers were recorded from the protocol's own contracts. On some machines they lie next to the repository,
// with a server that answers JSON-RPC from them.
const golden = "../../../shared/golden"

// ledger is a recorded chain, with what a configuration needs of it.
type ledger struct {
	ChainID    uint64
	DeBridgeID uint64
	Head       uint64
	Finalized  uint64
	Contracts  struct{ DlnSource, DlnDestination, Gate, ExternalCallAdapter, Multicall3 string }
	Receipts   map[string]struct {
		Logs []struct{ BlockNumber, Data string }
	}

	rpc, control string // of the server that replays it
	second       string // second endpoint; empty: none
}

// replayLedgers serves the four ledgers of set A until the test ends.
func replayLedgers(t testing.TB) []*ledger {
	t.Helper()
	server := filepath.Join(golden, "replay-rpc.mjs")
	if _, err := os.Stat(server); err != nil {
		t.Skipf("golden ledgers not present: %v; they are in the folder shared, which lies beside the repository", err)
	}
	want(t, "node")
	var ledgers []*ledger
	for _, native := range []int{1, 137, 8453, 146} {
		path := filepath.Join(golden, "ledgers-A", fmt.Sprintf("ledger-A-%d.json", native))
		l := &ledger{}
		readGolden(t, path, l)
		l.replay(t, "node", server, "--ledger", path, "--port", "0", "--control-port", "0")
		ledgers = append(ledgers, l)
	}
	return ledgers
}

func readGolden(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("golden ledgers not present: %v; they are in the folder shared, which lies beside the repository", err)
	}
	decode(t, path, text, into)
}

var replayReady = regexp.MustCompile(`rpc=(\S+) control=(\S+)`)

// replay starts the server and waits for the line with its addresses.
func (l *ledger) replay(t testing.TB, command string, arguments ...string) {
	t.Helper()
	line := startServer(t, command, arguments...)
	addresses := replayReady.FindStringSubmatch(line)
	if addresses == nil {
		t.Fatalf("replay of chain %d says %q", l.ChainID, line)
	}
	l.rpc, l.control = addresses[1], addresses[2]
}

// startServer starts a server that runs until the test ends, and returns its first line of output.
func startServer(t testing.TB, command string, arguments ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	process := exec.CommandContext(ctx, command, arguments...)
	process.Stderr = os.Stderr
	output := must.Get(process.StdoutPipe())(t)
	must.Do(t, process.Start())
	t.Cleanup(func() {
		stop()
		_ = process.Wait() // it was killed
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("%s %v says %q: %v", command, arguments, line, err)
	}
	return line
}

// move sends a command to the server's control port.
func (l *ledger) move(t *testing.T, command string) {
	t.Helper()
	if response, _ := ask(t, http.MethodPost, l.control, command); response.StatusCode != http.StatusOK {
		t.Fatalf("control of chain %d: %s to %s", l.ChainID, response.Status, command)
	}
}

// replayConfig returns the configuration of a gateway that reads the ledgers, starting lookback blocks before their
// ends, or at their first blocks if zero.
func replayConfig(t testing.TB, ledgers []*ledger, lookback int) []byte {
	t.Helper()
	text := &strings.Builder{}
	fmt.Fprintf(text, "index: {path: %q, lookback: %d}\nchains:\n", filepath.Join(t.TempDir(), "orders.db"), lookback)
	for _, l := range ledgers {
		second := ""
		if l.second != "" {
			second = fmt.Sprintf(", {name: second, url: %q}", l.second)
		}
		fmt.Fprintf(text, "  - {id: %d, endpoints: [{url: %q}%s], contracts: {dlnSource: %q, dlnDestination: %q, gate: %q, externalCallAdapter: %q, multicall: %q}}\n",
			l.DeBridgeID, l.rpc, second, l.Contracts.DlnSource, l.Contracts.DlnDestination, l.Contracts.Gate,
			l.Contracts.ExternalCallAdapter, l.Contracts.Multicall3)
	}
	return []byte(text.String())
}
