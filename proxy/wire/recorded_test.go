package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/proxy/shadow"
	"crossgate/token"
)

// TestOrderHasTheFormOfTheRecordedOne builds the recorded order from its own values and requires the same members in
// the same order with the same values. Its recorders replaced all identifying values, in all encodings; only their form
// is compared.
func TestOrderHasTheFormOfTheRecordedOne(t *testing.T) {
	want := recorded.File(t, "recorded/debridge/order-record-base-to-solana-ClaimedUnlock-2026-07.json")
	golden.Same(t, "the order", lines(t, want), lines(t, recordedAnswer(t)))
}

// recordedAnswer is our answer about the recorded order.
func recordedAnswer(t *testing.T) []byte {
	return documented.AppendOrder(nil, Record{
		Order: recordedOrder(t),
		Give:  usdcWithLogo("8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
		Take:  usdcWithLogo("7565164/EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
	})
}

func usdcWithLogo(folder string) token.Token {
	logo := "https://tokens.debridge.finance/Logo/" + folder + "/big/token-logo.png"
	return token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: logo}
}

// recordedOrder is the order of the recorded answer. Sanitised addresses and hashes have the right length and are
// otherwise made up.
func recordedOrder(t *testing.T) *order.Order {
	usdcOnSolana := must.Get(chain.ParseAddress("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", chain.SVM))(t)
	submission := must.Get(chain.ParseHash("0xa194d49efbae089c89daf7aa7f30a64b5582d0153ea3f9d3dcf29aa7687106eb"))(t)
	terms := order.Terms{
		Nonce:       1784948708910,
		Maker:       account(7),
		Give:        order.Offer{Chain: 8453, Token: chain.NewAddress(unhex(t, "833589fcd6edb6e08f4c7c32d4f71b54bda02913")), Amount: amount(t, "17992800")},
		Take:        order.Offer{Chain: chain.Solana, Token: usdcOnSolana, Amount: amount(t, "17279551")},
		Receiver:    key(7),
		Authorities: order.Authorities{GivePatch: account(7), Order: key(7), AllowedTaker: key(7)},
	}
	onSolana := func(block, time uint64) order.At {
		return order.At{Chain: chain.Solana, Tx: solanaTx(7), Block: block, BlockHash: hash(7), Time: time, Initiator: key(7)}
	}
	onBase := func(block, time uint64) order.At {
		return order.At{Chain: 8453, Tx: evmTx(7), Block: block, BlockHash: hash(7), Time: time, Initiator: account(7)}
	}
	return fold(t,
		order.Event{Order: hash(7), At: onBase(49079683, 1784948713), Fact: order.Created{
			Terms: terms, FixFee: amount(t, "1000000000000000"), PercentFee: amount(t, "7200"), Metadata: metadataV1(t),
		}},
		order.Event{Order: hash(7), At: onSolana(435046332, 1784948719), Fact: order.Fulfilled{Terms: terms, Taker: key(7), UnlockAuthority: key(7)}},
		order.Event{Order: hash(7), At: onSolana(435066190, 1784957065), Fact: order.Sent{Kind: order.Unlock, Beneficiary: account(7), Submission: submission}},
		order.Event{Order: hash(7), At: onBase(49083884, 1784957115), Fact: order.Claimed{Kind: order.Unlock, Beneficiary: account(7)}},
	)
}

// lines writes every value of body on a line after its path, in the body's order, with sanitised values replaced by
// their form.
func lines(t *testing.T, body []byte) []string {
	t.Helper()
	var all []string
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var walk func(path string)
	walk = func(path string) {
		next := must.Get(decoder.Token())(t)
		switch next {
		case json.Delim('{'):
			for decoder.More() {
				walk(fmt.Sprintf("%s/%s", path, must.Get(decoder.Token())(t)))
			}
		case json.Delim('['):
			for i := 0; decoder.More(); i++ {
				walk(fmt.Sprintf("%s/%d", path, i))
			}
		default:
			all = append(all, fmt.Sprintf("%s %T %s", path, next, form(path, fmt.Sprint(next))))
			return
		}
		must.Get(decoder.Token())(t)
	}
	walk("")
	return all
}

// TestShadowHasNothingAgainstTheRecordedOrder compares the same two as shadow mode would, with the sanitised values
// taken from ours.
func TestShadowHasNothingAgainstTheRecordedOrder(t *testing.T) {
	const route = "/api/Orders/:orderId"
	answer := recorded.File(t, "recorded/debridge/order-record-base-to-solana-ClaimedUnlock-2026-07.json")
	ours := recordedAnswer(t)
	compare := func(theirs []byte) []shadow.Difference {
		return must.Get(shadow.Compare(route, shadow.Response{Status: 200, Body: string(ours)}, shadow.Response{Status: 200, Body: string(theirs)}))(t)
	}
	for _, d := range compare(answer) {
		if !identities.MatchString("/" + d.Member) {
			t.Errorf("%+v", d)
		}
	}
	cancelled := bytes.Replace(answer, []byte(`"ClaimedUnlock"`), []byte(`"OrderCancelled"`), 1)
	if !slices.ContainsFunc(compare(cancelled), func(d shadow.Difference) bool { return d.Member == "state" && d.Class == shadow.Different }) {
		t.Error("another state is not found")
	}
}

// identities are the members that the recorders sanitised.
var identities = regexp.MustCompile(`^/(orderId|makerSrc|receiverDst|\w*Authority\w*|allowed\w+|\w+BeneficiarySrc|taker|.*/(transactionHash|blockHash|initiator))(/|$)`)

// form returns the value itself, or for a sanitised one its alphabet and, if that is fixed, its length.
func form(path, value string) string {
	if !identities.MatchString(path) {
		return value
	}
	// The sanitiser wrote the empty string of absent addresses as "[7]".
	if strings.HasSuffix(path, "/bytesArrayValue") {
		if value == "" || value == "[7]" {
			return "absent"
		}
		return fmt.Sprintf("%d bytes", 1+strings.Count(value, ","))
	}
	switch {
	case strings.HasPrefix(value, "0x"):
		return fmt.Sprintf("hex of %d", len(value))
	case strings.HasSuffix(path, "/stringValue"):
		return "base58"
	}
	return fmt.Sprintf("base64 of %d", len(value))
}

// TestSwapHasTheFormOfTheRecordedOne compares the order of members with the recorded answers, which their recorder
// trimmed: the recorded members must be there, in that order.
func TestSwapHasTheFormOfTheRecordedOne(t *testing.T) {
	got := memberOrder(t, documented.AppendSwap(nil, recordedSwap(t)))
	for _, name := range []string{
		"chain-transaction-ethereum-usdc-to-eth-2026-09.json",
		"chain-estimation-ethereum-usdc-to-eth-2026-09.json",
	} {
		at := 0
		for _, member := range memberOrder(t, recorded.File(t, "recorded/debridge/"+name)) {
			member = strings.TrimPrefix(member, "/estimation")
			next := slices.Index(got[at:], member)
			if next < 0 {
				t.Errorf("%s: %s is missing or comes too early in %v", name, member, got)
				break
			}
			at += next
		}
	}
}

func memberOrder(t *testing.T, body []byte) []string {
	t.Helper()
	var members []string
	for _, line := range lines(t, body) {
		path, _, _ := strings.Cut(line, " ")
		members = append(members, path)
	}
	return members
}

// TestChainsAreNumberedAsRecorded compares the IDs of every recorded chain that is known here.
func TestChainsAreNumberedAsRecorded(t *testing.T) {
	type list struct {
		Chains []struct{ ChainID, OriginalChainID uint64 }
	}
	var listed, ours list
	recorded.JSON(t, "recorded/debridge/supported-chains-info-2026-09.json", &listed)
	must.Do(t, json.Unmarshal(documented.AppendChains(nil, documented.Chains.All()), &ours))
	original := map[uint64]uint64{}
	for _, c := range ours.Chains {
		original[c.ChainID] = c.OriginalChainID
	}
	for _, c := range listed.Chains {
		if got, known := original[c.ChainID]; known && c.OriginalChainID != 0 && got != c.OriginalChainID {
			t.Errorf("chain %d is %d originally, want %d", c.ChainID, got, c.OriginalChainID)
		}
	}
}

// TestAnswersFitThePublishedSchemas validates golden files with the document that typed clients of the swap API are
// generated from (PrintrFi/debridge-openapi): an answer of each path served here, but not of the three that build
// transactions of orders. Omitted is what live answers have in another form.
func TestAnswersFitThePublishedSchemas(t *testing.T) {
	published := must.Get(openapi3.NewLoader().LoadFromData(recorded.File(t, "facts/debridge/dln-openapi-2025-07.json")))(t)
	for _, of := range []struct {
		path, schema string
		files        []string
		inDocument   func(answer any) // converts a live answer to the document's form
	}{
		{"/v1.0/token-list", "TokenListResponse", []string{"tokens"}, nil},
		{"/v1.0/supported-chains", "SupportedChainsResponse", []string{"chain_ids"}, nil},
		{"/v1.0/dln/order/{id}", "DlnOrderResponse", []string{"order_terms", "order_terms_plain"}, textualChains},
		{"/v1.0/dln/order/{id}/status", "DlnOrderStatusResponse", []string{"order_status"}, nil},
		{"/v1.0/dln/tx/{hash}/order-ids", "DlnOrderidsByTxResponse", []string{"order_id_texts"}, nil},
		{"/v1.0/chain/transaction", "ChainTransactionResponseV10", []string{"swap", "swap_legacy", "swap_tron", "swap_whole", "swap_without_fee"}, nil},
		{"/v1.0/chain/transaction", "ChainTransactionResponseV10", []string{"swap_solana"}, withCall},
		{"/v1.0/chain/estimation", "ChainEstimationResponseV10", []string{"estimation"}, nil},
	} {
		if at := published.Paths.Value(of.path); at == nil {
			t.Errorf("the document has no %s", of.path)
		}
		for _, file := range of.files {
			raw := must.Get(os.ReadFile(filepath.Join("testdata", file+".json")))(t)
			checkPublished(t, published, file, of.schema, raw, of.inDocument)
		}
	}
	ethereum, _ := documented.Chains.Chain(chain.Ethereum) // newer chains are not in the document
	checkPublished(t, published, "chains", "SupportedChainsInfoResponse", documented.AppendChains(nil, []chain.Chain{ethereum}), nil)
	for id, schema := range map[string]string{"INVALID_QUERY_PARAMETERS": "BadRequestResponse", "INTERNAL_SERVER_ERROR": "InternalServerErrorResponse"} {
		checkPublished(t, published, id, schema, AppendProblem(nil, Problem{Code: 2, ID: id, Message: "wrong"}), withPayload)
	}
}

// textualChains makes an offer's chain a text and its amount a number: live answers have it the other way round.
func textualChains(answer any) {
	terms := answer.(map[string]any)["orderStruct"].(map[string]any)
	for _, side := range []string{"giveOffer", "takeOffer"} {
		offer := terms[side].(map[string]any)
		offer["chainId"] = strconv.FormatFloat(offer["chainId"].(float64), 'f', -1, 64)
		offer["amount"], _ = strconv.ParseFloat(offer["amount"].(string), 64)
	}
}

// withCall adds members that Solana transactions lack: the document covers EVM only.
func withCall(answer any) {
	tx := answer.(map[string]any)["tx"].(map[string]any)
	tx["to"], tx["value"] = "", ""
}

// withPayload adds what live errors lack.
func withPayload(answer any) { answer.(map[string]any)["errorPayload"] = map[string]any{} }

func checkPublished(t *testing.T, published *openapi3.T, name, schema string, raw []byte, inDocument func(any)) {
	t.Helper()
	var answer any
	must.Do(t, json.Unmarshal(raw, &answer))
	if inDocument != nil {
		inDocument(answer)
	}
	at := published.Components.Schemas[schema]
	if at == nil {
		t.Fatalf("no schema %s", schema)
	}
	if err := at.Value.VisitJSON(answer, openapi3.MultiErrors()); err != nil {
		t.Errorf("%s is no %s: %v", name, schema, err)
	}
}
