package gateway

import (
	"fmt"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/index"
	"crossgate/upstream/evm"
)

// announcers are the endpoints of an EVM chain that tell of its heads by WebSocket.
func (b *builder) announcers(path string, known chain.Chain, configured []config.Endpoint) []index.Announcer {
	var made []index.Announcer
	for i, each := range configured {
		if each.WebSocket.Reveal() == "" {
			continue
		}
		heads, err := evm.NewHeadSubscription(known, evm.HeadSubscriptionOptions{
			Name: each.Name, URL: each.WebSocket.Reveal(), Header: each.Header(), Timeout: each.Timeout,
		})
		if err != nil {
			b.mistake(fmt.Sprintf("%s.endpoints[%d].websocket", path, i), err)
			continue
		}
		made = append(made, heads.Announce)
	}
	return made
}

// announcers are those of all chains that are read.
func (p *parts) announcers() map[chain.ID][]index.Announcer {
	all := make(map[chain.ID][]index.Announcer)
	for id, each := range p.chains {
		if len(each.heads) > 0 {
			all[id] = each.heads
		}
	}
	return all
}
