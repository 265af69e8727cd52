package proxy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"":                                  false,
		"gzip":                              true,
		"gzip, deflate, br, zstd":           true,
		"GZIP;Q=0.3":                        true,
		"zstd;q=0, gzip;q=0":                false,
		"*":                                 true,
		"*;q=0.5, zstd;q=0":                 true,
		"br, deflate":                       false,
		"identity;q=1, gzip;q=0.5":          false,
		"gzip;q=nonsense":                   false,
		"gzip;q=1e300":                      false,
		"gzip;q=NaN":                        false,
		"gzipped, zstd2, ;q=1, ,,,":         false,
		"identity;q=0, gzip;q=0.001":        true,
		strings.Repeat("x,", 1000) + "gzip": true,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("acceptsGzip(%.40q) = %v, want %v", header, got, want)
		}
	}
	if !acceptsGzip([]string{"zstd;q=0.1", "gzip"}) {
		t.Error("of two header lines the second is not read")
	}
}

// TestCompressedOnce proves that a cached body is compressed once: the second response uses the same memory.
func TestCompressedOnce(t *testing.T) {
	kept := &newAnswer(OneBody(bytes.Repeat([]byte("crossgate "), 1000)), SettledLife, time.Now()).Bodies[0]
	if first, second := kept.in(true), kept.in(true); first != second || len(first.body) >= len(kept.Text)/2 {
		t.Errorf("%p and %p of %d bytes", first, second, len(first.body))
	}
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	incompressible := &newAnswer(OneBody(noise), SettledLife, time.Now()).Bodies[0]
	if sent := incompressible.in(true); sent != &incompressible.plain {
		t.Errorf("noise is sent in %v of %d bytes", sent.coding, len(sent.body))
	}
}

func TestSpell(t *testing.T) {
	patterns := paths{"/api/Orders/creationTxHash/:hash", "/api/Orders/filteredList"}
	for path, want := range map[string]string{
		"/api/Orders/creationTxHash/0xAb":   "/api/Orders/creationTxHash/0xAb",
		"/API/orders/CREATIONTXHASH/0xAb/":  "/api/Orders/creationTxHash/0xAb",
		"/api/Orders/creationTxHash/":       "",
		"/api/Orders/creationTxHash":        "",
		"/api/Orders/creationTxHash/a/b":    "",
		"/api/Orders/creationTxHash/a//":    "/api/Orders/creationTxHash/a",
		"//API///Orders/creationTxHash/a":   "/api/Orders/creationTxHash/a",
		"/api/Orders/creationTxHash//":      "",
		"//api/orders/FilteredList/":        "/api/Orders/filteredList",
		"api/Orders/creationTxHash/a":       "",
		"/api/Orders/creationTxHash/:hash":  "/api/Orders/creationTxHash/:hash",
		"/api/Order\u017f/creationTxHash/a": "/api/Orders/creationTxHash/a", // folds to s in Unicode; harmless
		"/":                                 "",
		"":                                  "",
	} {
		if got, fits := patterns.spell(path); fits != (want != "") || fits && got != want {
			t.Errorf("spell(%q) = %q, %v, want %q", path, got, fits, want)
		}
	}
}
