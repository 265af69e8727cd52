package shared

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// LongestLife is the maximum time for which a value is stored.
const LongestLife = 48 * time.Hour

// markTime is how long purges are remembered: longer than any value is stored.
const markTime = LongestLife + time.Hour

// Limits of stored values.
const (
	maxBytes = 1 << 20
	maxTags  = 1000 // below the limit of Lua's unpack
)

// Want is how old a value a call accepts.
type Want string

// The ages that a call may accept.
const (
	Fresh    Want = "fresh" // the caller already has a stale one
	Stale    Want = "stale" // a stale one will do
	Any      Want = "any"   // any will do; no fill lock is wanted, as nothing is to be loaded
	LockOnly Want = "none"  // only the fill lock, never a stored value
)

// Value is a value stored under a key, or to be stored.
type Value struct {
	Age          time.Duration
	Fresh, Stale time.Duration // parts of its life, Stale following Fresh
	Total        time.Duration // its whole life
	IsPurged     bool          // softly
	Body         []byte        // empty if it is not for others
}

// FillLock is a key's fill lock: the right to load its value for all replicas.
type FillLock struct {
	cache  *Cache
	key    Key
	token  string
	number string // the server's number of the newest purge before the load
}

// Claim returns the value of a key, waits while another replica loads it, or returns the fill lock to load it. If it
// returns neither, load without the lock: the server is unavailable or wait has passed.
func (c *Cache) Claim(ctx context.Context, key Key, want Want, wait time.Duration) (found *Value, lock *FillLock) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		released, leave := c.waiters.join(key)
		var again time.Duration
		found, lock, again = c.take(ctx, key, want)
		if again == 0 || !c.await(ctx, released, again) {
			leave()
			return found, lock
		}
		leave()
	}
}

// TryClaim is like Claim but does not wait for another replica.
func (c *Cache) TryClaim(ctx context.Context, key Key, want Want) (found *Value, lock *FillLock) {
	found, lock, _ = c.take(ctx, key, want)
	return found, lock
}

// take makes one attempt. If another replica has the lock, again is how long that may last.
func (c *Cache) take(ctx context.Context, key Key, want Want) (found *Value, lock *FillLock, again time.Duration) {
	token := newToken()
	reply, err := c.call(ctx, c.values, takeScript, []string{stateName, valueName(key), lockName(key)},
		markPrefix, token, strconv.FormatInt(c.lockLife.Milliseconds(), 10), string(want))
	if err != nil || len(reply) == 0 {
		return nil, nil, 0
	}
	var outcome string
	var number, left int64
	switch outcome, _ = redis.String(reply[0], nil); outcome {
	case "found":
		var age, purged, fresh, usable, total int64
		var body []byte
		_, err := redis.Scan(reply[1:], &age, &purged, &fresh, &usable, &total, &body)
		found = &Value{} // without a life, if it cannot be read
		if err == nil && 0 <= fresh && fresh <= usable && usable <= total && total <= LongestLife.Microseconds() {
			found = &Value{
				Age: time.Duration(age) * time.Microsecond, Fresh: time.Duration(fresh) * time.Microsecond, IsPurged: purged == 1,
				Stale: time.Duration(usable-fresh) * time.Microsecond, Total: time.Duration(total) * time.Microsecond, Body: body,
			}
		}
	case "granted":
		if _, err := redis.Scan(reply[1:], &number); err == nil {
			lock = &FillLock{cache: c, key: key, token: token, number: strconv.FormatInt(number, 10)}
		}
	case "held":
		if _, err := redis.Scan(reply[1:], &number, &left); err == nil {
			again = time.Duration(max(left, 1)) * time.Millisecond
		}
	}
	return found, lock, again
}

// await returns true once another replica's lock is released or expires, false if the caller or the server is gone.
func (c *Cache) await(ctx context.Context, released <-chan struct{}, left time.Duration) bool {
	up := c.connected.Load()
	if up == nil {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-released:
	case <-timer.C:
	case <-up.lost:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// KeepAlive renews the lock until stop is called, which waits for the last call.
func (f *FillLock) KeepAlive(ctx context.Context) (stop func()) {
	c := f.cache
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(c.lockLife / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				// A lost lock is noticed when the value is put.
				_, _ = c.call(ctx, c.locks, renewScript, []string{lockName(f.key)},
					f.token, strconv.FormatInt(c.lockLife.Milliseconds(), 10))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// Release releases the lock without a value.
func (f *FillLock) Release(ctx context.Context) { f.put(ctx) }

// Put releases the lock and stores the value loaded under it, for all replicas.
func (f *FillLock) Put(ctx context.Context, v Value, tags []Key) {
	total := min(v.Total, LongestLife)
	rest := total - v.Age
	if len(v.Body) == 0 || len(v.Body) > maxBytes || len(tags) >= maxTags || rest < time.Millisecond {
		f.Release(ctx)
		return
	}
	var names strings.Builder
	names.WriteString(f.key.text())
	for _, tag := range tags {
		names.WriteString(tag.text())
	}
	f.put(ctx, f.number, names.String(), microseconds(v.Age), microseconds(v.Fresh), microseconds(v.Fresh+v.Stale),
		microseconds(total), strconv.FormatInt(rest.Milliseconds(), 10), string(v.Body))
}

func microseconds(span time.Duration) string { return strconv.FormatInt(span.Microseconds(), 10) }

func (f *FillLock) put(ctx context.Context, value ...string) {
	arguments := append([]string{
		markPrefix, f.token, channelName, notice{released, f.cache.replica, []Key{f.key}}.text(), seconds(markTime),
	}, value...)
	// If the call fails, the lock expires.
	_, _ = f.cache.call(ctx, f.cache.locks, putScript,
		[]string{stateName, valueName(f.key), lockName(f.key)}, arguments...)
}

func seconds(span time.Duration) string { return strconv.Itoa(int(span / time.Second)) }

// waiters are the calls waiting for another replica to release a fill lock.
type waiters struct {
	mu   sync.Mutex
	keys map[Key]*waiter
}

type waiter struct {
	released chan struct{} // closed when the lock is released
	calls    int
}

func (w *waiters) join(key Key) (released <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined := w.keys[key]
	if joined == nil {
		joined = &waiter{released: make(chan struct{})}
		if w.keys == nil {
			w.keys = make(map[Key]*waiter)
		}
		w.keys[key] = joined
	}
	joined.calls++
	return joined.released, func() { w.leave(key, joined) }
}

func (w *waiters) leave(key Key, joined *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined.calls--
	if joined.calls == 0 && w.keys[key] == joined {
		delete(w.keys, key)
	}
}

func (w *waiters) wake(key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if joined := w.keys[key]; joined != nil {
		close(joined.released)
		delete(w.keys, key)
	}
}
