package proxy

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
)

func TestAcceptedEncoding(t *testing.T) {
	for header, want := range map[string]encoding{
		"":                                  identity,
		"gzip":                              gzipped,
		"gzip, deflate, br, zstd":           zstandard,
		"gzip;q=1.0, zstd;q=0.5":            gzipped,
		"GZIP;Q=0.3":                        gzipped,
		"zstd;q=0, gzip;q=0":                identity,
		"*":                                 zstandard,
		"*;q=0.5, zstd;q=0":                 gzipped,
		"br, deflate":                       identity,
		"identity;q=1, gzip;q=0.5":          identity,
		"gzip;q=nonsense, zstd;q=NaN":       identity,
		"gzip;q=1e300, zstd;q=-1":           identity,
		"gzipped, zstd2, ;q=1, ,,,":         identity,
		"identity;q=0, gzip;q=0.001":        gzipped,
		strings.Repeat("x,", 1000) + "gzip": gzipped,
	} {
		if got := acceptedEncoding([]string{header}); got != want {
			t.Errorf("acceptedEncoding(%.40q) = %s, want %s", header, encodingNames[got], encodingNames[want])
		}
	}
	if got := acceptedEncoding([]string{"zstd;q=0.1", "gzip"}); got != gzipped {
		t.Errorf("of two header lines: %s, want gzip", encodingNames[got])
	}
}

// decoded undoes a content coding.
func decoded(t *testing.T, coding string, raw []byte) []byte {
	t.Helper()
	var reader io.Reader = bytes.NewReader(raw)
	switch coding {
	case "gzip":
		unpacked, err := gzip.NewReader(reader)
		if err != nil {
			t.Fatal(err)
		}
		reader = unpacked
	case "zstd":
		unpacked, err := zstd.NewReader(reader, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer unpacked.Close()
		reader = unpacked
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestEveryCodingIsARepresentationOfItsOwn(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	plain := body(t, get(s, ordersPath+claimedTx))
	tags := map[string]string{}
	for _, coding := range []string{"", "gzip", "zstd"} {
		for range 2 { // compressed, then kept
			response := get(s, ordersPath+claimedTx, "Accept-Encoding: "+coding)
			raw := body(t, response)
			if got := response.Header.Get("Content-Encoding"); got != coding || !bytes.Equal(decoded(t, coding, raw), plain) {
				t.Errorf("Accept-Encoding %q: Content-Encoding %q, %d bytes", coding, got, len(raw))
			}
			if response.ContentLength != int64(len(raw)) {
				t.Errorf("%s: Content-Length %d of %d bytes", coding, response.ContentLength, len(raw))
			}
			if !strings.Contains(response.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s: Vary = %q", coding, response.Header.Get("Vary"))
			}
			tags[coding] = response.Header.Get("ETag")
		}
		same := get(s, ordersPath+claimedTx, "Accept-Encoding: "+coding, "If-None-Match: "+tags[coding])
		if same.StatusCode != http.StatusNotModified || same.Header.Get("ETag") != tags[coding] || same.Header.Get("Vary") == "" || same.Header.Get("Cache-Control") == "" {
			t.Errorf("%s: If-None-Match %s: HTTP %d %v", coding, tags[coding], same.StatusCode, same.Header)
		}
	}
	if tags[""] == tags["gzip"] || tags["gzip"] == tags["zstd"] {
		t.Errorf("strong tags %v, want one for each coding", tags)
	}
	if other := get(s, ordersPath+claimedTx, "Accept-Encoding: gzip", "If-None-Match: "+tags["zstd"]); other.StatusCode != http.StatusOK {
		t.Errorf("the tag of another coding: HTTP %d, want 200", other.StatusCode)
	}
	if short := get(s, "/api/Transaction/"+claimedTx+"/orderIds", "Accept-Encoding: gzip"); short.Header.Get("Content-Encoding") != "" {
		t.Errorf("%d bytes are compressed", short.ContentLength)
	}
	if asked := w.asked.Load(); asked != 2 {
		t.Errorf("%d loads, want one for each path", asked)
	}
}

// TestCompressedOnce counts how often a kept body is compressed: what is sent the second time is the same memory.
func TestCompressedOnce(t *testing.T) {
	kept := &newAnswer(oneBody(bytes.Repeat([]byte("crossgate "), 1000)), settledLife, time.Now()).bodies[0]
	for e := gzipped; e < encodings; e++ {
		if first, second := kept.in(e), kept.in(e); first != second || len(first.body) >= len(kept.text)/2 {
			t.Errorf("%s: %p and %p of %d bytes", encodingNames[e], first, second, len(first.body))
		}
	}
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	incompressible := &newAnswer(oneBody(noise), settledLife, time.Now()).bodies[0]
	if sent := incompressible.in(zstandard); sent != &incompressible.plain {
		t.Errorf("noise is sent in %v of %d bytes", sent.coding, len(sent.body))
	}
}

// TestOldOrdersAreServedWhileChainsCannotBeReached follows a moving order through an outage of its chain.
func TestOldOrdersAreServedWhileChainsCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		w := newWorld(t)
		s := w.server(t, func(o *Options) {
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
		if !strings.Contains(w.log.String(), "base-rpc") {
			t.Error("the log does not tell what the old answer was served for")
		}
	})
}

// TestComparisonLivesABlockAndNoTransactionIsKept asks for prices and for transactions twice each.
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
			if got := response.Header.Get("Cache-Control"); response.StatusCode != 200 || got != step.control || w.asked.Load() != step.asked {
				t.Errorf("%+v: HTTP %d, Cache-Control %q, asked %d times", step, response.StatusCode, got, w.asked.Load())
			}
		}
	})
}
