package wire

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

const recordedCreation = "recorded/debridge/create-tx-arbitrum-arb-to-polygon-matic-2025-05-docs.json"

// arbToMatic is the recorded order of 1000 ARB to MATIC (2025-05), as far as recorded: amounts, prices, salt.
func arbToMatic(t *testing.T) crosschain.Estimate {
	arbitrum, _ := documented.Chains.Chain(42161)
	matic, _ := documented.Chains.Chain(137)
	six, eighteen := [2]uint8{6, 6}, func(name, symbol string) token.Token { return token.Token{Decimals: 18, Name: name, Symbol: symbol} }
	arb, coin := chain.NewAddress(unhex(t, "912ce59144191c1204e64559fe8253a0e49e6548")), chain.NativeCoin(chain.EVM)
	maker := chain.NewAddress(unhex(t, "55a8f5cce1d53d9ff84ec0962882b447e5914db8"))
	c := must.Get(crosschain.Rules{ProtocolBps: 4}.Give(amount(t, "1000097362178910640486"),
		&crosschain.Swapped{Out: amount(t, "337961776"), SlippageBps: 35}, six, amount(t, "32862")))(t).
		Take(&crosschain.Swapped{Out: amount(t, "1422201236073987248230"), SlippageBps: 55})
	e := crosschain.Estimate{
		Course: c, GiveChain: arbitrum, TakeChain: matic, Amount: c.Recommended,
		Route: crosschain.Route{
			TokenIn: arb, TokenOut: coin,
			Give: token.Key{Chain: 42161, Address: arbitrum.Reserves["usd"]}, Take: token.Key{Chain: 137, Address: matic.Reserves["usd"]},
		},
		InToken: eighteen("Arbitrum", "ARB"), OutToken: eighteen("Polygon", "MATIC"), GiveToken: usdc, TakeToken: usdc,
		Prepended: amount(t, "97362178910640486"), OperatingExpense: amount(t, "97362178910640486"),
		Charges: crosschain.Charges{Fixed: amount(t, "1000000000000000"), TransferBps: 4},
		Prices: map[token.Key]*big.Rat{
			{Chain: 42161, Address: arb}: big.NewRat(337458266178442, 1e15), {Chain: 42161, Address: arbitrum.Reserves["usd"]}: big.NewRat(1, 1),
			{Chain: 137, Address: coin}: new(big.Rat).Quo(big.NewRat(334305266698456, 1e12), c.Recommended.Units(18)),
		},
		At: time.Unix(1746213179, 0),
	}
	data := creation.Creation{GiveToken: e.Route.Give.Address, GiveAmount: c.Gross}
	data.Take = order.Offer{Chain: 137, Token: coin, Amount: e.Amount}
	data.Receiver = maker
	data.Authorities = order.Authorities{
		GivePatch: maker, Order: maker, AllowedTaker: chain.NewAddress(unhex(t, "555ce236c0220695b68341bc48c68d52210cc35b")),
	}
	salt := uint64(1746213179552)
	data.Salt = &salt
	data.ReferralCode = 31805
	data.Metadata = must.Get(onchain.Metadata{
		CreationProcessType: "SrcAmountSet", OperatingExpenses: e.OperatingExpense, RecommendedTake: e.Recommended,
	}.Encode())(t)[:66] // as at that time
	terms := data.Terms(42161, maker, salt, c.Net)
	e.Made = &crosschain.Made{
		Tx:   quote.Tx{To: arbitrum.Contracts.Router, Data: data.Data(), Value: e.Charges.Fixed},
		Salt: salt, ID: onchain.ID(terms), Terms: terms, Metadata: data.Metadata,
	}
	return e
}

// TestCreationHasTheMembersOfTheRecordedOne requires each member of the recording with its value, in the recorded
// order. Not compared: the venue's calldata, which the recording omits, points, which are the hosted service's, names
// of tokens, and USD values beyond six decimals.
func TestCreationHasTheMembersOfTheRecordedOne(t *testing.T) {
	want := lines(t, recorded.File(t, recordedCreation))
	rest := lines(t, documented.AppendOrderCreation(nil, arbToMatic(t), false))
	for _, line := range want {
		isOther := strings.Contains(line, "/tx/data") || strings.Contains(line, "Points") || strings.Contains(line, "UsdValue") ||
			strings.Contains(line, "approximateFulfillmentDelay") || strings.Contains(line, "/name")
		if isOther {
			continue
		}
		at := slices.Index(rest, line)
		if at < 0 {
			t.Errorf("the answer has not got, or not in this place: %s", line)
			continue
		}
		rest = rest[at+1:]
	}
	calldata := strings.TrimSpace(string(recorded.File(t, strings.Replace(recordedCreation, ".json", ".targetData.hex", 1))))
	var made struct {
		OrderID string
		Tx      struct{ Data string }
	}
	must.Do(t, json.Unmarshal(documented.AppendOrderCreation(nil, arbToMatic(t), false), &made))
	if made.Tx.Data != calldata {
		t.Errorf("createSaltedOrder is\n%s, want the recorded\n%s", made.Tx.Data, calldata)
	}
	if want := "0x19499ede9b21fa5cc0ce5f74a155482576ff7d85b51863fb5231dbf648300b6a"; made.OrderID != want {
		t.Errorf("orderId is %s, want %s", made.OrderID, want)
	}
}

// crossChainAnswers are answers about one order: as recorded, with all optional parts, and explained.
func crossChainAnswers(t *testing.T) map[string][]byte {
	w, e := documented, arbToMatic(t)
	bare := e
	bare.Made = nil
	full := e
	made := *e.Made
	made.Fee = recordedSwap(t).Fee
	made.Short, made.IsUnapproved = []crosschain.Short{{Token: e.TokenIn, Missing: amount(t, "7")}}, true
	made.Warnings = creation.OfSender([]byte{1})
	made.Calls = []quote.Tx{{To: e.TokenIn, Data: words.Call("approve(address,uint256)", made.To, e.Course.In)}, made.Tx}
	full.Made = &made
	full.Affiliate, full.AffiliateFee = quote.NewAffiliate(10, account(1)).Percent, amount(t, "336644")
	asked := []quote.Asked{
		{Venue: "kyberswap", Way: quote.Routed, Verdict: quote.Won, Took: 42 * time.Millisecond, AmountOut: amount(t, "337961776"), Net: amount(t, "337961776"), Gas: 215_000},
		{Venue: "okx", Way: quote.Routed, Verdict: quote.Refused, Err: errors.New("no route")},
	}
	explained := full
	explained.Pre = &crosschain.Leg{Swapped: *e.Before, DropBps: 12, Estimates: quote.Estimate{Asked: asked}}
	explained.Post = &crosschain.Leg{Swapped: *e.After, DropBps: -1}
	explained.TakerCosts = crosschain.Expenses{{Name: "fulfil", Chain: 137, Coin: amount(t, "11700000000000000"), USD: big.NewRat(2808, 1e6)}}
	other := e.Route
	other.Give.Address, other.Take.Address = chain.NativeCoin(chain.EVM), e.TakeChain.Reserves["eth"]
	explained.Passed = []crosschain.Passed{
		{Route: other, Recommended: amount(t, "1414379129275580318364")}, {Route: other, Err: errors.New("no route between the chains")},
	}
	onSolana, message := e, *e.Made
	onSolana.GiveChain, _ = w.Chains.Chain(chain.Solana)
	onSolana.TokenIn = chain.NativeCoin(chain.SVM)
	onSolana.Route.Give = token.Key{Chain: chain.Solana, Address: onSolana.TokenIn}
	message.Tx, message.Fee = quote.Tx{Data: []byte{1, 2}}, made.Fee
	quoted := onSolana
	onSolana.Made, quoted.Made = &message, nil
	return map[string][]byte{
		"create_quote":              w.AppendOrderQuote(nil, bare),
		"create_quote_solana":       w.AppendOrderQuote(nil, quoted),
		"create_tx_solana":          w.AppendOrderCreation(nil, onSolana, true),
		"create_tx":                 w.AppendOrderCreation(nil, e, false),
		"create_tx_estimation":      w.AppendOrderEstimation(nil, bare),
		"create_tx_whole":           w.AppendOrderCreation(nil, full, true),
		"create_explanation":        w.AppendOrderExplanation(nil, explained, &order.Fills{Margin: 2, Created: 41, Fulfilled: 38, P50: 14}, nil),
		"create_explanation_failed": w.AppendOrderExplanation(nil, crosschain.Estimate{Passed: explained.Passed}, nil, crosschain.ErrLowAmount),
	}
}

// creationAnswers are judged creations: complete ones, refused ones, and ones with little known.
func creationAnswers(t *testing.T) map[string][]byte {
	t.Helper()
	salt, bps, fee, coins, no := uint64(1_784_948_708_910), uint64(4), amount(t, "1000000000000000"), amount(t, "5000000000000000"), false
	destination := account(0xdd)
	source, router := account(0x50), account(0x70)
	c := creation.Creation{
		GiveToken: account(0x83), GiveAmount: amount(t, "18000000"), Salt: &salt, Receiver: account(0xb2), ReferralCode: 31805,
		Take:         order.Offer{Chain: polygon, Token: chain.NativeCoin(chain.EVM), Amount: amount(t, "0")},
		Authorities:  order.Authorities{GivePatch: account(0xa1), Order: account(0xb1), AllowedTaker: account(0x7a), CancelBeneficiary: account(0xa1)},
		AffiliateFee: creation.AffiliateFee(order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1800")}),
		ExternalCall: []byte{2, 9}, Metadata: metadataV1(t),
		Permit: words.Encode(amount(t, "18000000"), amount(t, "1790005808"), chain.Hash{1}, chain.Hash{}),
	}
	c.Permit = append(c.Permit, 28) // v, after amount, deadline, r and s
	tx := creation.Transaction{Sender: account(0xa1), To: source, Value: fee, Data: c.Data()}
	state := creation.State{
		Chain: base, Contracts: chain.Contracts{DlnSource: source, Router: router}, Coins: &coins, Version: "1.8.0", Paused: &no,
		FixedFee: &fee, PercentBps: &bps, Destination: &destination, IsUsed: &no,
		Input: creation.Token{IsToken: new(true), Balance: &c.GiveAmount, Allowance: new(chain.Amount), TakesPermit: new(true), Transfer: creation.ReturnsNothing},
	}
	judged := func(tx creation.Transaction, s creation.State) []creation.Forecast {
		return []creation.Forecast{must.Get(creation.Judge(tx, s))(t)}
	}
	over := tx
	over.Value = amount(t, "1000000000000001")
	swapped := tx
	swapped.To = router
	swapped.Data = creation.Swap{
		TokenIn: chain.NativeCoin(chain.EVM), AmountIn: amount(t, "7"), Permit: []byte{1}, Venue: account(0x99), TokenOut: c.GiveToken,
		ExpectedOut: c.GiveAmount, RefundRecipient: account(0xa1), Target: source, TargetData: over.Data,
	}.Data()
	refused := state
	refused.CallsTarget, refused.CallsVenue, refused.Give = new(true), new(true), state.Input
	errors := revert.Parse("CallFailed(address target,bytes data)", "WrongFixedFee(uint256 received,uint256 actual)")
	refused.Executed = &creation.CallResult{
		IsReverted: true, Data: errors.Encode("CallFailed", source, errors.Encode("WrongFixedFee", amount(t, "999999999999993"), fee)),
	}
	poor := state
	poor.Coins = new(chain.Amount)
	differences := []Difference{{"dstChainTokenOutAmount", "17", "0"}}
	w := documented
	return map[string][]byte{
		"verification":         w.AppendForecasts(nil, base, judged(tx, state), differences),
		"verification_refused": w.AppendForecasts(nil, base, judged(swapped, refused), nil),
		"verification_unpaid":  w.AppendForecasts(nil, base, judged(over, poor), nil),
		"verification_unknown": w.AppendForecasts(nil, base, judged(tx, creation.State{Chain: base, Contracts: state.Contracts}), nil),
		"cancel": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: account(0xb1), To: account(0xdd), Value: fee, Data: []byte{0xd3, 0x8d, 0x96, 0x26}},
			Chain:       polygon, Beneficiary: account(0xa1), PaidOn: base,
		}, "cancelBeneficiary"),
		"cancel_tron": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: account(0xb1), To: account(0xdd), Data: []byte{0xd3, 0x8d, 0x96, 0x26}},
			Chain:       chain.Tron, Beneficiary: key(0xa1), PaidOn: chain.Solana,
		}, "cancelBeneficiary"),
		"unlock_solana": w.AppendSettlement(nil, Settlement{
			Transaction: creation.Transaction{Sender: key(0xb1), Value: fee, Data: []byte{1, 0}},
			Chain:       chain.Solana, Beneficiary: account(0xa1), PaidOn: base,
		}, "unlockBeneficiary"),
	}
}
