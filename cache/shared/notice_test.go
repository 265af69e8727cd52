package shared

import (
	"reflect"
	"testing"
)

// FuzzParseNotice reads any message on the channel of replicas.
func FuzzParseNotice(f *testing.F) {
	for _, n := range []notice{
		{purgedHard, newToken(), []Key{KeyOf("a"), KeyOf("b")}},
		{purgedSoftly, newToken(), nil},
		{released, newToken(), []Key{KeyOf("a")}},
	} {
		f.Add(n.text())
	}
	f.Add("d")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseNotice(text)
		if !ok {
			return
		}
		if again, ok := parseNotice(n.text()); !ok || !reflect.DeepEqual(again, n) || n.text() != text {
			t.Errorf("%q is %+v, written %q and read again %+v, %v", text, n, n.text(), again, ok)
		}
	})
}
