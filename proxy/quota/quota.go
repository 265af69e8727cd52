// Package quota limits how much each client may ask of the server.
//
// A quota is a token bucket, kept as one time per client (the generic cell rate algorithm): the moment at which the
// bucket is full again. A request postpones that moment by the price of its units. If it would then be further away
// than the quota's window, the request is over the quota and costs nothing.
//
// With a shared cache all replicas draw on one bucket per client. Each replica mirrors it: a client over its quota is
// rejected without a round trip, and while the shared cache is down the mirror decides, so that an outage does not
// grant fresh quotas. A Limiter is safe for concurrent use, and its memory is bounded whatever the number of clients.
package quota

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"crossgate/cache/recent"
	"crossgate/cache/shared"
)

// Quota is how much a client may ask for: a burst of Units, replenished over each Window. Zero means no limit.
type Quota struct {
	Units  int
	Window time.Duration
}

// Key is a client with an access token and a quota of its own.
type Key struct {
	Name  string // in RateLimit-Policy
	Key   string
	Quota Quota
}

// Options configures a Limiter.
type Options struct {
	Address        Quota          // of each address without a key; zero means no limit
	Keys           []Key          // clients with quotas of their own
	TrustedProxies []netip.Prefix // peers whose X-Forwarded-For is trusted
}

// Limiter charges requests to the quotas of their clients.
type Limiter struct {
	options atomic.Pointer[Options]
	shared  *shared.Cache // buckets shared by all replicas; nil to keep this replica's only

	full recent.Map[client, time.Time] // when each client's bucket is full again
}

// maxClients is how many clients are remembered: at most twice as many.
const maxClients = 1 << 16

// New returns a limiter whose buckets all replicas share through shared, or are its own if shared is nil.
func New(o Options, shared *shared.Cache) *Limiter {
	l := &Limiter{shared: shared, full: recent.Map[client, time.Time]{Limit: maxClients}}
	l.Replace(o)
	return l
}

// Replace replaces the quotas.
func (l *Limiter) Replace(o Options) { l.options.Store(&o) }

// Charge is the effect of a request on its client's quota.
type Charge struct {
	Policy     string // the quota's name: the client's key's, or address
	quota      Quota
	remaining  int           // units
	full       time.Duration // until the bucket is full again
	RetryAfter time.Duration // until there are enough units; zero if the request is within the quota
}

// Charge takes cost units from the quota of a request's client, if they are left. limited: the client has a quota.
func (l *Limiter) Charge(r *http.Request, cost int, now time.Time) (c Charge, limited bool) {
	if o := l.options.Load(); o.Address.Units <= 0 && len(o.Keys) == 0 { // no client has a limit
		return Charge{}, false
	}
	p := l.Payer(r)
	return p.Charge(r.Context(), cost, now)
}

// Payer is the client of a request, which can be charged even after the request is over.
type Payer struct {
	limiter *Limiter
	who     client
	quota   Quota
}

// Payer returns the client of a request.
func (l *Limiter) Payer(r *http.Request) Payer {
	who, quota := l.options.Load().client(r)
	return Payer{l, who, quota}
}

// Charge is like Limiter.Charge.
func (p *Payer) Charge(ctx context.Context, cost int, now time.Time) (c Charge, limited bool) {
	l, who, quota := p.limiter, p.who, p.quota
	if quota.Units <= 0 {
		return Charge{}, false
	}
	unit := quota.Window / time.Duration(quota.Units)
	price := unit * time.Duration(min(cost, quota.Units))
	c = Charge{Policy: who.policy, quota: quota}
	if known := l.deficit(who, quota.Window, now); l.shared == nil || known+price > quota.Window {
		c.full, c.RetryAfter = l.take(who, price, quota.Window, now)
	} else {
		key := shared.KeyOf("client", []byte(who.policy), []byte(who.address.String()))
		var err error
		if c.full, c.RetryAfter, err = l.shared.Spend(ctx, key, price, quota.Window, known); err == nil {
			l.raise(who, now.Add(c.full))
		} else { // the shared cache is down
			c.full, c.RetryAfter = l.take(who, price, quota.Window, now)
		}
	}
	c.remaining = int((quota.Window - c.full) / unit)
	return c, true
}

// WriteHeader sets RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10).
func (c Charge) WriteHeader(header http.Header) {
	name := `"` + c.Policy + `"`
	header["Ratelimit-Policy"] = []string{name + ";q=" + strconv.Itoa(c.quota.Units) + ";w=" + seconds(c.quota.Window)}
	header["Ratelimit"] = []string{name + ";r=" + strconv.Itoa(c.remaining) + ";t=" + seconds(c.full)}
}

// seconds rounds up, so that a client that waits this long is not too early.
func seconds(span time.Duration) string {
	return strconv.Itoa(int((span + time.Second - 1) / time.Second))
}

// take takes price from this replica's bucket of a client, unless that would leave it more than window from full. It
// returns how far from full the bucket is and, if the price was not taken, how long to wait.
func (l *Limiter) take(who client, price, window time.Duration, now time.Time) (deficit, wait time.Duration) {
	l.full.Update(who, func(full time.Time) time.Time {
		deficit = lacking(full, window, now)
		if wait = max(deficit+price-window, 0); wait > 0 {
			return full
		}
		deficit += price
		return now.Add(deficit)
	})
	return deficit, wait
}

// raise records that a client's bucket is not full before a time, according to the shared one.
func (l *Limiter) raise(who client, full time.Time) {
	l.full.Update(who, func(known time.Time) time.Time {
		if known.After(full) {
			return known
		}
		return full
	})
}

// deficit returns how far from full a client's bucket is, as far as this replica knows.
func (l *Limiter) deficit(who client, window time.Duration, now time.Time) time.Duration {
	full, _ := l.full.Get(who)
	return lacking(full, window, now)
}

// lacking is at most the window, even if that was longer when the units were spent.
func lacking(full time.Time, window time.Duration, now time.Time) time.Duration {
	return min(max(full.Sub(now), 0), window)
}
