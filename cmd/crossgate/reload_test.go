package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/store"
)

// written is a log for tests to read.
type written struct {
	line chan string
}

func (w *written) Write(text []byte) (int, error) {
	w.line <- string(text)
	return len(text), nil
}

// watched is a file with its reloader.
type watched struct {
	file  string
	used  chan config.Config
	log   *written
	asks  chan os.Signal
	ended chan struct{}

	outages int // left, of attempts to apply a configuration with an endpoint named away
}

const chainOf = "chains: [{id: 1, endpoints: [{name: %NAME%, url: 'https://node.example/${RELOAD_TEST_KEY}'}]}]\n"

func text(name string) []byte { return []byte(strings.ReplaceAll(chainOf, "%NAME%", name)) }

// replaceFile replaces a file atomically, because it is read more often here than by a gateway.
func replaceFile(t *testing.T, file string, text []byte) {
	t.Helper()
	must.Do(t, errors.Join(os.WriteFile(file+".new", text, 0o600), os.Rename(file+".new", file)))
}

func startWatching(t *testing.T, file string) *watched {
	t.Helper()
	running := must.Get(config.Load(file))(t)
	w := &watched{
		file: file, used: make(chan config.Config, 10), log: &written{line: make(chan string, 10)},
		asks: make(chan os.Signal), ended: make(chan struct{}), outages: 3,
	}
	r := &reloader{
		file: file, every: 5 * time.Millisecond, running: running, seen: running.Revision(), log: slog.New(slog.NewTextHandler(w.log, nil)),
		apply: func(c config.Config) error {
			switch name := c.Chains[0].Endpoints[0].Name; {
			case name == "refused":
				return errors.New("refused by the gateway")
			case name == "away" && w.outages > 0, name == "locked":
				w.outages--
				return fmt.Errorf("reload: %w", store.ErrUnavailable)
			}
			w.used <- c
			return nil
		},
	}
	before := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(w.ended)
		r.run(ctx, w.asks)
	}()
	t.Cleanup(func() {
		stop()
		<-w.ended
		goleak.VerifyNone(t, before)
	})
	w.asks <- syscall.SIGHUP
	if c := <-w.used; c.Revision() != running.Revision() {
		t.Fatalf("revision %s without a change, want %s", c.Revision(), running.Revision())
	}
	<-w.log.line
	return w
}

// next returns the next log line and, if a configuration was applied, the name of its endpoint.
func (w *watched) next(t *testing.T) (said, name string) {
	t.Helper()
	if said = <-w.log.line; strings.Contains(said, "configuration reloaded") {
		name = (<-w.used).Chains[0].Endpoints[0].Name
	}
	return said, name
}

func TestFileIsReadAgainWhenItChanges(t *testing.T) {
	t.Setenv("RELOAD_TEST_KEY", "first")
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	write := func(text []byte) {
		t.Helper()
		replaceFile(t, file, text)
	}
	write(text("one"))
	w := startWatching(t, file)
	expect := func(when, used, says string) {
		t.Helper()
		if said, name := w.next(t); name != used || !strings.Contains(said, says) {
			t.Errorf("%s: %q uses %q, want %q (empty: the old one) and %q", when, said, name, used, says)
		}
	}
	write(text("two"))
	expect("after a change", "two", "configuration reloaded")
	write([]byte("chains: []\nlisten: nowhere\n"))
	if said, name := w.next(t); name != "" || !strings.Contains(said, "not reloaded") || !strings.Contains(said, "2 mistakes") {
		t.Errorf("after a bad change: %q uses %q, want the old one to stay, and both mistakes named", said, name)
	}
	for _, broken := range []string{"chains: [", "chains: {"} {
		write([]byte(broken))
		said, _ := w.next(t)
		golden.Contains(t, "after "+broken, said, "did not find expected")
	}
	write(text("refused"))
	expect("after a refused change", "", "refused by the gateway")
	write(text("away"))
	expect("while the database is away", "", "not reloaded until the database is back")
	expect("once the database is back", "away", "configuration reloaded")
	write(text("locked"))
	expect("while the database is locked", "", "not reloaded until the database is back")
	write(text("away"))
	expect("when the file is as it was before", "away", "configuration reloaded")
	write(text("three"))
	expect("after a good change", "three", "")
	w.asks <- syscall.SIGHUP
	expect("after SIGHUP", "three", "")
}

// TestReloadOfTheSameFileNamesNothing reloads an unchanged file, in a process that exports no spans.
func TestReloadOfTheSameFileNamesNothing(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	t.Setenv("RELOAD_TEST_KEY", "first")
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	write(t, file, string(append(text("one"), "index: {path: '"+file+".db'}\n"...)))
	c := must.Get(config.Load(file))(t)
	c = withoutExporter(c)
	lines := &written{line: make(chan string, 10)}
	log := slog.New(slog.NewTextHandler(lines, nil))
	g := must.Get(gateway.New(t.Context(), c, log))(t)
	requests := make(chan os.Signal, 1)
	requests <- syscall.SIGHUP
	stop := serving{file: file, config: c, log: log, level: new(slog.LevelVar), requests: requests}.reloading(t.Context(), g)
	golden.Contains(t, "the first line", <-lines.line, "configuration reloaded")
	stop()
	must.Do(t, g.Close())
}

// TestAPipeIsNotReadAgain requests a reload of a configuration that came through a pipe: opening that again would wait
// for its next writer, and the gateway would not stop.
func TestAPipeIsNotReadAgain(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "gateway.yaml")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	requests := make(chan os.Signal, 1)
	requests <- syscall.SIGHUP
	var log bytes.Buffer
	serving{file: pipe, log: slog.New(slog.NewTextHandler(&log, nil)), requests: requests}.reloading(t.Context(), nil)()
	golden.Contains(t, "the log", log.String(), "changes need a restart")
}

// TestSIGHUPWhileTheGatewayStarts sends it to a gateway that waits for its database, and then stops that.
func TestSIGHUPWhileTheGatewayStarts(t *testing.T) {
	t.Chdir(t.TempDir())
	database := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer database.Close()
	write(t, "waiting.yaml", string(text("one"))+"index: {postgres: 'postgres://orders@"+database.Addr().String()+"/orders?sslmode=disable'}\n")
	t.Setenv("RELOAD_TEST_KEY", "first")
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		if connection, err := database.Accept(); err == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
			signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // it may arrive after the gateway has ended
			stop()
			connection.Close()
		}
	}()
	var said bytes.Buffer
	if code := run(ctx, []string{"serve", "--config", "waiting.yaml"}, &said, &said); code != 1 || !strings.Contains(said.String(), "context canceled") {
		t.Errorf("serve = %d: %s", code, said.String())
	}
}

// TestMountedConfigMapIsReadAgain uses a ConfigMap's links: gateway.yaml -> ..data/gateway.yaml, ..data -> a folder.
func TestMountedConfigMapIsReadAgain(t *testing.T) {
	mount := t.TempDir()
	secret := filepath.Join(mount, "key")
	t.Setenv("RELOAD_TEST_KEY_FILE", secret)
	write(t, secret, "first\n")
	place := func(version, name string) {
		t.Helper()
		directory, link := filepath.Join(mount, version), filepath.Join(mount, version+"-link")
		must.Do(t, errors.Join(os.Mkdir(directory, 0o700), os.WriteFile(filepath.Join(directory, "gateway.yaml"), text(name), 0o600),
			os.Symlink(version, link), os.Rename(link, filepath.Join(mount, "..data"))))
	}
	place("v1", "one")
	file := filepath.Join(mount, "gateway.yaml")
	must.Do(t, os.Symlink(filepath.Join("..data", "gateway.yaml"), file))
	w := startWatching(t, file)
	place("v2", "two")
	if said, name := w.next(t); name != "two" {
		t.Errorf("after the mount was replaced: %q uses %q, want two", said, name)
	}
	replaceFile(t, secret, []byte("second\n"))
	said := <-w.log.line
	c := <-w.used
	if got := c.Chains[0].Endpoints[0].URL.Reveal(); got != "https://node.example/second" || strings.Contains(said, "second") {
		t.Errorf("after a secret changed: %q uses %s, want the new key, untold", said, got)
	}
}
