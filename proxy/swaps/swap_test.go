package swaps

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/quote"
)

// TestDifferentSwapsHaveDifferentKeys protects wallets from getting each other's transactions.
func TestDifferentSwapsHaveDifferentKeys(t *testing.T) {
	draw := func(t *rapid.T, label string) quote.Request {
		small := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, label+name) }
		account := func(name string) chain.Address { return chain.NewAddress(make([]byte, small(name, 2))) }
		r := quote.Request{
			Chain: chain.ID(small("chain", 2)), TokenIn: account("in"), TokenOut: account("out"),
			AmountIn: chain.NewAmount(uint64(small("amount", 2))), Recipient: account("recipient"), Sender: account("sender"),
			Affiliate: quote.Affiliate{Percent: decimal.New(int64(small("share", 2)), -1), Recipient: account("affiliate")},
			Priority:  quote.Priority(small("priority", 1)), ReferralCode: uint32(small("referral", 2)),
		}
		if slippage := small("slippage", 2); slippage > 0 {
			percent := decimal.New(int64(slippage), -1)
			r.SlippagePercent = &percent
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a "), draw(t, "b ")
		if same := cmp.Equal(a, b, compareRequests); same != (proxy.KeyOf("", a) == proxy.KeyOf("", b)) {
			t.Errorf("equal %v, keys %x and %x", same, proxy.KeyOf("", a), proxy.KeyOf("", b))
		}
	})
}

// parseQuery parses a swap request with a recipient from a query.
func parseQuery(query string, registry chain.Registry) (quote.Request, error) {
	return ParseSwap(&parameters{Query: proxy.ReadQuery(query)}, registry, true)
}

var compareRequests = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a == b }),
	cmp.Comparer(decimal.Decimal.Equal),
}

func FuzzParseSwap(f *testing.F) {
	f.Add("chainId=8453&tokenIn=0x833589fcd6edb6e08f4c7c32d4f71b54bda02913&tokenInAmount=5000000" +
		"&tokenOut=0x4200000000000000000000000000000000000006&tokenOutRecipient=0xd2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2")
	f.Add("chainId=1&chainId=1&slippage=%ff&tokenIn=0x")
	registry := chain.Documented()
	f.Fuzz(func(t *testing.T, query string) {
		r, err := parseQuery(query, registry)
		if err != nil {
			if p := proxy.ProblemOf(err); p.Status != http.StatusBadRequest || len(p.PublicText()) > 4096 {
				t.Errorf("%q: %d %q", query, p.Status, p.PublicText())
			}
			return
		}
		if r.AmountIn.IsZero() || r.TokenIn.IsAbsent() || r.TokenIn == r.TokenOut || r.Recipient.IsNative() ||
			r.Recipient.IsAbsent() && registry.Family(r.Chain) != chain.SVM {
			t.Errorf("%q is read as %+v", query, r)
		}
	})
}

func TestClientsSayHowLongTheyWait(t *testing.T) {
	for _, row := range []struct {
		prefer []string
		want   time.Duration
	}{
		{nil, 0},
		{[]string{"wait=1"}, time.Second},
		{[]string{"return=minimal, Wait = 2; foo"}, 2 * time.Second},
		{[]string{"respond-async", `wait="3"`}, 3 * time.Second},
		{[]string{"wait=0"}, 0},
		{[]string{"wait=-1"}, 0},
		{[]string{"wait=99999"}, time.Minute},
		{[]string{"wait"}, 0},
	} {
		if got := waitOf(http.Header{"Prefer": row.prefer}); got != row.want {
			t.Errorf("waitOf(%q) = %s, want %s", row.prefer, got, row.want)
		}
	}
}
