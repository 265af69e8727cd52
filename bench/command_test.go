package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// command is the gateway as operators run it.
type command struct {
	pid        int
	url, admin string
}

// startCommand builds the gateway and runs it until the benchmark ends, which fails if it ends in any other way. It is
// ready for requests on return. parts are its configuration without the addresses.
func startCommand(b testing.TB, prepare func(*exec.Cmd), parts ...string) command {
	b.Helper()
	program, file := buildCommand(b), filepath.Join(b.TempDir(), "crossgate.yaml")
	public, operators := freeAddress(b), freeAddress(b)
	parts = append(parts, fmt.Sprintf("listen: %s\ntelemetry: {admin: %q}\n", public, operators))
	must.Do(b, os.WriteFile(file, []byte(strings.Join(parts, "")), 0o600))
	process := exec.Command(program, "serve", "--config", file)
	prepare(process)
	var said bytes.Buffer
	process.Stderr = &said
	must.Do(b, process.Start())
	b.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		if err := process.Wait(); err != nil || b.Failed() {
			const last = 4 << 10
			b.Errorf("the gateway ended: %v\n%s", err, said.Bytes()[max(0, said.Len()-last):])
		}
	})
	awaitListener(b, public)
	awaitListener(b, operators)
	g := command{pid: process.Process.Pid, url: "http://" + public, admin: "http://" + operators}
	g.awaitReady(b)
	return g
}

// buildCommand builds the gateway and returns the program's path.
func buildCommand(b testing.TB) (program string) {
	b.Helper()
	return buildSources(b, "..") // where its own go.mod is
}

// buildSources builds the gateway from the sources in a directory and returns the program's path.
func buildSources(b testing.TB, directory string) (program string) {
	b.Helper()
	program = filepath.Join(b.TempDir(), "crossgate")
	run(b, directory, "go", "build", "-o", program, "./cmd/crossgate")
	return program
}

// run runs a program in a directory and returns its output.
func run(b testing.TB, directory, program string, arguments ...string) string {
	b.Helper()
	command := exec.CommandContext(b.Context(), program, arguments...)
	command.Dir = directory
	out, err := command.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", program, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (g command) awaitReady(b testing.TB) {
	b.Helper()
	await(b, "a gateway that is ready", func(ctx context.Context) error {
		_, err := g.get(ctx, g.admin+"/readyz")
		return err
	})
}

// get returns the body of a 200 response.
func (g command) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", response.Status, body)
	}
	return body, err
}

// goroutines reads the number of goroutines from the metrics.
func (g command) goroutines(b *testing.B) int64 {
	b.Helper()
	text, err := g.get(b.Context(), g.admin+"/metrics")
	if err != nil {
		b.Error(err)
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("go_goroutines ")); found {
			return number(b, string(bytes.TrimSpace(value)))
		}
	}
	b.Error("the measurements do not count goroutines")
	return 0
}

func number(b *testing.B, text string) int64 {
	b.Helper()
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		b.Error(err)
	}
	return value
}
