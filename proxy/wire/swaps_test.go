package wire

import (
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
)

// recordedSwap is the recorded swap of 5 USDC to ETH on Ethereum (2026-09-09), with made-up values for what its
// recorder trimmed.
func recordedSwap(t testing.TB) quote.Estimate {
	ethereum, _ := documented.Chains.Chain(chain.Ethereum)
	return quote.Estimate{
		Chain: ethereum,
		In: quote.Priced{Side: quote.Side{
			Address: chain.NewAddress(unhex(t, "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")),
			Token:   token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
			Amount:  amount(t, "5000000"),
		}, USD: new(5.0)},
		Out: quote.Priced{Side: quote.Side{
			Address: chain.NativeCoin(chain.EVM),
			Token:   token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH"},
			Amount:  amount(t, "1999122712146377"),
		}, USD: new(4.9916524)},
		MinOut:              amount(t, "1993120542274040"),
		SlippagePercent:     0.3,
		RecommendedSlippage: 0.3,
		Compared: []quote.Compared{
			{Name: "kyber", Amount: amount(t, "1999122712146377"), USD: new(4.991652), ImageURL: "https://logos.example/kyber.svg"},
			{Name: "velora", Amount: amount(t, "1993325000000000"), USD: new(4.977176), PriceDrop: 0.29},
		},
		Tx: quote.Tx{
			To:   ethereum.Contracts.Router,
			Data: unhex(t, "258c16ee"),
		},
		ProtocolFee:    amount(t, "1600578632623"),
		ProtocolFeeUSD: new(0.003993),
		Fee: &quote.Fee{
			Total: amount(t, "439326826112330"), GasLimit: 383410, USD: new(1.0960871),
			Price: quote.GasPrice{Expected: amount(t, "1145840813"), Base: amount(t, "145840813"), MaxFee: amount(t, "1291681626"), MaxPriority: amount(t, "1000000000")},
		},
		Costs: []quote.Cost{
			{Type: "SingleChainSwapProtocolFee", AmountIn: amount(t, "2000723290779000"), AmountOut: amount(t, "1999122712146377"), Fee: amount(t, "1600578632623"), FeeBps: "8"},
			{Type: "SingleChainSwapEstimatedSlippage", AmountIn: amount(t, "1999122712146377"), AmountOut: amount(t, "1993120542274040"), Fee: amount(t, "6002169872337"), FeeBps: "30"},
		},
	}
}

// madeSwap is an executed swap of USDC on Base to its coin.
func madeSwap(t *testing.T, affiliate *order.Affiliate) SwapRecord {
	t.Helper()
	at := on(base, evmTx(0xc1), 49_079_683, 1_784_948_713)
	return SwapRecord{
		Swap: order.Swap{ID: hash(0x5a), At: at, Fact: order.Swapped{
			Sender: account(0xa1), Recipient: account(0xb1),
			TokenIn: account(0x83), AmountIn: amount(t, "5000000"),
			TokenOut: account(0), AmountOut: amount(t, "2000723290779000"), Fee: amount(t, "1600578632623"),
			Affiliate: affiliate, ReferralCode: 31805,
		}},
		In: usdc, Out: token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH"},
	}
}

func BenchmarkAppendSwap(b *testing.B) {
	swap := recordedSwap(b)
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		body = documented.AppendSwap(body[:0], swap)
	}
}

func TestOrderMetadataLeavesOutWhatHasNoName(t *testing.T) {
	named := metadataV1(t)
	withCode := func(at int, code byte) []byte {
		raw := append([]byte(nil), named...)
		raw[at] = code
		return raw
	}
	const members = `"version":1,"creationProcessType":"SrcAmountSet","origin":"Default","additionalTakerIncentiveBps":0,` +
		`"operatingExpensesAmount":"706052","recommendedTakeAmount":"17279551","metadata":"0x0000000000000000000000000000000000000000",` +
		`"promotionType":"None","orderTradeType":"Market","partnerFeeBps":null,"srcProtocolChainId":null,"dstProtocolChainId":null}`
	without := func(name, word string) string {
		return strings.Replace(members, `"`+name+`":"`+word+`",`, "", 1)
	}
	for name, test := range map[string]struct {
		raw  []byte
		want string // after the raw bytes, if those are included
	}{
		"everything has a name":    {named, members},
		"a process of another way": {withCode(1, 3), without("creationProcessType", "SrcAmountSet")},
		"another origin":           {withCode(2, 9), without("origin", "Default")},
		"another promotion":        {withCode(65, 1), without("promotionType", "None")},
		"another kind of trade":    {withCode(66, 1), without("orderTradeType", "Market")},
		"another version": {
			append([]byte{2}, named[1:]...), `"partnerFeeBps":null,"srcProtocolChainId":null,"dstProtocolChainId":null}`,
		},
		"before trades had kinds": {named[:66], without("orderTradeType", "Market")},
	} {
		want := "{" + test.want
		if test.want != members {
			raw := &writer{}
			raw.hex(test.raw)
			want = `{"rawMetadataHex":` + string(raw.json) + "," + test.want
		}
		w := &writer{}
		w.orderMetadata(test.raw, false)
		if got := string(w.json); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
