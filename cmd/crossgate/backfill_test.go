package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/order/index"
	"crossgate/sandbox"
)

// TestBackfillBesideAServingGateway reads the sandbox's history while a gateway that began late follows it.
func TestBackfillBesideAServingGateway(t *testing.T) {
	world, err := sandbox.Start(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { world.Close() })
	dir := t.TempDir()
	file := filepath.Join(dir, "gateway.yaml")
	text := strings.Replace(string(world.Config(filepath.Join(dir, "orders.db"))), "lookback: 0", "lookback: 1", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(file); err != nil || c.Index.Lookback != 1 {
		t.Fatalf("lookback %d, %v, want 1", c.Index.Lookback, err)
	}
	serving, stop := context.WithCancel(context.Background())
	served := make(chan int, 1)
	said, says := io.Pipe()
	go func() {
		served <- run(serving, []string{"serve", "--config", file, "--listen", "127.0.0.1:0"}, says, os.Stderr)
		says.Close()
	}()
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatalf("serve said %q, %v, want where it answers", line, err)
	}
	var bars, result bytes.Buffer
	if code := run(t.Context(), []string{"backfill", "--config", file}, &result, &bars); code != 0 {
		t.Fatalf("backfill = %d: %s", code, bars.String())
	}
	for _, want := range []string{"Ethereum", "100.0%", "done"} {
		if !strings.Contains(bars.String(), want) {
			t.Errorf("backfill drew %q, want %q in it", bars.String(), want)
		}
	}
	var table bytes.Buffer
	if code := run(t.Context(), []string{"index", "status", "--config", file}, &table, &table); code != 0 {
		t.Fatalf("index status = %d: %s", code, table.String())
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	if len(lines) < 1+len(world.Chains()) {
		t.Errorf("index status has %d lines for %d EVM chains:\n%s", len(lines), len(world.Chains()), table.String())
	}
	t.Log("\n" + bars.String() + table.String())
	stop()
	if code := <-served; code != 0 {
		t.Errorf("serve = %d, want 0", code)
	}
}

func TestStoppedBackfillSaysHowItGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	const offline = "chains: [{id: 1, endpoints: [{url: \"http://127.0.0.1:9\"}]}]\n"
	if err := os.WriteFile("offline.yaml", []byte(offline), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var said bytes.Buffer
	if code := run(ctx, []string{"backfill", "--config", "offline.yaml"}, &said, &said); code > 1 {
		t.Errorf("backfill = %d: %s", code, said.String())
	}
	said.Reset()
	if code := run(t.Context(), []string{"index", "status", "--config", "offline.yaml"}, &said, &said); code != 0 ||
		!strings.Contains(said.String(), "unreachable") || !strings.Contains(said.String(), "not read yet") {
		t.Errorf("index status = %d: %s", code, said.String())
	}
	if code := run(t.Context(), []string{"index", "burn"}, &said, &said); code != 2 {
		t.Errorf("index burn = %d, want 2", code)
	}
}

func TestBarTellsShareSpeedAndTimeLeft(t *testing.T) {
	for _, test := range []struct {
		progress index.Progress
		want     []string
	}{
		{index.Progress{Total: 400, Read: 100, Events: 500}, []string{"[======                  ]", "25.0%", "50 events/s", "30s left"}},
		{index.Progress{Total: 400, Err: errors.New("no route to host")}, []string{"0.0%", "waiting: no route to host"}},
		{index.Progress{Total: 400, Read: 400, Done: true}, []string{"100.0%", "done"}},
		{index.Progress{Done: true}, []string{"100.0%", "done"}},
	} {
		got := bar("Ethereum", test.progress, 10*time.Second)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("bar(%+v) = %q, want %q in it", test.progress, got, want)
			}
		}
	}
}
