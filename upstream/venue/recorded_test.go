package venue

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// recorded reads a body recorded from a real service. Recordings do not lie in this repository.
func recorded(t *testing.T, name string, into any) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "recorded", "venues", name)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("recorded venue answer not present: %s; it is in the folder shared, which lies beside the repository", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func TestRecordedVeloraAnswers(t *testing.T) {
	tests := []struct {
		name, amount   string
		fromCoin       bool
		wantNet, value string
		gas            uint64
	}{
		{"velora.native-input.spandex.json", "1000000000000000000", true, "2042631231", "1000000000000000000", 1139070},
		{"velora.fees.spandex.json", "500000000", false, "257446913945410842", "0", 157740},
	}
	p := profileOf(t, velora.Name)
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			var body struct {
				PriceRoute json.RawMessage `json:"priceRoute"`
				TxParams   json.RawMessage `json:"txParams"`
			}
			recorded(t, c.name, &body)
			s := baseSwap(t, c.amount)
			if !c.fromCoin {
				s.In.Address = p.Routers[s.Chain.ID] // any token will do
			}
			price, err := json.Marshal(map[string]json.RawMessage{"priceRoute": body.PriceRoute})
			if err != nil {
				t.Fatal(err)
			}
			route, err := readVeloraPrice(upstream.Response{Status: 200, Body: price}, p, s)
			if err != nil {
				t.Fatal(err)
			}
			if route.amountOut.String() != c.wantNet || route.gas != c.gas {
				t.Errorf("net %s, gas %d; want %s, %d", route.amountOut, route.gas, c.wantNet, c.gas)
			}
			tx, err := readVeloraTransaction(upstream.Response{Status: 200, Body: body.TxParams}, p, s, quote.Quote{})
			if err != nil {
				t.Fatal(err)
			}
			if tx.Value.String() != c.value || len(tx.Data) < 100 {
				t.Errorf("value %s, %d bytes of calldata; want %s and calldata", tx.Value, len(tx.Data), c.value)
			}
		})
	}
}

// TestRecordedAnswers reads whole answers of the venues' APIs, price and transaction.
func TestRecordedAnswers(t *testing.T) {
	const ether, hundred = "1000000000000000000", "100000000000000000000"
	usdc := chain.NewAddress([]byte("any token's contract"))
	tests := []struct {
		venue, file string
		chain       chain.ID
		in          chain.Address
		amount      string
		slippage    string
		out         string
	}{
		{sushi.Name, "sushi.swap-v7.137-native-to-usdc.json", 137, chain.NativeCoin(chain.EVM), hundred, "0.5", "24054088"},
		{sushi.Name, "sushi.swap-v7.137-usdc-to-native.json", 137, usdc, "1000000", "0.5", "4154919727327294464"},
		{sushi.Name, "sushi.swap-v7.137-wrap.json", 137, chain.NativeCoin(chain.EVM), hundred, "0.5", hundred},
		{relay.Name, "relay.native-input.spandex.json", 8453, chain.NativeCoin(chain.EVM), ether, "1", "2042291444"},
		{lifi.Name, "lifi.native-input.spandex.json", 8453, chain.NativeCoin(chain.EVM), ether, "1", "2036811821"},
		{zeroEx.Name, "0x.native-input.spandex.json", 8453, chain.NativeCoin(chain.EVM), ether, "1", "2052237020"},
	}
	for _, c := range tests {
		t.Run(c.file, func(t *testing.T) {
			var body json.RawMessage
			recorded(t, c.file, &body)
			s := baseSwap(t, c.amount)
			s.Chain, _ = chain.Documented().Chain(c.chain)
			s.In.Address, s.SlippagePercent = c.in, decimal.RequireFromString(c.slippage)
			h := readers[c.venue](upstream.Response{Status: 200, Body: body}, profileOf(t, c.venue), s)
			if err := errors.Join(h.priceErr, h.txErr); err != nil {
				t.Fatal(err)
			}
			if h.amountOut.String() != c.out || len(h.tx.Data) < 100 {
				t.Errorf("out %s, %d bytes of calldata; want %s and calldata", h.amountOut, len(h.tx.Data), c.out)
			}
		})
	}
}

func TestRecordedOKXAnswer(t *testing.T) {
	var pair struct {
		Response json.RawMessage `json:"response"`
	}
	recorded(t, "okx.market_order.0.cow.json", &pair)
	s := baseSwap(t, "1000000000000000000")
	s.Chain, _ = chain.Documented().Chain(chain.Ethereum)
	s.In.Address, s.SlippagePercent = s.Chain.WrappedCoin, decimal.NewFromInt(1) // its minimum is 99 % of the outcome
	offered, err := reader(readOKX).priceAndTx(upstream.Response{Status: 200, Body: pair.Response}, profileOf(t, okx.Name), s)
	if err != nil {
		t.Fatal(err)
	}
	if offered.amountOut.String() != "6556259156432631386442" || offered.gas != 202500 {
		t.Errorf("out %s, gas %d; want 6556259156432631386442 and 202500", offered.amountOut, offered.gas)
	}
}

func TestRecordedSunioRoute(t *testing.T) {
	var pair struct {
		Response struct {
			Body json.RawMessage `json:"body"`
		} `json:"response"`
	}
	recorded(t, filepath.Join("..", "chains", "sunswap-router.partial.json"), &pair)
	s := baseSwap(t, "1000000")
	s.Chain, _ = chain.Documented().Chain(chain.Tron)
	s.In.Token.Decimals, s.Out.Token.Decimals = 6, 6
	var err error
	if s.Out.Address, err = chain.ParseAddress("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", chain.TVM); err != nil {
		t.Fatal(err)
	}
	route, err := readSunio(upstream.Response{Status: 200, Body: pair.Response.Body}, quote.Profile{}, s)
	if err != nil || route.amountOut.String() != "340000" || len(route.route.path) != 3 {
		t.Errorf("out %s over %d tokens, %v; want 340000 over 3", route.amountOut, len(route.route.path), err)
	}
}

func TestRecordedKyberErrors(t *testing.T) {
	var documented []struct {
		When string          `json:"when"`
		Body json.RawMessage `json:"body"`
	}
	recorded(t, "kyberswap.errors.docs.json", &documented)
	noRoutes, moved := 0, 0
	for _, e := range documented {
		_, err := readKyberRoute(upstream.Response{Status: 400, Body: e.Body}, profileOf(t, kyber.Name), baseSwap(t, "1"))
		var failed *upstream.Error
		switch {
		case errors.Is(err, quote.ErrNoRoute):
			noRoutes++
		case errors.Is(err, ErrPriceMoved):
			moved++
		case !errors.As(err, &failed) || failed.Class != upstream.Rejected:
			t.Errorf("%s: %v", e.When, err)
		}
	}
	if noRoutes != 4 || moved != 1 {
		t.Errorf("%d without a route, %d moved; want 4 and 1", noRoutes, moved)
	}
}

func TestRecordedKyberTransactions(t *testing.T) {
	for _, name := range []string{"kyberswap.native-input.spandex.json", "kyberswap.kyber1.spandex.json"} {
		// These came from the API's older one-call form, whose transactions are the same.
		var body struct {
			InputAmount     digits `json:"inputAmount"`
			EncodedSwapData string `json:"encodedSwapData"`
			RouterAddress   string `json:"routerAddress"`
		}
		recorded(t, name, &body)
		tx := transaction{To: body.RouterAddress, Value: body.InputAmount, Data: body.EncodedSwapData}
		if _, err := tx.check(profileOf(t, kyber.Name), baseSwap(t, string(body.InputAmount))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDocumentedOpenOceanAnswer(t *testing.T) {
	var body json.RawMessage
	recorded(t, "openocean.quote.docs.json", &body)
	price, err := reader(readOpenOcean).price(upstream.Response{Status: 200, Body: body}, quote.Profile{}, baseSwap(t, "1000000000000000000"))
	if err != nil || price.amountOut.String() != "2345670000" || price.gas != 516812 {
		t.Errorf("price %s, gas %d, %v; want 2345670000, 516812", price.amountOut, price.gas, err)
	}
}
