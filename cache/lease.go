package cache

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// markTime is how long purges are remembered: longer than any value is kept.
const markTime = longestLife + time.Hour

// wanted is what a call would take from the shared level.
type wanted string

const (
	wantFresh wanted = "fresh" // there is a stale one already
	wantStale wanted = "stale" // one past its freshness will do
	wantSpare wanted = "spare" // any will do, and there is nothing to be loaded
	wantNone  wanted = "none"  // what is there is no good
)

// lease is the right to load a value for all replicas. Without a token there is none.
type lease struct {
	key    Key
	token  string
	number string // of the newest purge before the load, as the server counts
}

// offer is a value as the shared level has it.
type offer struct {
	age   time.Duration
	ended bool // purged softly
	body  []byte
}

// claim returns what the shared level has for a key, waits for another replica that is loading it, or gets the lease to
// load it. Nothing at all means to load without one: the server is away, or patience has ended.
func (s *Shared) claim(ctx context.Context, key Key, want wanted, patience time.Duration) (found *offer, held *lease) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		waiting, leave := s.waits.join(key)
		var again time.Duration
		found, held, again = s.take(ctx, key, want)
		if again == 0 || !s.await(ctx, waiting, again) {
			leave()
			return found, held
		}
		leave()
	}
}

// take asks once. again is not zero when somebody else has the lease, for that long.
func (s *Shared) take(ctx context.Context, key Key, want wanted) (found *offer, held *lease, again time.Duration) {
	mine := token()
	reply, err := s.call(ctx, s.values, takeScript, []string{stateName, valueName(key), leaseName(key)},
		markPrefix, mine, strconv.FormatInt(s.lease.Milliseconds(), 10), string(want))
	if err != nil || len(reply) == 0 {
		return nil, nil, 0
	}
	switch outcome, _ := reply[0].ToString(); {
	case outcome == "found" && len(reply) == 4:
		age, ageErr := reply[1].AsInt64()
		ended, endedErr := reply[2].AsInt64()
		body, bodyErr := reply[3].AsBytes()
		if ageErr == nil && endedErr == nil && bodyErr == nil {
			found = &offer{age: time.Duration(age) * time.Microsecond, ended: ended == 1, body: body}
		}
	case outcome == "granted" && len(reply) == 3:
		if number, err := reply[1].ToString(); err == nil {
			held = &lease{key: key, token: mine, number: number}
		}
	case outcome == "held" && len(reply) == 3:
		left, _ := reply[2].AsInt64()
		again = time.Duration(max(left, 1)) * time.Millisecond
	}
	return found, held, again
}

// await returns when the lease that somebody else has is free, or runs out; not when the caller or the server is gone.
func (s *Shared) await(ctx context.Context, free <-chan struct{}, left time.Duration) bool {
	up := s.link.Load()
	if up == nil {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-free:
	case <-timer.C:
	case <-up.lost:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// hold keeps the lease until stop is called, which waits for the last call.
func (s *Shared) hold(ctx context.Context, l *lease) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				// One that is lost, or cannot be renewed, shows when the value is put.
				_, _ = s.call(ctx, s.values, renewScript, []string{leaseName(l.key)}, l.token, strconv.FormatInt(s.lease.Milliseconds(), 10))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// release gives the lease back without a value.
func (s *Shared) release(ctx context.Context, l *lease) { s.put(ctx, l) }

// hand gives the lease back with the value that was loaded under it.
func (s *Shared) hand(ctx context.Context, l *lease, tags []Key, life Life, age time.Duration, body []byte) {
	rest := min(life.whole(), longestLife) - age
	if len(body) == 0 || len(body) > mostWireBytes || len(tags) >= mostWireTags || rest < time.Millisecond {
		s.release(ctx, l)
		return
	}
	var names strings.Builder
	names.WriteString(l.key.text())
	for _, tag := range tags {
		names.WriteString(tag.text())
	}
	microseconds := func(span time.Duration) string { return strconv.FormatInt(span.Microseconds(), 10) }
	s.put(ctx, l, l.number, names.String(), microseconds(age), microseconds(life.Fresh), microseconds(life.Fresh+life.Stale),
		strconv.FormatInt(rest.Milliseconds(), 10), string(body))
}

func (s *Shared) put(ctx context.Context, l *lease, value ...string) {
	arguments := append([]string{
		markPrefix, l.token, channelName, notice{done: true, keys: []Key{l.key}}.text(), strconv.Itoa(int(markTime / time.Second)),
	}, value...)
	// A server that does not hear of it lets the lease run out.
	_, _ = s.call(ctx, s.values, putScript, []string{stateName, valueName(l.key), leaseName(l.key)}, arguments...)
}

// waits are who waits for a lease of another replica.
type waits struct {
	mu   sync.Mutex
	keys map[Key]*wait
}

type wait struct {
	free    chan struct{} // closed when the lease is
	callers int
}

// join waits for a key until leave.
func (w *waits) join(key Key) (free <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined := w.keys[key]
	if joined == nil {
		joined = &wait{free: make(chan struct{})}
		if w.keys == nil {
			w.keys = make(map[Key]*wait)
		}
		w.keys[key] = joined
	}
	joined.callers++
	return joined.free, func() { w.leave(key, joined) }
}

func (w *waits) leave(key Key, joined *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined.callers--
	if joined.callers == 0 && w.keys[key] == joined {
		delete(w.keys, key)
	}
}

// end wakes all who wait for a key.
func (w *waits) end(key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if joined := w.keys[key]; joined != nil {
		close(joined.free)
		delete(w.keys, key)
	}
}
