package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// swapTx names a transaction that made swaps within its chain.
type swapTx struct {
	chain chain.ID
	tx    chain.TxHash
}

// swapOf asks for one of the swaps that a transaction made.
type swapOf struct {
	swapTx
	index int // among them, in log order from 0
}

// swapTxRoute answers what a transaction swapped within its chain. The documented answer has room for one swap and
// means the first; the others have an index.
func (s *Server) swapTxRoute() route[swapOf] {
	return route[swapOf]{
		paths:   []string{"/api/SameChainSwap/:id/tx/:hash"},
		dialect: tracking,
		limit:   s.options.OrderLimit,
		parse: func(c *gin.Context) (swapOf, error) {
			return parseSwapOf(s.options.Chains, c.Param("id"), c.Param("hash"), c.Request.URL.RawQuery)
		},
		key: func(path string, q swapOf) cache.Key {
			if path == subject { // what is purged by a transaction does not name its chain
				return txKey(path, q.tx)
			}
			return cache.KeyOf(path, []byte(q.chain.String()), q.tx.Bytes())
		},
		load:    func(ctx context.Context, q swapOf) ([]jsonBody, cache.Life, error) { return s.loadSwaps(ctx, q.swapTx) },
		choose:  chooseSwap,
		indexed: true,
		streams: "swap",
		shared:  true,
		learn:   func(q swapOf, bodies []jsonBody) { s.swapTxs.learn(q.swapTx, bodies) },
		sought:  func(q swapOf) chain.TxHash { return q.tx },
	}
}

// swapIDRoute answers what the swap with an id was: the record that its transaction leads to.
func (s *Server) swapIDRoute() route[order.ID] {
	return route[order.ID]{
		paths:   []string{"/api/SameChainSwap/:id"},
		dialect: tracking,
		limit:   s.options.OrderLimit,
		parse: func(c *gin.Context) (order.ID, error) {
			id, err := chain.ParseHash(c.Param("id"))
			if err != nil {
				return order.ID{}, malformedSwapID.from(err)
			}
			return id, nil
		},
		key:     orderKey,
		load:    s.loadSwapRecord,
		indexed: true,
		streams: "swap",
		shared:  true,
	}
}

// parseSwapOf names everything that is wrong with a chain's id, a hash and a query.
func parseSwapOf(chains chain.Registry, id, hash, rawQuery string) (q swapOf, err error) {
	var wrong []string
	q.chain, err = chain.ParseID(id)
	if _, known := chains.Chain(q.chain); err != nil || !known {
		wrong = append(wrong, "chainId must be one of the following values: "+idsOf(chains))
	}
	if q.tx, err = parseTxHash(hash, tracking); err != nil {
		wrong = append(wrong, malformedHash.text)
	}
	if q.index, err = parseIndex(rawQuery); err != nil {
		wrong = append(wrong, "index must be one whole number, 0 for the transaction's first swap")
	}
	if len(wrong) > 0 {
		return swapOf{}, invalidParameters.because(strings.Join(wrong, "; "))
	}
	return q, nil
}

func (s *Server) loadSwaps(ctx context.Context, of swapTx) ([]jsonBody, cache.Life, error) {
	swaps, searched, err := s.options.Orders.FindSwaps(ctx, of.chain, of.tx)
	if err != nil {
		return nil, noLife, noSwap(err, of.chain, searched)
	}
	for _, found := range swaps {
		s.swapTxs.remember(of, found.ID)
	}
	return s.encodeSwaps(ctx, swaps)
}

// noSwap tells a client whose swap was not found in a transaction why. The hosted service's clients look for the first
// three words.
func noSwap(err error, id chain.ID, searched index.Basis) error {
	isFollowed := false
	for _, c := range searched.Chains {
		isFollowed = isFollowed || c.Followed
	}
	switch {
	case errors.Is(err, order.ErrNoSwap):
		return &searchError{unknownSwap.because("swap not found: the transaction made no swap within its chain"), searched}
	case !errors.Is(err, order.ErrNotFound):
		return err
	case !isFollowed:
		return unknownSwap.because(fmt.Sprintf("swap not found: chain %d is not followed by this gateway", id))
	case errors.Is(err, index.ErrUnasked):
		return &searchError{unknownSwap.because(fmt.Sprintf(
			"swap not found: no swap of this transaction is indexed, of all on chain %d; retry if it was sent just now", id)), searched}
	}
	return &searchError{unknownSwap.because(fmt.Sprintf(
		"swap not found: chain %d does not know the transaction; retry if it was sent just now", id)), searched}
}

func (s *Server) loadSwapRecord(ctx context.Context, id order.ID) ([]jsonBody, cache.Life, error) {
	found, err := s.swapByID(ctx, id)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrNoSwap) {
		return nil, noLife, &searchError{unknownSwap.because(
			"swap not found: no indexed swap has this id; swaps from before the index began are found by chain and transaction",
		), found.Basis}
	}
	if err != nil {
		return nil, noLife, err
	}
	return s.encodeSwaps(ctx, []index.FoundSwap{found})
}

// swapByID returns the swap with an id, of which the index knows or whose transaction was asked for lately.
func (s *Server) swapByID(ctx context.Context, id order.ID) (index.FoundSwap, error) {
	found, err := s.options.Orders.SwapByID(ctx, id)
	of, remembered := s.swapTxs.of(id)
	if !remembered || !isUnindexed(err) {
		return found, err
	}
	swaps, searched, err := s.options.Orders.FindSwaps(ctx, of.chain, of.tx)
	for _, each := range swaps {
		if each.ID == id {
			return each, nil
		}
	}
	if err == nil {
		err = order.ErrNotFound
	}
	return index.FoundSwap{Basis: searched}, err
}

// encodeSwaps returns the records of swaps, and for how long all of them can be relied on. Nothing follows a swap, so
// that one which no reorg can take back is final.
func (s *Server) encodeSwaps(ctx context.Context, swaps []index.FoundSwap) ([]jsonBody, cache.Life, error) {
	made := make([]order.Swap, len(swaps))
	for i, found := range swaps {
		made[i] = found.Swap
	}
	tokens, err := s.tokens(ctx, tokensOfSwaps(made))
	if err != nil {
		return nil, noLife, err
	}
	records := recordsOfSwaps(made, tokens)
	life, bodies := settledLife, make([]jsonBody, len(swaps))
	for i, found := range swaps {
		text := s.encoder.AppendSwapRecord(nil, records[i])
		bodies[i] = jsonBody{
			text: string(text), orders: []order.ID{found.ID}, basis: found.Basis, final: found.Basis.IsFinal(),
			link: seriesLink(i, len(swaps)),
		}
		if !bodies[i].final {
			life = movingLife
		}
	}
	return bodies, life, nil
}

// tokensOfSwaps are two for each swap.
func tokensOfSwaps(swaps []order.Swap) (keys []token.Key) {
	for _, made := range swaps {
		keys = append(keys, token.Key{Chain: made.At.Chain, Address: made.Fact.TokenIn}, token.Key{Chain: made.At.Chain, Address: made.Fact.TokenOut})
	}
	return keys
}

func recordsOfSwaps(swaps []order.Swap, tokens map[token.Key]token.Token) []wire.SwapRecord {
	records, keys := make([]wire.SwapRecord, len(swaps)), tokensOfSwaps(swaps)
	for i, made := range swaps {
		records[i] = wire.SwapRecord{Swap: made, In: tokens[keys[2*i]], Out: tokens[keys[2*i+1]]}
	}
	return records
}

func chooseSwap(q swapOf, swaps []jsonBody) (*jsonBody, error) {
	if q.index >= len(swaps) {
		return nil, swapOutOfRange.because(fmt.Sprintf("index must be below %d, the number of swaps that the transaction made", len(swaps)))
	}
	return &swaps[q.index], nil
}
