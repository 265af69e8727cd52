package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// MaxPurges is how many purges are remembered before they become one of everything.
const MaxPurges = 1 << 14

// maxPurgedKeys limits the keys that one script marks, since the server does nothing else meanwhile.
const maxPurgedKeys = 500

// publisher holds this replica's purges until the server has them. Values from the server are checked against them.
type publisher struct {
	filled chan struct{} // signals that there is something to publish

	mu sync.Mutex
	queue
}

// queue is purges by key, and one of everything, each with a number.
type queue struct {
	last  uint64 // number of the latest purge
	all   uint64 // number of the purge of everything; 0 if none
	byKey map[Key]queued
}

type queued struct {
	how    Purge
	number uint64
}

func newPublisher() publisher {
	return publisher{filled: make(chan struct{}, 1), queue: queue{byKey: map[Key]queued{}}}
}

// Purge queues a purge for publication.
func (c *Cache) Purge(how Purge, keys ...Key) {
	c.publisher.add(how, keys...)
	select {
	case c.publisher.filled <- struct{}{}:
	default:
	}
}

// Unpublished reports whether the key or a tag was purged here without the server knowing yet.
func (c *Cache) Unpublished(key Key, tags []Key) (how Purge, purged bool) {
	return c.publisher.of(key, tags)
}

func (p *publisher) add(how Purge, keys ...Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	for _, key := range keys {
		p.byKey[key] = queued{max(p.byKey[key].how, how), p.last}
	}
	if len(p.byKey) > MaxPurges {
		p.all, p.byKey = p.last, map[Key]queued{}
	}
}

func (p *publisher) of(key Key, tags []Key) (how Purge, purged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all > 0 {
		return Hard, true
	}
	by, purged := p.byKey[key]
	for _, tag := range tags {
		other, found := p.byKey[tag]
		by.how, purged = max(by.how, other.how), purged || found
	}
	return by.how, purged
}

func (p *publisher) next() queue {
	p.mu.Lock()
	defer p.mu.Unlock()
	return queue{p.last, p.all, maps.Clone(p.byKey)}
}

// published removes the purges up to a number.
func (p *publisher) published(last uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all <= last {
		p.all = 0
	}
	maps.DeleteFunc(p.byKey, func(_ Key, q queued) bool { return q.number <= last })
}

// publish sends the queue to the server, which numbers each purge and passes it on to the other replicas.
func (c *Cache) publish(ctx context.Context, calls *pipeline) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	now := c.publisher.next()
	if now.all > 0 {
		if err := c.publishPurge(ctx, calls, Hard, nil); err != nil {
			return err
		}
	}
	var by [2][]Key
	for key, q := range now.byKey {
		by[q.how] = append(by[q.how], key)
	}
	for how, keys := range by {
		for some := range slices.Chunk(keys, maxPurgedKeys) {
			if err := c.publishPurge(ctx, calls, Purge(how), some); err != nil {
				return err
			}
		}
	}
	c.publisher.published(now.last)
	return nil
}

// publishPurge publishes one purge. No keys mean everything.
func (c *Cache) publishPurge(ctx context.Context, calls *pipeline, how Purge, keys []Key) error {
	word, kind := "soft", byte(purgedSoftly)
	if how == Hard {
		word, kind = "hard", purgedHard
	}
	arguments := []string{markPrefix, seconds(markTime), channelName, notice{kind, c.replica, keys}.text(), word}
	for _, key := range keys {
		arguments = append(arguments, key.text())
	}
	if _, err := calls.runs(ctx, purgeScript, []string{stateName}, arguments...); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

type notice struct {
	kind byte
	from string // the replica that sent it
	keys []Key  // one of a release; none means everything
}

// Kinds of notices: purges, which their sender ignores, and the release of a key's fill lock.
const (
	purgedHard   = 'h'
	purgedSoftly = 's'
	released     = 'd'
)

const replicaText = 22 // length of a replica's name

func (n notice) text() string {
	var text strings.Builder
	text.WriteByte(n.kind)
	text.WriteString(n.from)
	for _, key := range n.keys {
		text.WriteString(key.text())
	}
	return text.String()
}

// parseNotice decodes a notice. Any client of the server may have written it.
func parseNotice(text string) (n notice, ok bool) {
	if len(text) < 1+replicaText {
		return notice{}, false
	}
	n.kind, n.from = text[0], text[1:1+replicaText]
	n.keys, ok = parseKeys(text[1+replicaText:])
	return n, ok && (n.kind == purgedHard || n.kind == purgedSoftly || n.kind == released && len(n.keys) == 1)
}
