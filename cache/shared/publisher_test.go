package shared

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueuedPurgesMerge(t *testing.T) {
	p := publisher{filled: make(chan struct{}, 1)}
	p.add(Hard, KeyOf("a"))
	p.add(Soft, KeyOf("a"), KeyOf("b"))
	if got := p.next(); len(got.byKey) != 2 || got.byKey[KeyOf("a")] != Hard || got.byKey[KeyOf("b")] != Soft {
		t.Errorf("next() = %+v, want a hard and b soft", got)
	}
	p.add(Soft, KeyOf("c"))
	if how, purged := p.of(KeyOf("x"), []Key{KeyOf("c"), KeyOf("a")}); !purged || how != Hard {
		t.Errorf("of what is being published: %v, %v, want hard", how, purged)
	}
	p.done(false)
	if got := p.next(); len(got.byKey) != 3 || got.byKey[KeyOf("a")] != Hard {
		t.Errorf("after a failure next() = %+v, want all three", got)
	}
	p.done(true)
	if _, purged := p.of(KeyOf("a"), nil); purged || !p.queued.isEmpty() || !p.sending.isEmpty() {
		t.Error("what was published is still queued")
	}
	p.add(Soft, manyKeys()...)
	p.add(Soft, KeyOf("a"))
	if got := p.next(); !got.all {
		t.Error("more than can be remembered is not everything")
	}
	p.done(false)
	if how, purged := p.of(KeyOf("whatever"), nil); !purged || how != Hard {
		t.Errorf("of everything: %v, %v, want hard", how, purged)
	}
}

func manyKeys() []Key {
	keys := make([]Key, MaxPurges+1)
	for i := range keys {
		keys[i] = KeyOf(fmt.Sprint("many ", i))
	}
	return keys
}
