package venue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// builder is a venue that builds one transaction.
type builder struct {
	quote.Venue
	tx quote.Tx
}

// Build implements quote.Venue.
func (b builder) Build(context.Context, quote.Swap, quote.Quote) (quote.Tx, error) { return b.tx, nil }

// TestInputGoesToSettlersAlone has calls of the AllowanceHolder name a Settler of the registry, and others.
func TestInputGoesToSettlersAlone(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	today, before, stranger := common.HexToAddress("0x5e7"), common.HexToAddress("0x5e6"), common.HexToAddress("0xbad")
	registry := func(_ context.Context, _ chain.ID, to []chain.Address, _ [][]byte) ([][]byte, error) {
		return [][]byte{common.LeftPadBytes(today.Bytes(), 32), common.LeftPadBytes(before.Bytes(), 32)}[:len(to)], nil
	}
	for _, row := range []struct {
		name             string
		operator, target common.Address
		isBuilt, isRead  bool
	}{
		{"the Settler of today", today, today, true, true},
		{"the one before", before, before, true, true},
		{"a stranger", stranger, stranger, false, true},
		{"a stranger who may take the input", stranger, today, true, false},
		{"nobody", common.Address{}, common.Address{}, false, false},
	} {
		var inner, data []byte
		for selector, f := range zeroExSettler {
			inner = f.encode(t, selector, argument{f.payee, refinedPayee}, argument{f.tokenOut, refinedOut}, argument{f.minOut, refinedMinimum})
		}
		for selector, f := range zeroExHolder {
			data = f.encode(t, selector, argument{position{0}, row.operator}, argument{f.tokenIn, refinedIn},
				argument{f.amountIn, refinedAmount}, argument{zeroExTarget, row.target}, argument{position{4}, inner})
		}
		v := zeroExVenue{Venue: builder{tx: quote.Tx{Data: data}}, settlers: settlers{contracts: registry, now: time.Now}}
		_, err := v.Build(t.Context(), quote.Swap{Chain: ethereum}, quote.Quote{})
		if row.isBuilt != (err == nil) || err != nil && !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: Build = %v", row.name, err)
		}
		if got, err := readZeroExCall(ethereum, quote.Tx{Data: data}); row.isRead != (err == nil) || err == nil && got.MinOut != refined {
			t.Errorf("%s: read %+v, %v", row.name, got, err)
		}
	}
}
