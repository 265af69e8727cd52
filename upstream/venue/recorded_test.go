package venue

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/upstream"
)

// part returns the part of a recording below the given members.
func part(t *testing.T, name string, members ...string) json.RawMessage {
	t.Helper()
	var raw json.RawMessage
	recorded.JSON(t, "recorded/venues/"+name, &raw)
	for _, member := range members {
		var object map[string]json.RawMessage
		must.Do(t, json.Unmarshal(raw, &object))
		raw = object[member]
	}
	return raw
}

// TestRecordedAnswers reads complete answers of the venues' APIs, with prices and transactions.
func TestRecordedAnswers(t *testing.T) {
	const ether, hundred = "1000000000000000000", "100000000000000000000"
	coin, usdc := chain.NativeCoin(chain.EVM), chain.NewAddress([]byte("any token's contract"))
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	tron := must.Get(chain.ParseAddress("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", chain.TVM))(t)
	for _, c := range []struct {
		venue, file      string
		member           string
		chain            chain.ID
		in, out          chain.Address
		amount, slippage string
		price            string
		gas              uint64
		made             string // member with the transaction; empty: the same answer; "-": none
	}{
		{sushi.Name, "sushi.swap-v7.137-native-to-usdc.json", "", 137, coin, usdc, hundred, "0.5", "24054088", 0, ""},
		{sushi.Name, "sushi.swap-v7.137-usdc-to-native.json", "", 137, usdc, coin, "1000000", "0.5", "4154919727327294464", 0, ""},
		{sushi.Name, "sushi.swap-v7.137-wrap.json", "", 137, coin, usdc, hundred, "0.5", hundred, 0, ""},
		{relay.Name, "relay.native-input.spandex.json", "", 8453, coin, usdc, ether, "1", "2042291444", 0, ""},
		{lifi.Name, "lifi.native-input.spandex.json", "", 8453, coin, usdc, ether, "1", "2036811821", 0, ""},
		{zeroEx.Name, "0x.native-input.spandex.json", "", 8453, coin, usdc, ether, "1", "2052237020", 0, ""},
		{okx.Name, "okx.market_order.0.cow.json", "response", 1, ethereum.WrappedCoin, usdc, ether, "1", "6556259156432631386442", 202500, ""},
		{openOcean.Name, "openocean.quote.docs.json", "", 8453, coin, usdc, ether, "1", "2345670000", 516812, "-"},
		{velora.Name, "velora.native-input.spandex.json", "", 8453, coin, usdc, ether, "1", "2042631231", 1139070, "txParams"},
		{velora.Name, "velora.fees.spandex.json", "", 8453, usdc, coin, "500000000", "1", "257446913945410842", 157740, "txParams"},
		{sunio.Name, "../chains/sunswap-router.partial.json", "response body", chain.Tron, chain.NativeCoin(chain.TVM), tron, "1000000", "1", "340000", 150_000, "-"},
	} {
		t.Run(c.file, func(t *testing.T) {
			s := baseSwap(t, c.amount)
			s.Chain, _ = chain.Documented().Chain(c.chain)
			s.In.Address, s.Out.Address, s.SlippagePercent = c.in, c.out, decimal.RequireFromString(c.slippage)
			s.In.Token.Decimals, s.Out.Token.Decimals = 6, 6
			asked := &question{aggregator: openHere(t, c.venue, upstream.NewPool(c.venue)), swap: s}
			body := part(t, c.file, strings.Fields(c.member)...)
			price, err := asked.readPrice(upstream.Response{Status: 200, Body: body})
			if err != nil || price.out.String() != c.price || c.gas > 0 && price.gas != c.gas {
				t.Fatalf("out %s, gas %d, %v; want %s, %d", price.out, price.gas, err, c.price, c.gas)
			}
			if c.made == "-" {
				return
			}
			if !asked.isAskedOnce() {
				body = part(t, c.file, strings.Fields(c.made)...)
				price, err = asked.readBuilt(upstream.Response{Status: 200, Body: body})
			}
			if err != nil || len(price.tx.Data) < 100 {
				t.Errorf("%d bytes of calldata, %v", len(price.tx.Data), err)
			}
		})
	}
}

// TestRecordedRefusalsAreUnderstood reads every recorded answer without a price as its venue. The status is the
// recording's, or else the one given here.
func TestRecordedRefusalsAreUnderstood(t *testing.T) {
	type refused = []string
	const noRoute, rejected, limited, bad = "no route", "rejected", "rate limited", "bad answer"
	for file, c := range map[string]struct {
		venue  string
		status int
		want   refused
	}{
		"0x.errors.observed.json":       {zeroEx.Name, 0, refused{rejected, rejected, noRoute}},
		"0x.not_found.0.cow.json":       {zeroEx.Name, 400, refused{rejected}}, // in the words of version 1
		"1inch.errors.observed.json":    {oneInch.Name, 0, refused{noRoute, rejected}},
		"1inch.market_order.0.cow.json": {oneInch.Name, 200, refused{bad}}, // from another method
		"1inch.not_found.0.cow.json":    {oneInch.Name, 200, refused{bad}}, // from another method
		"kyberswap.errors.docs.json": {kyber.Name, 400, refused{
			rejected, rejected, rejected, noRoute, noRoute, noRoute, noRoute, "moved", rejected, rejected, rejected, rejected,
		}},
		"lifi.error.docs.json":     {lifi.Name, 404, refused{noRoute}},
		"okx.errors.docs.json":     {okx.Name, 0, refused{noRoute, limited, noRoute, rejected, noRoute}},
		"okx.not_found.0.cow.json": {okx.Name, 200, refused{noRoute}},
		"relay.errors.codes.json": {relay.Name, 400, refused{
			noRoute, noRoute, noRoute, noRoute, noRoute, noRoute, rejected, rejected,
		}},
		"sushi.errors.docs.json":      {sushi.Name, 0, refused{noRoute, limited, rejected}},
		"velora.errors.observed.json": {velora.Name, 0, refused{noRoute, noRoute, noRoute, limited, limited, limited}},
		"velora.not_found.0.cow.json": {velora.Name, 400, refused{noRoute}},
		// Answers of an older router, which must not be called.
		"velora.market_order.0.cow.json": {velora.Name, 200, refused{bad}},
		// About another input, since an exact output was requested.
		"okx.market_order.2.cow.json": {okx.Name, 200, refused{bad}},
	} {
		t.Run(file, func(t *testing.T) {
			var got []string
			for _, each := range spoken(t, file) {
				got = append(got, verdictOf(t, c.venue, max(each.Status+each.HTTP, c.status), each.Body))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// said is a recorded answer.
type said struct {
	Status, HTTP int
	Body         json.RawMessage
}

// spoken reads recordings in several forms: a list of answers, a request with its response, Relay's codes, which it
// wraps in their documented envelope, or a body.
func spoken(t *testing.T, file string) (all []said) {
	t.Helper()
	var raw json.RawMessage
	recorded.JSON(t, "recorded/venues/"+file, &raw)
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	var pair struct {
		Response json.RawMessage
		Envelope map[string]any `json:"envelope_400"`
		Codes    []string       `json:"codes_seen_in_sdk"`
	}
	must.Do(t, json.Unmarshal(raw, &pair))
	for _, code := range pair.Codes {
		pair.Envelope["errorCode"] = code
		all = append(all, said{Body: must.Get(json.Marshal(pair.Envelope))(t)})
	}
	switch {
	case len(all) > 0:
	case pair.Response != nil:
		all = []said{{Body: pair.Response}}
	default:
		all = []said{{Body: raw}}
	}
	return all
}

// verdictOf returns one word for how a venue reads an answer to its quote.
func verdictOf(t *testing.T, name string, status int, body []byte) string {
	t.Helper()
	asked := &question{aggregator: openHere(t, name, upstream.NewPool(name)), swap: baseSwap(t, "1000000000000000000")}
	_, err := asked.readPrice(upstream.Response{Status: status, Body: body})
	failed, isClassed := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil:
		return "price"
	case errors.Is(err, quote.ErrNoRoute):
		return "no route"
	case errors.Is(err, ErrPriceMoved):
		return "moved"
	case status == 429:
		return "rate limited" // by the endpoint, whatever the body
	case isClassed:
		return failed.Class.String()
	}
	return "bad answer"
}

// TestNoRecordingIsForgotten checks that this file or enforced_test.go reads every recorded body, or that a reason is
// given not to.
func TestNoRecordingIsForgotten(t *testing.T) {
	none := map[string]string{
		"uniswap.errors.schema.json":                "Uniswap is read from its contracts, not asked for by its API",
		"uniswap.swap-request.openapi-example.json": "Uniswap is read from its contracts, not asked for by its API",
	}
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "..", "shared", "recorded", "venues", "*.json")))(t)
	if len(files) == 0 {
		t.Skip("recorded venue answers not present; they are in recorded/venues of the folder shared, which lies beside the repository")
	}
	text := slices.Concat(must.Get(os.ReadFile("recorded_test.go"))(t), must.Get(os.ReadFile("enforced_test.go"))(t))
	for _, file := range files {
		if name := filepath.Base(file); none[name] == "" && !strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("%s is read by no test", name)
		}
	}
}

// TestOlderAnswersNameRoutersThatAreNotCalled reads a price whose transaction calls a router that was replaced.
func TestOlderAnswersNameRoutersThatAreNotCalled(t *testing.T) {
	s := baseSwap(t, "1000000000000000000")
	s.Chain, _ = chain.Documented().Chain(chain.Ethereum)
	s.In.Address = s.Chain.WrappedCoin
	asked := &question{aggregator: openHere(t, zeroEx.Name, upstream.NewPool(zeroEx.Name)), swap: s}
	resp := upstream.Response{Status: 200, Body: part(t, "0x.market_order.0.cow.json", "response")}
	if o, err := asked.readBuilt(resp); err == nil || isRefusal(err) {
		t.Errorf("a transaction to the old exchange proxy: %s, %v, want a bad answer", o.tx.To, err)
	}
}

// TestOKXApprovesWhatIsDocumented compares the documented contract with the one in OKX's recorded approval.
func TestOKXApprovesWhatIsDocumented(t *testing.T) {
	a := must.Get(parseAnswer(part(t, "okx.market_order.1.cow.json", "response")))(t)
	if got, want := profileOf(t, okx.Name).Approves[chain.Ethereum], contract(a.text("data.dexContractAddress")); got != want {
		t.Errorf("approves %s, recorded %s", got, want)
	}
}
