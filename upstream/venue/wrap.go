package venue

// Wrapping and unwrapping the coin, by the wrapped coin's own contract: WETH9, and WTRX on TRON.

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
)

const (
	wrapName  = "wrap"
	wrapImage = "https://icons.llamao.fi/icons/protocols/weth"
)

// Calls of WETH9, which return as much to their caller as they take.
var (
	wrapDeposit  = newMethod(function{signature: "deposit()"})
	wrapWithdraw = newMethod(function{signature: "withdraw(uint256 amount/least)"})
	wrapCalls    = readerOf(wrapDeposit, wrapWithdraw)
)

// Gas of the two calls.
const (
	depositGas  = 28_000
	withdrawGas = 36_000
)

func init() { add(Service{Name: wrapName}, openWrap) }

// wrap swaps one for one. It needs no approval, no price and no minimum, but can only pay the sender.
type wrap struct {
	profile quote.Profile
}

var _ quote.Venue = (*wrap)(nil)

func openWrap(o Options) (quote.Venue, error) {
	w := &wrap{quote.Profile{
		Name: wrapName, ImageURL: wrapImage, Routers: map[chain.ID]chain.Address{}, Wraps: true, Writes: true,
		Read: readWrap,
	}}
	for _, c := range o.Registry.All() {
		if (c.Family == chain.EVM || c.Family == chain.TVM) && !c.WrappedCoin.IsAbsent() {
			w.profile.Routers[c.ID] = c.WrappedCoin
		}
	}
	return w, nil
}

// Profile implements quote.Venue.
func (w *wrap) Profile() quote.Profile { return w.profile }

// Quote implements quote.Venue. The quote does not expire.
func (w *wrap) Quote(_ context.Context, s quote.Swap) (quote.Quote, error) {
	if err := w.profile.Suits(s); err != nil {
		return quote.Quote{}, err
	}
	gas := uint64(depositGas)
	switch {
	case s.Sender != s.Recipient:
		return quote.Quote{}, fmt.Errorf("wrap: %w to another recipient", quote.ErrNoRoute)
	case s.In.Address.IsNative() && s.Out.Address == s.Chain.WrappedCoin:
	case s.In.Address == s.Chain.WrappedCoin && s.Out.Address.IsNative():
		gas = withdrawGas
	default:
		return quote.Quote{}, fmt.Errorf("wrap: %w between other tokens", quote.ErrNoRoute)
	}
	return quote.Quote{Venue: wrapName, AmountOut: s.In.Amount, Gas: gas}, nil
}

// Build implements quote.Venue.
func (w *wrap) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	switch {
	case q.Venue != wrapName:
		return quote.Tx{}, errors.New("wrap: build of another venue's quote")
	case s.Sender != s.Recipient:
		return quote.Tx{}, fmt.Errorf("wrap: %w to another recipient", quote.ErrNoRoute)
	case s.In.Address.IsNative():
		return quote.Tx{To: s.Chain.WrappedCoin, Data: wrapDeposit.Call(), Value: s.In.Amount}, nil
	}
	return quote.Tx{To: s.Chain.WrappedCoin, Data: wrapWithdraw.Call(s.In.Amount)}, nil
}

// readWrap is wrap's Profile.Read. The token is the contract that is called.
func readWrap(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	call, err := wrapCalls.read(c, tx)
	if bytes.HasPrefix(tx.Data, wrapDeposit.Selector[:]) {
		call.TokenOut = tx.To
	} else {
		call.TokenIn = tx.To
	}
	return call, err
}
