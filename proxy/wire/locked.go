package wire

import (
	"math/big"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

// Worth holds tokens' metadata and the USD price of one whole token.
type Worth struct {
	Tokens map[token.Key]token.Token
	USD    map[token.Key]*big.Rat // values are null for tokens without an entry
}

// AppendLocked appends the locked assets, an empty list if nothing is locked. amount and dstChainAmount are USD values,
// null without a price; tokenAmount and dstChainTokenAmount are in whole tokens (docs/decisions/0004-readings.md,
// 0041-null-values.md).
func (e Encoder) AppendLocked(dst []byte, locked []order.LockedChain, worth Worth) []byte {
	w := &writer{json: dst, chains: e.Chains}
	objects(w, locked, func(c order.LockedChain) {
		w.name("chainId").chainID(c.Chain)
		objects(w.name("lockedTokens"), c.Tokens, func(t order.LockedToken) {
			key := token.Key{Chain: c.Chain, Address: t.Token}
			metadata, price := worth.Tokens[key], worth.USD[key]
			w.name("tokenAddress").address(t.Token, w.chains.Family(key.Chain))
			w.name("tokenMetadata").tokenMetadata(metadata)
			w.name("amount").value(t.Amount, metadata, price)
			w.name("tokenAmount").units(t.Amount, metadata)
			objects(w.name("dstChainsLockedAmounts"), t.Targets, func(target order.LockedTarget) {
				w.name("targetChainId").chainID(target.Chain)
				w.name("dstChainAmount").value(target.Amount, metadata, price)
				w.name("dstChainTokenAmount").units(target.Amount, metadata)
				list(w.name("ordersToUnlock"), target.Orders, w.hash)
			})
		})
	})
	return w.json
}

// units writes an amount in whole tokens, with every digit; null of a token that could not be read.
func (w *writer) units(a chain.Amount, t token.Token) {
	w.unless(t == (token.Token{}), func() { w.rational(a.Units(t.Decimals), int(t.Decimals)) })
}

// value writes an amount in USD with at most six decimals, null without a price or the token's metadata.
func (w *writer) value(a chain.Amount, t token.Token, price *big.Rat) {
	const places = 6
	w.unless(price == nil || t == (token.Token{}), func() { w.rational(new(big.Rat).Mul(a.Units(t.Decimals), price), places) })
}

// rational writes a number with at most places decimals.
func (w *writer) rational(n *big.Rat, places int) {
	text := n.FloatString(places)
	if places > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	w.json = append(w.json, text...)
}
