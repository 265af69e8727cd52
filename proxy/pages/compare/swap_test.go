package compare

import (
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/proxy/pages"
	"crossgate/token"
)

// pageOf is the page of 0.1 ETH to USDC on Ethereum.
func pageOf(t *testing.T, explanation, estimate string) string {
	t.Helper()
	pages := compareViews()
	ether := &token.Listing{Key: token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}, Token: token.Token{Symbol: "ETH", Name: "Ether", Decimals: 18}}
	usdc := chain.NewAddress([]byte("twenty bytes of USDC"))
	s := Swap{
		Form: url.Values{"chainId": {"1"}}, Compared: comparisonIn(t, []byte(explanation), []byte(estimate)), In: ether,
		Out:      &token.Listing{Key: token.Key{Chain: 1, Address: usdc}, Token: token.Token{Symbol: "USDC", Name: "USD Coin", Decimals: 6}},
		AmountIn: chain.NewAmount(1e17), Priced: true, Path: "/v1.0/chain/transaction?chainId=1&tokenIn=0x", Origin: "https://gate.example", Now: noon,
	}
	s.JSON, s.HasTx = estimate, strings.Contains(estimate, `"tx"`)
	return render(t, func(to io.Writer) error { return pages.Swap(to, s) })
}

const estimateOfFour = `{"tx":{"to":"0xab","data":"0x0102","value":"100000000000000000"},"tokenIn":{"amount":"100000000000000000","approximateUsdValue":300},
	"tokenOut":{"amount":"299000000","approximateUsdValue":299.4},"slippage":0.5,"recommendedSlippage":0.3,"protocolFee":"239832",
	"protocolFeeApproximateUsdValue":"0.24","estimatedTransactionFee":{"total":"440000000000000","details":{"gasLimit":"383410"},"approximateUsdValue":1.32},
	"comparedAggregators":[{"name":"first","amount":"299000000","approximateUsdValue":299}]}`

const explanationOfFour = `{"execution":"router","to":"0x","amount":"299000000","minAmount":"298000000","protocolFee":"239832","quotedAt":"2026-11-21T11:59:58Z","aggregators":[
	{"name":"second","execution":"direct","verdict":"outbid","tookMs":80,"quotedAmount":"298252500","amount":"298252500","gas":1,"simulated":false},
	{"name":"first","execution":"router","verdict":"won","tookMs":12.4,"quotedAmount":"299239832","amount":"299000000","gas":1,"simulated":true},
	{"name":"third","execution":"direct","verdict":"refused","tookMs":3,"reason":"transaction would revert: error 0xdeadbeef"},
	{"name":"fourth","execution":"router","verdict":"silent","tookMs":2500,"reason":"no answer in time: context deadline exceeded"},
	{"name":"fifth","execution":"direct","verdict":"refused","tookMs":9,"reason":"transaction would revert: error 0xdeadbeef"},
	{"name":"sixth","execution":"router","verdict":"refused","tookMs":9,"reason":"transaction would revert: CallFailed(target 0xab, data SwapOutcomeTooLow(tokenOut 0x, amountOut 1))"}]}`

func TestSwapPageTellsWhatASwapComesTo(t *testing.T) {
	page := pageOf(t, explanationOfFour, estimateOfFour)
	plain := text(page)
	for _, want := range []string{
		"0.1 ETH on Ethereum buys", "299 USDC $299.00, quoted 2026-11-21 11:59:58 UTC",
		"Rate 1 ETH for 2,990 USDC, 1 USDC for 0.000334448 ETH", "Price impact 0.20 %: $299.40 for $300.00", "Minimum received 298 USDC",
		"Slippage 0.5 %, 0.3 % recommended", "Route first, through the protocol's router", "Protocol fee 0.239832 USDC, $0.24",
		"Network fee $1.32, 0.00044 ETH for 383,410 gas",
		"first chosen simulated through the protocol's router 299.0000 $299.00 – 12 ms",
		"second through the venue's own router 298.2525 $298.25 −0.25 % 80 ms",
		"2 venues refused: the transaction would fail: a contract refused with the error 0xdeadbeef, whose name is not known ( third , fifth )",
		"1 venue no quote in time: it had not answered when the others were compared ( fourth )",
		"1 venue refused: the transaction would fail: less than the minimum would come out ( sixth )",
		"curl 'https://gate.example/v1.0/chain/transaction?chainId=1&tokenIn=0x'",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
	if strings.Count(plain, "0xdeadbeef, whose") != 1 {
		t.Error("a reason is told more than once")
	}
}

func TestRevertsAreToldInWords(t *testing.T) {
	for said, want := range map[string]string{
		"STF":                                  "could not be taken",
		"TransferHelper: TRANSFER_FROM_FAILED": "could not be taken",
		"SafeTransferFromFailed()":             "could not be taken",
		"ERC20InsufficientAllowance(spender 0x, allowance 0, needed 1)":                "has not allowed",
		"ERC20: transfer amount exceeds balance":                                       "too little of the token",
		"UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT":                                  "less than the minimum",
		"Too little received":                                                          "less than the minimum",
		"V3TooLittleReceived()":                                                        "less than the minimum",
		"TooMuchSlippage(token 0x, expected 2, actual 1)":                              "less than the minimum",
		"CallFailed(target 0xab, data ERC20InsufficientBalance(sender 0x, balance 0))": "too little of the token",
		"SwapFailed(srcRouter 0xab)":                                                   "gave no result",
		"Transaction too old":                                                          "time has run out",
		"no reason given":                                                              "gave no reason",
		"Pausable: paused":                                                             "a contract refused: Pausable: paused",
	} {
		if got := revertWords(said); !strings.Contains(got, want) {
			t.Errorf("%s is told as %q, want %q", said, got, want)
		}
	}
}

func TestBarsBeginAtNothing(t *testing.T) {
	page := pageOf(t, explanationOfFour, estimateOfFour)
	widths := regexp.MustCompile(`class="value" width="([0-9.]+)%"`).FindAllStringSubmatch(page, -1)
	if len(widths) != 2 || widths[0][1] != "100.00" || widths[1][1] != "99.75" {
		t.Errorf("bars of %v percent, want 100 and 99.75: a quarter of a percent looks like one", widths)
	}
}

func TestSwapPageKnowsNoValueWithoutAPrice(t *testing.T) {
	estimate := `{"tokenIn":{"amount":"100000000000000000"},"tokenOut":{"amount":"299000000"},"slippage":0.3,"recommendedSlippage":0.3,
		"protocolFee":"0","comparedAggregators":[{"name":"first","amount":"299000000"}]}`
	plain := text(pageOf(t, explanationOfFour, estimate))
	for _, want := range []string{
		"299 USDC no price, quoted", "Price impact not known: no source prices both tokens", "Network fee not known", "Protocol fee none",
		"Slippage 0.3 % Route", "298.2525 no price −0.25 %", "For a transaction the form needs your address",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
	if strings.Contains(plain, "$0.00") {
		t.Errorf("what is not known is told as nothing: %s", plain)
	}
}

func TestSmallValuesAreNotToldAsNothing(t *testing.T) {
	estimate := strings.Replace(estimateOfFour, `"approximateUsdValue":1.32`, `"approximateUsdValue":0.0008`, 1)
	if plain := text(pageOf(t, explanationOfFour, estimate)); !strings.Contains(plain, "Network fee under $0.01, 0.00044 ETH") {
		t.Errorf("a fee of less than a cent: %s", plain)
	}
}

func TestSwapPageSaysWhyThereIsNoTransaction(t *testing.T) {
	explanation := `{"error":"no venue made a transaction: first: transaction would revert: STF; second: transaction would revert: STF","aggregators":[
		{"name":"first","execution":"direct","verdict":"refused","tookMs":3,"reason":"transaction would revert: STF"},
		{"name":"second","execution":"direct","verdict":"refused","tookMs":3,"reason":"transaction would revert: STF"}]}`
	plain := text(pageOf(t, explanation, ""))
	for _, want := range []string{
		"No transaction 0.1 ETH to USDC on Ethereum: no venue made a transaction.",
		"2 venues refused: the transaction would fail: the token could not be taken from the sender ( first , second )",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %q: %s", want, plain)
		}
	}
}

func TestAmountsOfRowsStandBelowEachOther(t *testing.T) {
	for _, test := range []struct {
		largest, units string
		decimals       int
		want           string
	}{
		{"299000000", "298252500", 6, "298.2525"},
		{"123456789012", "99", 6, "0.00"},
		{"2000000000000000", "1993325000000000", 18, "0.001993325"},
		{"5000000000000000000", "4999999999999999999", 18, "4.999999"},
		{"7", "3", 0, "3"},
	} {
		if got := aligned(pages.RatOf(amountIn(test.units)), test.decimals, placesFor(pages.RatOf(amountIn(test.largest)), test.decimals)); got != test.want {
			t.Errorf("%s beside %s = %s, want %s", test.units, test.largest, got, test.want)
		}
	}
}

// TestSwapPageHasEachCommandOnce wants the command that gets the transaction where the transaction is, and nowhere else.
func TestSwapPageHasEachCommandOnce(t *testing.T) {
	for name, estimate := range map[string]string{"with a transaction": estimateOfFour, "of prices alone": ""} {
		page := pageOf(t, explanationOfFour, estimate)
		if commands := strings.Count(page, "<code>curl "); commands != 1 {
			t.Errorf("%s: the page has %d commands of curl", name, commands)
		}
	}
}

func compareViews() *Views {
	views := pages.NewViews(chain.Documented())
	views.Add(templates, nil, "swap")
	return &Views{views}
}

func TestTextOfTokensIsEscaped(t *testing.T) {
	wild := &token.Listing{Token: token.Token{Decimals: 6, Name: hostile, Symbol: hostile, LogoURI: "data:text/html,<script>alert(4)</script>"}}
	page := render(t, func(to io.Writer) error {
		return compareViews().Swap(to, Swap{
			Form: url.Values{"tokenIn": {hostile}, "chainId": {hostile}, "amount": {hostile}}, Origin: hostile, Now: noon,
			Listed: []Listed{{hostile, hostile, hostile}}, In: wild, Out: wild, Compared: comparisonIn(t, answer(t, "explanation"), answer(t, "swap")), HasTx: true,
			Faults: []pages.Fault{{Field: "tokenIn", Message: hostile, Choices: []pages.Choice{{Token: *wild, URL: "/swap?tokenIn=" + url.QueryEscape(hostile)}}}},
		})
	})
	if found := executable.FindString(page); found != "" || !strings.Contains(page, "alert(1)") {
		t.Errorf("the page contains %q, or does not show the text", found)
	}
}
