package quota

import (
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// client is the owner of a bucket: a key, by its name, or an address.
type client struct {
	policy  string // the key's name, or ofAddresses
	address netip.Prefix
}

// ofAddresses is the policy of clients without a key; no key has this name.
const ofAddresses = "address"

// client identifies the client of a request, with its quota.
func (o *Options) client(r *http.Request) (client, Quota) {
	if len(o.Keys) > 0 {
		if given := accessToken(r); given != "" {
			for _, known := range o.Keys {
				if subtle.ConstantTimeCompare([]byte(given), []byte(known.Key)) == 1 {
					return client{policy: known.Name}, known.Quota
				}
			}
		}
	}
	address := o.addressOf(r)
	bits := address.BitLen()
	if address.Is6() {
		bits = 64 // the network of one subscriber
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		prefix = netip.Prefix{} // clients whose address cannot be read share a bucket
	}
	return client{ofAddresses, prefix}, o.Address
}

// accessToken is the key that a client sends: as a bearer token or, as clients of the hosted API do, in the query.
func accessToken(r *http.Request) string {
	if bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		return bearer
	}
	if !strings.Contains(r.URL.RawQuery, "accesstoken=") {
		return ""
	}
	return r.URL.Query().Get("accesstoken")
}

// addressOf is the address of a request's client: the peer's or, behind trusted proxies, the last address in
// X-Forwarded-For that is not a trusted proxy's.
func (o *Options) addressOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap()
	hops := r.Header.Values("X-Forwarded-For")
	for i := len(hops) - 1; i >= 0; i-- {
		rest := hops[i]
		for rest != "" && o.trusts(address) {
			at := strings.LastIndexByte(rest, ',')
			forwarded, err := netip.ParseAddr(strings.TrimSpace(rest[at+1:]))
			if err != nil {
				return address
			}
			address, rest = forwarded.Unmap(), rest[:max(at, 0)]
		}
	}
	return address
}

func (o *Options) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(o.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}
