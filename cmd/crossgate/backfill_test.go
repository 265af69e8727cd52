package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order/audit"
	"crossgate/store"
)

func TestStoppedBackfillSaysHowItGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "offline.yaml", "chains: [{id: 1, endpoints: [{url: \"http://127.0.0.1:9\"}]}]\n")
	must.Do(t, must.Get(store.OpenSQLite(t.Context(), "crossgate.db"))(t).Close())
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, test := range []struct {
		ctx  context.Context
		line string
		code int
		says []string
	}{
		{stopped, "backfill --config offline.yaml", 1, []string{"run it again to continue"}},
		{stopped, "index repair --config offline.yaml", 1, []string{"stopped before everything was compared"}},
		{t.Context(), "index audit --config offline.yaml", 1, []string{"ended early: "}},
		{t.Context(), "index status --config offline.yaml", 0, []string{"unreachable", "not read yet"}},
	} {
		var said bytes.Buffer
		if code := run(test.ctx, strings.Fields(test.line), &said, &said); code != test.code {
			t.Errorf("crossgate %s = %d, want %d: %s", test.line, code, test.code, said.String())
		}
		golden.Contains(t, test.line, said.String(), test.says...)
	}
}

func TestBarTellsShareSpeedAndTimeLeft(t *testing.T) {
	for _, test := range []struct {
		progress audit.Progress
		want     []string
	}{
		{audit.Progress{Total: 400, Read: 100, Events: 500}, []string{"[======                  ]", "25.0%", "50 events/s", "30s left"}},
		{audit.Progress{Total: 400, Err: errors.New("no route to host")}, []string{"0.0%", "waiting: no route to host"}},
		{audit.Progress{Total: 400, Read: 400, Done: true}, []string{"100.0%", "done"}},
		{audit.Progress{Total: 400, Read: 100, Done: true, Err: errors.New("history has been pruned")}, []string{"25.0%", "given up: history has been pruned"}},
		{audit.Progress{Done: true}, []string{"100.0%", "done"}},
	} {
		got := bar("Ethereum", test.progress, units{"blocks", "events"}, 10*time.Second)
		golden.Contains(t, fmt.Sprint(test.progress), got, test.want...)
	}
}

// TestAnExportGoesOnBehindAShortPart proves that an export continues after a reorg dropped an order while it was read,
// and that it does not end in success at a cursor ahead of all events.
func TestAnExportGoesOnBehindAShortPart(t *testing.T) {
	const orders, dropped = 250, 7
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(map[string]int{"": http.StatusOK, "9": http.StatusBadRequest}[r.FormValue("cursor")])
			_, _ = io.WriteString(w, `{"events": [], "next": "5", "errorId": "CURSOR_UNKNOWN"}`)
			return
		}
		var asked struct{ BlockTimestampFrom, Skip, Take int }
		must.Do(t, json.NewDecoder(r.Body).Decode(&asked))
		first := max(asked.BlockTimestampFrom, 1) + asked.Skip
		var rows []string
		for at := first; at <= orders && at < first+asked.Take; at++ {
			if at != dropped {
				rows = append(rows, fmt.Sprintf(`{"orderId": {"stringValue": "0x%064x"}, "creationTimestamp": %d}`, at, at))
			}
		}
		fmt.Fprintf(w, `{"orders": [%s], "totalCount": %d}`, strings.Join(rows, ","), orders+1-max(asked.BlockTimestampFrom, 1))
	}))
	defer server.Close()
	var out, errOut bytes.Buffer
	code := run(t.Context(), []string{"export", "--of", "orders", "--url", server.URL}, &out, &errOut)
	if rows := strings.Count(out.String(), "\n"); code != 0 || rows != orders-1 {
		t.Errorf("status %d, %d rows, want %d: %s", code, rows, orders-1, &errOut)
	}
	code = run(t.Context(), []string{"export", "--cursor", "9", "--url", server.URL}, &out, &errOut)
	if code != 1 || !strings.Contains(errOut.String(), "CURSOR_UNKNOWN") {
		t.Errorf("status %d at the cursor of another database: %s", code, &errOut)
	}
}
