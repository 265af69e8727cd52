package processes_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestBackfillBesideAServingGateway reads the sandbox's history while a gateway that began late follows it.
func TestBackfillBesideAServingGateway(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	dir := t.TempDir()
	text := strings.Replace(string(world.Config(filepath.Join(dir, "orders.db"))), "lookback: 0", "lookback: 1", 1)
	if c, err := config.Parse([]byte(text)); err != nil || c.Index.Lookback != 1 {
		t.Fatalf("lookback %d, %v, want 1", c.Index.Lookback, err)
	}
	serving := serveApart(t, text)
	var bars, result bytes.Buffer
	backfill := exec.CommandContext(t.Context(), program(t), "backfill", "--config", serving.config)
	backfill.Stdout, backfill.Stderr = &result, &bars
	if err := backfill.Run(); err != nil {
		t.Fatalf("backfill: %v: %s", err, bars.String())
	}
	for _, want := range []string{"Ethereum", "100.0%", "done"} {
		if !strings.Contains(bars.String(), want) {
			t.Errorf("backfill printed %q, want %q in it", bars.String(), want)
		}
	}
	table, err := exec.CommandContext(t.Context(), program(t), "index", "status", "--config", serving.config).CombinedOutput()
	if err != nil {
		t.Fatalf("index status: %v: %s", err, table)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if len(lines) < 1+len(world.Chains()) {
		t.Errorf("index status has %d lines for %d EVM chains:\n%s", len(lines), len(world.Chains()), table)
	}
	t.Logf("\n%s%s", bars.String(), table)
	restored := filepath.Join(dir, "restored.yaml")
	elsewhere := strings.Replace(text, filepath.Join(dir, "orders.db"), filepath.Join(dir, "restored.db"), 1)
	must.Do(t, os.WriteFile(restored, []byte(elsewhere), 0o600))
	backup := filepath.Join(dir, "backup.db")
	indexCommand(t, 0, "index", "backup", "--config", serving.config, "--file", backup) // while it is written
	indexCommand(t, 0, "index", "restore", "--config", restored, "--file", backup)
	indexCommand(t, 1, "index", "restore", "--config", restored, "--file", backup) // over what is there
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
