package crosschain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
)

// ErrUnknownCosts means that a fee or a price could not be read that a taker's costs depend on.
var ErrUnknownCosts = errors.New("the costs of a taker are not known")

// Gas of a taker's transactions on EVM and TRON: unlocks and claims as in the public package legacy-dln-profitability
// 3.2.0; fulfilments as executed (golden/create: 99,000 to 140,000, through the router 210,000, with an external call
// 110,000 more), plus a swap over one or two pools.
const (
	fulfilGas          = 140_000
	fulfilSwapGas      = 250_000
	externalCallGas    = 110_000
	unlockGas          = 120_000
	unlockOrderGas     = 20_000
	claimGas           = 400_000
	claimOrderGas      = 50_000
	avalanche          = chain.ID(43114)
	avalancheUnlockGas = 150_000
)

// Bytes that these transactions publish on a rollup: the package's L1 data gas, counted as 16 per byte.
const (
	fulfilBytes       = 9_000 / 16
	fulfilSwapBytes   = 25_000 / 16
	unlockBytes       = 10_000 / 16
	unlockSolanaBytes = 50_000 / 16
	claimBytes        = 25_000 / 16
)

// roomPercent scales a gas price to leave room for a rise until an order is filled and unlocked.
const roomPercent = 125

// Costs on Solana, lamports: deposits of accounts that stay (128 bytes of overhead at 6,960 each), compute units of a
// transaction, and the program's fee for a message.
const (
	orderStateRent = (128 + 110) * 6_960
	callRent       = (128 + 165) * 6_960
	messageRent    = (128 + 128) * 6_960
	takerUnits     = 250_000
	solanaMessage  = 15_000_000
)

// Expense is one of the costs of an order to its taker.
type Expense struct {
	Name  string // fulfil, unlock, message, claim
	Chain chain.ID
	Coin  chain.Amount // of the chain's coin: this order's part
	USD   *big.Rat
}

// Expenses are a taker's costs of an order.
type Expenses []Expense

// USD returns the sum.
func (e Expenses) USD() *big.Rat {
	sum := new(big.Rat)
	for _, one := range e {
		sum.Add(sum, one.USD)
	}
	return sum
}

// work describes what a taker has to do for an order.
type work struct {
	give, take chain.Chain
	takesCoin  bool
	swaps      bool   // the taker must buy the take token
	calls      bool   // there is an external call
	callGas    uint64 // of it; not on Solana, where others run it
}

// unit is a taker's transaction for a number of orders.
type unit struct {
	name   string
	on     chain.Chain
	gas    uint64
	bytes  int
	rent   uint64 // lamports
	orders uint64
}

// units returns the transactions that an order needs.
func (w work) units() []unit {
	// A taker unlocks as many orders as fit with one message: half as many would cost more.
	orders := uint64(min(order.MostUnlocked(w.give.ID), order.MostUnlocked(w.take.ID)))
	fulfil := unit{name: "fulfil", on: w.take, gas: fulfilGas, bytes: fulfilBytes, rent: orderStateRent, orders: 1}
	if w.swaps {
		fulfil.gas, fulfil.bytes = fulfil.gas+fulfilSwapGas, fulfilSwapBytes
	}
	if w.calls {
		fulfil.gas += externalCallGas + w.callGas
		fulfil.rent += callRent
	}
	if !w.takesCoin {
		fulfil.rent += solana.TokenAccountRent
	}
	unlock := unit{name: "unlock", on: w.take, gas: unlockGas + unlockOrderGas*orders, bytes: unlockBytes, rent: messageRent, orders: orders}
	if w.take.ID == avalanche {
		unlock.gas += avalancheUnlockGas - unlockGas
	}
	if w.give.Family == chain.SVM {
		unlock.bytes = unlockSolanaBytes
	}
	claim := unit{name: "claim", on: w.give, gas: claimGas + claimOrderGas*orders, bytes: claimBytes, rent: messageRent, orders: orders}
	return []unit{fulfil, unlock, claim}
}

// Costs are current for half a block of the faster chain, within these bounds, so that all requests in that time
// compare the same amount.
const (
	shortestCostLife = 500 * time.Millisecond
	longestCostLife  = 5 * time.Second
)

type costKey struct {
	give, take       chain.ID
	takesCoin, swaps bool
}

func (w work) key() costKey { return costKey{w.give.ID, w.take.ID, w.takesCoin, w.swaps} }

// unpriced returns the costs of a taker's work of at most a block ago, without USD, usually without a round trip.
func (e *Estimator) unpriced(ctx context.Context, w work) (Expenses, error) {
	if w.calls {
		return e.readExpenses(ctx, w)
	}
	return e.knownCosts.of(w.key()).Get(ctx, e.reader(w))
}

func (e *Estimator) renewCosts(ctx context.Context, w work) {
	if !w.calls {
		e.knownCosts.of(w.key()).Renew(ctx, e.reader(w))
	}
}

func (e *Estimator) reader(w work) quote.Read[Expenses] {
	return func(ctx context.Context) (Expenses, time.Duration, error) {
		costs, err := e.readExpenses(ctx, w)
		return costs, min(max(min(w.give.BlockTime, w.take.BlockTime)/2, shortestCostLife), longestCostLife), err
	}
}

// readExpenses reads the costs from the chains, in goroutines that have ended when it returns.
func (e *Estimator) readExpenses(ctx context.Context, w work) (Expenses, error) {
	units := w.units()
	made, errs := make(Expenses, len(units)+1), make([]error, len(units)+1)
	var reading sync.WaitGroup
	for i, u := range units {
		made[i] = Expense{Name: u.name, Chain: u.on.ID}
		reading.Go(func() { made[i].Coin, errs[i] = e.cost(ctx, u) })
	}
	last := len(units)
	made[last] = Expense{Name: "message", Chain: w.take.ID}
	reading.Go(func() { // one order's part of the fee of the message that unlocks it
		orders := units[last-1].orders
		if w.take.Family == chain.SVM {
			made[last].Coin = chain.NewAmount(solanaMessage / orders)
			return
		}
		charges, err := e.charges(ctx, pair{w.take.ID, w.give.ID})
		made[last].Coin, errs[last] = charges.Message.MulDiv(1, orders), err
	})
	reading.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownCosts, err)
	}
	return made, nil
}

// expenses returns the current cost of a taker's work, as charged to orders.
func (e *Estimator) expenses(ctx context.Context, w work, usd func() map[token.Key]*big.Rat) (Expenses, error) {
	costs, err := e.unpriced(ctx, w)
	if err != nil {
		return nil, err
	}
	made, prices := slices.Clone(costs), usd()
	for i, cost := range made {
		c, _ := e.Registry.Chain(cost.Chain)
		price := prices[coinOf(c)]
		if price == nil {
			return nil, fmt.Errorf("%w: no price of %s", ErrUnknownCosts, c.Coin.Symbol)
		}
		made[i].Coin = cost.Coin.MulDiv(uint64(e.CostPercent), 100)
		made[i].USD = new(big.Rat).Mul(made[i].Coin.Units(c.Coin.Decimals), price)
	}
	return made, nil
}

// cost returns one order's part of a transaction's cost, in the chain's coin.
func (e *Estimator) cost(ctx context.Context, u unit) (chain.Amount, error) {
	fees := e.Chains[u.on.ID].Fees
	if fees == nil {
		return chain.Amount{}, fmt.Errorf("the fees of chain %d are not read", u.on.ID)
	}
	tx := quote.Filled(u.bytes)
	if u.on.Family == chain.SVM {
		tx.Data = nil // one signature
	}
	var price quote.GasPrice
	var priceErr error
	var reading sync.WaitGroup
	reading.Go(func() { price, priceErr = fees.GasPrice(ctx, quote.Normal) })
	beside, err := fees.DataFee(ctx, tx, u.gas)
	reading.Wait()
	if err = cmp.Or(priceErr, err); err != nil {
		return chain.Amount{}, err
	}
	cost := price.Expected.MulDiv(u.gas, 1)
	if u.on.Family == chain.SVM {
		cost = solana.PriorityFee(takerUnits, price.Bid)
	}
	cost = cost.Add(beside).MulDiv(roomPercent, 100)
	if u.on.Family == chain.SVM {
		cost = cost.Add(chain.NewAmount(u.rent))
	}
	return cost.MulDiv(1, u.orders), nil
}

func coinOf(c chain.Chain) token.Key {
	return token.Key{Chain: c.ID, Address: chain.NativeCoin(c.Family)}
}
