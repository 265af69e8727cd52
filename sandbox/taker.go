package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/sandbox/solana"
)

// The public taker's rule (@debridge-finance/legacy-dln-profitability 3.2.0): it fulfils an order if its own take
// amount is at least the order's. It computes that amount from what the order gives, less a margin in basis points and
// less its expenses, in the same token on the take chain, swapped there into the take token.
const (
	takerMarginBps = 4
	wholeBps       = 10_000

	// Gas of a message that sends unlocks and of its claim, plus gas for each order in it.
	unlockGas, unlockGasPerOrder = 120_000, 20_000
	claimGas, claimGasPerOrder   = 400_000, 50_000
	// largestBatch is the most orders that the taker puts in one message: as many as fit on all chains.
	largestBatch = maxOrdersInBatchToSolana
)

// errLeft means that the taker does not fulfil an order; the text that wraps it gives the reason.
var errLeft = errors.New("left")

// taken is what the taker did in one pass over the orders.
type taken struct {
	Fulfilled []common.Hash          `json:"fulfilled"`
	Left      map[common.Hash]string `json:"left"` // open orders, with the reason
	Claimed   []common.Hash          `json:"claimed"`
}

// take runs the taker once over the orders created after the history. It fulfils those that pay by its rule and leaves
// those reserved for another taker. As soon as it has batch of them with the same chains and give token, it sends their
// unlocks in one message and claims them.
func (w *World) take(ctx context.Context, batch int) (done taken, err error) {
	w.taking.Lock()
	defer w.taking.Unlock()
	done.Left = map[common.Hash]string{}
	orders, err := w.Orders(ctx)
	if err != nil {
		return done, err
	}
	waiting := map[string][]Order{}
	for _, o := range orders {
		if o.Title != "" { // from the history
			continue
		}
		switch err := w.takeUp(ctx, o, batch); {
		case errors.Is(err, errLeft):
			done.Left[o.ID] = err.Error()
			continue
		case errors.Is(err, errTaken):
		case err != nil:
			return done, err
		default:
			done.Fulfilled = append(done.Fulfilled, o.ID)
		}
		status, holder, err := w.taken(ctx, o)
		if err != nil {
			return done, err
		}
		if takeStates[status] == order.StateFulfilled && bytes.Equal(holder, w.taker().on(o.TakeChain())) {
			lane := fmt.Sprintf("%s %s %x", o.TakeChain(), o.GiveChain(), o.terms.GiveToken)
			waiting[lane] = append(waiting[lane], o)
		}
	}
	for _, lane := range waiting {
		for len(lane) >= batch {
			if err := w.unlock(ctx, lane[:batch]); err != nil {
				return done, err
			}
			for _, o := range lane[:batch] {
				done.Claimed = append(done.Claimed, o.ID)
			}
			lane = lane[batch:]
		}
	}
	return done, nil
}

// taker returns the account that fulfils new orders.
func (w *World) taker() Account { return w.cast.takers[0] }

// unlock sends one message about several orders and claims it.
func (w *World) unlock(ctx context.Context, orders []Order) error {
	beneficiary := w.taker().on(orders[0].GiveChain())
	if err := w.sendUnlock(ctx, w.now(), w.taker(), beneficiary, orders...); err != nil {
		return err
	}
	return w.claim(ctx, w.now(), orders[0])
}

// errTaken means that an order is no longer open.
var errTaken = errors.New("the order is not open")

// takeUp fulfils an order if it pays; otherwise errLeft carries the reason.
func (w *World) takeUp(ctx context.Context, o Order, batch int) error {
	give, take, err := w.statuses(ctx, o)
	switch {
	case err != nil:
		return err
	case giveStates[give] != order.StateCreated || takeStates[take] != order.None:
		return errTaken
	case len(o.terms.AllowedTaker) > 0 && !bytes.Equal(o.terms.AllowedTaker, w.taker().on(o.TakeChain())):
		return fmt.Errorf("%w: another taker is allowed", errLeft)
	}
	own, err := w.takeAmount(ctx, o, batch)
	if err != nil {
		return err
	}
	if own.Cmp(o.terms.TakeAmount) < 0 {
		return fmt.Errorf("%w: it takes %s, the taker would give %s", errLeft, o.terms.TakeAmount, own)
	}
	if err := w.fulfil(ctx, w.now(), o, w.taker(), fulfilment{}); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

// takeAmount returns the most that the taker would deliver for an order, in the take token.
func (w *World) takeAmount(ctx context.Context, o Order, batch int) (*big.Int, error) {
	given, err := w.tokenOn(o.GiveChain(), o.terms.GiveToken)
	if err != nil {
		return nil, err
	}
	taken, err := w.tokenOn(o.TakeChain(), o.terms.TakeToken)
	if err != nil {
		return nil, err
	}
	reserve, err := w.reserve(given, o.TakeChain())
	if err != nil {
		return nil, err
	}
	expenses, err := w.expenses(ctx, o, int64(batch))
	if err != nil {
		return nil, err
	}
	margin := new(big.Int).Mul(o.terms.GiveAmount, big.NewInt(takerMarginBps+o.incentiveBps()))
	left := new(big.Int).Sub(o.terms.GiveAmount, margin.Quo(margin, big.NewInt(wholeBps)))
	worth := given.value(left)
	amount := reserve.worth(worth.Sub(worth, expenses))
	if amount.Sign() <= 0 {
		return nil, fmt.Errorf("%w: it does not pay the expenses", errLeft)
	}
	return w.swapped(ctx, reserve, taken, amount)
}

// incentiveBps returns what the maker's software adds to the taker's margin.
func (o Order) incentiveBps() int64 {
	const at, version = 3, 1
	if len(o.metadata) < at+2 || o.metadata[0] != version {
		return 0
	}
	return int64(binary.LittleEndian.Uint16(o.metadata[at:]))
}

// tokenOn returns a chain's token by its address in orders.
func (w *World) tokenOn(id chain.ID, at []byte) (Token, error) {
	p, err := w.place(id)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %w", errLeft, err)
	}
	for _, t := range p.withCoin() {
		if bytes.Equal(t.raw(), at) && t.USD > 0 {
			return t, nil
		}
	}
	return Token{}, fmt.Errorf("%w: the taker has no price of %x on chain %s", errLeft, at, id)
}

// reserve returns the token of the take chain that the taker holds against what an order gives: the same token, else
// USDC. It accepts only ether, USDC and USDT.
func (w *World) reserve(given Token, take chain.ID) (Token, error) {
	if !slices.Contains([]string{"ETH", usdc, usdt}, given.Symbol) {
		return Token{}, fmt.Errorf("%w: the taker does not accept %s", errLeft, given.Symbol)
	}
	p, err := w.place(take)
	if err != nil {
		return Token{}, err
	}
	for _, t := range p.withCoin() {
		if t.Symbol == given.Symbol {
			return t, nil
		}
	}
	return p.token(usdc), nil
}

// swapped returns what the pools of a chain pay for an amount of the reserve.
func (w *World) swapped(ctx context.Context, in, out Token, amount *big.Int) (given *big.Int, err error) {
	if in.Address == out.Address && in.Mint == out.Mint {
		return amount, nil
	}
	if c, here := w.Chain(out.Chain); here {
		given, err = w.market().Best(ctx, c.Facts.Native, in.Address, out.Address, amount)
	} else {
		pooled := givenOn(out)
		if out.isCoin() {
			pooled = solana.Tokens[0]
		}
		var found solana.Route
		found, err = w.solana.ledger.Best(givenOn(in), pooled, amount.Uint64(), func(solana.Pool) bool { return true })
		if err == nil {
			given = new(big.Int).SetUint64(found.AmountOut())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s for %s: %w", errLeft, in.Symbol, out.Symbol, err)
	}
	return given, nil
}

// expenses returns in USD what the taker pays to fulfil an order, and for its share of a message about batch orders.
func (w *World) expenses(ctx context.Context, o Order, batch int64) (*big.Rat, error) {
	sum := new(big.Rat)
	add := func(coin Token, amount *big.Int, shared int64) {
		sum.Add(sum, new(big.Rat).Quo(coin.value(amount), new(big.Rat).SetInt64(shared)))
	}
	if c, here := w.Chain(o.TakeChain()); here {
		sent, err := c.fulfilling(ctx, o, w.taker(), fulfilment{})
		if err != nil {
			return nil, err
		}
		gas, err := c.node.client.EstimateGas(ctx, ethereum.CallMsg{
			From: sent.from.Address, To: &sent.to, Value: sent.value, Data: sent.data,
		})
		if err != nil {
			return nil, fmt.Errorf("%w: it cannot be fulfilled: %w", errLeft, err)
		}
		add(c.coin(), c.fee(int64(gas)), 1)
		add(c.coin(), c.fee(unlockGas+unlockGasPerOrder*batch), batch)
	} else {
		fulfilling, unlocking := w.solana.ledger.Expenses(o.terms)
		add(w.solana.coin(), new(big.Int).SetUint64(fulfilling), 1)
		add(w.solana.coin(), new(big.Int).SetUint64(unlocking), batch)
	}
	if c, here := w.Chain(o.GiveChain()); here {
		add(c.coin(), c.fee(claimGas+claimGasPerOrder*batch), batch)
	} else {
		add(w.solana.coin(), new(big.Int).SetUint64(w.solana.ledger.ClaimExpenses()+claimReward), batch)
	}
	return sum, nil
}

// fee returns the cost of an amount of gas at the head.
func (c *Chain) fee(gas int64) *big.Int {
	price := new(big.Int).Add(c.node.eth.BlockChain().CurrentBlock().BaseFee, big.NewInt(c.spec.baseFee/10))
	return price.Mul(price, big.NewInt(gas))
}

// takeAll runs the taker whenever a chain has a new block, until ctx ends.
func (w *World) takeAll(ctx context.Context, batch int) {
	news := make(chan struct{}, 1)
	stir := func() {
		select {
		case news <- struct{}{}:
		default: // a pass is due anyway
		}
	}
	w.solana.ledger.Announce(stir)
	for _, c := range w.chains {
		heads := make(chan core.ChainHeadEvent, 16)
		subscription := c.node.eth.BlockChain().SubscribeChainHeadEvent(heads)
		defer subscription.Unsubscribe()
		w.running.Go(func() {
			for {
				select {
				case <-heads:
					stir()
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for {
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
		if _, err := w.take(ctx, batch); err != nil && ctx.Err() == nil {
			w.log.ErrorContext(ctx, "sandbox taker", "error", err)
		}
	}
}
