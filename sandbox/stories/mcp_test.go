package stories_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// agent is an MCP client, of the protocol's own library.
type agent struct {
	*testing.T
	session *mcp.ClientSession
}

func (a agent) call(tool string, arguments map[string]any) (text string, isError bool) {
	a.Helper()
	result := must.Get(a.session.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments}))(a.T)
	if len(result.Content) != 1 {
		a.Fatalf("%s: %d contents", tool, len(result.Content))
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

// TestAgentsUseTools lets an agent ask for what the API answers, and compares the answers.
func TestAgentsUseTools(t *testing.T) {
	world := sandboxtest.Shared(t)
	off := inFrontOf(t, world)
	if response, _ := ask(t, http.MethodPost, off.url+"/mcp", "{}"); response.StatusCode != http.StatusNotFound {
		t.Errorf("where it is not turned on: %d", response.StatusCode)
	}
	f := inFrontOf(t, world, "mcp: true", "limits: {keys: [{name: agent, key: agent-0123456789abcdef, quota: {units: 200, window: 1h}}, "+
		"{name: clerk, key: clerk-0123456789abcdef, quota: {units: 200, window: 1h}}]}")
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	a := agent{t, must.Get(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: f.url + "/mcp"}, nil))(t)}
	defer a.session.Close()
	listed := must.Get(a.session.ListTools(t.Context(), nil))(t)
	if len(listed.Tools) < 15 || a.session.InitializeResult().Instructions == "" {
		t.Errorf("%d tools", len(listed.Tools))
	}
	for _, each := range listed.Tools {
		if properties := each.InputSchema.(map[string]any)["properties"].(map[string]any); len(properties) == 0 && each.Name != "supported_chains" {
			t.Errorf("%s has no arguments", each.Name)
		}
	}
	facts := f.facts(t)
	o, usdc, dai := facts.Orders[0], facts.token(t, 1, "USDC"), facts.token(t, 1, "DAI")
	taker := facts.Takers[0].Address
	swap := map[string]any{"chainId": 1, "tokenIn": usdc, "tokenInAmount": "1000000", "tokenOut": dai}
	made := map[string]any{
		"srcChainId": 1, "srcChainTokenIn": usdc, "srcChainTokenInAmount": "150000000",
		"dstChainId": 137, "dstChainTokenOut": facts.token(t, 137, "USDC"),
	}
	for _, each := range []struct {
		tool      string
		arguments map[string]any
		path      string // with the same answer; empty: it has more entries each time
		says      string
	}{
		{"order_by_creation", map[string]any{"creationTxHash": o.CreationTxHash}, "/api/Orders/creationTxHash/" + o.CreationTxHash, o.OrderID},
		{"order_by_id", map[string]any{"orderId": o.OrderID}, "/api/Orders/" + o.OrderID, o.OrderID},
		{"order_status", map[string]any{"orderId": o.OrderID}, "/v1.0/dln/order/" + o.OrderID + "/status", "status"},
		{"order_ids_of_transaction", map[string]any{"hash": o.CreationTxHash}, "/api/Transaction/" + o.CreationTxHash + "/orderIds", o.OrderID},
		{"orders_by_ids", map[string]any{"ids": []string{o.OrderID}}, "", o.OrderID},
		{"list_orders", map[string]any{"giveChainIds": []int{1}, "take": 3}, "", `"totalCount"`},
		{"order_events", map[string]any{"cursor": "0", "limit": 2}, "/v1.0/events?cursor=0&limit=2", `"next"`},
		{"locked_assets", map[string]any{"takerAddress": taker}, "/api/Satistics/" + taker + "/lockedAssets", ""},
		{"supported_chains", nil, "/v1.0/supported-chains-info", "Ethereum"},
		{"cancel_order_transaction", map[string]any{"orderId": o.OrderID}, "", `"data":"0x`},
		{"search_tokens", map[string]any{"query": "usdc", "chainId": "1"}, "/v1.0/token-list/search?query=usdc&chainId=1", usdc},
		{"estimate_swap", swap, "", `"estimation"`},
		{"quote_order", made, "", `"estimation"`},
	} {
		got, isError := a.call(each.tool, each.arguments)
		if isError || !strings.Contains(got, each.says) {
			t.Errorf("%s: %.400s, want %q in it", each.tool, got, each.says)
		}
		if each.path == "" {
			continue
		}
		if _, want := ask(t, http.MethodGet, f.url+each.path, ""); string(want) != got {
			t.Errorf("%s: %.300s, want %.300s", each.tool, got, want)
		}
	}
	swap["tokenOutRecipient"] = taker
	if got, isError := a.call("swap_transaction", swap); isError || !strings.Contains(got, `"data":"0x`) {
		t.Errorf("swap_transaction: %.400s", got)
	}
	made["dstChainTokenOutRecipient"], made["senderAddress"], made["srcChainOrderAuthorityAddress"], made["dstChainOrderAuthorityAddress"] = taker, taker, taker, taker
	if got, isError := a.call("create_order_transaction", made); isError || !strings.Contains(got, `"orderId"`) {
		t.Errorf("create_order_transaction: %.400s", got)
	}
	for tool, arguments := range map[string]map[string]any{
		"order_by_id":      {"orderId": "0x12"},
		"order_status":     {}, // without its argument
		"supported_chains": {"chain": 1},
		"estimate_swap":    {"chainId": 1, "tokenIn": usdc, "tokenOut": dai, "tokenInAmount": "many"},
		"order_events":     {"cursor": "9000000000000000000"},
	} {
		if got, isError := a.call(tool, arguments); !isError || got == "" {
			t.Errorf("%s with %v: %.300s", tool, arguments, got)
		}
	}
	if _, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_transaction"}); err == nil {
		t.Error("a tool that there is not was called")
	}
	f.refusesAgentsOverQuota(t, "/mcp", &http.Client{Transport: keyed("agent-0123456789abcdef")})
	f.refusesAgentsOverQuota(t, "/mcp?AccessToken=clerk-0123456789abcdef", http.DefaultClient)
}

// refusesAgentsOverQuota exhausts a key's quota with tools, whose costs are those of their paths.
func (f front) refusesAgentsOverQuota(t *testing.T, path string, withKey *http.Client) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: f.url + path, HTTPClient: withKey}, nil))(t)
	defer session.Close()
	a := agent{t, session}
	for calls := range 60 {
		if got, isError := a.call("list_orders", map[string]any{"take": 1, "skip": calls}); isError {
			if calls < 20 || !strings.Contains(got, "QUOTA_EXCEEDED") {
				t.Errorf("%s: after %d calls: %.300s", path, calls, got)
			}
			return
		}
	}
	t.Errorf("%s: 200 units were enough for 60 lists of 5", path)
}

// keyed sends requests with a key.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", fmt.Sprint("Bearer ", string(k)))
	return http.DefaultTransport.RoundTrip(r)
}
