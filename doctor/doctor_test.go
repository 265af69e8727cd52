package doctor

import (
	"io"
	"net"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

func TestHeadsAreComparedWithTheMedian(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		heads []uint64
		wrong []string // of each
	}{
		{[]uint64{100, 103, 99}, []string{"", "", ""}},
		{[]uint64{80, 103, 99}, []string{"19 blocks behind the others", "", ""}},
		{[]uint64{100, 900, 99}, []string{"", "800 blocks ahead of the others", ""}},
		{[]uint64{80, 100}, []string{"20 blocks behind the others", ""}},
		{[]uint64{0, 100}, []string{"", ""}},
		{[]uint64{0}, []string{""}},
	} {
		endpoints := make([]Endpoint, len(test.heads))
		for i, head := range test.heads {
			endpoints[i].Head = head
		}
		compareHeads(endpoints, 10)
		for i, want := range test.wrong {
			if got := strings.Join(endpoints[i].Wrong, "; "); got != want {
				t.Errorf("heads %d: endpoint %d has %q, want %q", test.heads, i, got, want)
			}
		}
	}
}

// TestKeysInClearTextAreNamed covers near and far endpoints, and requires the key itself to be left out.
func TestKeysInClearTextAreNamed(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://rpc.provider.example/canary":  "url begins with http://: calls, and the key if it has one, are sent in clear text",
		"http://93.184.216.34:8545/canary":    "url begins with http://: calls, and the key if it has one, are sent in clear text",
		"https://rpc.provider.example/canary": "",
		"http://127.0.0.1:8545":               "", "http://10.0.0.7": "", "http://[fd00::1]:8545": "", "http://node": "", "http://node.default.svc": "",
	} {
		var d Endpoint
		checkClearText(&d, config.Endpoint{URL: config.NewSecret(address)})
		if got := strings.Join(d.Shortcomings, "; "); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
	var d Endpoint
	checkClearText(&d, config.Endpoint{URL: config.NewSecret("https://a.example"), WebSocket: config.NewSecret("ws://a.example/canary")})
	if len(d.Shortcomings) != 1 || !strings.HasPrefix(d.Shortcomings[0], "websocket begins with ws://") {
		t.Errorf("a websocket without TLS is %q", d.Shortcomings)
	}
}

// TestAFullSharedCacheIsNamed covers a server without room, for which maxmemory-policy is not set to make some.
func TestAFullSharedCacheIsNamed(t *testing.T) {
	t.Parallel()
	server := redistest.Serve(t)
	c := config.Config{}
	c.Cache.Shared = config.NewSecret(server.URL())
	must.Get(askShared(t.Context(), c, nil))(t)
	connection := must.Get(net.Dial("unix", strings.TrimPrefix(server.URL(), "unix://")))(t)
	defer connection.Close()
	must.Get(io.WriteString(connection, "CONFIG SET maxmemory 1\r\n"))(t)
	must.Get(connection.Read(make([]byte, len("+OK\r\n"))))(t)
	if said, err := askShared(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "refused a call: OOM") {
		t.Errorf("a full cache is %q, %v", said, err)
	}
}
