package cache

import (
	"maps"
	"sync"
)

// outbox holds the purges that the shared level has not been told of yet. Until it has, what it offers is checked
// against them.
type outbox struct {
	filled chan struct{} // one place: there is something to tell

	mu      sync.Mutex
	waiting letter
	sent    letter // being told
}

// letter is purges by key, or a purge of everything.
type letter struct {
	purges map[Key]Purge
	all    bool
}

func (l *letter) isEmpty() bool { return !l.all && len(l.purges) == 0 }

// add merges purges. When they are more than can be remembered everything is purged.
func (l *letter) add(how Purge, keys ...Key) {
	if l.all {
		return
	}
	if l.purges == nil {
		l.purges = make(map[Key]Purge)
	}
	for _, key := range keys {
		l.purges[key] = max(l.purges[key], how)
	}
	if len(l.purges) > mostPurges {
		*l = letter{all: true}
	}
}

// of is what the letter says of one key.
func (l *letter) of(key Key) (how Purge, purged bool) {
	if l.all {
		return Hard, true
	}
	how, purged = l.purges[key]
	return how, purged
}

func (o *outbox) add(how Purge, keys ...Key) {
	o.mu.Lock()
	o.waiting.add(how, keys...)
	o.mu.Unlock()
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

// take returns what is to be told now. Ask for it again after done.
func (o *outbox) take() letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent, o.waiting = o.waiting, letter{}
	return letter{purges: maps.Clone(o.sent.purges), all: o.sent.all}
}

// done ends what take began: what was not told waits again.
func (o *outbox) done(told bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !told {
		o.sent.all = o.sent.all || o.waiting.all
		for key, how := range o.waiting.purges {
			o.sent.add(how, key)
		}
		o.waiting = o.sent
	}
	o.sent = letter{}
}

// of tells whether a purge of one of the keys has not been told yet.
func (o *outbox) of(key Key, tags []Key) (how Purge, purged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range []*letter{&o.waiting, &o.sent} {
		if l.isEmpty() {
			continue
		}
		for _, each := range append([]Key{key}, tags...) {
			if by, found := l.of(each); found {
				how, purged = max(how, by), true
			}
		}
	}
	return how, purged
}
