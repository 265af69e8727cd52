package upstream

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"crossgate/internal/must"
)

func TestErrorsHideHostsButAddresses(t *testing.T) {
	for address, test := range map[string]struct{ said, want string }{
		"http://127.0.0.1:8545":           {"dial tcp 127.0.0.1:8545: connect: connection refused", "dial tcp 127.0.0.1:8545: connect: connection refused"},
		"http://[::1]:8545":               {"dial tcp [::1]:8545: connect: connection refused", "dial tcp [::1]:8545: connect: connection refused"},
		"http://localhost:8545":           {"dial tcp: localhost:8545 refused", "dial tcp: localhost:8545 refused"},
		"http://Example.org:8545":         {"dial tcp: lookup Example.org on 10.0.0.1:53: no such host", "dial tcp: lookup (host of node) on 10.0.0.1:53: no such host"},
		"http://k3y-of-somebody:8545":     {"dial tcp: lookup k3y-of-somebody", "dial tcp: lookup (host of node)"},
		"http://k3y-of-somebody.example":  {"no account k3y-of-somebody at k3y-of-somebody.example", "no account node at (host of node)"},
		"http://geth.lan.internal":        {"geth.lan.internal: internal error", "(host of node): internal error"},
		"http://example.org/v3/SECRETKEY": {"asked /v3/SECRETKEY of example.org", "asked /v3/node of (host of node)"},
	} {
		base := must.Get(url.Parse(address))(t)
		if got := NewScrubber("node", base, nil).Replace(test.said); got != test.want {
			t.Errorf("%s: %q, want %q", address, got, test.want)
		}
	}
}

// keyed returns a URL and a header with a key in each part that can hold one, and these keys unescaped.
func keyed(seed uint64) (address string, header http.Header, keys []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	key := func(alphabet string) string {
		text := make([]byte, shortestSecret+random.IntN(40))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		text[0] = '7' // keeps the key from being a word
		keys = append(keys, string(text))
		return string(text)
	}
	const inHosts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	const anywhere = inHosts + "._~!$'()*+,:@%&=/?# \"\\"
	labels := make([]string, 1+random.IntN(4))
	for i := range labels {
		labels[i] = key(inHosts)
	}
	host := strings.Join(append(labels, []string{"example", ""}[random.IntN(2)]), ".")
	user := url.User(key(anywhere))
	if random.IntN(2) == 0 {
		user = url.UserPassword(user.Username(), key(anywhere))
	}
	at := url.URL{
		Scheme: "https", User: user, Host: strings.TrimSuffix(host, "."), Fragment: key(anywhere),
		Path: "/v2/", RawQuery: url.Values{"key": {key(anywhere)}, key(anywhere): {""}}.Encode(),
	}
	at = *at.JoinPath(url.PathEscape(key(anywhere)), url.PathEscape(key(anywhere)))
	header = http.Header{"X-Key": {key(anywhere)}, "Authorization": {"Bearer " + key(inHosts)}}
	return at.String(), header, keys
}

// TestNoPartOfAURLIsTold checks that no key remains in texts that quote URLs with keys in every part, whole or in
// pieces, escaped or not.
func TestNoPartOfAURLIsTold(t *testing.T) {
	for seed := range uint64(2000) {
		address, header, keys := keyed(seed)
		base, err := url.Parse(address)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		user := base.User.Username()
		password, _ := base.User.Password()
		said := fmt.Sprintf("Get %q: lookup %s: %s; %s; %s %s %s ? %s # %s %s; %v; Basic %s", address, base.Host, strings.ToLower(base.Host),
			strings.Join(keys, " | "), base.Path, base.EscapedPath(), base.RequestURI(), base.RawQuery, base.Fragment, base.EscapedFragment(), header,
			base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
		e := must.Get(NewEndpoint(EndpointOptions{Name: "node", URL: address, Header: header}))(t)
		told := e.exchanger.scrubber.scrub(sent{}, errors.New(said)).Error()
		for _, key := range keys {
			for _, written := range []string{key, strings.ToLower(key), url.PathEscape(key), url.QueryEscape(key)} {
				if strings.Contains(told, written) {
					t.Fatalf("seed %d: %s\nis told: %q in\n%s", seed, address, written, told)
				}
			}
		}
		if strings.Contains(told, base64.StdEncoding.EncodeToString([]byte(user+":"+password))) {
			t.Fatalf("seed %d: %s\ntells user and password: %s", seed, address, told)
		}
	}
}
