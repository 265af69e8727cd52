package wire

import (
	"bytes"
	"encoding/json"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
)

// TestAnswersAreTheirGoldenFiles compares answers of every form, about orders and swaps with every and with hardly any
// optional part, with golden files.
func TestAnswersAreTheirGoldenFiles(t *testing.T) {
	for _, answers := range []map[string][]byte{orderAnswers(t), listAnswers(t), swapAnswers(t), tokenAnswers(t), statisticsAnswers(), creationAnswers(t), crossChainAnswers(t)} {
		for name, answer := range answers {
			var compact, indented bytes.Buffer
			if err := json.Compact(&compact, answer); err != nil {
				t.Fatalf("%s is not JSON: %v\n%s", name, err, answer)
			}
			if !bytes.Equal(compact.Bytes(), answer) {
				t.Errorf("%s has white space", name)
			}
			must.Do(t, json.Indent(&indented, answer, "", "  "))
			indented.WriteByte('\n')
			golden.Check(t, filepath.Join("testdata", name+".json"), indented.String())
		}
	}
}

func orderAnswers(t *testing.T) map[string][]byte {
	w, claimed, plain, ids := documented, claimedOrder(t), fold(t, plainOrder(t)), []order.ID{hash(0x0d), hash(0xff)}
	return map[string][]byte{
		"order_created":          w.AppendOrder(nil, Record{Order: plain, Give: usdc, Take: pol}),
		"order_claimed":          w.AppendOrder(nil, Record{Order: claimed, Give: usdc, Take: pol, PreswapIn: pol}),
		"order_cancelled":        w.AppendOrder(nil, Record{Order: cancelledOrder(t), Give: usdc, Take: pol}),
		"order_unknown_creation": w.AppendOrder(nil, Record{Order: fold(t, fulfilment(t)), Give: usdc, Take: pol}),
		"order_unknown_creation_patched": w.AppendOrder(nil, Record{Give: usdc, Take: pol, Order: fold(t, fulfilment(t), order.Event{
			Order: hash(0x0d), At: on(base, evmTx(0xc3), 49_079_700, 1_784_948_740),
			Fact: order.GiveIncreased{Final: amount(t, "18992400"), FinalPercentFee: amount(t, "7600")},
		})}),
		"order_solana":         w.AppendOrder(nil, Record{Order: solanaOrder(t), Give: usdc, Take: usdc}),
		"order_tron":           w.AppendOrder(nil, Record{Order: tronOrder(t), Give: usdc, Take: usdc}),
		"order_solana_to_tron": w.AppendOrder(nil, Record{Order: claimedOnSolana(t), Give: usdc, Take: trx}),
		"order_tron_to_solana": w.AppendOrder(nil, Record{Order: refundedOnTron(t), Give: trx, Take: usdc}),
		"order_status":         w.AppendStatus(nil, claimed),
		"order_terms":          w.AppendTerms(nil, claimed),
		"order_terms_plain":    w.AppendTerms(nil, plain),
		"order_lite":           w.AppendLite(nil, claimed),
		"order_lite_plain":     w.AppendLite(nil, plain),
		"events":               w.events(t, claimed, plain),
		"order_ids":            w.AppendOrderIDs(nil, ids),
		"order_id_texts":       w.AppendOrderIDTexts(nil, ids),
	}
}

// events encodes the steps of a claim, of a creation that a reorg dropped, and of a message about an unknown order.
func (e Encoder) events(t *testing.T, claimed, plain *order.Order) []byte {
	var texts [][]byte
	for i, entry := range []order.LogEntry{
		order.EntryOf(order.Final, order.Event{Order: claimed.ID, At: claimed.ClaimedUnlock.At, Fact: claimed.ClaimedUnlock.Fact}, claimed, claimed),
		order.EntryOf(order.Retracted, order.Event{Order: plain.ID, At: plain.Created.At, Fact: plain.Created.Fact}, plain, nil),
		order.EntryOf(order.Happened, order.Event{Order: hash(0xff), At: claimed.Created.At, Fact: order.Sent{Kind: order.Cancel}}, nil, nil),
	} {
		entry.Position = 1_784_948_740_000_000 + uint64(i)
		texts = append(texts, e.AppendEntry(nil, entry))
	}
	return Entries(texts, 1_784_948_740_000_002)
}

func listAnswers(t *testing.T) map[string][]byte {
	w, claimed, plain := documented, claimedOrder(t), fold(t, plainOrder(t))
	first, second := madeSwap(t, &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1000000")}), madeSwap(t, nil)
	listed := []Listed{{Order: &Record{Order: claimed, Give: usdc, Take: usdc, PreswapIn: usdc}}, {Order: &Record{Order: plain, Give: usdc, Take: usdc}}}
	give := token.Key{Chain: base, Address: account(0x83)}
	coin := token.Key{Chain: chain.Tron, Address: chain.NativeCoin(chain.TVM)}
	locked := []order.LockedChain{
		{Chain: base, Tokens: []order.LockedToken{{
			Token: give.Address, Amount: amount(t, "35985601"),
			Targets: []order.LockedTarget{
				{Chain: polygon, Amount: amount(t, "17992800"), Orders: []order.ID{hash(1)}},
				{Chain: chain.Solana, Amount: amount(t, "17992801"), Orders: []order.ID{hash(2), hash(3)}},
			},
		}}},
		{Chain: chain.Tron, Tokens: []order.LockedToken{{
			Token: coin.Address, Amount: amount(t, "7"),
			Targets: []order.LockedTarget{{Chain: base, Amount: amount(t, "7"), Orders: []order.ID{hash(4)}}},
		}}},
	}
	worth := Worth{
		Tokens: map[token.Key]token.Token{give: usdc, coin: trx},
		USD:    map[token.Key]*big.Rat{give: big.NewRat(9998, 10_000)},
	}
	return map[string][]byte{
		"order_list":        w.AppendOrderList(nil, listed, 1234),
		"order_list_swaps":  w.AppendOrderList(nil, []Listed{{Swap: &first}, {Swap: &second}}, 77),
		"order_lite_models": w.AppendLiteModels(nil, []*order.Order{claimed, plain}),
		"unlock_list":       w.AppendUnlockList(nil, []*order.Order{claimed}, 1),
		"locked":            w.AppendLocked(nil, locked, worth),
	}
}

// swapAnswers are answers about one swap: as recorded, of the sender's whole balance, without a price, on each family
// of chains, and with the venues' results; and about executed swaps.
func swapAnswers(t *testing.T) map[string][]byte {
	w, swap := documented, recordedSwap(t)
	whole := swap
	whole.MaxBalance = true
	legacy := swap
	legacy.In.USD, legacy.Out.USD, legacy.ProtocolFeeUSD, legacy.ProtocolFee = nil, nil, nil, chain.Amount{}
	legacy.Compared, legacy.Costs = nil, nil
	legacy.Fee = &quote.Fee{Total: swap.Fee.Total, GasLimit: swap.Fee.GasLimit, USD: swap.Fee.USD, Price: quote.GasPrice{Expected: amount(t, "3000000000"), Legacy: true}}
	withoutFee := legacy
	withoutFee.Fee = nil
	onTron := whole
	onTron.Chain, _ = w.Chains.Chain(chain.Tron)
	onTron.Fee = &quote.Fee{
		Total: amount(t, "15000"), GasLimit: 120, Beside: amount(t, "3000"), USD: new(0.5),
		Price: quote.GasPrice{Expected: amount(t, "100"), Legacy: true},
	}
	onSolana := whole
	onSolana.Chain, _ = w.Chains.Chain(chain.Solana)
	onSolana.In.Address, onSolana.Out.Address, onSolana.Tx = chain.NativeCoin(chain.SVM), onSolana.Chain.WrappedCoin, quote.Tx{Data: []byte{1, 2, 3}}
	onSolana.Fee = &quote.Fee{
		Total: amount(t, "15000"), GasLimit: 200_000, Priority: amount(t, "12000"), Beside: amount(t, "3000"), USD: new(0.5),
		Price: quote.GasPrice{Bid: amount(t, "60000")},
	}
	explained := swap
	explained.Way, explained.Asked = quote.Routed, []quote.Asked{
		{
			Venue: "kyberswap", Way: quote.Routed, AmountOut: amount(t, "2000723290779000"), Net: swap.Out.Amount, Gas: 319508,
			Result: &quote.Result{Measured: true},
		},
		{Venue: "velora", Way: quote.Direct, Verdict: quote.Outbid, AmountOut: amount(t, "1993325000000000"), Net: amount(t, "1993325000000000")},
		{Venue: "relay", Verdict: quote.Refused, Err: quote.ErrReverted},
		{Venue: "lifi", Verdict: quote.LeftOut, Err: quote.ErrNoRoute},
	}
	return map[string][]byte{
		"swap": w.AppendSwap(nil, swap), "swap_whole": w.AppendSwap(nil, whole),
		"swap_legacy": w.AppendSwap(nil, legacy), "swap_without_fee": w.AppendSwap(nil, withoutFee),
		"swap_tron": w.AppendSwap(nil, onTron), "swap_solana": w.AppendSwap(nil, onSolana),
		"estimation": w.AppendEstimation(nil, swap), "explanation": w.AppendExplanation(nil, explained, nil),
		"explanation_failed":      w.AppendExplanation(nil, quote.Estimate{Asked: explained.Asked[2:]}, quote.ErrNoRoute),
		"same_chain_swap":         w.AppendSwapRecord(nil, madeSwap(t, &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1000000")})),
		"same_chain_swap_plain":   w.AppendSwapRecord(nil, madeSwap(t, nil)),
		"same_chain_swap_unnamed": w.AppendSwapRecord(nil, madeSwap(t, &order.Affiliate{Amount: amount(t, "7")})),
	}
}

func tokenAnswers(t *testing.T) map[string][]byte {
	w := documented
	ethereum, _ := w.Chains.Chain(chain.Ethereum)
	listed := []token.Listing{{
		Key:   token.Key{Chain: chain.Ethereum, Address: chain.NativeCoin(chain.EVM)},
		Token: token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH", LogoURI: "https://logos.example/eth.png"},
	}, {
		Key:   token.Key{Chain: chain.Ethereum, Address: chain.NewAddress(unhex(t, "0327112423f3a68efdf1fcf402f6c5cb9f7c33fd"))},
		Token: token.Token{Decimals: 18, Name: "PieDAO BTC++", Symbol: "BTC++", LogoURI: "https://logos.example/btc.png"},
	}}
	return map[string][]byte{
		"chain_ids": w.AppendChainIDs(nil, slices.Repeat([]chain.Chain{ethereum}, 2)),
		"tokens":    w.AppendTokens(nil, chain.Ethereum, listed), "found_tokens": w.AppendFoundTokens(nil, listed),
	}
}

func statisticsAnswers() map[string][]byte {
	w := documented
	priced := order.Statistics{
		Created: 3, Fulfilled: 2, Active: 1, Unpriced: 1, Creators: 2, NewCreators: 1,
		Given: order.USD{Micros: 1_234_567_890, Orders: 2}, Taken: order.USD{Micros: 2_000_000, Orders: 2}, Fee: order.USD{Micros: 4, Orders: 3},
	}
	unpriced := order.Statistics{Created: 1, Unpriced: 1, Creators: 1}
	days := []order.DailyStatistics{
		{Day: 20_362, Give: 1, Take: 100000014, Statistics: priced}, {Day: 20_362, Give: 10, Take: 1, Statistics: unpriced},
	}
	fills := []order.Fills{{Margin: 0, Created: 3}, {Margin: 2, Created: 41, Fulfilled: 38, P50: 14}, {Margin: 6, Created: 2, Fulfilled: 2, P50: 9}}
	times := []order.DeliveryTimes{
		{Give: 1, Take: 100000014, Orders: 40, P50: 14, P95: 310, Fills: fills}, {Give: 10, Take: 1, Orders: 1, P50: 7, P95: 7}, {Give: 10, Take: 56},
	}
	venues := []quote.VenueDay{
		{Venue: "odos", Quoted: 12, Won: 7, Contested: 4, Gain: 12_345},
		{Venue: "kyberswap", Quoted: 3, Won: 1, Contested: 1, Gain: -250},
		{Venue: "velora", Quoted: 1},
	}
	return map[string][]byte{
		"daily_statistics":             w.AppendDaily(nil, days, days[:1]),
		"all_time_statistics":          w.AppendAllTime(nil, priced, 1_800_000_000),
		"all_time_statistics_unpriced": w.AppendAllTime(nil, unpriced, 1_800_000_000),
		"delivery_times":               w.AppendDeliveryTimes(nil, times), "venues": w.AppendVenues(nil, venues),
	}
}

// TestAnswersAboutNothing proves that empty answers have their lists, and that an order has only what happened to it.
func TestAnswersAboutNothing(t *testing.T) {
	w, delivered, created := documented, claimedOrder(t), claimedOrder(t)
	delivered.Fulfilled.Fact.ActualAmount, delivered.TakeFinal = nil, chain.NewAmount(17)
	created.Fulfilled, created.State = nil, order.StateCreated
	for _, each := range []struct {
		got  []byte
		want string // its end
	}{
		{w.AppendLocked(nil, nil, Worth{}), `[]`},
		{w.AppendOrderIDs(nil, nil), `{"orderIds":[]}`},
		{w.AppendOrderIDTexts(nil, nil), `{"orderIds":[]}`},
		{w.AppendOrderList(nil, nil, 0), `{"orders":[],"totalCount":0}`},
		{w.AppendState(nil, claimedOrder(t)), `"ClaimedUnlock"`},
		{w.AppendStatus(nil, delivered), `"receivedAmount":{"bigIntegerValue":"17"}}}`}, // it has no amount of its own
		{w.AppendStatus(nil, created), `{"orderId":"` + created.ID.String() + `","status":"Created"}`},
	} {
		if !bytes.HasSuffix(each.got, []byte(each.want)) {
			t.Errorf("%s, want %s", each.got, each.want)
		}
	}
}
