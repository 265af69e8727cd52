package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

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
