package shared

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueuedPurgesMerge(t *testing.T) {
	p := newPublisher()
	p.add(Hard, KeyOf("a"))
	p.add(Soft, KeyOf("a"), KeyOf("b"))
	before := p.next()
	if len(before.byKey) != 2 || before.byKey[KeyOf("a")].how != Hard || before.byKey[KeyOf("b")].how != Soft {
		t.Errorf("next() = %+v, want a hard and b soft", before)
	}
	p.add(Soft, KeyOf("c"), KeyOf("b"))
	if how, purged := p.of(KeyOf("x"), []Key{KeyOf("c"), KeyOf("a")}); !purged || how != Hard {
		t.Errorf("of what is being published: %v, %v, want hard", how, purged)
	}
	if got := p.next(); len(got.byKey) != 3 || got.byKey[KeyOf("a")].how != Hard {
		t.Errorf("before it is published next() = %+v, want all three", got)
	}
	p.published(before.last)
	if _, purged := p.of(KeyOf("a"), nil); purged {
		t.Error("what was published is still queued")
	}
	if _, purged := p.of(KeyOf("b"), nil); !purged {
		t.Error("a purge that was added meanwhile is forgotten")
	}
	p.add(Soft, manyKeys()...)
	p.add(Soft, KeyOf("a"))
	if got := p.next(); got.all == 0 || len(got.byKey) != 1 {
		t.Error("more than can be remembered is not everything")
	}
	if how, purged := p.of(KeyOf("whatever"), nil); !purged || how != Hard {
		t.Errorf("of everything: %v, %v, want hard", how, purged)
	}
	p.published(p.next().last)
	if got := p.next(); got.all != 0 || len(got.byKey) != 0 {
		t.Errorf("after everything was published: %+v", got)
	}
}

func manyKeys() []Key {
	keys := make([]Key, MaxPurges+1)
	for i := range keys {
		keys[i] = KeyOf(fmt.Sprint("many ", i))
	}
	return keys
}
