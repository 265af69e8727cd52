package cache

import (
	"reflect"
	"testing"
)

// FuzzParseNotice has anybody speak on the channel of replicas.
func FuzzParseNotice(f *testing.F) {
	for _, n := range []notice{
		{from: token(), how: Hard, keys: []Key{named("a"), named("b")}},
		{from: token(), how: Soft},
		{done: true, keys: []Key{named("a")}},
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

// FuzzCutLife has anybody write lives.
func FuzzCutLife(f *testing.F) {
	f.Add(append(appendLife(nil, hour), "body"...))
	f.Add(appendLife(nil, Life{}))
	f.Fuzz(func(t *testing.T, text []byte) {
		life, body, err := cutLife(text)
		if err != nil {
			return
		}
		if life.whole() < 0 || life.whole() > 3*longestLife {
			t.Errorf("%q has the life %v", text, life)
		}
		again, rest, err := cutLife(append(appendLife(nil, life), body...))
		if err != nil || again != life || string(rest) != string(body) {
			t.Errorf("%q is %v and %q, written and read again %v and %q, %v", text, life, body, again, rest, err)
		}
	})
}

func TestLettersMerge(t *testing.T) {
	o := outbox{filled: make(chan struct{}, 1)}
	o.add(Hard, named("a"))
	o.add(Soft, named("a"), named("b"))
	if got := o.take(); len(got.purges) != 2 || got.purges[named("a")] != Hard || got.purges[named("b")] != Soft {
		t.Errorf("take() = %+v, want a hard and b soft", got)
	}
	o.add(Soft, named("c"))
	if how, purged := o.of(named("x"), []Key{named("c"), named("a")}); !purged || how != Hard {
		t.Errorf("of what is being told: %v, %v, want hard", how, purged)
	}
	o.done(false)
	if got := o.take(); len(got.purges) != 3 || got.purges[named("a")] != Hard {
		t.Errorf("after a failure take() = %+v, want all three", got)
	}
	o.done(true)
	if _, purged := o.of(named("a"), nil); purged || !o.isEmpty() {
		t.Error("what was told is still owed")
	}
	o.add(Soft, manyKeys()...)
	o.add(Soft, named("a"))
	if got := o.take(); !got.all {
		t.Error("more than can be remembered is not everything")
	}
	o.done(false)
	if how, purged := o.of(named("whatever"), nil); !purged || how != Hard {
		t.Errorf("of everything: %v, %v, want hard", how, purged)
	}
}
