package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// TestAnExportGoesOnBehindAShortPart has a reorg drop an order of the first part while it is read: the list has more.
func TestAnExportGoesOnBehindAShortPart(t *testing.T) {
	const orders, dropped = 250, 7
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
}

// TestExportReadsWithoutABody looks at what a GET carries: some balancers refuse one with a body.
func TestExportReadsWithoutABody(t *testing.T) {
	bodies := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies[r.Method] = string(body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	e := export{gateway: server.URL, client: server.Client()}
	var into struct{}
	for method, body := range map[string]any{http.MethodGet: nil, http.MethodPost: map[string]int{"take": 1}} {
		must.Do(t, e.ask(t.Context(), method, "/", body, &into))
	}
	if bodies[http.MethodGet] != "" || bodies[http.MethodPost] != `{"take":1}` {
		t.Errorf("the gateway was asked with %q", bodies)
	}
}
