package proxy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
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

// TestCompressedOnce counts how often a kept body is compressed: what is sent the second time is the same memory.
func TestCompressedOnce(t *testing.T) {
	kept := &newAnswer(OneBody(bytes.Repeat([]byte("crossgate "), 1000)), SettledLife, time.Now()).Bodies[0]
	for e := gzipped; e < encodings; e++ {
		if first, second := kept.in(e), kept.in(e); first != second || len(first.body) >= len(kept.Text)/2 {
			t.Errorf("%s: %p and %p of %d bytes", encodingNames[e], first, second, len(first.body))
		}
	}
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	incompressible := &newAnswer(OneBody(noise), SettledLife, time.Now()).Bodies[0]
	if sent := incompressible.in(zstandard); sent != &incompressible.plain {
		t.Errorf("noise is sent in %v of %d bytes", sent.coding, len(sent.body))
	}
}
