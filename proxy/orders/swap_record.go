package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/token"
)

type swapTx struct {
	Chain chain.ID
	Tx    chain.TxHash
}

// swapOf asks for one of the swaps that a transaction made.
type swapOf struct {
	swapTx
	Index int // in log order, from 0
}

// SwapTxRoute answers with a swap that a transaction made within its chain: the first, or the one at an index.
func (s *Orders) SwapTxRoute() proxy.Route[swapOf] {
	return proxy.Route[swapOf]{
		Paths: []string{"/api/SameChainSwap/:id/tx/:hash"},
		Parse: func(c *gin.Context) (swapOf, error) {
			return ParseSwapOf(s.chains, c.Param("id"), c.Param("hash"), c.Request.URL.RawQuery)
		},
		Key: func(path string, q swapOf) cache.Key {
			if path == proxy.Subject { // a purge by transaction does not know the chain
				return txKey(path, q.Tx)
			}
			return cache.KeyOf(path, []byte(q.Chain.String()), q.Tx.Bytes())
		},
		Load: s.loadSwaps,
		Choose: func(q swapOf, swaps []proxy.Body) (*proxy.Body, error) {
			return choose(q.Index, swaps, proxy.SwapOutOfRange, "swaps that the transaction made")
		},
		Indexed: true,
		Learn:   func(q swapOf, bodies []proxy.Body) { s.swapTxs.learn(q.swapTx, bodies) },
		Sought:  func(q swapOf) chain.TxHash { return q.Tx },
	}
}

// SwapIDRoute answers with the record of a swap by its id, the same as by its transaction.
func (s *Orders) SwapIDRoute() proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths: []string{"/api/SameChainSwap/:id"},
		Parse: func(c *gin.Context) (order.ID, error) {
			id, err := chain.ParseHash(c.Param("id"))
			if err != nil {
				return order.ID{}, proxy.MalformedSwapID.From(err)
			}
			return id, nil
		},
		Key:     orderKey,
		Load:    s.loadSwapRecord,
		Indexed: true,
	}
}

// ParseSwapOf parses a chain's id, a transaction hash and a query. Its error lists everything wrong with them.
func ParseSwapOf(chains chain.Registry, id, hash, rawQuery string) (q swapOf, err error) {
	var wrong []string
	q.Chain, err = chain.ParseID(id)
	if _, known := chains.Chain(q.Chain); err != nil || !known {
		wrong = append(wrong, "chainId must be one of the following values: "+proxy.IDsOf(chains))
	}
	if q.Tx, err = ParseTxHash(hash, proxy.Tracking); err != nil {
		wrong = append(wrong, proxy.MalformedHash.Text)
	}
	if q.Index, err = ParseIndex(rawQuery); err != nil {
		wrong = append(wrong, "index must be one whole number, 0 for the transaction's first swap")
	}
	if len(wrong) > 0 {
		return swapOf{}, proxy.InvalidParameters.Because(strings.Join(wrong, "; "))
	}
	return q, nil
}

func (s *Orders) loadSwaps(ctx context.Context, of swapOf) ([]proxy.Body, cache.Life, error) {
	swaps, searched, err := s.Options().Swaps.FindSwaps(ctx, of.Chain, of.Tx)
	if err != nil {
		return nil, proxy.NoLife, noSwap(err, of.Chain, searched)
	}
	for _, found := range swaps {
		s.swapTxs.remember(of.swapTx, found.ID)
	}
	return s.encodeSwaps(ctx, swaps)
}

// noSwap returns why a transaction has no swap. Clients of the hosted service look for the first three words.
func noSwap(err error, id chain.ID, searched order.Basis) error {
	isFollowed := slices.ContainsFunc(searched.Chains, func(c order.ChainBasis) bool { return c.Followed })
	switch {
	case errors.Is(err, order.ErrNoSwap):
		return proxy.Searched(proxy.UnknownSwap.Because("swap not found: the transaction made no swap within its chain"), searched)
	case !errors.Is(err, order.ErrNotFound):
		return err
	case !isFollowed:
		return proxy.UnknownSwap.Because(fmt.Sprintf("swap not found: chain %d is not followed by this gateway", id))
	case errors.Is(err, query.ErrUnasked):
		return proxy.Searched(proxy.UnknownSwap.Because(fmt.Sprintf(
			"swap not found: no swap of this transaction is indexed, of all on chain %d; retry if it was sent just now", id)), searched)
	}
	return proxy.Searched(proxy.UnknownSwap.Because(fmt.Sprintf(
		"swap not found: chain %d does not know the transaction; retry if it was sent just now", id)), searched)
}

func (s *Orders) loadSwapRecord(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
	found, err := s.swapByID(ctx, id)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoSwap) {
		return nil, proxy.NoLife, proxy.Searched(proxy.UnknownSwap.Because(
			"swap not found: no indexed swap has this id; swaps from before the index began are found by chain and transaction",
		), found.Basis)
	}
	if err != nil {
		return nil, proxy.NoLife, err
	}
	return s.encodeSwaps(ctx, []query.FoundSwap{found})
}

// swapByID returns a swap that the index has, or whose transaction was looked up lately.
func (s *Orders) swapByID(ctx context.Context, id order.ID) (query.FoundSwap, error) {
	found, err := s.Options().Swaps.SwapByID(ctx, id)
	of, remembered := s.swapTxs.Get(id)
	if !remembered || !isUnindexed(err) {
		return found, err
	}
	swaps, searched, err := s.Options().Swaps.FindSwaps(ctx, of.Chain, of.Tx)
	if at := slices.IndexFunc(swaps, func(each query.FoundSwap) bool { return each.ID == id }); at >= 0 {
		return swaps[at], nil
	}
	return query.FoundSwap{Basis: searched}, cmp.Or(err, order.ErrNotFound)
}

// encodeSwaps returns the records of swaps, and the life that suits all of them. Nothing follows a swap, so one that no
// reorg can undo is final.
func (s *Orders) encodeSwaps(ctx context.Context, swaps []query.FoundSwap) ([]proxy.Body, cache.Life, error) {
	var keys []token.Key
	for _, found := range swaps {
		keys = append(keys, tokensOfSwap(found.Swap)...)
	}
	tokens, err := s.Tokens(ctx, keys)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	life, bodies := proxy.SettledLife, make([]proxy.Body, len(swaps))
	for i, found := range swaps {
		record := recordOfSwap(found.Swap, tokens)
		bodies[i] = proxy.Body{
			Text: string(s.encoder.AppendSwapRecord(nil, record)), Orders: []order.ID{found.ID}, Final: found.Basis.IsFinal(),
			Basis: resting(found.Basis, tokens, tokensOfSwap(found.Swap)...), Link: seriesLink(i, len(swaps)), Value: record,
		}
		if !bodies[i].Basis.IsFinal() {
			life = proxy.MovingLife
		}
	}
	return bodies, life, nil
}

func tokensOfSwap(made order.Swap) []token.Key {
	return []token.Key{{Chain: made.At.Chain, Address: made.Fact.TokenIn}, {Chain: made.At.Chain, Address: made.Fact.TokenOut}}
}

func recordOfSwap(made order.Swap, tokens map[token.Key]token.Token) wire.SwapRecord {
	of := tokensOfSwap(made)
	return wire.SwapRecord{Swap: made, In: tokens[of[0]], Out: tokens[of[1]]}
}
