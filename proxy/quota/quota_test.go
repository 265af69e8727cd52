package quota

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuotaIsNeverExceeded sends requests of one client at random times: at most twice the quota passes within any
// window, and at most the quota at one time.
func TestQuotaIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quota := Quota{Units: rapid.IntRange(10, 50).Draw(t, "units"), Window: 10 * time.Second}
		l := New(Options{Address: quota}, nil)
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		now, spent, waited := time.Unix(1_784_950_000, 0), 0, time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(t, "requests") {
			pause := time.Duration(rapid.IntRange(0, 2000).Draw(t, "pause")) * time.Millisecond
			now, waited = now.Add(pause), waited+pause
			cost := rapid.SampledFrom([]int{1, 5, 10}).Draw(t, "cost")
			a, limited := l.Charge(r, cost, now)
			if !limited {
				t.Fatal("a client without a limit")
			}
			if a.RetryAfter == 0 {
				spent += cost
			} else if again, _ := l.Charge(r, cost, now.Add(a.RetryAfter)); again.RetryAfter > 0 {
				t.Fatalf("declined again for %v after the %v that it was told", again.RetryAfter, a.RetryAfter)
			} else {
				now, waited, spent = now.Add(a.RetryAfter), waited+a.RetryAfter, spent+cost
			}
			earned := float64(quota.Units) * (1 + waited.Seconds()/quota.Window.Seconds())
			if float64(spent) > earned+0.001 {
				t.Fatalf("%d units in %v of a quota of %d in %v", spent, waited, quota.Units, quota.Window)
			}
		}
	})
}

// TestNoLessThanNothingIsLeft lowers a client's quota while most of it is spent.
func TestNoLessThanNothingIsLeft(t *testing.T) {
	l, now := New(Options{Address: Quota{Units: 100, Window: time.Hour}}, nil), time.Unix(1_784_950_000, 0)
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	l.Charge(r, 90, now)
	l.Replace(Options{Address: Quota{Units: 10, Window: time.Minute}})
	c, _ := l.Charge(r, 1, now)
	header := http.Header{}
	if c.WriteHeader(header); !strings.Contains(header["Ratelimit"][0], ";r=0;") || c.RetryAfter != 6*time.Second {
		t.Errorf("%s, to be retried after %v", header["Ratelimit"], c.RetryAfter)
	}
}

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

// TestKeysStayHere sends this gateway's and other keys in every place, and checks what remains for others to see.
func TestKeysStayHere(t *testing.T) {
	l := New(Options{Keys: []Key{{Name: "ours", Key: "k+y"}}}, nil)
	for name, each := range map[string]struct {
		lines []string
		query string
		key   string // the key's name
		left  []string
		rest  string
	}{
		"none":                      {nil, "a=1", "", nil, "a=1"},
		"bearer":                    {[]string{"Bearer k+y"}, "a=1", "ours", nil, "a=1"},
		"lower case":                {[]string{"bearer k+y"}, "", "ours", nil, ""},
		"upper case, blanks":        {[]string{"BEARER   k+y "}, "", "ours", nil, ""},
		"another's":                 {[]string{"Bearer theirs"}, "accesstoken=theirs&a", "", []string{"Bearer theirs"}, "accesstoken=theirs&a"},
		"another scheme":            {[]string{"Basic k+y"}, "", "", []string{"Basic k+y"}, ""},
		"behind another's":          {[]string{"Bearer theirs", "bearer k+y"}, "", "", []string{"Bearer theirs"}, ""},
		"query":                     {nil, "a=%20&accesstoken=k%2By&b", "ours", nil, "a=%20&b"},
		"query, alone":              {nil, "accesstoken=k%2by", "ours", nil, ""},
		"query, another case":       {nil, "a=1&AccessToken=k%2By", "ours", nil, "a=1"},
		"query, another name":       {nil, "a=1&token=k%2By&%61ccesstoken=k%2By", "", nil, "a=1"},
		"query behind a bearer":     {[]string{"Bearer theirs"}, "accesstoken=k%2By", "ours", []string{"Bearer theirs"}, ""},
		"query that cannot be read": {nil, "accesstoken=%zz", "", nil, "accesstoken=%zz"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?"+each.query, http.NoBody)
		if each.lines != nil {
			r.Header["Authorization"] = each.lines
		}
		if got := l.KeyName(r); got != each.key {
			t.Errorf("%s: key %q, want %q", name, got, each.key)
		}
		before := slices.Clone(each.lines)
		shown := l.WithoutKey(r)
		if got := shown.Header["Authorization"]; !slices.Equal(got, each.left) || shown.URL.RawQuery != each.rest {
			t.Errorf("%s: others see %q and %q", name, got, shown.URL.RawQuery)
		}
		if !slices.Equal(each.lines, before) || r.URL.RawQuery != each.query {
			t.Errorf("%s: the request itself has changed", name)
		}
	}
}
