package main

import (
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
)

var (
	oneID   = "0x" + strings.Repeat("0", 63) + "1"
	otherID = "0x" + strings.Repeat("AB", 32)
)

func TestOrderIDsAreReadByLines(t *testing.T) {
	var other chain.Hash
	for i := range other {
		other[i] = 0xab
	}
	want := []chain.Hash{{31: 1}, other}
	for _, test := range []struct {
		name, text, wrong string
	}{
		{"lines", oneID + "\n" + otherID + "\n", ""},
		{"lines of another system with empty ones", "\r\n  " + oneID + "\r\n\r\n" + otherID, ""},
		{"nothing", " \n", "no order id"},
		{"a line that is none", oneID + "\n\n0x12", "line 3"},
	} {
		got, err := readOrderIDs(strings.NewReader(test.text))
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %q in it", test.name, err, test.wrong)
			}
			continue
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", test.name, got, err, want)
		}
	}
}
