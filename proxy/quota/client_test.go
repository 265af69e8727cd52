package quota

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestAddressIsTheLastThatNoTrustedProxyHas(t *testing.T) {
	l := New(Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}, nil)
	for name, each := range map[string]struct {
		peer string
		hops []string
		want string
	}{
		"no proxy":              {"1.2.3.4:5", []string{"6.6.6.6"}, "1.2.3.4/32"},
		"one proxy":             {"10.0.0.1:5", []string{"6.6.6.6, 1.2.3.4"}, "1.2.3.4/32"},
		"two proxies":           {"10.0.0.1:5", []string{"6.6.6.6, 1.2.3.4,10.0.0.2"}, "1.2.3.4/32"},
		"a line of each":        {"10.0.0.1:5", []string{"6.6.6.6", "1.2.3.4", "10.0.0.2"}, "1.2.3.4/32"},
		"with a port":           {"10.0.0.1:5", []string{"1.2.3.4:56789"}, "1.2.3.4/32"},
		"a proxy with a port":   {"10.0.0.1:5", []string{"1.2.3.4:1, 10.0.0.2:2"}, "1.2.3.4/32"},
		"IPv6":                  {"[fd00::1]:5", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::/64"},
		"IPv6 in brackets":      {"[fd00::1]:5", []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::/64"},
		"IPv6 with a port":      {"[fd00::1]:5", []string{"[2001:db8:1:2:3::4]:56789"}, "2001:db8:1:2::/64"},
		"IPv4 as IPv6":          {"[::ffff:10.0.0.1]:5", []string{"[::ffff:1.2.3.4]:5"}, "1.2.3.4/32"},
		"what is no address":    {"10.0.0.1:5", []string{"unknown"}, "10.0.0.1/32"},
		"what is no port":       {"10.0.0.1:5", []string{"1.2.3.4:x"}, "10.0.0.1/32"},
		"a peer with no port":   {"pipe", nil, "invalid Prefix"},
		"a name behind a proxy": {"10.0.0.1:5", []string{"1.2.3.4, evil.example"}, "10.0.0.1/32"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = each.peer, each.hops
		if got := l.Address(r).String(); got != each.want {
			t.Errorf("%s: %s, want %s", name, got, each.want)
		}
	}
}
