package venue

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// refusals are recorded bodies with which a venue gave no price, and what they must be taken for: one word each.
// A status is the recording's, or else the one given here.
var refusals = map[string]struct {
	venue  string
	status int
	bodies func(t *testing.T, raw json.RawMessage) []spoken
	want   []string
}{
	"0x.errors.observed.json":       {zeroEx.Name, 0, listOfSaid, []string{"rejected", "rejected", "no route"}},
	"0x.not_found.0.cow.json":       {zeroEx.Name, 400, oneSaid, []string{"rejected"}}, // version 1's words
	"1inch.errors.observed.json":    {oneInch.Name, 0, listOfSaid, []string{"no route", "rejected"}},
	"1inch.market_order.0.cow.json": {oneInch.Name, 200, oneSaid, []string{"bad answer"}}, // of another call
	"1inch.not_found.0.cow.json":    {oneInch.Name, 200, oneSaid, []string{"bad answer"}}, // of another call
	"lifi.error.docs.json":          {lifi.Name, 404, wholeSaid, []string{"no route"}},
	"okx.errors.docs.json":          {okx.Name, 0, listOfSaid, []string{"no route", "rate limited", "no route", "rejected", "no route"}},
	"okx.not_found.0.cow.json":      {okx.Name, 200, oneSaid, []string{"no route"}},
	"relay.errors.codes.json": {relay.Name, 400, relaySaid, []string{
		"no route", "no route", "no route", "no route", "no route", "no route", "rejected", "rejected",
	}},
	"sushi.errors.docs.json":      {sushi.Name, 0, listOfSaid, []string{"no route", "rate limited", "rejected"}},
	"velora.errors.observed.json": {velora.Name, 0, listOfSaid, []string{"no route", "no route", "no route", "rate limited", "rate limited", "rate limited"}},
	"velora.not_found.0.cow.json": {velora.Name, 400, oneSaid, []string{"no route"}},
	// Answers of an older router, which must not be called.
	"velora.market_order.0.cow.json": {velora.Name, 200, oneSaid, []string{"bad answer"}},
}

// spoken is a recorded answer.
type spoken struct {
	status int
	body   json.RawMessage
}

// listOfSaid reads recordings of several answers.
func listOfSaid(t *testing.T, raw json.RawMessage) []spoken {
	var list []struct {
		Status, HTTP int
		Body         json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	all := make([]spoken, len(list))
	for i, each := range list {
		all[i] = spoken{each.Status + each.HTTP, each.Body}
	}
	return all
}

// oneSaid reads recordings of a request and its response.
func oneSaid(t *testing.T, raw json.RawMessage) []spoken {
	var pair struct{ Response json.RawMessage }
	if err := json.Unmarshal(raw, &pair); err != nil {
		t.Fatal(err)
	}
	return []spoken{{body: pair.Response}}
}

// wholeSaid is for recordings that are the body.
func wholeSaid(_ *testing.T, raw json.RawMessage) []spoken { return []spoken{{body: raw}} }

// relaySaid puts every code into the envelope that is documented for it.
func relaySaid(t *testing.T, raw json.RawMessage) []spoken {
	var recording struct {
		Envelope map[string]any `json:"envelope_400"`
		Codes    []string       `json:"codes_seen_in_sdk"`
	}
	if err := json.Unmarshal(raw, &recording); err != nil {
		t.Fatal(err)
	}
	var all []spoken
	for _, code := range recording.Codes {
		recording.Envelope["errorCode"] = code
		body, err := json.Marshal(recording.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, spoken{body: body})
	}
	return all
}

// TestRecordedRefusalsAreUnderstood plays every recorded answer without a price to the venue that gave it.
func TestRecordedRefusalsAreUnderstood(t *testing.T) {
	for _, file := range slices.Sorted(maps.Keys(refusals)) {
		c := refusals[file]
		t.Run(file, func(t *testing.T) {
			var raw json.RawMessage
			recorded(t, file, &raw)
			var got []string
			for _, each := range c.bodies(t, raw) {
				got = append(got, verdictOf(t, c.venue, max(each.status, c.status), each.body))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// verdictOf is one word for what a venue makes of an answer to its quote.
func verdictOf(t *testing.T, name string, status int, body []byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: server.URL, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = openHere(t, name, upstream.NewPool(name, endpoint)).Quote(t.Context(), baseSwap(t, "1000000000000000000"))
	var failed *upstream.Error
	switch {
	case err == nil:
		return "price"
	case errors.Is(err, quote.ErrNoRoute):
		return "no route"
	case errors.As(err, &failed):
		return failed.Class.String()
	}
	return err.Error()
}

// TestNoRecordingIsForgotten wants every recorded body named in this package's tests, or a reason.
func TestNoRecordingIsForgotten(t *testing.T) {
	none := map[string]string{
		"uniswap.errors.schema.json":                "Uniswap is read from its contracts, not asked for by its API",
		"uniswap.swap-request.openapi-example.json": "Uniswap is read from its contracts, not asked for by its API",
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "recorded", "venues", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("recorded venue answers not present; they are in recorded/venues of the folder shared, which lies beside the repository")
	}
	var text strings.Builder
	for _, source := range []string{"recorded_test.go", "refusal_test.go"} {
		raw, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(raw)
	}
	for _, file := range files {
		if name := filepath.Base(file); none[name] == "" && !strings.Contains(text.String(), `"`+name+`"`) {
			t.Errorf("%s is read by no test", name)
		}
	}
}

// TestOlderAnswersNameRoutersThatAreNotCalled reads prices whose transactions call what has been replaced.
func TestOlderAnswersNameRoutersThatAreNotCalled(t *testing.T) {
	var pair struct {
		Response json.RawMessage `json:"response"`
	}
	recorded(t, "0x.market_order.0.cow.json", &pair)
	s := baseSwap(t, "1000000000000000000")
	s.Chain, _ = chain.Documented().Chain(chain.Ethereum)
	s.In.Address = s.Chain.WrappedCoin
	h := readers[zeroEx.Name](upstream.Response{Status: 200, Body: pair.Response}, profileOf(t, zeroEx.Name), s)
	if h.priceErr != nil || h.amountOut.String() != "5876422636675954000000" {
		t.Errorf("price %s, %v; want 5876422636675954000000", h.amountOut, h.priceErr)
	}
	if h.txErr == nil || isRefusal(h.txErr) {
		t.Errorf("a transaction to the old exchange proxy: %v, want a bad answer", h.txErr)
	}
}

// TestOKXApprovesWhatIsDocumented compares the contract that OKX was recorded to have approved.
func TestOKXApprovesWhatIsDocumented(t *testing.T) {
	var pair struct {
		Response struct {
			Data []struct {
				DexContractAddress string `json:"dexContractAddress"`
			} `json:"data"`
		} `json:"response"`
	}
	recorded(t, "okx.market_order.1.cow.json", &pair)
	if got, want := profileOf(t, okx.Name).Approves[chain.Ethereum], contract(pair.Response.Data[0].DexContractAddress); got != want {
		t.Errorf("approves %s, recorded %s", got, want)
	}
}

// TestAnswersForAnExactOutputAreNotTakenForOthers reads an answer to a question that was not asked.
func TestAnswersForAnExactOutputAreNotTakenForOthers(t *testing.T) {
	var pair struct {
		Response json.RawMessage `json:"response"`
	}
	recorded(t, "okx.market_order.2.cow.json", &pair)
	s := baseSwap(t, "200000000000000000000")
	s.Chain, _ = chain.Documented().Chain(chain.Ethereum)
	s.In.Address = s.Chain.WrappedCoin
	if _, err := reader(readOKX).priceAndTx(upstream.Response{Status: 200, Body: pair.Response}, profileOf(t, okx.Name), s); err == nil || isRefusal(err) {
		t.Errorf("read = %v, want a bad answer: it is about another input", err)
	}
}
