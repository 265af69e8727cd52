package orders

import (
	"context"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// LockedRoute answers with a taker's locked assets. The documented path, listed first, is misspelt.
func (s *Orders) LockedRoute() proxy.Route[chain.Address] {
	return proxy.Route[chain.Address]{
		Paths:   []string{"/api/Satistics/:takerAddress/lockedAssets", "/api/Statistics/:takerAddress/lockedAssets"},
		Parse:   ParseTakerAddress,
		Key:     takerKey,
		Load:    s.loadLocked,
		Indexed: true,
	}
}

func ParseTakerAddress(c *gin.Context) (chain.Address, error) {
	address, _, err := chain.ParseAnyAddress(c.Param("takerAddress"))
	if err != nil {
		return chain.Address{}, proxy.MalformedAddress.From(err)
	}
	if chain.ChecksumFails(c.Param("takerAddress")) {
		return chain.Address{}, proxy.MalformedAddress.Because("takerAddress has a wrong EIP-55 checksum; check its digits")
	}
	return address, nil
}

func takerKey(path string, taker chain.Address) cache.Key {
	var space [32]byte
	return cache.KeyOf(path, taker.AppendTo(space[:0]))
}

func (s *Orders) loadLocked(ctx context.Context, taker chain.Address) ([]proxy.Body, cache.Life, error) {
	locked, basis, err := s.Options().Orders.Locked(ctx, taker)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	var keys []token.Key
	for _, c := range locked {
		for _, t := range c.Tokens {
			keys = append(keys, token.Key{Chain: c.Chain, Address: t.Token})
		}
	}
	worth, unread, err := s.worth(ctx, keys)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	b := proxy.Body{Text: string(s.encoder.AppendLocked(nil, locked, worth)), Value: Locked{locked, worth}}
	b.Basis = resting(basis, worth.Tokens, keys...)
	return b.Without(unread, proxy.MovingLife)
}

// Locked are the locked assets of a taker, for pages.
type Locked struct {
	Chains []order.LockedChain
	wire.Worth
}

// worth looks up token metadata like tokensInTime and, concurrently, prices.
func (s *Orders) worth(ctx context.Context, keys []token.Key) (worth wire.Worth, unread []chain.ID, err error) {
	if len(keys) == 0 {
		return worth, nil, nil
	}
	priced := make(chan struct{})
	go func() {
		defer close(priced)
		worth.USD = s.Options().Tokens.USD(ctx, keys...)
	}()
	worth.Tokens, unread, err = s.tokensInTime(ctx, keys)
	<-priced
	return worth, unread, err
}
