// Package shared is the level behind a cache that replicas share: a Valkey or Redis server. On a miss the cache in
// front asks it for the value (Claim), and gets either that or the key's fill lock, under which one replica loads for
// all. The loaded value is stored when the lock is released (FillLock.Put).
//
// Purges are numbered on the server. A value carries the number of the newest purge before its load began, and is not
// served once one of its tags has a newer one. A publisher sends the purges of this replica; those of others arrive on
// a pub/sub channel (OnPurge). While the connection is lost, purges may be missed, so everything is purged softly. The
// server also keeps the quotas of clients (Spend) and attestations of replicas (Attest).
//
// No answer depends on this package: each call has a short time limit, a concurrency limit and a circuit breaker, and
// fails immediately without a connection. Each operation is one Lua script (scripts/), hence atomic; all times are the
// server's. docs/decisions/0018-shared-cache.md has the reasons.
package shared

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Defaults of Options.
const (
	defaultTimeout = 20 * time.Millisecond
	defaultSilence = 5 * time.Second
	defaultLock    = 1500 * time.Millisecond
)

const connectTimeout = time.Second

// Options configures a shared cache.
type Options struct {
	URL string // redis://user:password@host:port/database; rediss:// for TLS, unix:// for a socket
	// CAFile has the server's authorities in PEM, read again for each connection; empty for the system's.
	CAFile  string
	Timeout time.Duration // of one call; 0 means 20 ms
	// Silence of the server after which the connection counts as lost; 0 means 5 s. It is for networks that drop
	// connections silently: a slow server answers eventually. After a loss all values are purged softly.
	Silence time.Duration
	// LockLife is how long others wait for a replica that died while loading; 0 means 1.5 s.
	LockLife time.Duration
	Logger   *slog.Logger // nil to log nothing
}

// Cache is the connection of one replica to the shared cache. At most one cache.Cache is in front of it.
type Cache struct {
	server    server
	caFile    string
	silence   time.Duration
	lockLife  time.Duration
	replica   string
	log       *slog.Logger
	connected atomic.Pointer[connection] // nil while disconnected
	values    *callPolicy
	locks     *callPolicy // to renew and release fill locks
	quotas    *callPolicy
	duration  metric.Float64Histogram
	publisher publisher
	waiters   waiters
	onPurge   func(Purge, ...Key)

	mu        sync.Mutex
	lastError string
	lastAt    time.Time // of lastError
}

// connection is a connection during which other replicas' purges are received.
type connection struct {
	calls *pipeline
	lost  chan struct{} // closed when the connection is lost
}

// New returns the shared cache at a URL. Run connects to it.
func New(o Options) (*Cache, error) {
	at, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if _, err := at.secured(o.CAFile); err != nil {
		return nil, fmt.Errorf("shared cache: %w", err)
	}
	timeout, lockLife := cmp.Or(o.Timeout, defaultTimeout), cmp.Or(o.LockLife, defaultLock)
	return &Cache{
		server:    at,
		caFile:    o.CAFile,
		silence:   cmp.Or(o.Silence, defaultSilence),
		lockLife:  lockLife,
		replica:   newToken(),
		log:       cmp.Or(o.Logger, slog.New(slog.DiscardHandler)).With("server", at.address),
		values:    newCallPolicy(timeout),
		locks:     newCallPolicy(lockLife),    // no request waits here, but other replicas do until the lock is released or expires
		quotas:    newCallPolicy(timeout / 4), // every request is charged, even one that hits the cache
		publisher: newPublisher(),
		onPurge:   func(Purge, ...Key) {},
		lastError: "no attempt yet",
		duration:  newDuration(),
	}, nil
}

// newToken returns 128 random bits as text, to identify a replica or a fill lock.
func newToken() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// formatVersion is part of every name on the server. It is raised whenever the format of the values changes, so that
// two releases running side by side do not read each other's.
const formatVersion = "5"

// Names on the server. The braces keep all of them on one node of a cluster.
const (
	namePrefix  = "{crossgate:" + formatVersion + "}:"
	stateName   = namePrefix + "state"
	markPrefix  = namePrefix + "mark:"
	channelName = namePrefix + "notices"
)

func valueName(key Key) string { return namePrefix + "value:" + key.text() }
func lockName(key Key) string  { return namePrefix + "lock:" + key.text() }

// OnPurge sets the function to call for purges by other replicas; no keys mean everything. Call it before Run.
func (c *Cache) OnPurge(purge func(how Purge, keys ...Key)) { c.onPurge = purge }
