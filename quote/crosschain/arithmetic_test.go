package crosschain_test

import (
	"strconv"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote/crosschain"
)

// answer is the part of a recorded answer that holds numbers.
type answer struct {
	Estimation struct {
		In struct {
			Amount   string
			Expense  string `json:"approximateOperatingExpense"`
			Mutated  bool   `json:"mutatedWithOperatingExpense"`
			Decimals uint8
		} `json:"srcChainTokenIn"`
		Out struct {
			Amount         string
			Recommended    string `json:"recommendedAmount"`
			MaxTheoretical string `json:"maxTheoreticalAmount"`
		} `json:"dstChainTokenOut"`
		Costs []struct {
			Type                string
			AmountIn, AmountOut string
			Payload             struct{ FeeAmount, FeeBps string }
		} `json:"costsDetails"`
		RecommendedSlippage float64
	}
	Prepended string `json:"prependedOperatingExpenseCost"`
}

// TestCourseReproducesRecordedAnswers computes all figures in a recorded answer from its input, the outcomes of its
// swaps with their slippage, and its expenses.
func TestCourseReproducesRecordedAnswers(t *testing.T) {
	for _, test := range []struct {
		file     string
		decimals [2]uint8 // of the reserve tokens
		unsaid   string   // why something in the file is not compared
	}{
		{"create-tx-arbitrum-arb-to-polygon-matic-2025-05-docs.json", [2]uint8{6, 6}, ""},
		{"create-tx-polygon-usdc-to-bsc-btcb-2024-03.json", [2]uint8{6, 18}, ""},
		{"create-tx-base-usdc-to-solana-usdc-2026-09.partial.json", [2]uint8{6, 6}, "the lines have no amounts, and the recommended amount is missing"},
		{"create-tx-arbitrum-usdc-to-ethereum-eth-2026-09.json", [2]uint8{6, 6}, "one line alone is kept, without its payload"},
	} {
		var a answer
		recorded.JSON(t, "recorded/debridge/"+test.file, &a)
		if test.unsaid != "" {
			t.Logf("%s: %s", test.file, test.unsaid)
		}
		c := followed(t, a, test.decimals)
		made := map[string]crosschain.Cost{}
		for _, line := range c.Costs(crosschain.Route{}) {
			made[line.Type] = line
		}
		for _, want := range a.Estimation.Costs {
			got := made[want.Type]
			same(t, test.file, want.Type+".amountIn", got.AmountIn, want.AmountIn)
			same(t, test.file, want.Type+".amountOut", got.AmountOut, want.AmountOut)
			same(t, test.file, want.Type+".feeAmount", got.Fee, want.Payload.FeeAmount)
			if want.Payload.FeeBps != "" && got.FeeBps != want.Payload.FeeBps {
				t.Errorf("%s: %s.feeBps is %s, want %s", test.file, want.Type, got.FeeBps, want.Payload.FeeBps)
			}
		}
		if len(a.Estimation.Costs) > 1 {
			same(t, test.file, "recommendedAmount", c.Recommended, a.Estimation.Out.Recommended)
			same(t, test.file, "maxTheoreticalAmount", c.MaxTheoretical, a.Estimation.Out.MaxTheoretical)
			if a.Estimation.Out.Recommended == "" {
				same(t, test.file, "amount", c.Recommended, a.Estimation.Out.Amount)
			}
		}
	}
}

// followed returns the course of a recorded input with the recorded outcomes.
func followed(t *testing.T, a answer, decimals [2]uint8) crosschain.Course {
	t.Helper()
	rules := crosschain.Rules{ProtocolBps: 4}
	var before, after *crosschain.Swapped
	var expenses chain.Amount
	for _, line := range a.Estimation.Costs {
		bps, _ := strconv.Atoi(line.Payload.FeeBps)
		switch line.Type {
		case crosschain.PreSwap:
			before = &crosschain.Swapped{Out: amount(t, line.AmountOut)}
		case crosschain.PreSwapSlippage:
			before.SlippageBps = bps
		case crosschain.OperatingExpenses:
			expenses = amount(t, line.Payload.FeeAmount)
		case crosschain.AfterSwap:
			after = &crosschain.Swapped{Out: amount(t, line.AmountOut)}
		case crosschain.AfterSwapSlippage:
			after.SlippageBps = bps
		}
	}
	c := must.Get(rules.Give(amount(t, a.Estimation.In.Amount), before, decimals, expenses))(t)
	return c.Take(after)
}

// recordedOrder is a row of create-arithmetic-A.json: an order without swaps and its terms, read from the chain.
type recordedOrder struct {
	Hash, Date                             string
	GiveToken                              string
	N, ProtocolFee, Affiliate              string
	IncentiveBps                           int
	PromotionByte                          *int
	OpexInMetadata, Recommended, Margin, E string
}

// TestCourseReproducesCreations recomputes orders from the chain, except for those of 2024 with a promotion. Expenses
// were not grossed up before 2025.
func TestCourseReproducesCreations(t *testing.T) {
	var rows []recordedOrder
	recorded.JSON(t, "recorded/chains/dln/create-arithmetic-A.json", &rows)
	for _, row := range rows {
		if row.PromotionByte != nil && *row.PromotionByte == 1 {
			continue
		}
		decimals := [2]uint8{6, 6}
		if row.GiveToken == "0x0000000000000000000000000000000000000000" {
			decimals = [2]uint8{18, 18}
		}
		rules, expenses := crosschain.Rules{ProtocolBps: 4, IncentiveBps: row.IncentiveBps}, amount(t, row.E)
		c := must.Get(rules.Give(amount(t, row.N), nil, decimals, expenses))(t).Take(nil)
		same(t, row.Hash, "protocol fee", c.ProtocolFee, row.ProtocolFee)
		same(t, row.Hash, "recommended", c.Recommended, row.Recommended)
		same(t, row.Hash, "margin", c.Margin, row.Margin)
		if row.E != row.OpexInMetadata && row.Date >= "2025" { // expenses were prepended
			same(t, row.Hash, "prepended", rules.Prepended(expenses, decimals), row.OpexInMetadata)
		}
	}
}

// TestPrependedOutlastsTheShares reproduces a quote of 2026-09-07: 100 USDC from Base to Solana, expenses prepended.
func TestPrependedOutlastsTheShares(t *testing.T) {
	rules, decimals, expenses := crosschain.Rules{ProtocolBps: 4}, [2]uint8{6, 6}, chain.NewAmount(969_684)
	same(t, "prepended", "cost", rules.Prepended(expenses, decimals), "970460")
	c := must.Get(rules.Give(chain.NewAmount(100_970_460), nil, decimals, expenses))(t).Take(nil)
	same(t, "prepended", "amount", c.Recommended, "99920016")
}

// TestGrossForIsTheLeast: for any shares, the amount found leaves enough, and one unit less does not.
func TestGrossForIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := crosschain.Rules{
			ProtocolBps: rapid.IntRange(0, 50).Draw(t, "protocol"), IncentiveBps: rapid.IntRange(0, 500).Draw(t, "incentive"),
			Affiliate: decimal.New(rapid.Int64Range(0, 10_000).Draw(t, "affiliate"), -3),
		}
		decimals := [2]uint8{rapid.SampledFrom([]uint8{6, 8, 18}).Draw(t, "give"), rapid.SampledFrom([]uint8{6, 18}).Draw(t, "take")}
		wanted := chain.NewAmount(rapid.Uint64Min(1).Draw(t, "wanted"))
		expenses := chain.NewAmount(rapid.Uint64Range(0, 1<<40).Draw(t, "expenses"))
		gross := rules.GrossFor(wanted, decimals, expenses)
		c, err := rules.Give(gross, nil, decimals, expenses)
		if err != nil || c.Left.Cmp(wanted) < 0 {
			t.Fatalf("of %s is left %s, want %s (%v)", gross, c.Left, wanted, err)
		}
		less, err := rules.Give(gross.Sub(chain.NewAmount(1)), nil, decimals, expenses)
		if err == nil && less.Left.Cmp(wanted) >= 0 {
			t.Fatalf("of %s is left %s, which is enough", less.In, less.Left)
		}
	})
}

func amount(t *testing.T, text string) chain.Amount {
	t.Helper()
	if text == "" {
		return chain.Amount{}
	}
	return must.Get(chain.ParseAmount(text))(t)
}

// same compares a figure with its recorded text, unless that is empty.
func same(t *testing.T, of, name string, got chain.Amount, want string) {
	t.Helper()
	if want != "" && got.String() != want {
		t.Errorf("%s: %s is %s, want %s", of, name, got, want)
	}
}
