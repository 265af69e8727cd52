package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

func TestAppendEstimates(t *testing.T) {
	swap := recordedSwap(t)
	checkGolden(t, "estimation", documented.AppendEstimation(nil, swap))
	swap.Asked = []quote.Asked{
		{
			Venue: "kyberswap", Way: quote.Routed, AmountOut: amount(t, "2000723290779000"), Net: swap.Out.Amount, Gas: 319508,
			Result: &quote.Result{Measured: true},
		},
		{Venue: "velora", Way: quote.Direct, Verdict: quote.Outbid, AmountOut: amount(t, "1993325000000000"), Net: amount(t, "1993325000000000")},
		{Venue: "relay", Verdict: quote.Refused, Err: quote.ErrReverted},
		{Venue: "lifi", Verdict: quote.LeftOut, Err: quote.ErrNoRoute},
	}
	swap.Way = quote.Routed
	checkGolden(t, "explanation", documented.AppendExplanation(nil, swap, nil))
	checkGolden(t, "explanation_failed", documented.AppendExplanation(nil, quote.Estimate{Asked: swap.Asked[2:]}, quote.ErrNoRoute))
}

func TestAppendChainsAndTokens(t *testing.T) {
	ethereum, _ := documented.Chains.Chain(chain.Ethereum)
	checkGolden(t, "chain_ids", documented.AppendChainIDs(nil, []chain.Chain{ethereum, ethereum}))
	listed := []token.Listing{{
		Key:   token.Key{Chain: chain.Ethereum, Address: chain.NativeCoin(chain.EVM)},
		Token: token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH", LogoURI: "https://logos.example/eth.png"},
	}, {
		Key:   token.Key{Chain: chain.Ethereum, Address: chain.NewAddress(unhex(t, "0327112423f3a68efdf1fcf402f6c5cb9f7c33fd"))},
		Token: token.Token{Decimals: 18, Name: "PieDAO BTC++", Symbol: "BTC++", LogoURI: "https://logos.example/btc.png"},
	}}
	checkGolden(t, "tokens", documented.AppendTokens(nil, chain.Ethereum, listed))
	checkGolden(t, "found_tokens", documented.AppendFoundTokens(nil, listed))
}

// TestChainsAreNumberedAsRecorded compares the numbers of every chain that was recorded and that we know.
func TestChainsAreNumberedAsRecorded(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "recorded", "debridge", "supported-chains-info-2026-09.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("recording not present: %s; it is in the folder shared, which lies beside the repository", path)
	}
	type list struct {
		Chains []struct{ ChainID, OriginalChainID uint64 }
	}
	var recorded, ours list
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(documented.AppendChains(nil, documented.Chains.All()), &ours); err != nil {
		t.Fatal(err)
	}
	original := map[uint64]uint64{}
	for _, c := range ours.Chains {
		original[c.ChainID] = c.OriginalChainID
	}
	for _, c := range recorded.Chains {
		if got, known := original[c.ChainID]; known && c.OriginalChainID != 0 && got != c.OriginalChainID {
			t.Errorf("chain %d is %d originally, want %d", c.ChainID, got, c.OriginalChainID)
		}
	}
}
