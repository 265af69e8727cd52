package processes_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// TestBackfillBesideAServingGateway backfills the sandbox's history while a gateway that began late follows it.
func TestBackfillBesideAServingGateway(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	dir := t.TempDir()
	text := strings.Replace(string(world.Config(filepath.Join(dir, "orders.db"))), "lookback: 0", "lookback: 1", 1)
	if c, err := config.Parse([]byte(text)); err != nil || c.Index.Lookback != 1 {
		t.Fatalf("lookback %d, %v, want 1", c.Index.Lookback, err)
	}
	serving := serveApart(t, text)
	var bars bytes.Buffer
	backfill := exec.CommandContext(t.Context(), program(t), "backfill", "--config", serving.config)
	backfill.Stderr = &bars
	if err := backfill.Run(); err != nil {
		t.Fatalf("backfill: %v: %s", err, bars.String())
	}
	for _, want := range []string{"Ethereum", "100.0%", "done"} {
		if !strings.Contains(bars.String(), want) {
			t.Errorf("backfill printed %q, want %q in it", bars.String(), want)
		}
	}
	table := indexCommand(t, 0, "index", "status", "--config", serving.config)
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) < 1+len(world.Chains()) {
		t.Errorf("index status has %d lines for %d EVM chains:\n%s", len(lines), len(world.Chains()), table)
	}
	t.Logf("\n%s%s", bars.String(), table)
	restored := filepath.Join(dir, "restored.yaml")
	elsewhere := strings.Replace(text, filepath.Join(dir, "orders.db"), filepath.Join(dir, "restored.db"), 1)
	must.Do(t, os.WriteFile(restored, []byte(elsewhere), 0o600))
	backup := filepath.Join(dir, "backup.db")
	indexCommand(t, 0, "index", "backup", "--config", serving.config, "--file", backup) // while it is being written
	indexCommand(t, 0, "index", "restore", "--config", restored, "--file", backup)
	indexCommand(t, 1, "index", "restore", "--config", restored, "--file", backup) // over existing data
	if was, is := dump(t, filepath.Join(dir, "orders.db"), allEvents), dump(t, filepath.Join(dir, "restored.db"), allEvents); was != is || was == "" {
		t.Errorf("the restored file holds %d bytes of events, want %d", len(is), len(was))
	}
	if said := indexCommand(t, 0, "upgrade-check", "--config", restored); !strings.Contains(said, "nothing to migrate") {
		t.Errorf("upgrade-check: %s", said)
	}
	if err := serving.end(os.Interrupt); err != nil {
		t.Errorf("serve after an interrupt: %v, want exit status 0", err)
	}
}

// exports runs the command and returns its rows and the cursor at its end.
func (p process) exports(t *testing.T, arguments ...string) (rows []string, cursor string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program(t), append([]string{"export", "--url", p.url}, arguments...)...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("export %v: %v: %s", arguments, err, said.String())
	}
	if found := regexp.MustCompile(`--cursor (\S+)`).FindStringSubmatch(said.String()); found != nil {
		cursor = found[1]
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), cursor
}

// TestExportsAreResumed exports events and orders in one and in two parts, and compares both with each other and with
// the gateway's lists.
func TestExportsAreResumed(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	p := serveApart(t, string(world.Config(filepath.Join(t.TempDir(), "orders.db"))))
	p.until(t, "level", lockedFor(world.Takers()[0].Address.Hex()), isLevel)
	var list struct{ TotalCount int }
	response := must.Get(http.Post(p.url+"/api/Orders/filteredList", "application/json", strings.NewReader("{}")))(t)
	defer response.Body.Close()
	must.Do(t, json.NewDecoder(response.Body).Decode(&list))
	for of, cursorOf := range map[string]func(row string) string{
		"events": func(row string) string {
			var e struct{ ID string }
			must.Do(t, json.Unmarshal([]byte(row), &e))
			return e.ID
		},
		"orders": func(row string) string {
			var o struct {
				OrderID           struct{ StringValue string }
				CreationTimestamp json.Number
			}
			must.Do(t, json.Unmarshal([]byte(row), &o))
			return o.CreationTimestamp.String() + "-" + o.OrderID.StringValue
		},
	} {
		whole, end := p.exports(t, "--of", of)
		if len(whole) < 100 || of == "orders" && len(whole) != list.TotalCount {
			t.Fatalf("%d %s are exported, %d orders listed", len(whole), of, list.TotalCount)
		}
		for _, at := range []int{0, len(whole) / 2, len(whole) - 2} {
			rest, last := p.exports(t, "--of", of, "--cursor", cursorOf(whole[at]))
			if !slices.Equal(rest, whole[at+1:]) || last != end {
				t.Errorf("%s after row %d: %d rows to %s, want %d to %s", of, at, len(rest), last, len(whole)-at-1, end)
			}
		}
		if none, _ := p.exports(t, "--of", of, "--cursor", end); len(none) != 1 || none[0] != "" {
			t.Errorf("%s after the end: %d rows", of, len(none))
		}
		table, _ := p.exports(t, "--of", of, "--format", "csv", "--since", "2020-01-01")
		rows := must.Get(csv.NewReader(strings.NewReader(strings.Join(table, "\n"))).ReadAll())(t)
		if len(rows) != 1+len(whole) || slices.Contains(rows[1], "<nil>") || !strings.Contains(whole[0], rows[1][0]) || rows[1][2] == "" {
			t.Errorf("%s as CSV: %d rows, begins with %v", of, len(rows), rows[:2])
		}
		t.Logf("%d %s", len(whole), of)
	}
	_, end := p.exports(t, "--since", "2100-01-01")
	p.exports(t, "--cursor", end)
	ahead := []string{"--url", p.url, "--cursor", "9000000000000000000"}
	for _, wrong := range [][]string{{"--format", "parquet"}, {"--of", "swaps"}, {"--since", "yesterday"}, ahead} {
		if out, err := exec.CommandContext(t.Context(), program(t), append([]string{"export"}, wrong...)...).CombinedOutput(); err == nil || strings.Contains(string(out), "--cursor 9") {
			t.Errorf("export %v: %s", wrong, out)
		}
	}
}
