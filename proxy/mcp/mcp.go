// Package mcp offers the API's lookups, and the unsigned transactions that it builds, as tools of the Model Context
// Protocol (https://modelcontextprotocol.io/specification, streamable HTTP without sessions). A tool is an operation of
// the OpenAPI document: its path checks the arguments, charges the cost, and returns the answer or problem.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"crossgate/internal/release"
	"crossgate/proxy"
	"crossgate/proxy/reference"
)

// Path is the path of the tools.
const Path = "/mcp"

var tools = []struct{ name, operation string }{
	{"order_by_creation", "orderByCreation"},
	{"order_by_id", "orderById"},
	{"order_status", "orderStatus"},
	{"order_ids_of_transaction", "orderIds"},
	{"orders_by_ids", "orderBatch"},
	{"list_orders", "orderList"},
	{"order_events", "events"},
	{"locked_assets", "lockedAssets"},
	{"supported_chains", "supportedChains"},
	{"search_tokens", "searchTokens"},
	{"estimate_swap", "estimation"},
	{"swap_transaction", "swap"},
	{"quote_order", "quoteOrder"},
	{"create_order_transaction", "createOrder"},
	{"cancel_order_transaction", "cancelOrder"},
}

const instructions = `Orders between chains and swaps within one. Amounts are in the smallest units of a token, as digits. Transactions are
unsigned: show them to the person who signs. Problems have an errorId and say what to change. order_events goes on from next.`

// Mount adds the tools to a server.
func Mount(s *proxy.Server) {
	document := proxy.Reference()
	server := mcp.NewServer(&mcp.Implementation{Name: "crossgate", Version: release.Current().Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	answer := sync.OnceValue(s.Handler) // once everything is mounted
	for _, each := range tools {
		o := document.Operation(each.operation)
		server.AddTool(toolOf(each.name, &o, document.Arguments(&o)), func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			request, err := requestOf(ctx, &o, call.Params.Arguments)
			if err != nil {
				return resultOf(err.Error(), true), nil
			}
			got := response{header: http.Header{}, status: http.StatusOK}
			answer().ServeHTTP(&got, request)
			return resultOf(got.body.String(), got.status >= http.StatusBadRequest), nil
		})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		DisableLocalhostProtection: true, // a local proxy keeps the public name, and all answers are public
	})
	s.MountHandler(http.MethodPost, Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, r)))
	}))
}

func resultOf(text string, isError bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError}
}

func toolOf(name string, o *reference.Operation, arguments []reference.Member) *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, each := range arguments {
		properties[each.Name] = schemaOf(each.Schema)
		if each.Required {
			required = append(required, each.Name)
		}
	}
	return &mcp.Tool{
		Name: name, Title: o.Summary, Description: o.Summary + ".\n" + o.Description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required},
	}
}

func schemaOf(s reference.Schema) map[string]any {
	is := map[string]any{"description": strings.Join(append([]string{s.Description}, s.Rules()...), " · ")}
	if len(s.Types) > 0 {
		is["type"] = s.Types
	}
	if slices.Contains(s.Types, "array") {
		is["items"] = map[string]any{}
	}
	return is
}

// callerKey is the context key of the request that brought a call.
type callerKey struct{}

// requestOf returns the request for an operation with arguments, as its caller would have sent it.
func requestOf(ctx context.Context, o *reference.Operation, arguments json.RawMessage) (*http.Request, error) {
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber() // amounts exceed the precision of a float
	given := map[string]any{}
	if len(arguments) > 0 {
		if err := decoder.Decode(&given); err != nil {
			return nil, fmt.Errorf("arguments are not a JSON object: %w", err)
		}
	}
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		value, is := given[p.Name]
		delete(given, p.Name)
		text := textOf(value)
		switch {
		case p.In == "path" && text == "":
			return nil, fmt.Errorf("%s should not be empty", p.Name)
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case is && p.In == "query":
			query.Set(p.Name, text)
		}
	}
	body, _ := json.Marshal(given) // decoded from JSON above
	if o.Body == nil {
		body = nil
		for name := range given {
			return nil, fmt.Errorf("%q is not an argument", name)
		}
	}
	request, err := http.NewRequestWithContext(ctx, o.Method, path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if caller, is := ctx.Value(callerKey{}).(*http.Request); is { // its quota is charged
		request.RemoteAddr, request.Host = caller.RemoteAddr, caller.Host
		for _, name := range []string{"Authorization", "X-Forwarded-For", "User-Agent"} {
			request.Header[name] = caller.Header.Values(name)
		}
		asked := proxy.ReadQuery(caller.URL.RawQuery)
		if key := asked.First("accesstoken"); key != "" {
			query.Set("accesstoken", key)
			request.URL.RawQuery = query.Encode()
		}
	}
	return request, nil
}

// textOf formats an argument for a query, lists joined by commas.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case []any:
		texts := make([]string, len(value))
		for i, each := range value {
			texts[i] = textOf(each)
		}
		return strings.Join(texts, ",")
	}
	return fmt.Sprint(value)
}

type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *response) Header() http.Header            { return r.header }
func (r *response) WriteHeader(status int)         { r.status = status }
func (r *response) Write(text []byte) (int, error) { return r.body.Write(text) }
