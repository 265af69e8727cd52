package stories_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/sandbox/jsonrpc"
)

// defects are those of endpoints by their names: the methods that are not answered as the node does.
type defects map[string]map[string]answering

// answering returns members of the reply to a call with so many others: a result or an error; empty: as the node does.
type answering func(params string, calls int) string

func always(answer string) answering { return func(string, int) string { return answer } }

// batchesOf refuses a call that comes with too many others.
func batchesOf(most int) answering {
	return func(_ string, calls int) string {
		if calls <= most {
			return ""
		}
		return fmt.Sprintf(`"error":{"code":-32000,"message":"batch limit %d exceeded: %d requests given"}`, most, calls)
	}
}

// nodeDefects are those that a node of an EVM chain has by itself. Heads are as many blocks too low as makes no doubt.
var nodeDefects = defects{
	"deaf":   {"eth_getLogs": always(`"error":{"code":-32601,"message":"the method eth_getLogs does not exist"}`)},
	"behind": {"eth_blockNumber": always(`"result":"0x9"`)},
	"stateless": {"eth_getBalance": func(params string, _ int) string {
		if strings.Contains(params, "latest") {
			return ""
		}
		return `"error":{"code":-32000,"message":"missing trie node 12ab (path )"}`
	}},
	"logless": {"eth_getLogs": func(params string, _ int) string {
		var filters []struct{ FromBlock, ToBlock string }
		if json.Unmarshal([]byte(params), &filters) != nil || filters[0].FromBlock != filters[0].ToBlock {
			return ""
		}
		return `"error":{"code":-32000,"message":"history has been pruned for this block"}`
	}},
	"blockless": {"eth_getBlockByNumber": func(params string, _ int) string {
		if !strings.HasPrefix(params, `["0x1"`) {
			return ""
		}
		return `"error":{"code":4444,"message":"pruned history unavailable"}`
	}},
	"untagged": {"eth_getBlockByNumber": func(params string, _ int) string {
		if !strings.Contains(params, "finalized") && !strings.Contains(params, "safe") {
			return ""
		}
		return `"error":{"code":-32000,"message":"finalized block not found"}`
	}},
	"timeless": {"eth_getLogs": always(`"result":[{"address":"0x0000000000000000000000000000000000000001","blockNumber":"0x1"}]`)},
	"single":   {"eth_getBlockByNumber": batchesOf(1)},
	"few":      {"eth_getBlockByNumber": batchesOf(3)},
}

// defective are endpoints before a node, one for each of some defects.
func defective(t *testing.T, node config.Endpoint, known defects) (endpoints []config.Endpoint) {
	t.Helper()
	for name, answers := range known {
		server := httptest.NewServer(jsonrpc.Altered(jsonrpc.At(node.URL.Reveal()), func(call jsonrpc.Request, calls int) string {
			params, err := json.Marshal(call.Params)
			if err != nil || answers[call.Method] == nil {
				return ""
			}
			return answers[call.Method](string(params), calls)
		}))
		t.Cleanup(server.Close)
		endpoints = append(endpoints, config.Endpoint{Name: name, URL: config.NewSecret(server.URL + "/" + doctorKey)})
	}
	return endpoints
}

var stamped = regexp.MustCompile(`"timestamp":"0x[0-9a-f]+"`)

// early is an endpoint before a node whose blocks it dates a day from now.
func early(t *testing.T, node config.Endpoint) config.Endpoint {
	t.Helper()
	behind := jsonrpc.At(node.URL.Reveal())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := jsonrpc.Record(behind, r)
		tomorrow := fmt.Appendf(nil, `"timestamp":"0x%x"`, time.Now().Add(24*time.Hour).Unix())
		_, _ = w.Write(stamped.ReplaceAll(reply.Body.Bytes(), tomorrow))
	}))
	t.Cleanup(server.Close)
	return config.Endpoint{Name: "early", URL: config.NewSecret(server.URL + "/" + doctorKey)}
}

// far is an endpoint before a node over a slow link.
func far(t *testing.T, node config.Endpoint) config.Endpoint {
	t.Helper()
	server := defective(t, node, defects{"far": nil})[0]
	host, _ := strings.CutSuffix(strings.TrimPrefix(server.URL.Reveal(), "http://"), "/"+doctorKey)
	link := must.Get(linktest.Open("tcp", "127.0.0.1:0", host))(t)
	t.Cleanup(func() { _ = link.Close() })
	link.Slow(300 * time.Millisecond) // each way
	return config.Endpoint{Name: "far", URL: config.NewSecret("http://" + link.Address() + "/" + doctorKey)}
}
