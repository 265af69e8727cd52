package pages

import (
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

func TestIDsCanBeCopied(t *testing.T) {
	pages := NewViews(Explored())
	page := Render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: recordOf("claimed"), JSON: "{}", Now: Noon})
	})
	if ids, copies := strings.Count(page, `class="mono"`), strings.Count(page, `class="copy"`); copies < 10 || copies < ids-2 { // the heading repeats the id, beside the name of the state
		t.Errorf("of %d ids and addresses %d can be copied", ids, copies)
	}
}

func TestDurationsHaveTheirTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 999 * time.Millisecond: "0 seconds", time.Second: "1 second", 65 * time.Second: "1 minute 5 seconds",
		time.Hour: "1 hour", time.Hour + time.Second: "1 hour", 49*time.Hour + time.Minute: "2 days 1 hour",
	} {
		if got := web.Took(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestRatesAndSharesAreLeftOutWhereThereIsNothing(t *testing.T) {
	none, some := new(big.Rat), big.NewRat(5, 1)
	if got := Rate(none, some, "USDC", "USDT") + Rate(some, none, "USDT", "USDC") + shareOf(chain.Amount{}, chain.Amount{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got := shareOf(chain.NewAmount(239064), chain.NewAmount(597422890)); got != "0.04" {
		t.Errorf("a share of 0.0399998 %% is %s", got)
	}
	if got, want := Rate(some, some, "USDT", "USDT"), "1 USDT for 1 USDT, 1 USDT for 1 USDT"; got != want {
		t.Errorf("rate %q, want %q", got, want)
	}
}

func TestEvidenceIsNoMoreThanWasSeen(t *testing.T) {
	followed := order.ChainBasis{Chain: 1, Followed: true, From: order.BlockTime{Number: 100}, Lag: order.Lag{Indexed: 900}, Proven: 800}
	for _, row := range []struct {
		read  order.ChainBasis
		block uint64
		want  string
	}{
		{followed, 800, "read twice; both readings agree"},
		{followed, 100, "read twice; both readings agree"},
		{followed, 801, "read once; to be confirmed when the block is final"},
		{followed, 900, "read once; to be confirmed when the block is final"},
		{followed, 901, "read from the chain for this page"},
		{followed, 99, "older than the index: read from the chain"},
		{order.ChainBasis{Chain: 1}, 0, "read from the chain for this page"},
	} {
		if got := evidence(row.read, row.block); got != row.want {
			t.Errorf("block %d of %+v: %q, want %q", row.block, row.read, got, row.want)
		}
	}
}

// swapped returns a swap of 0.5 ETH for 1,500 USDC on Base.
func swapped() *wire.SwapRecord {
	usdc, _ := chain.ParseAddress("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", chain.EVM)
	return &wire.SwapRecord{
		Swap: order.Swap{ID: order.ID{0x5a}, At: order.At{Chain: 8453, Tx: chain.NewTxHash(make([]byte, 32))}, Fact: order.Swapped{
			TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(5e17), TokenOut: usdc, AmountOut: chain.NewAmount(1_500_000_000),
		}},
		In: token.Token{Decimals: 18, Name: "Ether", Symbol: "ETH"}, Out: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
	}
}
