package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestByteListsOfEveryLengthAndBeginning(t *testing.T) {
	every := make([]byte, 256)
	for b := range every {
		every[b] = byte(b)
	}
	lists := [][]byte{nil, {0}, {1}, {0, 0, 33, 5}, {255, 0, 0}, every}
	for _, zeros := range []int{31, 32, 33, 64, 100} {
		lists = append(lists, make([]byte, zeros), append(make([]byte, zeros), 7), bytes.Repeat([]byte{0, 100}, zeros))
	}
	for _, raw := range lists {
		texts := make([]string, len(raw))
		for i, b := range raw {
			texts[i] = fmt.Sprint(b)
		}
		w := &writer{}
		w.byteList(raw)
		if got, want := string(w.json), `"[`+strings.Join(texts, ",")+`]"`; got != want {
			t.Errorf("byteList(%v) = %s", raw, got)
		}
	}
}
