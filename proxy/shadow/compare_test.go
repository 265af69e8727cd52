package shadow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
)

const (
	orderRoute  = "/api/Orders/:orderId"
	listRoute   = "/api/Orders/filteredList"
	lockedRoute = "/api/Satistics/:takerAddress/lockedAssets"
	swapRoute   = "/v1.0/chain/transaction"
	tokensRoute = "/v1.0/token-list"
)

func TestDifferencesAreClassed(t *testing.T) {
	row := func(id, state string) string {
		return `{"orderId":{"stringValue":"` + id + `"},"state":"` + state + `"}`
	}
	list := func(rows ...string) string { return `{"orders":[` + strings.Join(rows, ",") + `],"totalCount":9}` }
	locked := func(amount string, ids ...string) string {
		for i := range ids {
			ids[i] = `{"stringValue":"` + ids[i] + `"}`
		}
		return `[{"chainId":{"stringValue":"1"},"lockedTokens":[{"tokenAddress":{"stringValue":"0xa"},"tokenAmount":` + amount +
			`,"dstChainsLockedAmounts":[{"targetChainId":{"stringValue":"56"},"dstChainTokenAmount":` + amount +
			`,"ordersToUnlock":[` + strings.Join(ids, ",") + `]}]}]}]`
	}
	tokens := func(rows ...string) string { return `{"tokens":{` + strings.Join(rows, ",") + `}}` }
	const coin = `{"symbol":"ETH","decimals":18,"logoURI":"a","tags":[],"eip2612":false,"isNative":true}`
	const usdc = `{"symbol":"USDC","name":"USD Coin","decimals":6,"address":"0xb","logoURI":"b","tags":[]}`
	for _, c := range []struct {
		name, route, ours, theirs string
		want                      string // "member class", separated by commas
	}{
		{"equal in another sequence", orderRoute, `{"a":1,"b":[2.0,"x"]}`, `{"b":[2,"x"],"a":1}`, ""},
		{"another value", orderRoute, `{"makerOrderNonce":1}`, `{"makerOrderNonce":2}`, "makerOrderNonce different"},
		{"a number as a text", orderRoute, `{"makerOrderNonce":1}`, `{"makerOrderNonce":"1"}`, "makerOrderNonce different"},
		{"another case", orderRoute, `{"x":"0xAb"}`, `{"x":"0xab"}`, "x different"},
		{"new member", orderRoute, `{"a":{"b":1}}`, `{"a":{"b":1,"c":null}}`, "a/c expected"},
		{"documented member", orderRoute, `{}`, `{"state":"Created"}`, "state different"},
		{
			"new member where nothing is", orderRoute, `{"state":"Created","claimedUnlockSrcEventInfo":{"submissionId":null}}`,
			`{"state":"Created","claimedUnlockSrcEventInfo":{"submissionId":null,"fee":1}}`, "claimedUnlockSrcEventInfo/fee expected",
		},
		{"member too many", orderRoute, `{"a":1}`, `{}`, "a different"},
		{"null and nothing", orderRoute, `{"a":null}`, `{"a":[]}`, "a different"},

		{"later state", orderRoute, `{"state":"Fulfilled"}`, `{"state":"Created"}`, "state expected"},
		{"earlier state", orderRoute, `{"state":"Created"}`, `{"state":"ClaimedUnlock"}`, "state expected"},
		{"created or cancelled", orderRoute, `{"state":"OrderCancelled"}`, `{"state":"Created"}`, "state expected"},
		{"paid or refunded", orderRoute, `{"state":"ClaimedUnlock"}`, `{"state":"SentOrderCancel"}`, "state different"},
		{"unknown state", orderRoute, `{"state":"Created"}`, `{"state":"Paused"}`, "state different"},
		{"bare state", orderRoute + "/state", `"SentUnlock"`, `"Fulfilled"`, " expected"},
		{
			"message of a claim", orderRoute, `{"state":"ClaimedUnlock","claimedUnlockSrcEventInfo":{"transactionMetadata":7,"submissionId":{"stringValue":"0x1"}}}`,
			`{"state":"ClaimedUnlock","claimedUnlockSrcEventInfo":{"transactionMetadata":7,"submissionId":{"stringValue":null}}}`, "",
		},
		{
			"another message", orderRoute, `{"state":"ClaimedUnlock","claimedUnlockSrcEventInfo":{"transactionMetadata":7,"submissionId":{"stringValue":"0x1"}}}`,
			`{"state":"ClaimedUnlock","claimedUnlockSrcEventInfo":{"transactionMetadata":7,"submissionId":{"stringValue":"0x2"}}}`,
			"claimedUnlockSrcEventInfo/submissionId/stringValue different",
		},
		{
			"what a state brings", orderRoute, `{"state":"Fulfilled","taker":{"stringValue":"a"}}`,
			`{"state":"Created","taker":{"stringValue":null}}`, "state expected,taker expected",
		},
		{
			"what it does not bring", orderRoute, `{"state":"Fulfilled","makerSrc":"a"}`, `{"state":"Created","makerSrc":"b"}`,
			"makerSrc different,state expected",
		},
		{
			"nothing for a state", orderRoute, `{"state":"Fulfilled","taker":null}`, `{"state":"Fulfilled","taker":{"stringValue":"a"}}`,
			"taker different",
		},
		{
			"blank where it is later", orderRoute, `{"state":"Fulfilled","taker":null}`, `{"state":"Created","taker":{"stringValue":"a"}}`,
			"state expected,taker expected",
		},
		{
			"creation not seen", orderRoute, `{"state":"Fulfilled","createdSrcEventMetadata":{"blockNumber":1},"fixFee":{"stringValue":"1"}}`,
			`{"state":"Fulfilled","createdSrcEventMetadata":null}`, "createdSrcEventMetadata expected,fixFee expected",
		},
		{
			"gave more", orderRoute, `{"giveOfferWithMetadata":{"finalAmount":{"stringValue":"3"}}}`,
			`{"giveOfferWithMetadata":{"finalAmount":{"stringValue":"2"}}}`, "giveOfferWithMetadata/finalAmount expected",
		},
		{
			"takes less", orderRoute, `{"takeOfferWithMetadata":{"finalAmount":{"stringValue":"3"}}}`,
			`{"takeOfferWithMetadata":{"finalAmount":{"stringValue":"2"}}}`, "takeOfferWithMetadata/finalAmount expected",
		},

		{"new row", listRoute, list(row("3", "Created"), row("2", "Created")), list(row("2", "Created"), row("1", "Created")), "orders/* expected,orders/* expected"},
		{"new row of theirs", listRoute, list(row("2", "Created")), list(row("3", "Created"), row("2", "Created")), "orders/* expected"},
		{"missing row", listRoute, list(row("3", "Created"), row("1", "Created")), list(row("3", "Created"), row("2", "Created"), row("1", "Created")), "orders/* different"},
		{"missing last row", listRoute, list(row("3", "Created")), list(row("3", "Created"), row("2", "Created")), "orders/* different"},
		{"row's state", listRoute, list(row("3", "Fulfilled")), list(row("3", "Created")), "orders/*/state expected"},

		{"locked alike", lockedRoute, locked("10.0", "0x1", "0x2"), locked("10.05", "0x2", "0x1"), ""},
		{
			"one order more", lockedRoute, locked("10", "0x1", "0x2"), locked("5", "0x1"),
			"*/lockedTokens/*/dstChainsLockedAmounts/*/dstChainTokenAmount expected," +
				"*/lockedTokens/*/dstChainsLockedAmounts/*/ordersToUnlock/* expected,*/lockedTokens/*/tokenAmount expected",
		},
		{
			"the same orders", lockedRoute, locked("10", "0x1"), locked("5", "0x1"),
			"*/lockedTokens/*/dstChainsLockedAmounts/*/dstChainTokenAmount different,*/lockedTokens/*/tokenAmount different",
		},

		{"within the tolerance", swapRoute, `{"tokenOut":{"amount":"1000"}}`, `{"tokenOut":{"amount":"1009"}}`, ""},
		{"beyond it", swapRoute, `{"tokenOut":{"amount":"1000"}}`, `{"tokenOut":{"amount":"1020"}}`, "tokenOut/amount different"},
		{"a value as a text", "/v1.0/chain/estimation", `{"estimation":{"protocolFeeApproximateUsdValue":"1.5"}}`, `{"estimation":{"protocolFeeApproximateUsdValue":1.5}}`, ""},
		{"another transaction", swapRoute, `{"tx":{"data":"0x00"}}`, `{"tx":{"data":"0x01","to":"0x1"}}`, ""},
		{"chain of ours", "/v1.0/supported-chains", `{"chains":[1,5042]}`, `{"chains":[1]}`, ""},
		{"chain of theirs", "/v1.0/supported-chains", `{"chains":[1]}`, `{"chains":[1,10]}`, "chains/* different"},
		{"tokens alike", tokensRoute, tokens(`"0xa":`+coin, `"0xb":`+usdc), tokens(`"0xb":`+usdc, `"0xa":`+coin), ""},
		{"another logo", tokensRoute, tokens(`"0xb":{"logoURI":"x","tags":[],"symbol":"A"}`), tokens(`"0xb":{"logoURI":null,"tags":["PEG:BTC"],"eip2612":true,"symbol":"A"}`), ""},
		{"other decimals", tokensRoute, tokens(`"0xb":{"decimals":6,"symbol":"A"}`), tokens(`"0xb":{"decimals":18,"symbol":"B"}`), "tokens/*/decimals different,tokens/*/symbol different"},
		{"no coin of ours", tokensRoute, tokens(`"0xa":{}`), tokens(`"0xa":{"isNative":true}`), "tokens/*/isNative different"},
		{"token of ours", tokensRoute, tokens(`"0xa":`+coin, `"0xb":`+usdc), tokens(`"0xa":` + coin), ""},
		{"tokens of theirs", tokensRoute, tokens(`"0xb":` + usdc), tokens(`"0xa":`+coin, `"0xb":`+usdc, `"0xc":`+usdc), ""},
		{"member of theirs", tokensRoute, tokens(`"0xb":{}`), tokens(`"0xb":{"domainVersion":"2"}`), "tokens/*/domainVersion expected"},
		{"time of the count", "/api/Satistics/getAllTime", `{"date":1700000000}`, `{"date":1700000300}`, ""},
		{"count", "/api/Satistics/getAllTime", `{"createdOrdersCount":7}`, `{"createdOrdersCount":5}`, "createdOrdersCount expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := must.Get(Compare(c.route, Response{200, c.ours}, Response{200, c.theirs}))(t)
			if got := described(found); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func described(found []Difference) string {
	var all []string
	for _, d := range found {
		all = append(all, d.Member+" "+d.Class.String())
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func TestErrorsAreComparedByWhatTheySay(t *testing.T) {
	problem := func(id, text string) string { return `{"errorId":"` + id + `","message":"` + text + `","reqId":"1"}` }
	for _, c := range []struct {
		name          string
		ours, theirs  Response
		want          string
		isNotCompared bool
	}{
		{"other words", Response{400, problem("A", "x")}, Response{400, problem("A", "y")}, "", false},
		{"another id", Response{400, problem("A", "x")}, Response{400, problem("B", "x")}, "errorId different", false},
		{"a page", Response{404, problem("A", "x")}, Response{404, "<p>not found"}, "", false},
		{"not found there", Response{200, `{}`}, Response{404, ""}, "status expected", false},
		{"not found here", Response{404, problem("A", "x")}, Response{200, `{}`}, "status different", false},
		{"failing here", Response{503, problem("A", "x")}, Response{200, `{}`}, "status different", false},
		{"failing there", Response{200, `{}`}, Response{502, ""}, "", true},
		{"no key there", Response{200, `{}`}, Response{403, ""}, "", true},
		{"limited there", Response{200, `{}`}, Response{429, ""}, "", true},
		{"a page for an answer", Response{200, `{}`}, Response{200, "<html>"}, "", true},
		{"two answers for one", Response{200, `{}`}, Response{200, "{}{}"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Compare(orderRoute, c.ours, c.theirs)
			if got := described(found); got != c.want || (err != nil) != c.isNotCompared {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// TestAnOrderOnItsWayIsLateAndNothingElse compares the golden answers about orders with versions in which every member
// that may lag is reset to the order's creation.
func TestAnOrderOnItsWayIsLateAndNothingElse(t *testing.T) {
	files, err := filepath.Glob("../wire/testdata/order_*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden answers: %v", err)
	}
	compared := 0
	for _, file := range files {
		text := read(t, file)
		value, err := decode(text)
		body, isObject := value.(map[string]any)
		if err != nil || !isObject || body[creation] == nil || body["state"] == "Created" {
			continue
		}
		compared++
		body["state"] = "Created"
		for name, r := range orderRules {
			if r.kind == progress && strings.Contains(name, "Dst") && !isBlank(body[name]) {
				body[name] = nil
			}
		}
		before := must.Get(json.Marshal(body))(t)
		for _, pair := range [][2]string{{text, string(before)}, {string(before), text}} {
			our, their := pair[0], pair[1]
			found, err := Compare(orderRoute, Response{200, our}, Response{200, their})
			if err != nil || len(found) < 2 {
				t.Errorf("%s: %v, %v", file, found, err)
			}
			for _, d := range found {
				if d.Class != Expected {
					t.Errorf("%s: %+v, want it expected", file, d)
				}
			}
		}
	}
	if compared < 3 {
		t.Errorf("%d orders, want those that were fulfilled, claimed and cancelled", compared)
	}
}

// TestEqualAnswersAreEqual compares everything recorded, and the golden answers, with themselves, their members
// reordered, as the answer of every route.
func TestEqualAnswersAreEqual(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../wire/testdata/*.json", "../../../shared/recorded/*/*.json"} {
		found := must.Get(filepath.Glob(pattern))(t)
		if len(found) == 0 {
			t.Logf("nothing is at %s", pattern)
		}
		files = append(files, found...)
	}
	readable := 0
	for _, file := range files {
		text := read(t, file)
		value, err := decode(text)
		if err != nil {
			continue // several documents
		}
		readable++
		sorted := must.Get(json.Marshal(value))(t)
		for route := range compared {
			found, err := Compare(route, Response{200, text}, Response{200, string(sorted)})
			if err != nil || len(found) > 0 {
				t.Errorf("%s as answer of %s: %+v %v", file, route, found, err)
			}
		}
	}
	if readable == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d of %d files, each as the answer of %d routes", readable, len(files), len(compared))
}

func read(t *testing.T, file string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(file))(t))
}

// FuzzCompare compares arbitrary origin answers: any answer equals itself.
func FuzzCompare(f *testing.F) {
	f.Add(`{"state":"Fulfilled","taker":{"a":1}}`, `{"state":"Created","taker":null}`)
	f.Add(`{"orders":[{"orderId":{"stringValue":"1"}},7],"totalCount":1e999}`, `{"orders":[[]],"totalCount":"0x1p-2"}`)
	f.Add(`[{"lockedTokens":[null]}]`, `[{"lockedTokens":{}}]`)
	f.Fuzz(func(t *testing.T, a, b string) {
		for route := range compared {
			if found, err := Compare(route, Response{200, a}, Response{200, a}); err == nil && len(found) > 0 {
				t.Fatalf("%s of %s is not equal to itself: %+v", a, route, found)
			}
			if _, err := Compare(route, Response{200, a}, Response{200, b}); err != nil {
				return
			}
		}
	})
}

// TestManyDifferencesDoNotHideAGraveOne has more members only at the origin than are reported per answer.
func TestManyDifferencesDoNotHideAGraveOne(t *testing.T) {
	var ours, theirs []string
	for i := range 2 * mostDifferences {
		address := `"0x` + strconv.Itoa(1_000+i) + `":{"decimals":`
		ours, theirs = append(ours, address+"6}"), append(theirs, address+`6,"domainVersion":"2"}`)
	}
	ours, theirs = append(ours, `"0x9":{"decimals":6}`), append(theirs, `"0x9":{"decimals":8}`)
	list := func(rows []string) Response { return Response{200, `{"tokens":{` + strings.Join(rows, ",") + `}}`} }
	found, err := Compare(tokensRoute, list(ours), list(theirs))
	if err != nil || len(found) != mostDifferences || found[0].Member != "tokens/*/decimals" || found[0].Class != Different {
		t.Errorf("%d differences, the first %+v, %v", len(found), found[0], err)
	}
}

func TestExamplesAreBounded(t *testing.T) {
	s := New(nil, nil)
	all := &s.tally
	start := time.Unix(0, 0)
	often := Difference{Member: "often", Class: Different}
	for i := range 3 * mostExamples {
		at := start.Add(time.Duration(i) * time.Second)
		member := fmt.Sprintf("m%d", i)
		all.addMember(orderRoute, "/", Difference{Member: member, Class: Expected}, at)
		all.addMember(orderRoute, "/", often, at)
	}
	kept := s.Examples()
	if len(kept) != mostExamples {
		t.Fatalf("%d examples, want %d", len(kept), mostExamples)
	}
	if kept[0].Member != "often" || kept[0].Times != 3*mostExamples {
		t.Errorf("the gravest is %+v", kept[0])
	}
	for _, e := range kept {
		if e.Last.Before(start.Add((2*mostExamples - 1) * time.Second)) {
			t.Errorf("%+v is kept, and newer ones are not", e)
		}
	}
}
