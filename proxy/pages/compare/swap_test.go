package compare

import (
	"bytes"
	"errors"
	"math/big"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/proxy/pages"
	"crossgate/proxy/swaps"
	"crossgate/quote"
	"crossgate/token"
)

// noon is the current time of the pages in these tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const hostile = `</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'{{.}}`

// comparisonOfSix swaps 0.1 ETH to USDC: two venues quoted, one was too late, and three were refused.
func comparisonOfSix() *swaps.Comparison {
	asked := func(venue string, way quote.Way, verdict quote.Verdict, took time.Duration, said string) quote.Asked {
		one := quote.Asked{Venue: venue, Way: way, Verdict: verdict, Took: took, Result: &quote.Result{}}
		if said != "" {
			one.Err = errors.New(said)
		}
		return one
	}
	first := asked("first", quote.Routed, quote.Won, 12400*time.Microsecond, "")
	first.AmountOut, first.Net, first.Result.Measured = chain.NewAmount(299_239_832), chain.NewAmount(299_000_000), true
	second := asked("second", quote.Direct, quote.Outbid, 80*time.Millisecond, "")
	second.AmountOut, second.Net = chain.NewAmount(298_252_500), chain.NewAmount(298_252_500)
	c := &swaps.Comparison{Estimate: quote.Estimate{
		Way: quote.Routed, MinOut: chain.NewAmount(298_000_000), QuotedAt: noon.Add(-2 * time.Second), SlippagePercent: 0.5, RecommendedSlippage: 0.3,
		ProtocolFee: chain.NewAmount(239_832), ProtocolFeeUSD: new(0.24),
		Fee:      &quote.Fee{Total: chain.NewAmount(44e13), GasLimit: 383_410, USD: new(1.32)},
		Compared: []quote.Compared{{Name: "first", Amount: first.Net, USD: new(299.0)}},
		Tx:       quote.Tx{To: chain.NewAddress(make([]byte, 20)), Data: []byte{1, 2}, Value: chain.NewAmount(1e17)},
		Asked: []quote.Asked{
			second, first,
			asked("third", quote.Direct, quote.Refused, 3*time.Millisecond, revertedBecause+"error 0xdeadbeef"),
			asked("fourth", quote.Routed, quote.Silent, 2500*time.Millisecond, "no answer in time: context deadline exceeded"),
			asked("fifth", quote.Direct, quote.Refused, 9*time.Millisecond, revertedBecause+"error 0xdeadbeef"),
			asked("sixth", quote.Routed, quote.Refused, 9*time.Millisecond, revertedBecause+"CallFailed(target 0xab, data SwapOutcomeTooLow(tokenOut 0x, amountOut 1))"),
		},
	}}
	c.In.Amount, c.In.USD = chain.NewAmount(1e17), new(300.0)
	c.Out.Amount, c.Out.USD, c.Out.Token.Decimals = first.Net, new(299.4), 6
	return c
}

// pageOf renders the page of a comparison, with its transaction unless change removes it.
func pageOf(t *testing.T, of *swaps.Comparison, change ...func(*Swap)) string {
	t.Helper()
	ether := &token.Listing{Key: token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}, Token: token.Token{Symbol: "ETH", Name: "Ether", Decimals: 18}}
	usdc := chain.NewAddress([]byte("twenty bytes of USDC"))
	s := Swap{
		Form: url.Values{"chainId": {"1"}}, Compared: of, In: ether,
		Out:      &token.Listing{Key: token.Key{Chain: 1, Address: usdc}, Token: token.Token{Symbol: "USDC", Name: "USD Coin", Decimals: 6}},
		AmountIn: chain.NewAmount(1e17), Priced: true, Path: "/v1.0/chain/transaction?chainId=1&tokenIn=0x", Origin: "https://gate.example", Now: noon,
		JSON: `{"tx":{}}`, HasTx: true,
	}
	for _, each := range change {
		each(&s)
	}
	views := pages.NewViews(chain.Documented())
	views.Add(templates, nil, "swap")
	var page bytes.Buffer
	must.Do(t, (&Views{views}).Swap(&page, s))
	return page.String()
}

func withoutTx(s *Swap) { s.JSON, s.HasTx = "", false }

func TestSwapPageTellsWhatASwapComesTo(t *testing.T) {
	page := pageOf(t, comparisonOfSix())
	plain := golden.PageText(page)
	golden.Contains(t, "the page", plain,
		"0.1 ETH on Ethereum buys", "299 USDC $299.00, quoted 2026-11-21 11:59:58 UTC",
		"Rate 1 ETH for 2,990 USDC, 1 USDC for 0.000334448 ETH", "Price impact 0.20 % Gross value $299.40 for $300.00", "Minimum received 298 USDC",
		"Slippage 0.5 %, 0.3 % recommended", "Route first, through the protocol's router", "Protocol fee 0.239832 USDC, $0.24",
		"Network fee $1.32, 0.00044 ETH for 383,410 gas",
		"first chosen simulated through the protocol's router 299.0000 $299.00 – 12 ms",
		"second through the venue's own router 298.2525 $298.25 −0.25 % 80 ms",
		"2 venues refused: the transaction would fail: a contract reverted with the unknown error 0xdeadbeef ( third , fifth )",
		"1 venue no quote in time: too slow for this comparison ( fourth )",
		"1 venue refused: the transaction would fail: the output would be below the minimum ( sixth )",
		"curl 'https://gate.example/v1.0/chain/transaction?chainId=1&tokenIn=0x'",
	)
	if strings.Count(plain, "unknown error 0xdeadbeef") != 1 {
		t.Error("a reason is told more than once")
	}
	if strings.Contains(plain, "A loss") || !strings.Contains(page, `data-verb="Swap"`) {
		t.Error("0.20 % is told as a great loss")
	}
}

// TestSwapPageSaysWhoElseIsPaid opens links made by others: the page shows next to the amounts what is signed.
func TestSwapPageSaysWhoElseIsPaid(t *testing.T) {
	const mine, others = "0x00000000000000000000000000000000000000aB", "0x00000000000000000000000000000000000000cd"
	for name, each := range map[string]struct {
		form url.Values
		want string // empty: nobody
	}{
		"the sender":         {url.Values{"tokenOutRecipient": {mine}}, ""},
		"the sender, named":  {url.Values{"tokenOutRecipient": {mine}, "senderAddress": {strings.ToLower(mine)}}, ""},
		"another recipient":  {url.Values{"tokenOutRecipient": {others}, "senderAddress": {mine}}, "Recipient " + others},
		"an affiliate":       {url.Values{"tokenOutRecipient": {mine}, "affiliateFeePercent": {"5"}, "affiliateFeeRecipient": {others}}, "Affiliate fee 5 % to " + others},
		"an affiliate of no": {url.Values{"tokenOutRecipient": {mine}, "affiliateFeePercent": {"0"}}, ""},
	} {
		plain := golden.PageText(pageOf(t, comparisonOfSix(), func(s *Swap) {
			for field := range each.form {
				s.Form[field] = each.form[field]
			}
		}))
		if isTold := strings.Contains(plain, "Recipient 0x") || strings.Contains(plain, "Affiliate fee"); isTold != (each.want != "") || !strings.Contains(plain, each.want) {
			t.Errorf("%s: the page lacks %q, or says more: %s", name, each.want, plain)
		}
	}
}

func TestRevertsAreToldInWords(t *testing.T) {
	for said, want := range map[string]string{
		"STF":                                  "transfer from the sender failed",
		"TransferHelper: TRANSFER_FROM_FAILED": "transfer from the sender failed",
		"SafeTransferFromFailed()":             "transfer from the sender failed",
		"ERC20InsufficientAllowance(spender 0x, allowance 0, needed 1)":                "has not approved",
		"ERC20: transfer amount exceeds balance":                                       "balance is too low",
		"UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT":                                  "below the minimum",
		"Too little received":                                                          "below the minimum",
		"V3TooLittleReceived()":                                                        "below the minimum",
		"TooMuchSlippage(token 0x, expected 2, actual 1)":                              "below the minimum",
		"CallFailed(target 0xab, data ERC20InsufficientBalance(sender 0x, balance 0))": "balance is too low",
		"SwapFailed(srcRouter 0xab)":                                                   "contract failed",
		"Transaction too old":                                                          "has expired",
		"no reason given":                                                              "without a reason",
		"Pausable: paused":                                                             "a contract reverted: Pausable: paused",
	} {
		golden.Contains(t, said, revertWords(said), want)
	}
}

func TestBarsBeginAtTheWorstVenue(t *testing.T) {
	page := pageOf(t, comparisonOfSix())
	widths := regexp.MustCompile(`class="value" width="([0-9.]+)%"`).FindAllStringSubmatch(page, -1)
	if len(widths) != 2 || widths[0][1] != "100.00" || widths[1][1] != "0.00" {
		t.Errorf("bars of %v percent, want 100 and 0", widths)
	}
}

func TestSwapPageKnowsNoValueWithoutAPrice(t *testing.T) {
	c := comparisonOfSix()
	c.In.USD, c.Out.USD, c.Fee, c.ProtocolFee, c.SlippagePercent, c.Compared[0].USD = nil, nil, nil, chain.Amount{}, 0.3, nil
	plain := golden.PageText(pageOf(t, c, withoutTx))
	golden.Contains(t, "the page", plain,
		"299 USDC no price, quoted", "Price impact unknown: not both tokens have a price", "Network fee unknown", "Protocol fee none",
		"Slippage 0.3 % Route", "298.2525 no price −0.25 %", "For a transaction, enter a recipient",
	)
	if strings.Contains(plain, "$0.00") {
		t.Errorf("what is not known is told as nothing: %s", plain)
	}
}

func TestSmallValuesAreNotToldAsNothing(t *testing.T) {
	c := comparisonOfSix()
	for _, usd := range []float64{0.0008, 0} {
		c.Fee.USD = &usd
		golden.Contains(t, "a fee of less than a cent", golden.PageText(pageOf(t, c)), "Network fee under $0.01, 0.00044 ETH")
	}
}

func TestSwapPageSaysWhyThereIsNoTransaction(t *testing.T) {
	stuck := quote.Asked{Verdict: quote.Refused, Took: 3 * time.Millisecond, Err: errors.New(revertedBecause + "STF")}
	c := &swaps.Comparison{Err: errors.New("no venue made a transaction: first: transaction would revert: STF; second: transaction would revert: STF")}
	for _, stuck.Venue = range []string{"first", "second"} {
		c.Asked = append(c.Asked, stuck)
	}
	plain := golden.PageText(pageOf(t, c, withoutTx))
	golden.Contains(t, "the page", plain,
		"No transaction 0.1 ETH to USDC on Ethereum: no venue made a transaction.",
		"2 venues refused: the transaction would fail: the transfer from the sender failed ( first , second )",
	)
}

func TestAmountsOfRowsStandBelowEachOther(t *testing.T) {
	for _, test := range []struct {
		largest  int64
		exact    string
		decimals int
		want     string
	}{
		{299000000, "298.2525", 6, "298.2525"},
		{299000000, "298", 6, "298.0000"},
		{123456789012, "0.000099", 6, "0.00"},
		{2000000000000000, "0.001993325", 18, "0.001993325"},
		{5000000000000000000, "4.999999999999999999", 18, "4.999999"},
		{7, "3", 0, "3"},
	} {
		if got := aligned(test.exact, placesFor(big.NewRat(test.largest, 1), test.decimals)); got != test.want {
			t.Errorf("%s beside %d = %s, want %s", test.exact, test.largest, got, test.want)
		}
	}
}

// TestSwapPageHasEachCommandOnce requires the command that gets the transaction next to the transaction, and nowhere
// else.
func TestSwapPageHasEachCommandOnce(t *testing.T) {
	for name, change := range map[string]func(*Swap){"with a transaction": func(*Swap) {}, "of prices alone": withoutTx} {
		if commands := strings.Count(pageOf(t, comparisonOfSix(), change), "<code>curl "); commands != 1 {
			t.Errorf("%s: the page has %d commands of curl", name, commands)
		}
	}
}

func TestTextOfTokensIsEscaped(t *testing.T) {
	wild := &token.Listing{Token: token.Token{Decimals: 6, Name: hostile, Symbol: hostile, LogoURI: "data:text/html,<script>alert(4)</script>"}}
	page := pageOf(t, comparisonOfSix(), func(s *Swap) {
		s.Form, s.Origin, s.In, s.Out = url.Values{"tokenIn": {hostile}, "chainId": {hostile}, "amount": {hostile}}, hostile, wild, wild
		s.Listed = []Listed{{hostile, hostile, hostile}}
		s.Faults = []pages.Fault{{Field: "tokenIn", Message: hostile, Choices: []pages.FoundToken{{Token: pages.NewViews(chain.Documented()).Listing(*wild), URL: "/swap?tokenIn=" + url.QueryEscape(hostile)}}}}
	})
	executable := regexp.MustCompile(`(?i)<script>|<img src=x|(href|src)="\s*(javascript|data|vbscript):`)
	if found := executable.FindString(page); found != "" || !strings.Contains(page, "alert(1)") {
		t.Errorf("the page contains %q, or does not show the text", found)
	}
}
