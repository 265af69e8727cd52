package processes_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// lines are those of the JSON log with a message, and with a path where one is given.
func (p process) lines(t *testing.T, message, path string) (all []map[string]any) {
	t.Helper()
	text := must.Get(os.ReadFile(p.log))(t)
	for line := range strings.Lines(string(text)) {
		var told map[string]any
		if json.Unmarshal([]byte(line), &told) == nil && told["msg"] == message && (path == "" || told["path"] == path) {
			all = append(all, told)
		}
	}
	return all
}

// TestLogIsReloaded changes the level of the log and what it has of requests under a running gateway, and reads a duration.
func TestLogIsReloaded(t *testing.T) {
	t.Parallel()
	const before, after = `{admin: "", log: json, level: warn, clients: none}`,
		`{admin: "", log: json, level: debug, clients: address}`
	world := sandboxtest.Start(t, sandbox.Options{})
	quiet := strings.Replace(string(world.Config(t.TempDir()+"/orders.db")), `{admin: "127.0.0.1:0"}`, before, 1)
	p := serveApart(t, quiet)
	const path = "/v1.0/supported-chains-info"
	for range 2 { // the second is a hit
		p.ask(t, path)
	}
	must.Do(t, os.WriteFile(p.config, []byte(strings.Replace(quiet, before, after, 1)), 0o600))
	must.Do(t, syscall.Kill(p.id, syscall.SIGHUP))
	eventually(t, "a kept answer has a line with its client", func() (string, bool) {
		p.ask(t, path)
		told := p.lines(t, "request", path)
		return "", len(told) > 0 && told[len(told)-1]["client"] == "127.0.0.1" && told[len(told)-1]["userAgent"] != nil
	})
	if partly := p.lines(t, "configuration partly reloaded: these keys need a restart", ""); len(partly) > 0 {
		t.Errorf("the log says %v", partly)
	}
	if early := p.lines(t, "crossgate started", ""); len(early) > 0 {
		t.Errorf("at level warn the log says %v", early)
	}
	must.Do(t, p.end(syscall.SIGTERM))
	stops := p.lines(t, "crossgate stops: draining in-flight requests", "")
	if len(stops) != 1 || stops[0]["drain_seconds"] == nil {
		t.Errorf("on SIGTERM the log says %v, want the time to drain in seconds", stops)
	}
}
