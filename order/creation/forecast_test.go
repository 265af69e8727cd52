package creation_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
)

func warns(f creation.Forecast, of creation.WarningCode) bool {
	return slices.ContainsFunc(f.Warnings, func(w creation.Warning) bool { return w.Code == of })
}

// TestTokensSayWhatIsLacking: a refused pull is explained as far as allowance and balance are known.
func TestTokensSayWhatIsLacking(t *testing.T) {
	source, maker, token := chain.NewAddress(bytes.Repeat([]byte{1}, 20)), chain.NewAddress(bytes.Repeat([]byte{2}, 20)), chain.NewAddress(bytes.Repeat([]byte{3}, 20))
	c := creation.Creation{GiveToken: token, GiveAmount: chain.NewAmount(10), Receiver: maker, Take: order.Offer{Chain: 10, Token: token, Amount: chain.NewAmount(1)}}
	tx := creation.Transaction{Sender: maker, To: source, Data: c.Data()}
	none, some, said := new(chain.NewAmount(9)), new(chain.NewAmount(10)), []byte{1, 2, 3, 4}
	for name, row := range map[string]struct {
		balance, allowance           *chain.Amount
		lacksAllowance, lacksBalance bool
	}{
		"neither known": {}, "allowance": {some, none, true, false}, "balance": {none, some, false, true}, "neither": {some, some, false, false},
	} {
		s := creation.State{Chain: 1, Contracts: chain.Contracts{DlnSource: source}}
		views := creation.Views(tx, s)
		for _, v := range views[len(views)-2:] {
			v.Read(&s, nil)
		}
		if s.Input.IsToken == nil || *s.Input.IsToken {
			t.Errorf("%s: what has no balance to read is a token", name)
		}
		for i, known := range []*chain.Amount{row.balance, row.allowance} {
			if known != nil {
				views[len(views)-2+i].Read(&s, words.Encode(*known))
			}
		}
		if isToken := *s.Input.IsToken; isToken != (row.balance != nil) {
			t.Errorf("%s: a token: %t", name, isToken)
		}
		probes := creation.Probes(tx, s)
		for data, want := range map[string]creation.Return{
			"": creation.ReturnsNothing, string(words.Encode(true)): creation.ReturnsTrue, string(words.Encode(false)): creation.ReturnsFalse,
		} {
			if probes[1].Heard(&s, creation.CallResult{Data: []byte(data)}); s.Input.Transfer != want {
				t.Errorf("%s: a transfer that answers %x is %d, want %d", name, data, s.Input.Transfer, want)
			}
		}
		probes[0].Heard(&s, creation.CallResult{IsReverted: true, Data: said})
		if got := s.Input; (got.LacksAllowance != nil) != row.lacksAllowance || (got.LacksBalance != nil) != row.lacksBalance {
			t.Errorf("%s: lacks %x of allowance and %x of balance", name, got.LacksAllowance, got.LacksBalance)
		}
	}
}

// TestForecastSaysWhatIsNotKnown removes the state piece by piece: the forecast keeps the rest.
func TestForecastSaysWhatIsNotKnown(t *testing.T) {
	salt := uint64(7)
	source := chain.NewAddress(bytes.Repeat([]byte{1}, 20))
	maker := chain.NewAddress(bytes.Repeat([]byte{2}, 20))
	zero := chain.NewAddress(make([]byte, 20))
	c := creation.Creation{
		GiveToken: zero, GiveAmount: chain.NewAmount(10_000), Receiver: maker, Salt: &salt,
		Take:        order.Offer{Chain: 10, Token: zero, Amount: chain.NewAmount(1)},
		Authorities: order.Authorities{GivePatch: maker, Order: maker},
	}
	tx := creation.Transaction{Sender: maker, To: source, Value: chain.NewAmount(10_005), Data: c.Data()}
	bps, fee, coins, no, destination := uint64(4), chain.NewAmount(5), chain.NewAmount(1<<40), false, source
	whole := func() creation.State {
		return creation.State{
			Chain: 1, Contracts: chain.Contracts{DlnSource: source}, Coins: &coins, Version: "1.4.0", Paused: &no,
			FixedFee: &fee, PercentBps: &bps, Destination: &destination, IsUsed: &no,
		}
	}
	f, err := creation.Judge(tx, whole())
	if err != nil || f.Refusal != nil || len(f.Unknown) > 0 || f.ID == nil || *f.Value != tx.Value {
		t.Fatalf("Judge() = %+v, %v, want an order", f, err)
	}
	for name, without := range map[string]struct {
		state  func(*creation.State)
		hasID  bool
		answer string
	}{
		"pause":       {func(s *creation.State) { s.Paused = nil }, true, "pause of DlnSource"},
		"fee":         {func(s *creation.State) { s.FixedFee = nil }, true, "fixed fee"},
		"percentage":  {func(s *creation.State) { s.PercentBps = nil }, false, "percentage"},
		"destination": {func(s *creation.State) { s.Destination = nil }, true, "DlnDestination of the take chain"},
		"status":      {func(s *creation.State) { s.IsUsed = nil }, true, "status of the order id"},
		"coins":       {func(s *creation.State) { s.Coins = nil }, true, "balance of the native coin"},
	} {
		s := whole()
		without.state(&s)
		f, err := creation.Judge(tx, s)
		if err != nil || f.Refusal != nil || len(f.Unknown) != 1 || f.Unknown[0] != without.answer || (f.ID != nil) != without.hasID {
			t.Errorf("without %s: %+v, %v, want only %q unknown", name, f, err, without.answer)
		}
	}
	other := []onchain.Found{{Order: order.ID{9}, Fact: order.Created{Terms: *f.Terms}}}
	for name, all := range map[string][]creation.Forecast{"another id": {f}, "no id": {{}}} {
		if got := creation.Reconciled(tx, all, other); len(got) != 1 || *got[0].ID != other[0].Order || !warns(got[0], creation.RulesDiffer) {
			t.Errorf("%s: %+v, want the chain's order and that the rules differ", name, got)
		}
	}
	if got := creation.Reconciled(tx, nil, other); len(got) != 1 || !warns(got[0], creation.CallsOthers) {
		t.Errorf("by another contract: %+v, want a warning that it may do more", got)
	}
	broken := c
	broken.ExternalCall = []byte{2}
	if f, err := creation.Judge(creation.Transaction{Sender: maker, To: source, Value: tx.Value, Data: broken.Data()}, whole()); err != nil || !warns(f, creation.CallNeverRun) || warns(f, creation.RulesDiffer) {
		t.Errorf("an unknown version of a call: %+v, %v", f.Warnings, err)
	}
	refused := func(name string, data []byte, want string) {
		t.Helper()
		f, err := creation.Judge(creation.Transaction{Sender: maker, To: source, Value: tx.Value, Data: data}, whole())
		if err != nil || f.Refusal == nil || f.Refusal.Reason().Name != want {
			t.Errorf("%s: %+v, %v, want %q", name, f.Refusal, err, want)
		}
	}
	for name, remove := range map[string]func(*creation.Creation){
		"no take token":      func(c *creation.Creation) { c.Take.Token = chain.Address{} },
		"no receiver":        func(c *creation.Creation) { c.Receiver = chain.Address{} },
		"no order authority": func(c *creation.Creation) { c.Authorities.Order = chain.Address{} },
	} {
		short := c
		remove(&short)
		refused(name, short.Data(), "WrongAddressLength")
	}
	long := c
	long.AffiliateFee = make([]byte, 51)
	data := long.Data()
	refused("a long affiliate fee", data, "WrongAffiliateFeeLength")
	copy(data[4:], words.Encode(uint64(len(data)-4)))
	refused("the same, of an order that lacks a word", append(data, make([]byte, 10*words.Size)...), "")
	token, router := chain.NewAddress(bytes.Repeat([]byte{3}, 20)), chain.NewAddress(bytes.Repeat([]byte{4}, 20))
	bought := c
	bought.GiveToken = token
	swap := creation.Swap{
		TokenIn: zero, AmountIn: chain.NewAmount(100), Venue: maker, TokenOut: token, ExpectedOut: c.GiveAmount,
		RefundRecipient: maker, Target: source, TargetData: bought.Data(),
	}
	s := whole()
	s.Contracts.Router, s.Give.Transfer = router, creation.ReturnsFalse
	f, err = creation.Judge(creation.Transaction{Sender: maker, To: router, Value: chain.NewAmount(105), Data: swap.Data()}, s)
	if err != nil || f.Refusal != nil || !slices.Contains(f.Unknown, "outcome of the venue") || !warns(f, creation.NotClaimable) {
		t.Errorf("behind a swap: %+v, not known %q, %+v, %v", f.Refusal, f.Unknown, f.Warnings, err)
	}
	s.Chain = chain.Tron // whose USDT answers false, and is given by orders all the time
	f, err = creation.Judge(creation.Transaction{Sender: maker, To: router, Value: chain.NewAmount(105), Data: swap.Data()}, s)
	if err != nil || f.Refusal != nil || warns(f, creation.NotClaimable) {
		t.Errorf("on TRON: %+v, %+v, %v", f.Refusal, f.Warnings, err)
	}
	s = whole()
	s.Executed = &creation.CallResult{IsReverted: true, Data: []byte{0x12, 0x34, 0x56, 0x78}}
	if f, err := creation.Judge(tx, s); err != nil || f.Refusal == nil || f.Refusal.Reason().Selector != "0x12345678" {
		t.Errorf("refused by the chain alone: %+v, %v", f.Refusal, err)
	}
	s.Paused = new(true)
	if f, err := creation.Judge(tx, s); err != nil || f.Refusal.Reason().Selector != "0x12345678" || !warns(f, creation.RulesDiffer) {
		t.Errorf("refused by the chain for another reason than the rules': %+v, %+v, %v", f.Refusal, f.Warnings, err)
	}
	s.Paused, s.FixedFee, s.Executed = &no, &coins, &creation.CallResult{}
	if f, err := creation.Judge(tx, s); err != nil || f.Refusal != nil || f.Warnings[0].Code != creation.RulesDiffer {
		t.Errorf("made by the chain against the rules: %+v, %+v, %v", f.Refusal, f.Warnings, err)
	}
}

// TestRouterOfOtherTargetsMakesNoOrder lets the public router call another contract than DlnSource with a creation, and
// swap the coin for the coin.
func TestRouterOfOtherTargetsMakesNoOrder(t *testing.T) {
	named := func(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 20)) }
	source, router, other, maker, salt, yes := named(1), named(2), named(3), named(4), uint64(7), true
	bps, fee, coins := uint64(4), chain.NewAmount(5), chain.NewAmount(1<<40)
	c := creation.Creation{GiveToken: named(5), GiveAmount: chain.NewAmount(10), Take: order.Offer{Chain: 10, Token: named(6)}, Receiver: maker, Salt: &salt}
	state := creation.State{
		Chain: 1, Contracts: chain.Contracts{DlnSource: source, Router: router}, Coins: &coins, FixedFee: &fee, PercentBps: &bps,
		CallsTarget: &yes, CallsVenue: &yes, Executed: &creation.CallResult{},
	}
	swap := creation.Swap{
		TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(100), Venue: other, TokenOut: named(5), Target: other, TargetData: c.Data(),
	}
	judge := func() (creation.Forecast, error) {
		return creation.Judge(creation.Transaction{Sender: maker, To: router, Value: fee, Data: swap.Data()}, state)
	}
	swap.AmountIn = fee
	if f, err := judge(); !errors.Is(err, creation.ErrOtherFunction) {
		t.Errorf("made by another target: %+v, %v", f, err)
	}
	state.Executed = nil
	if f, err := judge(); err != nil || f.ID != nil || f.Terms != nil || len(f.Unknown) == 0 {
		t.Errorf("another target, of which the chain says nothing: %+v, %v", f, err)
	}
	swap.TokenOut, swap.AmountIn = swap.TokenIn, chain.NewAmount(100)
	if f, err := judge(); err != nil || f.Refusal == nil || f.Refusal.Reason().Name != "NotEnoughSrcFundsIn" {
		t.Errorf("the coin for the coin, and not enough: %+v, %v", f.Refusal, err)
	}
}
