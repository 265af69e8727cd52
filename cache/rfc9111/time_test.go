package rfc9111

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	want := time.Date(2050, 8, 18, 2, 1, 18, 0, time.UTC)
	for text, is := range map[string]bool{
		"Thu, 18 Aug 2050 02:01:18 GMT":    true,
		"Mon, 18 Aug 2050 02:01:18 GMT":    true, // another day
		"THU, 18 aug 2050 02:01:18 gmt":    true,
		"Thursday, 18-Aug-50 02:01:18 GMT": true,
		"Thu Aug 18 02:01:18 2050":         true,
		"Thu, 18 Aug 2050 02:01:18 UTC":    false,
		"Thu, 18 Aug 2050 02:01:18 +0000":  false,
		"Thursday, 18-Aug-50 02:01:18 CET": false,
		"Thu, 18 Aug 50 02:01:18 GMT":      false,
		"Thu 18 Aug 2050 02:01:18 GMT":     false,
		"Thu, 18  Aug  2050 02:01:18 GMT":  false,
		"Thu, 18-Aug-2050 02:01:18 GMT":    false,
		"Thu, 18 Aug 2050 2:01:18 GMT":     false,
		"Thu, 18 Aug 2050 02.01.18 GMT":    false,
		"Thu, 18 Aug 2050 02:01 GMT":       false,
		"Thu, 18 Aug 2050 02:01:18.5 GMT":  false,
		"Xyz, 18 Aug 2050 02:01:18 GMT":    false,
		"Thu, 31 Feb 2050 02:01:18 GMT":    false,
		" Thu, 18 Aug 2050 02:01:18 GMT":   false,
		"2050-08-18T02:01:18Z":             false,
		"0":                                false,
		"-1":                               false,
		"":                                 false,
	} {
		got, known := parseDate(text)
		if known != is || known && !got.Equal(want) {
			t.Errorf("%q: %v, %t", text, got, known)
		}
	}
}

func TestDeltaSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "60": time.Minute, "0060": time.Minute, "2147483647": longest - time.Second, "2147483648": longest,
		"99999999999": longest, "999999999999999999999999999999": longest,
	} {
		if got, known := deltaSeconds(text); !known || got != want {
			t.Errorf("%q: %v, %t, want %v", text, got, known, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1.0", "a1", "1a", "'1'", " 1", "0x1"} {
		if got, known := deltaSeconds(text); known || got != 0 {
			t.Errorf("%q: %v, %t", text, got, known)
		}
	}
}

func TestFailuresAreThoseOfServers(t *testing.T) {
	for status, want := range map[int]bool{500: true, 502: true, 503: true, 504: true, 404: false, 501: false} {
		if got := IsFailure(status); got != want {
			t.Errorf("%d is a failure: %t, want %t", status, got, want)
		}
	}
}
