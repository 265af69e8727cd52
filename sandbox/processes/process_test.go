// Package processes_test runs the command crossgate as its operators do, in processes of its own.
package processes_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"crossgate/internal/must"
)

func TestMain(m *testing.M) {
	directory, err := os.MkdirTemp("", "crossgate-processes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.path = filepath.Join(directory, "crossgate")
	_ = flag.Set("test.parallel", "3") // most of the time these wait: for Prometheus, leases and databases
	code := m.Run()
	_ = os.RemoveAll(directory)
	os.Exit(code)
}

var built struct {
	once sync.Once
	path string
	err  error
}

// program is the path of the command, built once, with the race detector if CROSSGATE_RACE is set, as make soak has it.
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

// process is a gateway of its own process.
type process struct {
	url    string
	id     int
	config string                   // its file
	log    string                   // the file with what it says
	end    func(by os.Signal) error // once, and says how the process ended
}

// serveApart starts a gateway with a configuration. It is killed when the test ends.
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
