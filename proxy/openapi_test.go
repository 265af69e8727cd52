package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/quote"
)

// documented is openapi.yaml, validated.
var documented = sync.OnceValues(func() (*openapi3.T, error) {
	document, err := openapi3.NewLoader().LoadFromData(proxy.OpenAPI)
	if err != nil {
		return nil, err
	}
	return document, document.Validate(context.Background(), openapi3.EnableExamplesValidation())
})

func document(t *testing.T) *openapi3.T {
	t.Helper()
	return must.Get(documented())(t)
}

// TestDocumentIsTheSameInJSON reads the document in JSON, for tools without YAML.
func TestDocumentIsTheSameInJSON(t *testing.T) {
	read := func(path, kind string) (plain any, loaded *openapi3.T) {
		t.Helper()
		response := get(newWorld(t).server(t), path)
		text := body(t, response)
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != kind {
			t.Fatalf("%s: %d %s", path, response.StatusCode, got)
		}
		if isJSON := json.Unmarshal(text, &plain) == nil; isJSON != strings.HasSuffix(path, ".json") {
			t.Errorf("%s is JSON: %v", path, isJSON)
		}
		loaded = must.Get(openapi3.NewLoader().LoadFromData(text))(t)
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(loaded))(t), &plain))
		return plain, loaded
	}
	want, _ := read("/openapi.yaml", "application/yaml; charset=utf-8")
	got, loaded := read("/openapi.json", "application/json; charset=utf-8")
	golden.Same(t, "the document", want, got)
	must.Do(t, loaded.Validate(t.Context(), openapi3.EnableExamplesValidation()))
}

// TestEveryPathIsDocumented compares the routes with the document, which does not contain pages. Paths that are read
// with GET are also read with HEAD (RFC 9110, section 9.1).
func TestEveryPathIsDocumented(t *testing.T) {
	forPeople := regexp.MustCompile(`^/(orders?(\.csv|\.json)?|address|token|locked|swap|wallet|logo|statistics|search|assets|docs|favicon.ico|llms.txt)?(/([:*].*|balance|tron)?)?$`)
	engine := newWorld(t).server(t).Engine()
	served, reads := map[string]bool{}, map[string]int{}
	for _, r := range engine.Routes() {
		reads[r.Path] += map[string]int{http.MethodGet: 1, http.MethodHead: -1}[r.Method]
		if r.Method != http.MethodOptions && !forPeople.MatchString(r.Path) {
			served[regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.Path, "{$1}")] = true
		}
	}
	for path := range served {
		if document(t).Paths.Value(path) == nil {
			t.Errorf("%s is served and not in openapi.yaml", path)
		}
	}
	for path := range document(t).Paths.Map() {
		if !served[path] {
			t.Errorf("%s is in openapi.yaml and not served", path)
		}
	}
	for path, excess := range reads {
		if excess != 0 {
			t.Errorf("%s is read with only one of GET and HEAD", path)
		}
	}
	if len(served) < 20 {
		t.Errorf("%d paths are served, want at least 20", len(served))
	}
}

// TestLanguageModelsAreLedToPaths requires each path in llms.txt to be documented, or a page.
func TestLanguageModelsAreLedToPaths(t *testing.T) {
	text := string(body(t, get(newWorld(t).server(t), "/llms.txt")))
	found := regexp.MustCompile(`/(?:api|v1\.0|docs|mcp|openapi)[\w./{}-]*\w}?`).FindAllString(text, -1)
	for _, path := range found {
		if !slices.Contains([]string{"/docs", "/mcp"}, path) && document(t).Paths.Value(path) == nil {
			t.Errorf("llms.txt names %s", path)
		}
	}
	if len(found) < 15 {
		t.Errorf("llms.txt names %v", found)
	}
}

// wireSchemas are the schemas of package wire's golden files, by file name.
var wireSchemas = []struct{ files, schema string }{
	{"events", "Events"},
	{"create_quote*", "OrderQuote"},
	{"create_tx*", "OrderCreation"},
	{"create_explanation*", "OrderExplanation"},
	{"order_status", "OrderStatus"},
	{"order_ids", "OrderIds"},
	{"order_id_texts", "OrderIdTexts"},
	{"order_list*", "OrderList"},
	{"unlock_list", "UnlockList"},
	{"order_lite_models", "[]OrderLite"},
	{"order_lite*", "OrderLite"},
	{"order_terms*", "OrderTerms"},
	{"order_*", "Order"},
	{"verification*", "Verification"},
	{"cancel*", "CancelTransaction"},
	{"unlock_*", "UnlockTransaction"},
	{"locked", "[]LockedChain"},
	{"estimation", "EstimationAnswer"},
	{"explanation*", "Explanation"},
	{"swap*", "Swap"},
	{"same_chain_swap*", "SameChainSwap"},
	{"tokens", "Tokens"},
	{"found_tokens", "FoundTokens"},
	{"daily_statistics", "DailyStatistics"},
	{"all_time_statistics*", "AllTimeStatistics"},
	{"delivery_times", "DeliveryTimes"},
	{"venues", "Venues"},
	{"chain_ids", "ChainIds"},
	{"chains", "Chains"},
}

// TestEveryMemberIsDocumented validates package wire's answers against the schemas, which allow no other members, and
// requires every member of a schema in some answer.
func TestEveryMemberIsDocumented(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("wire", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files of package wire: %v, %v", files, err)
	}
	schemas := document(t).Components.Schemas
	seen := members{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		at := slices.IndexFunc(wireSchemas, func(s struct{ files, schema string }) bool {
			fits, err := filepath.Match(s.files, name)
			return err == nil && fits
		})
		if at < 0 {
			t.Errorf("%s has no schema", file)
			continue
		}
		raw := must.Get(os.ReadFile(file))(t)
		var value any
		must.Do(t, json.Unmarshal(raw, &value))
		element, isList := strings.CutPrefix(wireSchemas[at].schema, "[]")
		values := []any{value}
		if isList {
			values = value.([]any)
		}
		for _, v := range values {
			schema := schemas[element]
			if err := schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
				t.Errorf("%s is no %s: %.900v", file, element, err)
			}
			seen.visit(element, schema.Value, v)
		}
	}
	// Other tests cover health and errors, which package wire does not write, and bodies of requests.
	for _, missing := range seen.missing(schemas, "Health", "Problem", "Chains", "Chain", "OrderFilter", "UnlockFilter", "SwapRequest", "TransactionToVerify", "BatchRequest", "Batch", "BatchItem") {
		t.Errorf("no answer has %s, which openapi.yaml documents", missing)
	}
}

// members are those that answers had, as Schema.member.
type members map[string]bool

func (m members) visit(name string, schema *openapi3.Schema, value any) {
	switch value := value.(type) {
	case map[string]any:
		for member, v := range value {
			if property := schema.Properties[member]; property != nil {
				m[name+"."+member] = true
				m.follow(name, property, v)
			} else if schema.AdditionalProperties.Schema != nil {
				m.follow(name, schema.AdditionalProperties.Schema, v)
			}
		}
	case []any:
		for _, v := range value {
			if schema.Items != nil {
				m.follow(name, schema.Items, v)
			}
		}
	}
}

func (m members) follow(name string, schema *openapi3.SchemaRef, value any) {
	if schema.Ref != "" {
		name = filepath.Base(schema.Ref)
	}
	for _, choice := range schema.Value.OneOf {
		if value != nil {
			m.follow(name, choice, value)
		}
	}
	m.visit(name, schema.Value, value)
}

func (m members) missing(schemas openapi3.Schemas, but ...string) []string {
	var missing []string
	for name, schema := range schemas {
		for member := range schema.Value.Properties {
			if path := name + "." + member; !m[path] && !slices.Contains(but, name) {
				missing = append(missing, path)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// TestAnswersAreAsDocumented makes the requests that no other test makes; serve validates each answer of this and all
// other tests against the document.
func TestAnswersAreAsDocumented(t *testing.T) {
	router := must.Get(documentedRoutes())(t)
	w := newWorld(t)
	w.basis = []order.ChainBasis{followed(8453, order.Lag{})}
	s := w.server(t, func(o *parts) { o.Tokens = listing{w.tokenList} })
	broken := newWorld(t).server(t, func(o *parts) {
		o.Swaps = estimates(func(context.Context, quote.Request) (quote.Estimate, error) {
			return quote.Estimate{}, fmt.Errorf("of ours")
		})
	})
	failing := newWorld(t).server(t, func(o *parts) {
		o.Swaps = estimates(func(context.Context, quote.Request) (quote.Estimate, error) {
			return quote.Estimate{}, quote.ErrNoTransaction
		})
	})
	for _, test := range []struct {
		server *site
		target string
		status int
	}{
		{s, ordersPath + plainTx, 404},
		{s, "/api/Transaction/" + severalTx + "/liteModels", 200},
		{s, "/api/Transaction/0x12/liteModels", 400},
		{s, "/v1.0/dln/order/0x12", 400},
		{s, "/api/Statistics/" + nobody + "/lockedAssets", 200},
		{s, "/api/Satistics/vitalik.eth/lockedAssets", 400},
		{s, "/api/Satistics/getDaily?dateFrom=2025-10-01&dateTo=2025-10-31T00:00:00.000Z", 200},
		{s, "/api/Statistics/getDaily", 200},
		{s, "/api/Satistics/getDaily?dateFrom=yesterday", 400},
		{s, "/api/Satistics/getAllTime", 200},
		{s, "/api/Statistics/getAllTime", 200},
		{s, swapPath, 400},
		{s, "/v1.0/token-list?chainId=8453", 200},
		{s, "/v1.0/token-list", 400},
		{broken, goodSwap, 500},
		{failing, goodSwap, 502},
	} {
		request := httptest.NewRequest(http.MethodGet, test.target, http.NoBody)
		response := serve(test.server, request)
		if response.StatusCode != test.status {
			t.Errorf("GET %.200s = %d, want %d", test.target, response.StatusCode, test.status)
		}
		if _, _, err := router.FindRoute(request); err != nil {
			t.Errorf("GET %s: %v", request.URL.Path, err)
		}
	}
}

// servedBy maps every server to its test, so that no answer escapes checkDocumented.
var servedBy sync.Map // from *site to *testing.T

// heldBefore records validated answers: a crowd gets one answer thousands of times.
var heldBefore sync.Map // from the answer with its request to true

// documentedRoutes finds the documented path of a request.
var documentedRoutes = sync.OnceValues(func() (routers.Router, error) {
	d, err := documented()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(d)
})

// checkDocumented validates an answer for programs against the document. It skips pages, spellings that the original
// tolerates, such as a slash at the end, PATH_NOT_FOUND, which belongs to no path, and compressed answers, which other
// tests cover. It continues after a mistake, because it runs in clients' goroutines for whose answers tests wait.
func checkDocumented(t *testing.T, request *http.Request, response *http.Response, raw []byte) {
	t.Helper()
	known, err := documentedRoutes()
	if err != nil {
		t.Errorf("openapi.yaml: %v", err)
		return
	}
	route, parameters, err := known.FindRoute(request)
	isTolerated := strings.HasSuffix(request.URL.Path, "/") || bytes.Contains(raw, []byte(`"PATH_NOT_FOUND"`))
	isPage := request.Header.Get("Sec-Fetch-Dest") == "document" // the document describes answers to browsers in words
	if err != nil || isTolerated || isPage || response.Header.Get("Content-Encoding") != "" {
		return
	}
	same := fmt.Sprint(request.URL, response.StatusCode, slices.Sorted(maps.Keys(response.Header)), string(raw))
	if _, seen := heldBefore.LoadOrStore(same, true); seen {
		return
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route, Options: options},
		Status:                 response.StatusCode, Header: response.Header, Options: options,
	}
	input.SetBodyBytes(raw)
	if err := openapi3filter.ValidateResponse(t.Context(), input); err != nil {
		t.Errorf("GET %.200s = %d: %.900v", request.URL, response.StatusCode, err)
	}
}
