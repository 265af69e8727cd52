package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/upstream"
)

// decoded reverses a content coding.
func decoded(t *testing.T, coding string, raw []byte) []byte {
	t.Helper()
	if coding == "" {
		return raw
	}
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(raw)))(t)))(t)
}

func TestEveryCodingIsARepresentationOfItsOwn(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	plain := body(t, get(s, ordersPath+claimedTx))
	tags := map[string]string{}
	for _, coding := range []string{"", "gzip"} {
		for range 2 { // compressed, then cached
			response := get(s, ordersPath+claimedTx, "Accept-Encoding: "+coding)
			raw := body(t, response)
			if got := response.Header.Get("Content-Encoding"); got != coding || !bytes.Equal(decoded(t, coding, raw), plain) {
				t.Errorf("Accept-Encoding %q: Content-Encoding %q, %d bytes", coding, got, len(raw))
			}
			if response.ContentLength != int64(len(raw)) {
				t.Errorf("%s: Content-Length %d of %d bytes", coding, response.ContentLength, len(raw))
			}
			golden.Contains(t, coding+": Vary", response.Header.Get("Vary"), "Accept-Encoding")
			tags[coding] = response.Header.Get("ETag")
		}
		same := get(s, ordersPath+claimedTx, "Accept-Encoding: "+coding, "If-None-Match: "+tags[coding])
		if same.StatusCode != http.StatusNotModified || same.Header.Get("ETag") != tags[coding] || same.Header.Get("Vary") == "" || same.Header.Get("Cache-Control") == "" {
			t.Errorf("%s: If-None-Match %s: HTTP %d %v", coding, tags[coding], same.StatusCode, same.Header)
		}
	}
	if tags[""] == tags["gzip"] {
		t.Errorf("strong tags %v, want one for each coding", tags)
	}
	wantStatus(t, "the tag of another coding", get(s, ordersPath+claimedTx, "Accept-Encoding: gzip", "If-None-Match: "+tags[""]), http.StatusOK)
	if short := get(s, "/api/Transaction/"+claimedTx+"/orderIds", "Accept-Encoding: gzip"); short.Header.Get("Content-Encoding") != "" {
		t.Errorf("%d bytes are compressed", short.ContentLength)
	}
	if asked := w.asked.Load(); asked != 2 {
		t.Errorf("%d loads, want one for each path", asked)
	}
}

// TestOldOrdersAreServedWhileChainsCannotBeReached requests a moving order during an outage of its chain.
func TestOldOrdersAreServedWhileChainsCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		w := newWorld(t)
		s := w.server(t, func(o *parts) {
			find := ordersOf(o).find
			ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
				if down {
					return nil, &upstream.Error{Class: upstream.Unreachable, Endpoint: "base-rpc"}
				}
				return find(ctx, tx)
			}
		})
		for _, step := range []struct {
			wait        time.Duration
			down        bool
			status      int
			age, served string
		}{
			{0, false, 200, "0", "crossgate; fwd=miss; stored"},
			{1 * time.Second, true, 200, "1", "crossgate; hit; ttl=1"},
			{2 * time.Second, true, 200, "3", "crossgate; hit; detail=stale-while-revalidate"},
			{500 * time.Millisecond, true, 200, "3", "crossgate; hit; detail=stale-while-revalidate"},
			{3 * time.Second, true, 200, "6", "crossgate; fwd=stale; detail=stale-if-error"},
			{500 * time.Millisecond, true, 200, "7", "crossgate; hit; detail=stale-if-error"},
			{4 * time.Minute, true, 200, "247", "crossgate; fwd=stale; detail=stale-if-error"},
			{2 * time.Second, false, 200, "0", "crossgate; fwd=miss; stored"},
			{10 * time.Minute, true, 502, "", ""},
		} {
			<-time.After(step.wait)
			down = step.down
			response := get(s, ordersPath+createdTx)
			synctest.Wait()
			header := response.Header
			if response.StatusCode != step.status || header.Get("Age") != step.age || header.Get("Cache-Status") != step.served {
				t.Errorf("%+v: HTTP %d, Age %q, Cache-Status %q", step, response.StatusCode, header.Get("Age"), header.Get("Cache-Status"))
			}
		}
		golden.Contains(t, "the log", w.log.String(), "base-rpc") // that the old answer was served for
	})
}

// TestComparisonLivesABlockAndNoTransactionIsKept requests prices and transactions twice each.
func TestComparisonLivesABlockAndNoTransactionIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.server(t)
		estimation := strings.Replace(strings.TrimSuffix(goodSwap, "&tokenOutRecipient="+nobody), "/transaction?", "/estimation?", 1)
		for _, step := range []struct {
			target  string
			wait    time.Duration
			headers []string
			asked   int64
			control string
		}{
			{estimation, 0, nil, 1, "public, max-age=2"},
			{estimation, time.Second, []string{"Prefer: wait=20"}, 1, "public, max-age=2"},
			{estimation, time.Second, nil, 2, "public, max-age=2"},
			{goodSwap, 0, nil, 3, "no-store"},
			{goodSwap, 0, nil, 4, "no-store"},
		} {
			<-time.After(step.wait)
			response := get(s, step.target, step.headers...)
			synctest.Wait()
			isTagged := response.Header.Get("ETag") != ""
			if got := response.Header.Get("Cache-Control"); response.StatusCode != 200 || got != step.control || w.asked.Load() != step.asked || isTagged != (step.target == estimation) {
				t.Errorf("%+v: HTTP %d, Cache-Control %q, asked %d times", step, response.StatusCode, got, w.asked.Load())
			}
		}
	})
}
