package venues

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/sandbox/contracts"
)

const (
	zero   = "0x0000000000000000000000000000000000000000"
	weth   = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
	usdc   = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	dai    = "0x6b175474e89094c44da98b954eedeac495271d0f"
	lonely = "0x00000000000000000000000000000000000a10e0"
	user   = "0x1111111111111111111111111111111111111111"
	payee  = "0x2222222222222222222222222222222222222222"
	helper = "0x3333333333333333333333333333333333333333"
	coinAt = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
	ether  = "1000000000000000000"
)

// deep and shallow are two pools of the coin and USDC, stable is the only one that leads to DAI.
var deep, shallow, stable = "0x00000000000000000000000000000000000000d1", "0x00000000000000000000000000000000000000d2", "0x00000000000000000000000000000000000000d3"

func units(whole, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
}

func testMarket() Market {
	reserves := map[string][2]*big.Int{
		deep:    {units(30_000_000, 6), units(10_000, 18)},
		shallow: {units(300_000, 6), units(100, 18)},
		stable:  {units(5_000_000, 18), units(5_000_000, 6)},
	}
	return Market{
		Pools: []Pool{
			{Chain: 1, Address: deep, TokenA: usdc, TokenB: weth, FeeBps: 30},
			{Chain: 1, Address: shallow, TokenA: usdc, TokenB: weth, FeeBps: 5},
			{Chain: 1, Address: stable, TokenA: dai, TokenB: usdc, FeeBps: 5},
		},
		Tokens: []Token{
			{Chain: 1, Address: zero, Symbol: "ETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: weth, Symbol: "WETH", Decimals: 18, USD: 3000},
			{Chain: 1, Address: usdc, Symbol: "USDC", Decimals: 6, USD: 1},
			{Chain: 1, Address: dai, Symbol: "DAI", Decimals: 18, USD: 1},
			{Chain: 1, Address: lonely, Symbol: "LONE", Decimals: 18, USD: 1},
		},
		Wrapped: map[uint64]string{1: weth},
		Reserves: func(_ context.Context, _ uint64, pool string) (a, b *big.Int, err error) {
			r, known := reserves[strings.ToLower(pool)]
			if !known {
				return nil, nil, errors.New("no such pool")
			}
			return r[0], r[1], nil
		},
		Now: func() time.Time { return time.Unix(1_767_355_200, 0) },
	}
}

// callVenue sends a request to a venue and decodes the JSON of its answer.
func callVenue(t *testing.T, venue, method, target, body string) (status int, answer map[string]any) {
	t.Helper()
	return callHandler(t, Handlers(testMarket())[venue], method, target, body)
}

// at follows members and indices into decoded JSON.
func at(t *testing.T, value any, path ...string) any {
	t.Helper()
	for _, step := range path {
		members, ok := value.(map[string]any)
		if !ok || members[step] == nil {
			t.Fatalf("no %q in %v", step, value)
		}
		value = members[step]
	}
	return value
}

func TestBestTakesTheBetterPool(t *testing.T) {
	c := index(testMarket()).chains[1]
	tests := []struct {
		name    string
		in, out string
		amount  *big.Int
		pools   []string
	}{
		{"a little through the cheap pool", zero, usdc, units(1, 16), []string{shallow}},
		{"a lot through the deep pool", zero, usdc, units(20, 18), []string{deep}},
		{"over USDC", zero, dai, units(1, 16), []string{shallow, stable}},
		{"wrapping", zero, weth, units(1, 18), []string{}},
	}
	for _, row := range tests {
		found, err := c.best(t.Context(), common.HexToAddress(row.in), common.HexToAddress(row.out), row.amount)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		pools := []string{}
		for _, p := range found.pools() {
			pools = append(pools, strings.ToLower(p.Hex()))
		}
		if !slices.Equal(pools, row.pools) {
			t.Errorf("%s: pools %v, want %v", row.name, pools, row.pools)
		}
		again, err := c.along(t.Context(), common.HexToAddress(row.in), common.HexToAddress(row.out), found.pools(), row.amount)
		if err != nil || again.amountOut.Cmp(found.amountOut) != 0 {
			t.Errorf("%s: along the same pools %v, %v; want %v", row.name, again.amountOut, err, found.amountOut)
		}
	}
	for _, out := range []string{lonely, zero} {
		if _, err := c.best(t.Context(), coin, common.HexToAddress(out), big.NewInt(1)); !errors.Is(err, errNoRoute) {
			t.Errorf("best from the coin to %s = %v, want no route", out, err)
		}
	}
}

func TestPoolsPriceLikeUniswapV2(t *testing.T) {
	c := index(testMarket()).chains[1]
	step := must.Get(c.through(t.Context(), c.pools[0], common.HexToAddress(weth), units(1, 18)))(t)
	// 0.997 ETH into 10,000 ETH and 30,000,000 USDC: 997·30e12 / (1000·10,000 + 997), in smallest units.
	if got, want := step.amountOut.String(), "2990701827"; got != want {
		t.Errorf("one ETH gives %s, want %s", got, want)
	}
}

func TestKyberBuildsTheRouteItGave(t *testing.T) {
	_, route := callVenue(t, "kyberswap", http.MethodGet, "/ethereum/api/v1/routes?tokenIn="+coinAt+"&tokenOut="+usdc+"&amountIn="+ether+
		"&feeAmount=100,20&chargeFeeBy=currency_in&isInBps=true&feeReceiver="+helper+","+user, "")
	summary := at(t, route, "data", "routeSummary").(map[string]any)
	order := map[string]any{"routeSummary": summary, "sender": user, "recipient": payee, "slippageTolerance": 50}
	body, _ := json.Marshal(order)
	status, built := callVenue(t, "kyberswap", http.MethodPost, "/ethereum/api/v1/route/build", string(body))
	if status != http.StatusOK {
		t.Fatalf("build = HTTP %d %v", status, built)
	}
	got := decodeCall(t, at(t, built, "data", "data"))
	quoted, _ := new(big.Int).SetString(at(t, summary, "amountOut").(string), 10)
	if want := []Share{{common.HexToAddress(helper), 100}, {common.HexToAddress(user), 20}}; !slices.Equal(got.Plan.Shares, want) || got.Plan.OutputFeeBps != 0 {
		t.Errorf("fees of the call: %+v", got)
	}
	if want := new(big.Int).Sub(quoted, shareOf(quoted, 50)); got.MinAmountOut.Cmp(want) != 0 {
		t.Errorf("minimum %s, want %s", got.MinAmountOut, want)
	}
	if got.Recipient != common.HexToAddress(payee) || at(t, built, "data", "transactionValue") != ether {
		t.Errorf("recipient %s, value %v", got.Recipient, at(t, built, "data", "transactionValue"))
	}
	for name, change := range map[string]func(){
		"a changed route":        func() { summary["amountOut"] = "1" },
		"slippage above the cap": func() { order["slippageTolerance"] = 2001 },
		"no recipient":           func() { delete(order, "recipient") },
	} {
		change()
		body, _ := json.Marshal(order)
		if status, answer := callVenue(t, "kyberswap", http.MethodPost, "/ethereum/api/v1/route/build", string(body)); status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d %v", name, status, answer)
		}
	}
}

func TestVeloraPaysTheUserUnlessToldOtherwise(t *testing.T) {
	swap := "/swap?srcToken=" + coinAt + "&srcDecimals=18&destToken=" + usdc + "&destDecimals=6&version=6.2&network=1&amount=" + ether +
		"&slippage=100&userAddress=" + user
	for query, want := range map[string]string{"": user, "&receiver=" + payee: payee} {
		_, answer := callVenue(t, "velora", http.MethodGet, swap+query, "")
		got := decodeCall(t, at(t, answer, "txParams", "data"))
		if got.Recipient != common.HexToAddress(want) {
			t.Errorf("with %q the recipient is %s, want %s", query, got.Recipient, want)
		}
		gross, _ := new(big.Int).SetString(at(t, answer, "priceRoute", "destAmount").(string), 10)
		delivered := less(gross, float64(velora.keptBps))
		if least := less(delivered, 101); got.MinAmountOut.Cmp(delivered) >= 0 || got.MinAmountOut.Cmp(least) <= 0 {
			t.Errorf("minimum %s of %s delivered with a slippage of 1 %%", got.MinAmountOut, delivered)
		}
	}
}

func TestVeloraFindsChangedRoutes(t *testing.T) {
	_, answer := callVenue(t, "velora", http.MethodGet, "/prices?srcToken="+coinAt+"&srcDecimals=18&destToken="+usdc+
		"&destDecimals=6&version=6.2&network=1&amount="+ether, "")
	price := answer["priceRoute"].(map[string]any)
	price["destAmount"] = "1"
	body, _ := json.Marshal(map[string]any{
		"priceRoute": price, "srcToken": coinAt, "destToken": usdc, "srcAmount": ether, "slippage": 100, "userAddress": user,
	})
	if status, answer := callVenue(t, "velora", http.MethodPost, "/transactions/1?ignoreChecks=true", string(body)); status != http.StatusBadRequest {
		t.Errorf("a changed price route: HTTP %d %v", status, answer)
	}
}

// TestDialectsRefuse has requests that each API does not take, and the member of its answer that says why.
func TestDialectsRefuse(t *testing.T) {
	const kyber = "/ethereum/api/v1/routes?tokenIn=" + coinAt + "&tokenOut=" + usdc
	const fee = "&isInBps=true&chargeFeeBy=currency_in"
	const velora = "/prices?srcToken=" + coinAt + "&srcDecimals=18&destToken=" + usdc + "&destDecimals=6&side=SELL&version=6.2"
	const ocean = "/v4/1/quote?inTokenAddress=" + coinAt + "&outTokenAddress=" + usdc + "&gasPriceDecimals=1000000000"
	for _, c := range []struct {
		name, venue, target string
		status              int
		member, want        string
	}{
		{"unknown chain", "kyberswap", strings.Replace(kyber, "ethereum", "atlantis", 1) + "&amountIn=1", 404, "code", ""},
		{"no amount", "kyberswap", kyber, 400, "code", "4000"},
		{"negative amount", "kyberswap", kyber + "&amountIn=-1", 400, "code", "4000"},
		{"no token", "kyberswap", "/ethereum/api/v1/routes?amountIn=1&tokenIn=" + coinAt, 400, "code", "4000"},
		{"unknown token", "kyberswap", strings.Replace(kyber, coinAt, user, 1) + "&amountIn=1", 400, "code", "4011"},
		{"no route", "kyberswap", strings.Replace(kyber, coinAt, lonely, 1) + "&amountIn=1", 400, "code", "4008"},
		{"too large", "kyberswap", kyber + "&amountIn=" + strings.Repeat("9", 60), 400, "code", "4009"},
		{"whole input as a fee", "kyberswap", kyber + "&amountIn=100&feeAmount=10000&feeReceiver=" + helper + fee, 400, "code", "4005"},
		{"two fees to one", "kyberswap", kyber + "&amountIn=100&feeAmount=10,20&feeReceiver=" + helper + fee, 400, "code", "4000"},
		{"fee without a receiver", "kyberswap", kyber + "&amountIn=100&feeAmount=10" + fee, 400, "code", "4000"},
		{"old version", "velora", strings.Replace(velora, "6.2", "5", 1) + "&network=1&amount=1", 400, "error", "version 6.2 is required"},
		{"unknown network", "velora", velora + "&network=59144&amount=1", 400, "error", "unsupported network"},
		{"no amount", "velora", velora + "&network=1", 400, "error", "invalid amount"},
		{"wrong decimals", "velora", strings.Replace(velora, "=18", "=8", 1) + "&network=1&amount=1", 400, "error", "invalid decimals"},
		{"unknown token", "velora", strings.Replace(velora, usdc, user, 1) + "&network=1&amount=1", 400, "error", veloraNoRoutes},
		{"too much impact", "velora", velora + "&network=1&amount=" + units(5000, 18).String(), 400, "error", veloraImpact},
		{"unknown chain", "openocean", strings.Replace(ocean, "/1/", "/atlantis/", 1) + "&amountDecimals=1", 200, "code", "400"},
		{"no gas price", "openocean", strings.Replace(ocean, "&gasPriceDecimals=1000000000", "", 1) + "&amountDecimals=1", 200, "code", "400"},
		{"human amount", "openocean", ocean + "&amount=1.5", 200, "code", "400"},
		{"tight slippage", "openocean", ocean + "&amountDecimals=1&slippage=0.01", 200, "code", "400"},
		{"unknown token", "openocean", strings.Replace(ocean, usdc, user, 1) + "&amountDecimals=1", 200, "code", "400"},
		{"no route", "openocean", strings.Replace(ocean, usdc, lonely, 1) + "&amountDecimals=1", 200, "code", "200"},
	} {
		status, answer := callVenue(t, c.venue, http.MethodGet, c.target, "")
		got := fmt.Sprint(answer[c.member])
		if answer[c.member] == nil {
			got = ""
		}
		if status != c.status || got != c.want || answer["data"] != nil {
			t.Errorf("%s, %s: HTTP %d %v, want %d and %s %q", c.venue, c.name, status, answer, c.status, c.member, c.want)
		}
	}
}

func TestOpenOceanBuildsForAnAccount(t *testing.T) {
	const quote = "/v4/1/quote?inTokenAddress=" + coinAt + "&outTokenAddress=" + usdc + "&gasPriceDecimals=1000000000"
	swap := strings.Replace(quote, "/quote", "/swap", 1) + "&amountDecimals=" + ether + "&slippage=1"
	if _, answer := callVenue(t, "openocean", http.MethodGet, swap, ""); at(t, answer, "data").(map[string]any)["data"] != nil {
		t.Error("calldata for nobody's account")
	}
	_, answer := callVenue(t, "openocean", http.MethodGet, strings.Replace(swap, "/1/", "/ethereum/", 1)+"&sender="+user+"&account="+payee, "")
	got := decodeCall(t, at(t, answer, "data", "data"))
	if got.Recipient != common.HexToAddress(payee) || got.MinAmountOut.String() != at(t, answer, "data", "minOutAmount") {
		t.Errorf("call %+v of %v", got, answer)
	}
}

func TestDefiLlamaAnswersWhatItKnows(t *testing.T) {
	_, answer := callVenue(t, "defillama", http.MethodGet, "/prices/current/ethereum:"+strings.ToUpper(usdc[2:])+",ethereum:"+zero+",coingecko:ethereum,ethereum:"+user+",atlantis:"+usdc, "")
	coins := at(t, answer, "coins").(map[string]any)
	if len(coins) != 2 {
		t.Errorf("%d coins, want the zero address and the coin's name: %v", len(coins), coins)
	}
	if _, told := coins["coingecko:ethereum"].(map[string]any)["decimals"]; told {
		t.Error("decimals of a coin asked for by name")
	}
}

// decodedCall is what a call says and its plan.
type decodedCall struct {
	Recipient    common.Address
	MinAmountOut *big.Int
	Plan         Plan
}

// decodeCall reads a call of the router of KyberSwap, Velora or OpenOcean back.
func decodeCall(t *testing.T, text any) decodedCall {
	t.Helper()
	data := must.Get(hex.DecodeString(strings.TrimPrefix(text.(string), "0x")))(t)
	called := must.Get(contracts.VenueRouter.ABI.MethodById(data))(t)
	values := must.Get(called.Inputs.Unpack(data[4:]))(t)
	var plan []byte
	var got decodedCall
	switch {
	case called.Sig == kyberRouterSwap.Sig:
		execution := *abi.ConvertType(values[0], new(kyberExecution)).(*kyberExecution)
		plan, got.Recipient, got.MinAmountOut = execution.TargetData, execution.Desc.DstReceiver, execution.Desc.MinReturnAmount
	case called.Sig == openOceanRouterSwap.Sig:
		swap := *abi.ConvertType(values[1], new(openOceanDescription)).(*openOceanDescription)
		calls := *abi.ConvertType(values[2], new([]openOceanCalled)).(*[]openOceanCalled)
		plan, got.Recipient, got.MinAmountOut = calls[0].Data, swap.DstReceiver, swap.MinReturnAmount
	default:
		swap := *abi.ConvertType(values[1], new(veloraData)).(*veloraData)
		plan, got.Recipient = values[4].([]byte), swap.Beneficiary
		got.MinAmountOut = less(swap.ToAmount, float64(new(big.Int).And(values[2].(*big.Int), big.NewInt(0x3fff)).Int64()))
	}
	parts := must.Get(abi.Arguments{{Type: *planArgument[0].Type.TupleElems[5]}}.Unpack(plan))(t)
	got.Plan = *abi.ConvertType(parts[0], new(Plan)).(*Plan)
	return got
}

// TestAnswersHaveTheRecordedMembers holds the names of members against a recorded answer of Velora, which
// does not lie in this repository.
func TestAnswersHaveTheRecordedMembers(t *testing.T) {
	var known map[string]any
	recorded.JSON(t, "recorded/venues/velora.native-input.spandex.json", &known)
	_, answer := callVenue(t, "velora", http.MethodGet, "/swap?srcToken="+coinAt+"&srcDecimals=18&destToken="+usdc+
		"&destDecimals=6&version=6.2&network=1&amount="+ether+"&slippage=100&userAddress="+user, "")
	for _, part := range []string{"priceRoute", "txParams"} {
		want := known[part].(map[string]any)
		delete(want, "blockNumber") // the market has no blocks
		got := answer[part].(map[string]any)
		for name := range want {
			if _, has := got[name]; !has {
				t.Errorf("%s lacks %q", part, name)
			}
		}
		for name := range got {
			if _, has := want[name]; !has {
				t.Errorf("%s has %q, which the real one has not", part, name)
			}
		}
	}
}
