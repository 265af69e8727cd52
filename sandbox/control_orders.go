package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// orderCall identifies one order.
type orderCall struct {
	OrderID common.Hash `json:"orderId"`
}

func (w *World) controlCreate(ctx context.Context, b struct {
	ChainID      chain.ID `json:"chainId"`
	TakeChainID  chain.ID `json:"takeChainId"`
	GiveToken    string   `json:"giveToken"`
	GiveAmount   string   `json:"giveAmount"`
	TakeToken    string   `json:"takeToken"`
	TakeAmount   string   `json:"takeAmount"`
	AllowedTaker string   `json:"allowedTaker"`
	ReferralCode uint32   `json:"referralCode"`
},
) (any, error) {
	giveToken, giveAmount, err := w.wanted(b.ChainID, b.GiveToken, b.GiveAmount)
	if err != nil {
		return nil, err
	}
	takeToken, takeAmount, err := w.wanted(b.TakeChainID, b.TakeToken, b.TakeAmount)
	if err != nil {
		return nil, err
	}
	now := w.now()
	p := newProposal(w.cast.makers[0], w.salt(now), giveToken, giveAmount, takeToken, takeAmount)
	p.referral = b.ReferralCode
	if b.AllowedTaker != "" {
		allowed, _, err := chain.ParseAnyAddress(b.AllowedTaker)
		if err != nil {
			return nil, fmt.Errorf("%w: allowedTaker: %w", errBadCall, err)
		}
		p.allowedTaker = allowed.Bytes()
	}
	orders, err := w.create(ctx, now, p)
	if err != nil {
		return nil, err
	}
	return w.lookAt(ctx, orders[0])
}

// salt returns the time in milliseconds, or one more than the last salt: two equal orders must differ in it.
func (w *World) salt(now time.Time) uint64 {
	for {
		last := w.lastSalt.Load()
		next := max(uint64(now.UnixMilli()), last+1)
		if w.lastSalt.CompareAndSwap(last, next) {
			return next
		}
	}
}

func (w *World) controlFulfil(ctx context.Context, b struct {
	orderCall
	Taker string `json:"taker"`
},
) (any, error) {
	taker := w.cast.takers[0]
	if b.Taker != "" {
		at, _, err := chain.ParseAnyAddress(b.Taker)
		if err != nil {
			return nil, fmt.Errorf("%w: taker: %w", errBadCall, err)
		}
		named, known := w.account(at.Bytes())
		if !known {
			return nil, fmt.Errorf("%w: %s is not an account of the sandbox", errBadCall, b.Taker)
		}
		taker = named
	}
	return w.moved(ctx, b.OrderID, func(o Order) error { return w.fulfil(ctx, w.now(), o, taker, fulfilment{}) })
}

func (w *World) controlUnlock(ctx context.Context, b struct {
	orderCall
	OrderIDs []common.Hash `json:"orderIds"`
},
) (any, error) {
	ids := b.OrderIDs
	if len(ids) == 0 {
		ids = []common.Hash{b.OrderID}
	}
	var orders []Order
	for _, id := range ids {
		o, err := w.Order(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(orders) > 0 && o.TakeChain() != orders[0].TakeChain() {
			return nil, fmt.Errorf("%w: the orders have different take chains", errBadCall)
		}
		orders = append(orders, o)
	}
	_, at, err := w.taken(ctx, orders[0])
	if err != nil {
		return nil, err
	}
	taker, known := w.account(at)
	if !known {
		return nil, fmt.Errorf("order %s has not been fulfilled by an account of the sandbox", ids[0])
	}
	if err := w.sendUnlock(ctx, w.now(), taker, taker.on(orders[0].GiveChain()), orders...); err != nil {
		return nil, err
	}
	seen, err := w.lookAtAll(ctx, orders)
	return object{"orders": seen}, err
}

// controlClaim claims the message about an order, which has either an unlock or a cancel.
func (w *World) controlClaim(ctx context.Context, b orderCall) (any, error) {
	return w.moved(ctx, b.OrderID, func(o Order) error {
		return w.claim(ctx, w.now(), o)
	})
}

func (w *World) controlCancel(ctx context.Context, b orderCall) (any, error) {
	return w.moved(ctx, b.OrderID, func(o Order) error {
		authority, known := w.account(o.terms.Authority)
		if !known {
			return fmt.Errorf("the authority of order %s is not an account of the sandbox", o.ID)
		}
		beneficiary := authority.on(o.GiveChain())
		if allowed := o.terms.CancelBeneficiary; len(allowed) > 0 {
			beneficiary = allowed
		}
		return w.sendCancel(ctx, w.now(), o, authority, beneficiary)
	})
}

func (w *World) controlTake(ctx context.Context, b struct {
	Batch int `json:"batch"`
},
) (any, error) {
	if b.Batch < 1 || b.Batch > largestBatch {
		return nil, fmt.Errorf("%w: batch %d, of at most %d", errBadCall, b.Batch, largestBatch)
	}
	return w.take(ctx, b.Batch)
}

// moved finds an order, applies move to it and describes its new state.
func (w *World) moved(ctx context.Context, id common.Hash, move func(Order) error) (any, error) {
	o, err := w.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := move(o); err != nil {
		return nil, err
	}
	return w.lookAt(ctx, o)
}

// wanted finds a token by symbol or address (empty: the coin) and parses an amount of whole tokens.
func (w *World) wanted(id chain.ID, name, amount string) (Token, *big.Int, error) {
	p, err := w.place(id)
	if err != nil {
		return Token{}, nil, fmt.Errorf("%w: %w", errBadCall, err)
	}
	for _, t := range p.withCoin() {
		if !t.isCalled(name, p.Facts.Family) {
			continue
		}
		whole, ok := new(big.Rat).SetString(amount)
		if !ok || whole.Sign() <= 0 {
			return Token{}, nil, fmt.Errorf("%w: amount %q", errBadCall, amount)
		}
		whole.Mul(whole, new(big.Rat).SetInt(t.units("1")))
		if !whole.IsInt() {
			decimals := max(t.Decimals, 0)
			return Token{}, nil, fmt.Errorf("%w: amount %q has more than %d decimals", errBadCall, amount, decimals)
		}
		return t, whole.Num(), nil
	}
	return Token{}, nil, fmt.Errorf("%w: chain %s has no token %q", errBadCall, id, name)
}

// isCalled reports whether name is the token's symbol or address. The empty name is the coin's.
func (t Token) isCalled(name string, family chain.Family) bool {
	if name == "" {
		return t.isCoin()
	}
	return strings.EqualFold(name, t.Symbol) || strings.EqualFold(name, t.Address.Hex()) || name == t.text(family)
}

// account finds an account of the sandbox by its address on any chain.
func (w *World) account(at []byte) (Account, bool) {
	for _, a := range w.cast.all() {
		if bytes.Equal(at, a.Address.Bytes()) || bytes.Equal(at, a.Wallet.Key[:]) {
			return a, true
		}
	}
	return Account{}, false
}
