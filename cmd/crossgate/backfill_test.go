package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"crossgate/order/audit"
)

func TestStoppedBackfillSaysHowItGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	const offline = "chains: [{id: 1, endpoints: [{url: \"http://127.0.0.1:9\"}]}]\n"
	if err := os.WriteFile("offline.yaml", []byte(offline), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var said bytes.Buffer
	if code := run(ctx, []string{"backfill", "--config", "offline.yaml"}, &said, &said); code != 1 ||
		!strings.Contains(said.String(), "run it again to continue") {
		t.Errorf("backfill that was stopped = %d: %s, want 1 and that it was", code, said.String())
	}
	said.Reset()
	if code := run(t.Context(), []string{"backfill", "--dry-run", "--config", "offline.yaml"}, &said, &said); code != 1 ||
		!strings.Contains(said.String(), "1 of 1 chains could not be asked") {
		t.Errorf("backfill --dry-run of a chain that is away = %d: %s, want 1 and that it is", code, said.String())
	}
	said.Reset()
	if code := run(ctx, []string{"index", "repair", "--config", "offline.yaml"}, &said, &said); code != 1 ||
		!strings.Contains(said.String(), "stopped before everything was compared") {
		t.Errorf("index repair that was stopped = %d: %s, want 1 and that it was", code, said.String())
	}
	said.Reset()
	if err := os.WriteFile("ids.txt", []byte(oneID), 0o600); err != nil {
		t.Fatal(err)
	}
	imports := []string{"index", "import", "--config", "offline.yaml", "--taker", "0x00000000000000000000000000000000000000aa", "ids.txt"}
	if code := run(ctx, imports, &said, &said); code != 1 || !strings.Contains(said.String(), "run it again to continue") {
		t.Errorf("index import that was stopped = %d: %s, want 1 and that it was", code, said.String())
	}
	said.Reset()
	if code := run(t.Context(), imports, &said, &said); code != 1 || !strings.Contains(said.String(), oneID+": not verified: ") {
		t.Errorf("index import from a chain that is away = %d: %s, want 1 and the order", code, said.String())
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
		progress audit.Progress
		want     []string
	}{
		{audit.Progress{Total: 400, Read: 100, Events: 500}, []string{"[======                  ]", "25.0%", "50 events/s", "30s left"}},
		{audit.Progress{Total: 400, Read: 100, Calls: 120, Expected: 480}, []string{"120 of about 480 calls, 12.0 calls/s, 30s left"}},
		{audit.Progress{Total: 40_000, Read: 20, Calls: 1}, []string{"1 of about 1 calls", "5h33m10s left"}},
		{audit.Progress{Total: 400, Err: errors.New("no route to host")}, []string{"0.0%", "waiting: no route to host"}},
		{audit.Progress{Total: 400, Read: 400, Done: true}, []string{"100.0%", "done"}},
		{audit.Progress{Total: 400, Read: 100, Done: true, Err: errors.New("history has been pruned")}, []string{"25.0%", "given up: history has been pruned"}},
		{audit.Progress{Done: true}, []string{"100.0%", "done"}},
	} {
		got := bar("Ethereum", test.progress, units{"blocks", "events"}, 10*time.Second)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("bar(%+v) = %q, want %q in it", test.progress, got, want)
			}
		}
	}
}
