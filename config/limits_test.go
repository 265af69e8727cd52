package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	c, err := Parse([]byte(`
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:8545"}]}]
limits:
  loads: 10
  address: {units: 100, window: 10s}
  keys: [{name: wallet, key: 0123456789abcdef, quota: {units: 1000, window: 1m}}]
  proxies: [10.0.0.0/8, 192.0.2.1, "2001:db8::/32"]
`))
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Limits; l.Loads != 10 || l.Address != (Quota{100, 10 * time.Second}) || l.Keys[0].Quota.Units != 1000 || l.Proxies[1].String() != "192.0.2.1/32" {
		t.Errorf("limits are read as %+v", l)
	}
}

func TestMistakesInLimits(t *testing.T) {
	_, err := Parse([]byte(`
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:8545"}]}]
limits:
  loads: -1
  address: {units: 5, window: 10ms}
  keys:
    - {name: "a b", key: 0123456789abcdef, quota: {units: 1000, window: 1m}}
    - {name: address, key: short, quota: {units: 1000, window: 1m}}
    - {name: other, key: 0123456789abcdef}
  proxies: [10.0.0.0/99, nonsense]
`))
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("Parse = %v, want mistakes", err)
	}
	var paths []string
	for _, m := range mistakes {
		paths = append(paths, strings.TrimPrefix(m.Path, "limits."))
	}
	const want = "loads address.units address.window keys[0].name keys[1].key keys[1].name " +
		"keys[2].key keys[2].quota proxies[0] proxies[1]"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("mistakes at %s,\nwant %s", got, want)
	}
	if strings.Contains(err.Error(), "0123456789abcdef") {
		t.Error("the report tells a key")
	}
}
