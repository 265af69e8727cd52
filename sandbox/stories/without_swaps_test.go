package stories_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/gateway"
	"crossgate/order/audit"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestSwapsThatWereLeftOutAreReadByABackfill serves without swaps, and takes them in later.
func TestSwapsThatWereLeftOutAreReadByABackfill(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	c := configOf(t, world)
	var made struct{ TransactionHash string }
	_, body := ask(t, http.MethodPost, world.URL()+"/sandbox/swap", `{"chainId":8453,"amount":"0.5"}`)
	if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	list := func(t *testing.T, url, mode string) (status, total int) {
		t.Helper()
		response, body := ask(t, http.MethodPost, url+"/api/Orders/filteredList",
			`{"filterMode":"`+mode+`","filter":"`+made.TransactionHash+`"}`, "Content-Type: application/json")
		checkDocumented(t, response, body)
		var listed struct{ TotalCount int }
		if err := json.Unmarshal(body, &listed); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, listed.TotalCount
	}
	t.Run("left out", func(t *testing.T) {
		c := c
		c.Index.Swaps = false
		g, url := serveConfig(t, c)
		if err := g.AwaitIndexed(t.Context()); err != nil {
			t.Fatal(err)
		}
		for mode, want := range map[string]int{"SameChain": http.StatusBadRequest, "Mixed": http.StatusBadRequest, "CrossChain": http.StatusOK} {
			if status, _ := list(t, url, mode); status != want {
				t.Errorf("list of %s: %d, want %d", mode, status, want)
			}
		}
		var record madeSwapJSON
		get(t, url+"/api/SameChainSwap/8453/tx/"+made.TransactionHash, &record)
	})
	var log bytes.Buffer
	err := gateway.WithBooks(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)), func(books *audit.Books) error {
		return books.Backfill(t.Context(), func(audit.Progress) {})
	})
	unread, is := errors.AsType[*audit.HistoryError](err)
	if err != nil && (!is || slices.ContainsFunc(unread.Unread, func(u audit.UnreadHistory) bool { return u.Chain != chain.Solana })) {
		t.Fatalf("%v\n%s", err, &log) // Solana's ledger of the world has a beginning that no chain has
	}
	t.Run("read", func(t *testing.T) {
		_, url := serveConfig(t, c)
		for _, mode := range []string{"SameChain", "Mixed"} {
			if status, total := list(t, url, mode); status != http.StatusOK || total != 1 {
				t.Errorf("list of %s: %d with %d swaps, want one", mode, status, total)
			}
		}
	})
}
