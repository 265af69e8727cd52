package config_test

import (
	"testing"

	"crossgate/config"
)

func TestEndpointsOfEVMChainsAloneAnnounceHeads(t *testing.T) {
	c, err := config.Parse([]byte(`chains: [{id: 1, endpoints: [{url: "https://example.com", websocket: "wss://example.com/key"}]}]`))
	if err != nil || c.Chains[0].Endpoints[0].WebSocket.Reveal() != "wss://example.com/key" {
		t.Errorf("Parse = %v, want the address of the WebSocket", err)
	}
	_, err = config.Parse([]byte(`
chains:
  - {id: 1, endpoints: [{url: "https://example.com", websocket: "https://example.com"}]}
  - {id: 7565164, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}
venues: [{name: velora, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]
prices: {defillama: {endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}}
tokens: {lists: [{name: a, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]}
passthrough: {hosts: [{name: a, endpoints: [{url: "https://example.com", websocket: "wss://example.com"}]}]}
`))
	const take = ": take it out: heads are announced by WebSocket on EVM chains only"
	want := `6 mistakes
  chains[0].endpoints[0].websocket: line 3: want a URL that begins with wss:// or ws:// and has a host, other characters percent-encoded
  chains[1].endpoints[0].websocket: line 4` + take + `
  venues[0].endpoints[0].websocket: line 5` + take + `
  prices.defillama.endpoints[0].websocket: line 6` + take + `
  tokens.lists[0].endpoints[0].websocket: line 7` + take + `
  passthrough.hosts[0].endpoints[0].websocket: line 8` + take
	if err == nil || err.Error() != want {
		t.Errorf("Parse = %v\nwant %s", err, want)
	}
}
