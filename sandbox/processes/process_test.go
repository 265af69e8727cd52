// Package processes_test runs the command crossgate as operators do, in separate processes.
package processes_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	directory, err := os.MkdirTemp("", "crossgate-processes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.path = filepath.Join(directory, "crossgate")
	_ = flag.Set("test.parallel", "3") // mostly waiting: for Prometheus, leases and databases
	code := m.Run()
	_ = os.RemoveAll(directory)
	os.Exit(code)
}

var built struct {
	once sync.Once
	path string
	err  error
}

// program returns the path of the command, built once, with the race detector if CROSSGATE_RACE is set (make soak).
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		build := exec.Command("go", "build", "-o", built.path, "-race="+strconv.FormatBool(os.Getenv("CROSSGATE_RACE") != ""), "./cmd/crossgate")
		build.Dir = filepath.Join("..", "..") // where its own go.mod is
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// process is a gateway in its own process.
type process struct {
	url    string
	id     int
	config string                   // its file
	log    string                   // the log file
	end    func(by os.Signal) error // may be called once; returns how the process ended
}

// serveApart starts a gateway process with a configuration. It is killed when the test ends.
func serveApart(t *testing.T, text string) process {
	t.Helper()
	directory := t.TempDir()
	file := filepath.Join(directory, "gateway.yaml")
	log := must.Get(os.Create(filepath.Join(directory, "gateway.log")))(t)
	defer log.Close()
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	command := exec.Command(program(t), "serve", "--listen", "127.0.0.1:0", "--config", file)
	command.Stderr = log
	output := must.Get(command.StdoutPipe())(t)
	must.Do(t, command.Start())
	var once sync.Once
	p := process{id: command.Process.Pid, config: file, log: log.Name(), end: func(by os.Signal) (err error) {
		once.Do(func() {
			_ = command.Process.Signal(by)
			err = command.Wait()
		})
		return err
	}}
	t.Cleanup(func() { _ = p.end(os.Kill) })
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		_ = p.end(os.Kill)
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("the gateway said %q and %s: %v", line, said, err)
	}
	p.url = strings.TrimSpace(line[strings.Index(line, "http://"):])
	return p
}

// lines returns the JSON log lines with a message, and with a path if one is given.
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

// TestLogIsReloaded changes the log level, and the log of requests, while a gateway runs, and reads a duration.
func TestLogIsReloaded(t *testing.T) {
	t.Parallel()
	const before, after = `{admin: "", log: json, level: warn, clients: none}`,
		`{admin: "", log: json, level: debug, clients: address}`
	world := sandboxtest.Shared(t)
	quiet := strings.Replace(string(world.Config(t.TempDir()+"/orders.db")), `{admin: "127.0.0.1:0"}`, before, 1)
	p := serveApart(t, quiet)
	const path = "/v1.0/supported-chains-info"
	for range 2 { // the second is a cache hit
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
