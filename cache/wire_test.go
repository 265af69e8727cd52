package cache

import (
	"testing"

	"crossgate/cache/shared"
)

// FuzzCutLife has anybody write lives.
func FuzzCutLife(f *testing.F) {
	f.Add(append(appendLife(nil, hour), "body"...))
	f.Add(appendLife(nil, Life{}))
	f.Fuzz(func(t *testing.T, text []byte) {
		life, body, err := cutLife(text)
		if err != nil {
			return
		}
		if life.whole() < 0 || life.whole() > 3*shared.LongestLife {
			t.Errorf("%q has the life %v", text, life)
		}
		again, rest, err := cutLife(append(appendLife(nil, life), body...))
		if err != nil || again != life || string(rest) != string(body) {
			t.Errorf("%q is %v and %q, written and read again %v and %q, %v", text, life, body, again, rest, err)
		}
	})
}
