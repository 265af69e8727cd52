package transport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzRequest sends any bytes to this server and to net/http's. What a handler is given here it must be given there, in
// the same order.
func FuzzRequest(f *testing.F) {
	for _, table := range []map[string]string{requests, stricter} {
		for _, sent := range table {
			f.Add([]byte(sent))
		}
	}
	ours, theirs := bothListen(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		got, answer := ours.hear(sent)
		if len(got) == 0 {
			return
		}
		want, wantAnswer := theirs.hear(sent)
		if len(want) > len(got) {
			want = want[:len(got)] // refused here
		}
		if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
			t.Errorf("%q\n%s\nanswered\n%s\nby net/http\n%s", sent, difference, answer, wantAnswer)
		}
	})
}
