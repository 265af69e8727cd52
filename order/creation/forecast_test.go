package creation_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
)

func named(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 20)) }

var (
	source, router, maker, token, other = named(1), named(2), named(3), named(4), named(5)
	coin                                = chain.NativeCoin(chain.EVM)
)

func amount(n uint64) *chain.Amount { return new(chain.NewAmount(n)) }

// TestTokensSayWhatIsLacking: a refused pull is explained as far as allowance and balance are known.
func TestTokensSayWhatIsLacking(t *testing.T) {
	c := creation.Creation{GiveToken: token, GiveAmount: chain.NewAmount(10), Receiver: maker, Take: order.Offer{Chain: 10, Token: token, Amount: chain.NewAmount(1)}}
	tx := creation.Transaction{Sender: maker, To: source, Data: c.Data()}
	none, some, said := amount(9), amount(10), []byte{1, 2, 3, 4}
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

// posed is a creation, and the state that it is judged in.
type posed struct {
	c     creation.Creation
	w     *creation.Swap // before it
	value uint64
	s     creation.State
	data  []byte // in place of the creation's
}

func (p posed) judge() (creation.Forecast, error) {
	tx := creation.Transaction{Sender: maker, To: source, Value: chain.NewAmount(p.value), Data: p.data}
	if p.data == nil {
		tx.Data = p.c.Data()
	}
	if p.w != nil {
		p.w.TargetData, tx.To = tx.Data, router
		tx.Data = p.w.Data()
	}
	return creation.Judge(tx, p.s)
}

// ofCoin returns an order of 10,000 of the coin, and ofToken one of a token, which are made for a fixed fee of 5.
func ofCoin() posed {
	no := false
	return posed{
		c: creation.Creation{
			GiveToken: coin, GiveAmount: chain.NewAmount(10_000), Take: order.Offer{Chain: 10, Token: coin, Amount: chain.NewAmount(1)},
			Receiver: maker, Authorities: order.Authorities{GivePatch: maker, Order: maker}, Salt: new(uint64(7)),
		},
		value: 10_005,
		s: creation.State{
			Chain: 1, Contracts: chain.Contracts{DlnSource: source, Router: router}, Coins: amount(1 << 40), Version: "1.4.0", Paused: &no,
			FixedFee: amount(5), PercentBps: new(uint64(4)), Destination: new(source), IsUsed: &no, CallsTarget: new(true), CallsVenue: new(true),
		},
	}
}

func ofToken() posed {
	p := ofCoin()
	p.c.GiveToken, p.value = token, 5
	p.s.Input = creation.Token{IsToken: new(true), Balance: amount(10_000), Allowance: amount(10_000)}
	return p
}

// bought returns an order of a token that 100 of the coin buy, and sold one for which 100 of another token are sold.
func bought() posed {
	p := ofToken()
	p.value, p.s.Give = 105, creation.Token{IsToken: new(true), Balance: amount(0), Allowance: amount(0)}
	p.w = &creation.Swap{
		TokenIn: coin, AmountIn: chain.NewAmount(100), Venue: other, TokenOut: token, ExpectedOut: p.c.GiveAmount, RefundRecipient: maker, Target: source,
	}
	return p
}

func sold() posed {
	p := bought()
	p.w.TokenIn, p.value = other, 5
	return p
}

// outcome returns a forecast in short: the innermost reason of its refusal, or that in words, ? checks that could not
// be made, and ! warnings.
func outcome(f creation.Forecast, err error) string {
	if err != nil {
		return err.Error()
	}
	var said []string
	if r := f.Refusal; r != nil {
		reasons := r.Reason().Chain()
		said = append(said, r.Why)
		if last := reasons[len(reasons)-1]; last.Selector != "" {
			said[0] = last.String()
		}
	}
	if f.ID == nil {
		said = append(said, "no id")
	}
	for _, check := range f.Unknown {
		said = append(said, "? "+check)
	}
	for _, warning := range f.Warnings {
		said = append(said, "! "+string(warning.Code))
	}
	return strings.Join(said, ", ")
}

// TestForecasts changes one thing about a creation or its state. That the rules are those of the contracts is proved by
// TestForecastsOfAnyLayout in sandbox/contracts; here is what the maker is told.
func TestForecasts(t *testing.T) {
	const venue = "? outcome of the venue"
	const behind = venue + ", ? value for DlnSource"
	envelope := func(amount uint64, v byte) []byte {
		return append(words.Encode(amount, 9, 0, 0), v)
	}
	share := func(amount uint64) []byte {
		return creation.AffiliateFee(order.Affiliate{Beneficiary: other, Amount: chain.NewAmount(amount)})
	}
	discrepancy := func(token chain.Address, before, taken string) string {
		return fmt.Sprintf("CallCausedBalanceDiscrepancy(target %s, token %s, expectedBalance %s, actualBalance %s), ", source, token, before, taken)
	}
	reverted := &creation.CallResult{IsReverted: true, Data: []byte{0x12, 0x34, 0x56, 0x78}}
	for _, row := range []struct {
		name   string
		of     func() posed
		change func(*posed)
		want   string
	}{
		{"nothing", ofCoin, func(*posed) {}, ""},
		{"another contract", ofCoin, func(p *posed) { p.s.Contracts.DlnSource = other }, "calldata of another function"},
		{"another function", ofCoin, func(p *posed) { p.data = words.Call("claimUnlock(bytes32,address)") }, "calldata of another function: 0x5886d8d2"},
		{"less than a function", ofCoin, func(p *posed) { p.data = []byte{1} }, "calldata of another function: 0x01"},
		{"another function behind a swap", bought, func(p *posed) { p.data = []byte{} }, "calldata of another function: 0x"},
		{"cut", ofCoin, func(p *posed) { p.data = p.c.Data()[:99] }, "malformed data of a transaction: createSaltedOrder: word 0 points beyond 95 bytes, no id"},
		{"coins unknown", ofCoin, func(p *posed) { p.s.Coins = nil }, "? balance of the native coin"},
		{"coins just enough", ofCoin, func(p *posed) { p.s.Coins = amount(10_005) }, ""},
		{"coins short", ofCoin, func(p *posed) { p.s.Coins = amount(10_004) }, "the sender has 10004 of the native coin, less than the value"},
		{"pause unknown", ofCoin, func(p *posed) { p.s.Paused = nil }, "? pause of DlnSource"},
		{"paused", ofCoin, func(p *posed) { p.s.Paused = new(true) }, "Pausable: paused"},
		{"affiliate fee cut", ofCoin, func(p *posed) { p.c.AffiliateFee = share(1)[:51] }, "WrongAffiliateFeeLength()"},
		{"destination unknown", ofCoin, func(p *posed) { p.s.Destination = nil }, "? DlnDestination of the take chain"},
		{"no destination", ofCoin, func(p *posed) { p.s.Destination = new(chain.Address{}) }, "NotSupportedDstChain()"},
		{"no chain", ofCoin, func(p *posed) { p.c.Take.Chain = 0 }, "NotSupportedDstChain()"},
		{"no take token", ofCoin, func(p *posed) { p.c.Take.Token = chain.Address{} }, "WrongAddressLength()"},
		{"no receiver", ofCoin, func(p *posed) { p.c.Receiver = chain.Address{} }, "WrongAddressLength()"},
		{"no order authority", ofCoin, func(p *posed) { p.c.Authorities.Order = chain.Address{} }, "WrongAddressLength()"},
		{"a short taker", ofCoin, func(p *posed) { p.c.Authorities.AllowedTaker = chain.NewAddress([]byte{1}) }, "WrongAddressLength()"},
		{"a short beneficiary", ofCoin, func(p *posed) { p.c.Authorities.CancelBeneficiary = chain.NewAddress([]byte{1}) }, "WrongAddressLength()"},
		{"fee unknown", ofCoin, func(p *posed) { p.s.FixedFee = nil }, "? fixed fee"},
		{"value of the coin", ofCoin, func(p *posed) { p.value++ }, "MismatchNativeGiveAmount()"},
		{"all coins that can be", ofCoin, func(p *posed) { p.c.GiveAmount, p.s.PercentBps = chain.MaxAmount, new(uint64(0)) }, "Panic(code 17)"},
		{"percentage unknown", ofCoin, func(p *posed) { p.s.PercentBps = nil }, "no id, ? percentage"},
		{"percentage above all", ofCoin, func(p *posed) { p.s.PercentBps = new(uint64(10_001)) }, "Panic(code 17), no id"},
		{"status unknown", ofCoin, func(p *posed) { p.s.IsUsed = nil }, "? status of the order id"},
		{"made before", ofCoin, func(p *posed) { p.s.IsUsed = new(true) }, "IncorrectOrderStatus()"},
		{"the last chain", ofCoin, func(p *posed) { p.c.Take.Chain = 1<<48 - 1 }, ""},
		{"a chain too far", ofCoin, func(p *posed) { p.c.Take.Chain = 1 << 48 }, "SafeCast: value doesn't fit in 48 bits"},
		{"affiliate of zero", ofCoin, func(p *posed) { p.c.AffiliateFee = append(make([]byte, 51), 1) }, "ZeroAddress()"},
		{"no share of zero", ofCoin, func(p *posed) { p.c.AffiliateFee = make([]byte, 52) }, ""},

		{"refused by the chain alone", ofCoin, func(p *posed) { p.s.Executed = reverted }, "error 0x12345678"},
		{"in words", ofCoin, func(p *posed) { p.s.Executed = &creation.CallResult{IsReverted: true, Text: "odd"} }, "the chain refuses it: odd"},
		{"for another reason", ofCoin, func(p *posed) { p.s.Paused, p.s.Executed = new(true), reverted }, "error 0x12345678, ! RULES_DIFFER"},
		{"without a reason", ofCoin, func(p *posed) { p.s.Paused, p.s.Executed = new(true), &creation.CallResult{IsReverted: true} }, "Pausable: paused"},
		{"without a reason, and without coins known", ofCoin, func(p *posed) {
			p.s.Coins, p.s.Paused, p.s.Executed = nil, new(true), &creation.CallResult{IsReverted: true}
		}, "the chain refuses it: no reason given, ? balance of the native coin, ! RULES_DIFFER"},
		{"coins short there, too", ofCoin, func(p *posed) { p.s.Coins, p.s.Executed = amount(1), reverted }, "the sender has 1 of the native coin, less than the value"},
		{"a token's reason", ofToken, func(p *posed) { p.s.Input.Balance, p.s.Executed = amount(1), reverted }, "error 0x12345678"},
		{"made against the rules", ofCoin, func(p *posed) { p.s.Paused, p.s.IsUsed, p.s.Executed = new(true), nil, new(creation.CallResult) }, "! RULES_DIFFER"},

		{"a token", ofToken, func(*posed) {}, ""},
		{"value beside a token", ofToken, func(p *posed) { p.value++ }, "WrongFixedFee(received 6, actual 5)"},
		{"a short permit", ofToken, func(p *posed) { p.c.Permit = make([]byte, 63) }, "WrongArgumentLength()"},
		{"a permit of no signature", ofToken, func(p *posed) { p.c.Permit = envelope(1, 29) }, "SignatureInvalidV()"},
		{"a permit", ofToken, func(p *posed) { p.c.Permit = envelope(10_000, 27) }, "? validity of the permit, ? allowance"},
		{"a permit that is good", ofToken, func(p *posed) {
			p.c.Permit, p.s.Input.TakesPermit, p.s.Input.Allowance = envelope(10_000, 0), new(true), nil
		}, ""},
		{"a permit that is bad", ofToken, func(p *posed) { p.c.Permit, p.s.Input.TakesPermit = envelope(10_001, 28), new(false) }, "PermitFailure()"},
		{"a permit not needed", ofToken, func(p *posed) { p.c.Permit, p.s.Input.TakesPermit = envelope(10_000, 28), new(false) }, ""},
		{"token unknown", ofToken, func(p *posed) { p.s.Input.IsToken = nil }, "? token"},
		{"no token", ofToken, func(p *posed) { p.s.Input.IsToken = new(false) }, "the token is not a token contract"},
		{"allowance unknown", ofToken, func(p *posed) { p.s.Input.Allowance = nil }, "? allowance"},
		{"allowance short", ofToken, func(p *posed) { p.s.Input.Allowance = amount(9_999) }, "the allowance is 9999, the amount 10000"},
		{"balance unknown", ofToken, func(p *posed) { p.s.Input.Balance = nil }, "? balance"},
		{"balance short", ofToken, func(p *posed) { p.s.Input.Balance = amount(9_999) }, "the balance is 9999, the amount 10000"},
		{"by the token's word", ofToken, func(p *posed) { p.s.Input.Balance, p.s.Input.LacksBalance = amount(9_999), reverted.Data }, "error 0x12345678"},
		{"without a word", ofToken, func(p *posed) { p.s.Input.Balance, p.s.Input.LacksBalance = amount(9_999), []byte{} }, "SafeERC20: low-level call failed"},
		{"a pull that is false", ofToken, func(p *posed) { p.s.Input.TransferFrom = creation.ReturnsFalse }, "SafeERC20: ERC20 operation did not succeed"},
		{"a percentage too wide", ofToken, func(p *posed) {
			p.c.GiveAmount = chain.AmountFromBytes(append([]byte{1}, make([]byte, 30)...))
			p.s.Input.Balance, p.s.Input.Allowance = new(chain.MaxAmount), new(chain.MaxAmount)
		}, "SafeCast: value doesn't fit in 208 bits"},

		{"given away", ofCoin, func(p *posed) { p.c.Take.Amount = chain.Amount{} }, "! TAKE_AMOUNT_ZERO"},
		{"lost", ofCoin, func(p *posed) { p.c.Receiver = coin }, "! RECEIVER_ZERO_ADDRESS"},
		{"never cancelled", ofCoin, func(p *posed) { p.c.Authorities.Order = coin }, "! ORDER_AUTHORITY_ZERO"},
		{"nothing left", ofCoin, func(p *posed) { p.c.AffiliateFee = share(9_996) }, "! NOTHING_GIVEN"},
		{"a call of version 2", ofCoin, func(p *posed) { p.c.ExternalCall = []byte{2} }, "! EXTERNAL_CALL_MALFORMED"},
		{"never paid out", ofToken, func(p *posed) { p.s.Input.Transfer = creation.ReturnsFalse }, "! GIVE_TOKEN_NOT_CLAIMABLE"},
		{"USDT on TRON", ofToken, func(p *posed) { p.s.Input.Transfer, p.s.Chain = creation.ReturnsFalse, chain.Tron }, ""},
		{"no word of a payout", ofToken, func(p *posed) { p.s.Input.Transfer = creation.ReturnsNothing }, ""},
		{"a share", ofToken, func(p *posed) { p.s.Input.Transfer, p.c.AffiliateFee = creation.ReturnsTrue, share(1) }, ""},
		{"no share", ofToken, func(p *posed) { p.s.Input.Transfer, p.c.AffiliateFee = creation.ReturnsNothing, share(0) }, ""},
		{"a share and no word", ofToken, func(p *posed) { p.s.Input.Transfer, p.c.AffiliateFee = creation.ReturnsNothing, share(1) }, "! GIVE_TOKEN_NOT_CLAIMABLE"},

		{"a swap", bought, func(*posed) {}, behind},
		{"less coin", bought, func(p *posed) { p.value = 99 }, "NotEnoughSrcFundsIn(amount 100)"},
		{"coin just enough", bought, func(p *posed) { p.value, p.s.FixedFee = 100, amount(0) }, behind},
		{"coin for coin", bought, func(p *posed) { p.w.TokenOut = coin }, "input and outcome are the native coin"},
		{"less coin for coin", bought, func(p *posed) { p.w.TokenOut, p.value = coin, 99 }, "NotEnoughSrcFundsIn(amount 100)"},
		{"a sale", sold, func(*posed) {}, behind},
		{"of no token", sold, func(p *posed) { p.s.Input.IsToken = new(false) }, "the token is not a token contract"},
		{"of nothing", sold, func(p *posed) { p.w.AmountIn = chain.Amount{} }, "NotEnoughSrcFundsIn(amount 0)"},
		{"not approved", sold, func(p *posed) { p.s.Input.Allowance = amount(99) }, "the allowance is 99, the amount 100"},
		{"by a short permit", sold, func(p *posed) { p.w.Permit = make([]byte, 63) }, "WrongArgumentLength()"},
		{"by a permit without v", sold, func(p *posed) { p.w.Permit, p.s.Input.TakesPermit = envelope(100, 0)[:128], new(true) }, behind},
		{"by a bad permit", sold, func(p *posed) { p.w.Permit, p.s.Input.TakesPermit = envelope(10_001, 27), new(false) }, "Permit failure"},
		{"for no token", bought, func(p *posed) { p.s.Give.IsToken = new(false) }, "the token is not a token contract"},
		{"venues unknown", bought, func(p *posed) { p.s.CallsVenue = nil }, "? router's list of venues, " + behind},
		{"venue not listed", bought, func(p *posed) { p.s.CallsVenue = new(false) }, "NotSupportedRouter()"},
		{"for what may be no token", bought, func(p *posed) { p.w.TokenOut, p.s.CallsVenue = other, new(false) }, "NotSupportedRouter(), ? token of the outcome"},
		{"targets unknown", bought, func(p *posed) { p.s.CallsTarget = nil }, venue + ", ? router's list of targets, ? value for DlnSource"},
		{"target not listed", bought, func(p *posed) { p.s.CallsTarget = new(false) }, "NotSupportedRouter(), " + venue},
		{"another target", bought, func(p *posed) { p.w.Target = other }, "no id, " + venue + ", ? target, which is not DlnSource"},
		{"which the chain calls", bought, func(p *posed) { p.w.Target, p.s.Executed = other, new(creation.CallResult) }, "calldata of another function"},
		{"another outcome", bought, func(p *posed) { p.w.TokenOut = other }, "the allowance is 0, the amount 10000, " + behind},
		{"another outcome than the router has", bought, func(p *posed) {
			p.w.TokenOut, p.s.Give.Balance, p.s.Give.Allowance = other, amount(10_000), amount(10_000)
		}, discrepancy(other, "0", "0") + behind},
		{"more than is swapped", bought, func(p *posed) { p.c.GiveAmount = chain.NewAmount(10_001) }, "the balance is 10000, the amount 10001, " + behind + ", ! GIVE_AMOUNT_ABOVE_SWAP"},
		{"of leftovers", bought, func(p *posed) { p.c.GiveAmount, p.s.Give.Balance = chain.NewAmount(10_001), amount(1) }, behind + ", ! GIVE_AMOUNT_ABOVE_SWAP"},
		{"less than is swapped", bought, func(p *posed) { p.c.GiveAmount, p.s.Give.Balance = chain.NewAmount(9_999), amount(3) }, discrepancy(token, "3", "9999") + behind},
		{"the token that is sold", sold, func(p *posed) { p.w.TokenIn = token }, behind + ", ? balance"},
		{"no refund", bought, func(p *posed) { p.w.RefundRecipient = coin }, behind + ", ! REFUND_RECIPIENT_ZERO"},
		{"refused behind it", bought, func(p *posed) { p.s.Paused = new(true) }, "Pausable: paused, " + venue},
		{"never paid out behind it", bought, func(p *posed) { p.s.Give.Transfer = creation.ReturnsFalse }, behind + ", ! GIVE_TOKEN_NOT_CLAIMABLE"},
	} {
		p := row.of()
		row.change(&p)
		f, err := p.judge()
		if got := outcome(f, err); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if status := f.Status(source); (status == nil) != (f.ID == nil) {
			t.Errorf("%s: of order %v is asked %+v", row.name, f.ID, status)
		}
		if f.Refusal == nil && f.Value != nil && *f.Value != chain.NewAmount(p.value) {
			t.Errorf("%s: it is made with a value of %d, not with %s", row.name, p.value, f.Value)
		}
	}
}

// TestReconciled: of forecasts and orders that the chain says are made, the chain's count.
func TestReconciled(t *testing.T) {
	f, err := ofCoin().judge()
	share := &order.Affiliate{Beneficiary: other, Amount: chain.NewAmount(3)}
	made := order.Created{Terms: *f.Terms, FixFee: chain.NewAmount(5), PercentFee: chain.NewAmount(4), Affiliate: share}
	same, another := []onchain.Found{{Order: *f.ID, Fact: made}}, []onchain.Found{{Order: order.ID{9}, Fact: made}}
	for name, row := range map[string]struct {
		all  []creation.Forecast
		made []onchain.Found
		id   order.ID
		want string
	}{
		"the same":            {[]creation.Forecast{f}, same, *f.ID, ""},
		"nothing":             {[]creation.Forecast{f}, nil, *f.ID, ""},
		"another id":          {[]creation.Forecast{f}, another, order.ID{9}, "! RULES_DIFFER"},
		"no id":               {[]creation.Forecast{{Swap: new(creation.Swap)}}, another, order.ID{9}, "! RULES_DIFFER"},
		"by another contract": {nil, another, order.ID{9}, "! CALLS_OTHER_PROGRAMS"},
	} {
		got := creation.Reconciled(creation.Transaction{}, row.all, row.made)
		if len(got) != 1 || *got[0].ID != row.id || outcome(got[0], err) != row.want {
			t.Fatalf("%s: %+v, want %q", name, got, row.want)
		}
		if row.id == another[0].Order && (got[0].Creation.GiveAmount != chain.NewAmount(10_003) || (got[0].Swap != nil) != (name == "no id")) {
			t.Errorf("%s: gives %s, swap %+v; want the net amount and all shares", name, got[0].Creation.GiveAmount, got[0].Swap)
		}
	}
}

// TestOfNothing: before an approval, the same order of nothing is simulated if the approval alone is missing, and the
// order is the promised one in every part.
func TestOfNothing(t *testing.T) {
	none := func(*creation.Promise) {}
	for name, row := range map[string]struct {
		of     func() posed
		change func(*posed)
		spoil  func(*creation.Promise)
		want   error
	}{
		"not approved":            {ofToken, func(*posed) {}, none, nil},
		"not approved for a sale": {sold, func(p *posed) { p.s.Input = creation.Token{IsToken: new(true), Allowance: amount(9)} }, none, nil},
		"approved":                {ofToken, func(p *posed) { p.s.Input.Allowance = amount(10_000) }, none, creation.ErrUnforeseen},
		"approved but short":      {ofToken, func(p *posed) { p.s.Input.Allowance, p.s.Input.Balance = amount(10_000), amount(1) }, none, creation.ErrUnforeseen},
		"of something not known":  {ofToken, func(p *posed) { p.s.Paused = nil }, none, creation.ErrUnforeseen},
		"a sale of no known id":   {sold, func(p *posed) { p.s.PercentBps = nil }, none, creation.ErrUnforeseen},
		"a sale of no known fee":  {sold, func(p *posed) { p.s.FixedFee = nil }, none, creation.ErrUnforeseen},
		"another take amount":     {ofToken, func(p *posed) { p.c.Take.Amount = chain.NewAmount(2) }, none, creation.ErrBroken},
		"another receiver":        {ofToken, func(p *posed) { p.c.Receiver = other }, none, creation.ErrBroken},
		"another authority":       {ofToken, func(p *posed) { p.c.Authorities.Order = other }, none, creation.ErrBroken},
		"another give amount":     {ofToken, func(p *posed) { p.c.GiveAmount = chain.NewAmount(9_999) }, none, creation.ErrBroken},
		"another salt":            {ofToken, func(p *posed) { p.c.Salt = new(uint64(8)) }, none, creation.ErrBroken},
		"another fee":             {ofToken, func(*posed) {}, func(p *creation.Promise) { p.Created.FixFee = chain.NewAmount(6) }, creation.ErrBroken},
		"another percentage":      {ofToken, func(*posed) {}, func(p *creation.Promise) { p.Created.PercentFee = chain.NewAmount(3) }, creation.ErrBroken},
		"another maker":           {ofToken, func(*posed) {}, func(p *creation.Promise) { p.Created.Terms.Maker = other }, creation.ErrBroken},
		"a referral code":         {ofToken, func(p *posed) { p.c.ReferralCode = 1 }, none, creation.ErrBroken},
		"metadata":                {ofToken, func(p *posed) { p.c.Metadata = []byte{1} }, none, creation.ErrBroken},
		"an affiliate promised": {ofToken, func(*posed) {}, func(p *creation.Promise) {
			p.Created.Affiliate = &order.Affiliate{Beneficiary: other, Amount: *amount(1)}
		}, creation.ErrBroken},
		"an affiliate of nothing": {ofToken, func(*posed) {}, func(p *creation.Promise) { p.Created.Affiliate = &order.Affiliate{Beneficiary: other} }, nil},
	} {
		p := row.of()
		foreseen, err := p.judge()
		promised := creation.Promise{ID: *foreseen.ID, Created: order.Created{Terms: *foreseen.Terms, FixFee: *foreseen.FixedFee, PercentFee: foreseen.Split.Percent}}
		p.s.Input.Allowance = amount(9)
		row.change(&p)
		row.spoil(&promised)
		f, _ := p.judge()
		data, id, said := f.OfNothing(promised)
		if err != nil || !errors.Is(said, row.want) || (said == nil) != (row.want == nil) {
			t.Errorf("%s: %v, want %v", name, said, row.want)
		}
		if said != nil {
			continue
		}
		p.c.GiveAmount = chain.Amount{}
		if of := onchain.ID(p.c.Terms(1, maker, 7, chain.Amount{})); id != of || !bytes.Equal(data, p.c.Data()) {
			t.Errorf("%s: %s by %x, want %s by %x", name, id, data, of, p.c.Data())
		}
	}
	for name, made := range map[string][]onchain.Found{"none": nil, "no creation": {{Fact: order.Fulfilled{}}}, "two": make([]onchain.Found, 2)} {
		if err := (creation.Promise{}).Check(made); !errors.Is(err, creation.ErrBroken) {
			t.Errorf("%s made: %v, want ErrBroken", name, err)
		}
	}
}

// TestOfSender: an account that runs another's code still signs for itself.
func TestOfSender(t *testing.T) {
	for code, warns := range map[string]bool{"": false, "\xef\x01\x00and an address": false, "\xef\x01": true, "`": true} {
		if got := creation.OfSender([]byte(code)); len(got) > 0 != warns {
			t.Errorf("of code %q: %v, want a warning: %t", code, got, warns)
		}
	}
}
