package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// MaxPurges bounds how many purges are remembered before they become one of everything.
const MaxPurges = 1 << 14

// maxPurgedKeys bounds how many keys one script marks, since the server does nothing else meanwhile.
const maxPurgedKeys = 500

// publisher holds the purges of this replica until the server has them. Until then values from the server are checked
// against them.
type publisher struct {
	filled chan struct{} // signals that there is something to publish

	mu      sync.Mutex
	queued  purgeSet
	sending purgeSet
}

// purgeSet is purges by key, or one of everything.
type purgeSet struct {
	byKey map[Key]Purge
	all   bool
}

func (p *purgeSet) isEmpty() bool { return !p.all && len(p.byKey) == 0 }

func (p *purgeSet) add(how Purge, keys ...Key) {
	if p.all {
		return
	}
	if p.byKey == nil {
		p.byKey = make(map[Key]Purge)
	}
	for _, key := range keys {
		p.byKey[key] = max(p.byKey[key], how)
	}
	if len(p.byKey) > MaxPurges {
		*p = purgeSet{all: true}
	}
}

func (p *purgeSet) of(key Key) (how Purge, purged bool) {
	if p.all {
		return Hard, true
	}
	how, purged = p.byKey[key]
	return how, purged
}

// Purge queues a purge for publication.
func (c *Cache) Purge(how Purge, keys ...Key) { c.publisher.add(how, keys...) }

// Unpublished reports whether one of the keys was purged here without the server knowing yet.
func (c *Cache) Unpublished(key Key, tags []Key) (how Purge, purged bool) {
	return c.publisher.of(key, tags)
}

func (p *publisher) add(how Purge, keys ...Key) {
	p.mu.Lock()
	p.queued.add(how, keys...)
	p.mu.Unlock()
	select {
	case p.filled <- struct{}{}:
	default:
	}
}

// next returns what to publish now. Call done before the next one.
func (p *publisher) next() purgeSet {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending, p.queued = p.queued, purgeSet{}
	return purgeSet{byKey: maps.Clone(p.sending.byKey), all: p.sending.all}
}

// done ends what next began: what was not published is queued again.
func (p *publisher) done(published bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !published {
		p.sending.all = p.sending.all || p.queued.all
		for key, how := range p.queued.byKey {
			p.sending.add(how, key)
		}
		p.queued = p.sending
	}
	p.sending = purgeSet{}
}

func (p *publisher) of(key Key, tags []Key) (how Purge, purged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, set := range []*purgeSet{&p.queued, &p.sending} {
		if set.isEmpty() {
			continue
		}
		for _, each := range append([]Key{key}, tags...) {
			if by, found := set.of(each); found {
				how, purged = max(how, by), true
			}
		}
	}
	return how, purged
}

// publish sends what is queued to the server, which numbers it and passes it on to the other replicas.
func (c *Cache) publish(ctx context.Context, calls *pipeline) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	err := c.publishSet(ctx, calls, c.publisher.next())
	c.publisher.done(err == nil)
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

func (c *Cache) publishSet(ctx context.Context, calls *pipeline, set purgeSet) error {
	if set.all {
		return c.publishPurge(ctx, calls, Hard)
	}
	var by [2][]Key
	for key, how := range set.byKey {
		by[how] = append(by[how], key)
	}
	for how, keys := range by {
		for some := range slices.Chunk(keys, maxPurgedKeys) {
			if err := c.publishPurge(ctx, calls, Purge(how), some...); err != nil {
				return err
			}
		}
	}
	return nil
}

// publishPurge publishes one purge, of everything when there are no keys.
func (c *Cache) publishPurge(ctx context.Context, calls *pipeline, how Purge, keys ...Key) error {
	word := map[Purge]string{Soft: "soft", Hard: "hard"}[how]
	arguments := []string{
		markPrefix, seconds(markTime), channelName, notice{from: c.replica, how: how, keys: keys}.text(), word,
	}
	for _, key := range keys {
		arguments = append(arguments, key.text())
	}
	_, err := calls.runs(ctx, purgeScript, []string{stateName}, arguments...)
	return err
}
