package quota

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// client is the owner of a bucket: a key, by its name, or an address.
type client struct {
	policy  string // the key's name or ofAddresses
	address netip.Prefix
}

// ofAddresses is the policy of clients without a key. No key may have this name.
const ofAddresses = "address"

func (o *Options) client(r *http.Request) (client, Quota) {
	if known := cmp.Or(o.keyOf(bearer(r.Header.Get("Authorization"))), o.keyOf(queryToken(r))); known != nil {
		return client{policy: known.Name}, known.Quota
	}
	return client{ofAddresses, o.origin(r)}, o.Address
}

// keyOf returns the configured key that equals given, nil if none does.
func (o *Options) keyOf(given string) *Key {
	for i := range o.Keys {
		if given != "" && subtle.ConstantTimeCompare([]byte(given), []byte(o.Keys[i].Key)) == 1 {
			return &o.Keys[i]
		}
	}
	return nil
}

// WithoutKey returns a request as third parties may see it: without a key of this gateway, wherever a client put it.
func (l *Limiter) WithoutKey(r *http.Request) *http.Request {
	o := l.options.Load()
	isOurs := func(line string) bool { return o.keyOf(bearer(line)) != nil }
	if slices.ContainsFunc(r.Header["Authorization"], isOurs) {
		r = r.WithContext(r.Context())
		r.Header = r.Header.Clone()
		if r.Header["Authorization"] = slices.DeleteFunc(r.Header["Authorization"], isOurs); len(r.Header["Authorization"]) == 0 {
			delete(r.Header, "Authorization")
		}
	}
	if len(o.Keys) == 0 || !strings.Contains(r.URL.RawQuery, "=") {
		return r
	}
	parts := strings.Split(r.URL.RawQuery, "&")
	kept := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
		_, value, _ := strings.Cut(part, "=")
		decoded, err := url.QueryUnescape(value)
		return err == nil && o.keyOf(decoded) != nil
	})
	if len(kept) < len(parts) {
		r = r.WithContext(r.Context())
		target := *r.URL
		target.RawQuery = strings.Join(kept, "&")
		r.URL = &target
	}
	return r
}

// Address returns the prefix that requests of one client share: its IPv4 address or IPv6 /64 network, as seen by the
// last trusted proxy. Clients whose address cannot be read share the zero prefix.
func (l *Limiter) Address(r *http.Request) netip.Prefix { return l.options.Load().origin(r) }

// Client returns the address of a request's client as seen by the last trusted proxy, invalid if it cannot be read.
func (l *Limiter) Client(r *http.Request) netip.Addr { return l.options.Load().addressOf(r) }

// KeyName returns the name of the key that a request was sent with, empty if there was none.
func (l *Limiter) KeyName(r *http.Request) string {
	if who, _ := l.options.Load().client(r); who.policy != ofAddresses {
		return who.policy
	}
	return ""
}

// Trusts reports whether an address belongs to a trusted proxy, which speaks for many clients.
func (l *Limiter) Trusts(address netip.Addr) bool { return l.options.Load().trusts(address) }

func (o *Options) origin(r *http.Request) netip.Prefix {
	address := o.addressOf(r)
	bits := address.BitLen()
	if address.Is6() {
		bits = 64 // the network of one subscriber
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// bearer returns the token of an Authorization header, empty if none. The scheme's case is ignored (RFC 9110, 11.1).
func bearer(line string) string {
	scheme, token, _ := strings.Cut(line, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// queryToken returns the key in the query, where clients of the hosted API send it.
func queryToken(r *http.Request) string {
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(name, "accesstoken") {
			token, _ := url.QueryUnescape(value) // empty if badly encoded
			return token
		}
	}
	return ""
}

// addressOf returns the address of a request's client: the peer's or, behind trusted proxies, the last address in
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
			forwarded, known := parseHop(strings.TrimSpace(rest[at+1:]))
			if !known {
				return address
			}
			address, rest = forwarded, rest[:max(at, 0)]
		}
	}
	return address
}

// parseHop parses an entry of X-Forwarded-For: an address, which some proxies write with a port or in brackets.
func parseHop(text string) (address netip.Addr, known bool) {
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if parsed, err := netip.ParseAddr(bare); err == nil {
		return parsed.Unmap().WithZone(""), true
	}
	parsed, err := netip.ParseAddrPort(text)
	return parsed.Addr().Unmap().WithZone(""), err == nil
}

func (o *Options) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(o.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}
