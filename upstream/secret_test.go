package upstream

import (
	"net/url"
	"testing"
)

func TestErrorsTellHostAndPortWithoutKeys(t *testing.T) {
	for address, test := range map[string]struct{ said, want string }{
		"https://k3y-of-somebody.eth.quiknode.example/": {
			"dial tcp: lookup k3y-of-somebody.eth.quiknode.example on 10.0.0.1:53: no such host", "dial tcp: lookup ….quiknode.example on 10.0.0.1:53: no such host",
		},
		"http://127.0.0.1:8545":           {"dial tcp 127.0.0.1:8545: connect: connection refused", "dial tcp 127.0.0.1:8545: connect: connection refused"},
		"http://localhost:8545":           {"dial tcp: localhost:8545 refused", "dial tcp: localhost:8545 refused"},
		"http://example.org:8545":         {"dial tcp: lookup example.org: no such host", "dial tcp: lookup example.org: no such host"},
		"http://k3y-of-somebody:8545":     {"dial tcp: lookup k3y-of-somebody", "dial tcp: lookup node"},
		"http://example.org/v3/SECRETKEY": {"asked /v3/SECRETKEY of example.org", "asked /v3/node of example.org"},
	} {
		base, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := newScrubber("node", base, nil).Replace(test.said); got != test.want {
			t.Errorf("%s: %q, want %q", address, got, test.want)
		}
	}
}
