package evm_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// promise returns a payer's order from Ethereum to Polygon and the transaction that creates it. If in and give differ,
// the public router swaps first.
func (s *stall) promise(t *testing.T, in, give string, spend, gross uint64) (creation.Transaction, creation.Promise) {
	t.Helper()
	salt := uint64(1_790_000_000_000)
	facts := s.chain.Facts()
	c := creation.Creation{
		GiveToken: s.tokens[give], GiveAmount: chain.NewAmount(gross), Salt: &salt, ReferralCode: 31805, Metadata: []byte{1, 2, 3},
		Take:         order.Offer{Chain: 137, Token: chain.NativeCoin(chain.EVM), Amount: chain.NewAmount(1e18)},
		Receiver:     payee,
		Authorities:  order.Authorities{GivePatch: nobody, Order: nobody},
		AffiliateFee: creation.AffiliateFee(order.Affiliate{Beneficiary: payee, Amount: chain.NewAmount(gross / 1000)}),
	}
	const bps = 4
	fee := chain.NewAmount(1e15)
	split := must.Get(creation.SplitOf(c.GiveAmount, c.Affiliate(), bps))(t)
	terms := c.Terms(facts.ID, nobody, salt, split.Net)
	promised := creation.Promise{ID: onchain.ID(terms), Created: order.Created{
		Terms: terms, FixFee: fee, PercentFee: split.Percent, ReferralCode: c.ReferralCode, Affiliate: c.Affiliate(), Metadata: c.Metadata,
	}}
	tx := creation.Transaction{Sender: nobody, To: facts.Contracts.DlnSource, Value: fee, Data: c.Data()}
	if in != give {
		venue := s.swap(in, give, int64(spend), int64(gross), s.public)
		tx.To, tx.Data = s.public, creation.Swap{
			TokenIn: s.tokens[in], AmountIn: chain.NewAmount(spend), Venue: venue.To, VenueData: venue.Data,
			TokenOut: s.tokens[give], ExpectedOut: chain.NewAmount(gross), RefundRecipient: nobody,
			Target: facts.Contracts.DlnSource, TargetData: c.Data(),
		}.Data()
	}
	if in == "coin" {
		tx.Value = tx.Value.Add(chain.NewAmount(spend))
	}
	return tx, promised
}

// TestCreationsAreSimulatedAndCompared simulates orders of a payer without funds, on current nodes and on nodes without
// eth_simulateV1: a transaction that would create another order is refused.
func TestCreationsAreSimulatedAndCompared(t *testing.T) {
	old := &oldNode{asked: map[string]int{}}
	for node, s := range map[string]*stall{
		"today":  openStall(t, nil),
		"before": openStall(t, func(node string) http.Handler { old.behind = node; return old }),
	} {
		for _, row := range []struct {
			in, give     string
			spend, gross uint64
		}{
			{"coin", "coin", 1e17, 1e17},
			{"USDC", "USDC", 250e6, 250e6},
			{"coin", "USDC", 1e17, 1e6},
			{"USDC", "coin", 250e6, 1e15},
			{"USDC", "DAI", 250e6, 1e18},
		} {
			tx, promised := s.promise(t, row.in, row.give, row.spend, row.gross)
			gas, err := s.simulator.Creation(t.Context(), tx, promised)
			if err != nil || gas < 100_000 || gas > 600_000 {
				t.Errorf("%s: %s to %s = %d gas, %v, want the promised order", node, row.in, row.give, gas, err)
			}
			broken := promised
			broken.ID[0]++
			if _, err := s.simulator.Creation(t.Context(), tx, broken); !errors.Is(err, creation.ErrBroken) {
				t.Errorf("%s: %s to %s with another id: %v, want ErrBroken", node, row.in, row.give, err)
			}
			if swap, err := creation.ParseSwap(tx.Data); err == nil && row.in != "coin" { // of which the venue takes less
				swap.AmountIn = swap.AmountIn.Add(chain.NewAmount(1))
				left := creation.Transaction{Sender: tx.Sender, To: tx.To, Value: tx.Value, Data: swap.Data()}
				if _, err := s.simulator.Creation(t.Context(), left, promised); !errors.Is(err, quote.ErrRefused) {
					t.Errorf("%s: %s to %s with a unit left in the router: %v, want ErrRefused", node, row.in, row.give, err)
				}
			}
			tx.Value = tx.Value.Add(chain.NewAmount(1))
			if _, err := s.simulator.Creation(t.Context(), tx, promised); !errors.Is(err, quote.ErrReverted) {
				t.Errorf("%s: %s to %s with one wei more: %v, want ErrReverted", node, row.in, row.give, err)
			}
		}
	}
	if old.asked["eth_simulateV1"] > 2 {
		t.Errorf("eth_simulateV1 was asked for %d times of a node without it", old.asked["eth_simulateV1"])
	}
}

// TestCreationsWithoutOverrides covers nodes without state overrides: a creation that the sender can already make
// passes, and if only the approval is missing, everything except the pull is checked.
func TestCreationsWithoutOverrides(t *testing.T) {
	bare := &oldNode{asked: map[string]int{}, refuses: true}
	s := openStall(t, func(node string) http.Handler { bare.behind = node; return bare })
	rich := chain.NewAddress(s.user.Bytes())
	for name, row := range map[string]struct {
		in, give string
		sender   chain.Address
		more     uint64 // wei
		want     error
	}{
		"the coin":             {"coin", "coin", rich, 0, nil},
		"a token not approved": {"USDC", "USDC", rich, 0, creation.ErrUnapproved},
		"and the value wrong":  {"USDC", "USDC", rich, 1, quote.ErrNotSimulated},
		"of another's token":   {"USDC", "USDC", nobody, 0, quote.ErrSenderLacks},
		"behind a swap":        {"USDC", "coin", rich, 0, quote.ErrNotSimulated},
	} {
		tx, promised := s.promise(t, row.in, row.give, 1e6, 1e6)
		tx.Sender, promised.Created.Terms.Maker = row.sender, row.sender
		tx.Value, promised.ID = tx.Value.Add(chain.NewAmount(row.more)), onchain.ID(promised.Created.Terms)
		gas, err := s.simulator.Creation(t.Context(), tx, promised)
		isUnapproved := errors.Is(err, creation.ErrUnapproved)
		if !errors.Is(err, row.want) || isUnapproved != (row.want == creation.ErrUnapproved) || (isUnapproved || err == nil) != (gas > 100_000) {
			t.Errorf("%s: %d gas, %v, want %v", name, gas, err, row.want)
		}
		promised.Created.ReferralCode++
		if _, err := s.simulator.Creation(t.Context(), tx, promised); isUnapproved && !errors.Is(err, creation.ErrBroken) {
			t.Errorf("%s with another referral code: %v, want ErrBroken", name, err)
		}
	}
}

// TestAPermitIsTried proves that no simulated allowance hides a permit that the token rejects.
func TestAPermitIsTried(t *testing.T) {
	old := &oldNode{asked: map[string]int{}}
	for node, s := range map[string]*stall{
		"today":  openStall(t, nil),
		"before": openStall(t, func(node string) http.Handler { old.behind = node; return old }),
	} {
		amount, permit := chain.NewAmount(250e6).Bytes32(), make([]byte, 129)
		copy(permit, amount[:])
		permit[128] = 27
		tx, promised := s.promise(t, "USDC", "USDC", 250e6, 250e6)
		c := must.Get(creation.Parse(tx.Data))(t)
		c.Permit = permit
		tx.Data = c.Data()
		if _, err := s.simulator.Creation(t.Context(), tx, promised); !errors.Is(err, quote.ErrReverted) {
			t.Errorf("%s: a creation with an invalid permit: %v, want ErrReverted", node, err)
		}
		tx, promised = s.promise(t, "USDC", "DAI", 250e6, 1e18)
		w := must.Get(creation.ParseSwap(tx.Data))(t)
		w.Permit = permit
		tx.Data = w.Data()
		if _, err := s.simulator.Creation(t.Context(), tx, promised); !errors.Is(err, quote.ErrReverted) {
			t.Errorf("%s: a swap with an invalid permit: %v, want ErrReverted", node, err)
		}
	}
}

// TestForecastsAreWhatTheChainDoes judges creations of an account with coins and tokens on current and on old nodes.
func TestForecastsAreWhatTheChainDoes(t *testing.T) {
	old := &oldNode{asked: map[string]int{}}
	for node, s := range map[string]*stall{
		"today":  openStall(t, nil),
		"before": openStall(t, func(node string) http.Handler { old.behind = node; return old }),
	} {
		rich := chain.NewAddress(s.user.Bytes())
		for name, row := range map[string]struct {
			in, give     string
			spend, gross uint64
			spoil        func(*creation.Transaction)
			refusal      string // empty: it creates the order
		}{
			"coin":          {"coin", "coin", 1e17, 1e17, nil, ""},
			"swap of coin":  {"coin", "USDC", 1e17, 1e6, nil, ""},
			"not approved":  {"USDC", "USDC", 250e6, 250e6, nil, "ERC20: insufficient allowance"},
			"one wei more":  {"coin", "coin", 1e17, 1e17, func(t *creation.Transaction) { t.Value = t.Value.Add(chain.NewAmount(1)) }, "MismatchNativeGiveAmount()"},
			"swap too good": {"coin", "USDC", 1e17, 1e15, nil, "CallFailed"},
			"too poor":      {"coin", "coin", 1e17, 1e17, func(t *creation.Transaction) { t.Sender = nobody }, "less than the value"},
		} {
			tx, promised := s.promise(t, row.in, row.give, row.spend, row.gross)
			tx.Sender = rich
			if row.spoil != nil {
				row.spoil(&tx)
			}
			all, err := s.simulator.Forecast(t.Context(), tx)
			if err != nil || len(all) != 1 {
				t.Errorf("%s: %s: %+v, %v, want one order", node, name, all, err)
				continue
			}
			f := all[0]
			terms := promised.Created.Terms
			terms.Maker = tx.Sender
			if f.ID == nil || *f.ID != onchain.ID(terms) || f.FixedFee == nil || *f.FixedFee != promised.Created.FixFee ||
				f.Split.Percent != promised.Created.PercentFee || *f.Creation.Affiliate() != *promised.Created.Affiliate {
				t.Errorf("%s: %s: %+v, want %+v", node, name, f, promised)
			}
			switch {
			case row.refusal == "":
				if f.Refusal != nil || len(f.Unknown) > 0 {
					t.Errorf("%s: %s: refused by %+v, not known %q", node, name, f.Refusal, f.Unknown)
				}
			case f.Refusal == nil:
				t.Errorf("%s: %s: it makes the order, want %s", node, name, row.refusal)
			case !strings.HasPrefix(f.Refusal.Reason().String(), row.refusal) && !strings.Contains(f.Refusal.Why, row.refusal):
				t.Errorf("%s: %s: %s (%s), want %s", node, name, f.Refusal.Reason(), f.Refusal.Why, row.refusal)
			}
		}
		if all, err := s.simulator.Forecast(t.Context(), creation.Transaction{Sender: rich, To: s.tokens["wrapped"], Data: deposit}); !errors.Is(err, creation.ErrOtherFunction) {
			t.Errorf("%s: a deposit makes %+v, %v, want ErrOtherFunction", node, all, err)
		}
	}
}
