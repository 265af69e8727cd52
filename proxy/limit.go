package proxy

import (
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache/shared"
)

// Quota is how much a client may ask for: Units at once, and as many again in every Window. A zero quota is
// no limit.
type Quota struct {
	Units  int
	Window time.Duration
}

// ClientKey is a client that is known by a key, with a quota of its own.
type ClientKey struct {
	Name  string // in RateLimit-Policy
	Key   string
	Quota Quota
}

// Costs of requests in units. A swap asks every venue; a page asks for the orders that it shows.
const (
	cheapCost    = 1
	estimateCost = 5
	swapCost     = 10
)

// limiter gives every client its quota: clients with a key by that, others by their address.
type limiter struct {
	address Quota
	keys    []ClientKey
	proxies []netip.Prefix // whose word about addresses counts
	shared  *shared.Cache  // accounts of all replicas; nil: this one's alone

	mu         sync.Mutex
	young, old map[client]time.Time // when the quota of a client is whole again
}

// client is who a quota belongs to: a key, or an address.
type client struct {
	key     int // from 1 on; zero: none
	address netip.Prefix
}

// mostClients is for how many clients quotas are remembered at least; twice as many at most.
const mostClients = 1 << 16

// client says whose quota a request is on.
func (l *limiter) client(r *http.Request) (client, string, Quota) {
	if len(l.keys) > 0 {
		if given := accessToken(r); given != "" {
			for i, known := range l.keys {
				if subtle.ConstantTimeCompare([]byte(given), []byte(known.Key)) == 1 {
					return client{key: i + 1}, known.Name, known.Quota
				}
			}
		}
	}
	address := l.addressOf(r)
	bits := address.BitLen()
	if address.Is6() {
		bits = 64 // which is what one subscriber has
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		prefix = netip.Prefix{} // all who cannot be told apart share a quota
	}
	return client{address: prefix}, "address", l.address
}

// accessToken is the key that a client gives: as a bearer or, as clients of the hosted API do, in the query.
func accessToken(r *http.Request) string {
	if bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		return bearer
	}
	if !strings.Contains(r.URL.RawQuery, "accesstoken=") {
		return ""
	}
	return r.URL.Query().Get("accesstoken")
}

// addressOf is where a request comes from: the peer, or what a trusted proxy says, from the last to the first.
func (l *limiter) addressOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap()
	hops := r.Header.Values("X-Forwarded-For")
	for i := len(hops) - 1; i >= 0; i-- {
		rest := hops[i]
		for rest != "" && l.trusts(address) {
			at := strings.LastIndexByte(rest, ',')
			said, err := netip.ParseAddr(strings.TrimSpace(rest[at+1:]))
			if err != nil {
				return address
			}
			address, rest = said.Unmap(), rest[:max(at, 0)]
		}
	}
	return address
}

func (l *limiter) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// limitClients declines requests of clients who have used up their quota, and tells all where they are
// (draft-ietf-httpapi-ratelimit-headers-10).
func (s *Server) limitClients(c *gin.Context) {
	price, known := s.prices[c.FullPath()]
	if !known {
		price = priced{cheapCost, tracking}
	}
	if c.Request.Method == http.MethodOptions {
		return
	}
	a, limited := s.limiter.charge(c.Request, price.cost, time.Now())
	if !limited {
		return
	}
	header := c.Writer.Header()
	header["Ratelimit-Policy"] = []string{`"` + a.policy + `";q=` + strconv.Itoa(a.quota.Units) + ";w=" + wholeSeconds(a.quota.Window)}
	header["Ratelimit"] = []string{`"` + a.policy + `";r=` + strconv.Itoa(a.remaining) + ";t=" + wholeSeconds(a.whole)}
	if a.retry > 0 {
		p := quotaExceeded.because("")
		p.retryAfter = a.retry
		s.fail(c, price.dialect, p)
	}
}

// wholeSeconds rounds up, so that who waits as long is not too early.
func wholeSeconds(span time.Duration) string {
	return strconv.Itoa(int((span + time.Second - 1) / time.Second))
}

// priced is what a path costs, and how its problems are told.
type priced struct {
	cost    int
	dialect dialect
}
