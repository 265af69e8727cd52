package swap

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

var (
	someToken  = chain.NewAddress(bytes.Repeat([]byte{0x70}, 20))
	otherToken = chain.NewAddress(bytes.Repeat([]byte{0x71}, 20))
	somebody   = chain.NewAddress(bytes.Repeat([]byte{0x01}, 20))
	thief      = chain.NewAddress(bytes.Repeat([]byte{0xba}, 20))
)

// TestMinimumIsWhatTheCallEnforces reads calls that comply with a swap of 1000 for at least 2,000,000,000, and calls
// that do not.
func TestMinimumIsWhatTheCallEnforces(t *testing.T) {
	const wanted = 2_000_000_000
	kept := quote.Call{
		TokenIn: someToken, TokenOut: otherToken, AmountIn: chain.NewAmount(1000), MinOut: chain.NewAmount(wanted), Payee: somebody,
	}
	affiliate := quote.Affiliate{Percent: decimal.RequireFromString("0.3"), Recipient: chain.NewAddress(bytes.Repeat([]byte{0xaf}, 20))}
	second := quote.Affiliate{Percent: decimal.RequireFromString("0.2"), Recipient: chain.NewAddress(bytes.Repeat([]byte{0xb0}, 20))}
	for _, row := range []struct {
		name   string
		change func(*quote.Call)
		want   uint64 // zero: refused
	}{
		{"as wanted", func(*quote.Call) {}, wanted},
		{"more than wanted", func(c *quote.Call) { c.MinOut = chain.NewAmount(wanted + 5) }, wanted + 5},
		{"rounded", func(c *quote.Call) { c.MinOut = chain.NewAmount(wanted - 3) }, wanted - 3},
		{"less than rounding takes", func(c *quote.Call) { c.MinOut = chain.NewAmount(wanted - 4) }, 0},
		{"no minimum", func(c *quote.Call) { c.MinOut = chain.Amount{} }, 0},
		{"another payee", func(c *quote.Call) { c.Payee = thief }, 0},
		{"its caller", func(c *quote.Call) { c.Payee = chain.Address{} }, wanted},
		{"another input", func(c *quote.Call) { c.TokenIn = otherToken }, 0},
		{"another output", func(c *quote.Call) { c.TokenOut = someToken }, 0},
		{"more of the input", func(c *quote.Call) { c.AmountIn = chain.NewAmount(1001) }, 0},
		{"less of the input", func(c *quote.Call) { c.AmountIn = chain.NewAmount(999) }, 0},
		{"the affiliate's share", func(c *quote.Call) { c.Affiliate = affiliate }, wanted},
		{"both shares, in another sequence", func(c *quote.Call) { c.Affiliate, c.Second = second, affiliate }, wanted},
		{"the affiliate's share twice", func(c *quote.Call) { c.Affiliate, c.Second = affiliate, affiliate }, 0},
		{"less, where shares are rounded", func(c *quote.Call) { c.Affiliate, c.AmountIn = affiliate, chain.NewAmount(998) }, wanted},
		{"less than rounding takes of the input", func(c *quote.Call) { c.Affiliate, c.AmountIn = affiliate, chain.NewAmount(997) }, 0},
		{"more, beside a share", func(c *quote.Call) { c.Affiliate, c.AmountIn = affiliate, chain.NewAmount(1001) }, 0},
		{"a stranger's share", func(c *quote.Call) { c.Affiliate, c.Affiliate.Recipient = affiliate, thief }, 0},
		{"a stranger's share beside", func(c *quote.Call) { c.Second, c.Second.Recipient = affiliate, thief }, 0},
		{"a larger share", func(c *quote.Call) { c.Affiliate, c.Affiliate.Percent = affiliate, decimal.RequireFromString("0.31") }, 0},
	} {
		call := kept
		row.change(&call)
		s := quote.Swap{
			Affiliate: affiliate, Second: second,
			In: quote.Side{Address: someToken, Amount: chain.NewAmount(1000)}, Out: quote.Side{Address: otherToken},
			Sender: somebody, Recipient: somebody,
		}
		p := quote.Profile{Read: func(chain.Chain, quote.Tx) (quote.Call, error) { return call, nil }}
		got, err := Guard{}.MinOut(s, p, quote.Tx{}, chain.NewAmount(wanted))
		if row.want == 0 && (!errors.Is(err, quote.ErrRefused) || strings.Contains(err.Error(), "%!")) || row.want > 0 && (err != nil || got != chain.NewAmount(row.want)) {
			t.Errorf("%s: %s, %v; want %d", row.name, got, err, row.want)
		}
	}
}

// TestCallerIsPaidOnlyWhereHeIsTheRecipient: a router that pays its caller pays the sender, which must be set.
func TestCallerIsPaidOnlyWhereHeIsTheRecipient(t *testing.T) {
	p := quote.Profile{Read: func(chain.Chain, quote.Tx) (quote.Call, error) {
		return quote.Call{TokenIn: someToken, TokenOut: otherToken, MinOut: chain.NewAmount(1)}, nil
	}}
	for name, s := range map[string]quote.Swap{
		"another":                    {Sender: thief, Recipient: somebody},
		"nobody":                     {},
		"nobody, who has a sender":   {Sender: somebody},
		"a recipient without sender": {Recipient: somebody},
	} {
		s.In, s.Out = quote.Side{Address: someToken}, quote.Side{Address: otherToken}
		if _, err := (Guard{}).MinOut(s, p, quote.Tx{}, chain.NewAmount(1)); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: MinOut = %v, want ErrRefused", name, err)
		}
	}
}

// TestOneUnitIsNotRoundedToNothing: a minimum may be one unit lower for rounding, but never zero.
func TestOneUnitIsNotRoundedToNothing(t *testing.T) {
	s := quote.Swap{
		In: quote.Side{Address: someToken}, Out: quote.Side{Address: otherToken}, Sender: somebody, Recipient: somebody,
	}
	for enforced, isRefused := range map[uint64]bool{0: true, 1: false} {
		p := quote.Profile{Read: func(chain.Chain, quote.Tx) (quote.Call, error) {
			return quote.Call{TokenIn: someToken, TokenOut: otherToken, MinOut: chain.NewAmount(enforced)}, nil
		}}
		if _, err := (Guard{}).MinOut(s, p, quote.Tx{}, chain.NewAmount(1)); isRefused != errors.Is(err, quote.ErrRefused) {
			t.Errorf("a minimum of %d in place of 1: %v", enforced, err)
		}
	}
}

func TestFunctionsThatAreNotKnownAreRefused(t *testing.T) {
	for name, p := range map[string]quote.Profile{
		"a venue without a list":       {},
		"a function that is not on it": {Read: func(chain.Chain, quote.Tx) (quote.Call, error) { return quote.Call{}, errors.New("unknown") }},
	} {
		if _, err := (Guard{}).MinOut(quote.Swap{}, p, quote.Tx{}, chain.Amount{}); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
	}
}

// TestTransactionsOfAnotherKindAreRefused: to another contract than the venue's, with another value than the input, or
// without a function.
func TestTransactionsOfAnotherKindAreRefused(t *testing.T) {
	some, p := chain.NewAmount(7), quote.Profile{Routers: map[chain.ID]chain.Address{0: someToken}}
	function, coin := make([]byte, 4), chain.NativeCoin(chain.EVM)
	for name, row := range map[string]struct {
		in   chain.Address
		tx   quote.Tx
		pass bool
	}{
		"of a token":                  {otherToken, quote.Tx{To: someToken, Data: function}, true},
		"of the coin":                 {coin, quote.Tx{To: someToken, Data: function, Value: some}, true},
		"of the coin, without it":     {coin, quote.Tx{To: someToken, Data: function}, false},
		"of a token, with the coin":   {otherToken, quote.Tx{To: someToken, Data: function, Value: some}, false},
		"to another contract":         {otherToken, quote.Tx{To: otherToken, Data: function}, false},
		"to nothing":                  {otherToken, quote.Tx{Data: function}, false},
		"with a part of the selector": {otherToken, quote.Tx{To: someToken, Data: function[:3]}, false},
	} {
		err := Guard{}.Check(quote.Swap{In: quote.Side{Address: row.in, Amount: some}, Sender: somebody, Recipient: somebody}, p, row.tx)
		if row.pass != (err == nil) || !row.pass && !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v, want that it passes: %t", name, err, row.pass)
		}
	}
}

// TestPaymentsToOthersAreRefusedByEitherWay: behind the public router nothing else of a venue's calldata counts.
func TestPaymentsToOthersAreRefusedByEitherWay(t *testing.T) {
	share := quote.Affiliate{Percent: decimal.RequireFromString("0.1"), Recipient: thief}
	for name, read := range map[string]func() (quote.Call, error){
		"a share":             func() (quote.Call, error) { return quote.Call{Affiliate: share}, nil },
		"a second share":      func() (quote.Call, error) { return quote.Call{Second: share}, nil },
		"what is known":       func() (quote.Call, error) { return quote.Call{}, quote.ErrRefused },
		"":                    func() (quote.Call, error) { return quote.Call{}, nil },
		" of an unknown call": func() (quote.Call, error) { return quote.Call{}, errors.New("not known") },
	} {
		p := quote.Profile{
			Routers: map[chain.ID]chain.Address{0: someToken},
			Read:    func(chain.Chain, quote.Tx) (quote.Call, error) { return read() },
		}
		err := Guard{}.Check(quote.Swap{In: quote.Side{Address: otherToken}, Sender: somebody, Recipient: somebody}, p, quote.Tx{To: someToken, Data: make([]byte, 4)})
		if mayPass := name == "" || name[0] == ' '; mayPass == errors.Is(err, quote.ErrRefused) {
			t.Errorf("%q to a stranger: %v", name, err)
		}
	}
}
