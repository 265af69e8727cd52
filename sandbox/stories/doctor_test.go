package stories_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/doctor"
	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
	"crossgate/order/audit"
	"crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/sandboxtest"
)

// doctorKey is in the URL of every endpoint that is examined, and in addresses of databases.
const doctorKey = "canary-4f1d2a"

// TestDoctorNamesEachDefect examines everything of a sandbox, first unchanged, then with one of each defect.
func TestDoctorNamesEachDefect(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	sound := diagnose(t, c)
	if len(sound.wrong) > 0 || sound.sound < len(c.Chains)+len(c.Venues) {
		t.Errorf("of a sound configuration are wrong %q, of %d that were looked at", sound.wrong, sound.sound)
	}
	for _, words := range []string{": newest", "at once", "no eth"} {
		if said := sound.limited["chain-1"]; strings.Contains(said, words) {
			t.Errorf("a sound endpoint is limited: %q", said)
		}
	}
	chainAt := func(id chain.ID) int {
		return slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == id })
	}
	evm, other, solana := chainAt(1), chainAt(8453), chainAt(chain.Solana)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"message":"Invalid API key"}`, http.StatusUnauthorized)
	}))
	t.Cleanup(refusing.Close)
	c.Chains[solana].Endpoints = append(c.Chains[solana].Endpoints, defective(t, c.Chains[solana].Endpoints[0], defects{
		"cluster": {"getGenesisHash": always(`"result":"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"`)}, // devnet's
		"recent":  {"getFirstAvailableBlock": always(`"result":7`)},
	})...)
	c.Chains[evm].Endpoints = slices.Concat(c.Chains[evm].Endpoints,
		defective(t, c.Chains[other].Endpoints[0], defects{"fork": {"eth_chainId": always(`"result":"0x1"`)}}),
		defective(t, c.Chains[evm].Endpoints[0], nodeDefects),
		[]config.Endpoint{
			{Name: "confused", URL: c.Chains[other].Endpoints[0].URL},
			{Name: "again", URL: c.Chains[evm].Endpoints[0].URL},
			early(t, c.Chains[evm].Endpoints[0]),
			far(t, c.Chains[evm].Endpoints[0]),
			{Name: "gone", URL: config.NewSecret("http://127.0.0.1:9/" + doctorKey)},
		}, elsewhere(t, doctorKey))
	c.Chains[other].Contracts.Multicall = c.Registry().All()[0].WrappedCoin // where there is no contract
	keyed := slices.IndexFunc(c.Venues, func(v config.Venue) bool { return v.Name == "kyberswap" })
	c.Venues[keyed].Endpoints = []config.Endpoint{{Name: "keyed", URL: config.NewSecret(refusing.URL)}}
	c.Index.Postgres = config.NewSecret("postgres://crossgate:" + doctorKey + "@127.0.0.1:9/crossgate")
	authority := redistest.NewAuthority(t)
	guarded := redistest.ServeGuarded(t, redistest.Guarded{Own: authority.Issue(t, "127.0.0.1"), User: "crossgate", Password: "another"})
	c.Cache.Shared = config.NewSecret(fmt.Sprintf("rediss://crossgate:%s@127.0.0.1:%d/0", doctorKey, guarded.Port()))
	c.Cache.SharedCAFile = authority.File
	away := []config.Endpoint{{Name: "away", URL: config.NewSecret("http://127.0.0.1:9/" + doctorKey)}}
	websites := slices.DeleteFunc(elsewhere(t, doctorKey), func(e config.Endpoint) bool { return e.Name != "lost" && e.Name != "page" })
	c.Tokens.Lists = []config.TokenList{{Name: "list", Endpoints: slices.Concat(websites, away)}}
	c.Prices.DefiLlama = websites
	c.Passthrough.Hosts = []config.Host{{Name: "host", Endpoints: away}}
	c.Events.Redis = config.NewSecret("redis://:" + doctorKey + "@127.0.0.1:9/0")
	found := diagnose(t, c)
	compareDefects(t, "wrong", found.wrong, map[string]string{
		"confused": "serves chain 8453, not 1", "gone": "unreachable", "chain-8453": "multicall: no code at 0x",
		"fork": "its chain begins with block", "cluster": "serves the cluster with genesis EtWTRABZ", "behind": "blocks behind the others",
		"again": "has the URL of", "early": "ahead of this machine's clock",
		"deaf": "lists no logs", "page": "not a JSON-RPC response", "moved": "HTTP 301", "lost": "HTTP 404", "forbidden": "HTTP 403",
		"nowhere": "lookup", "untrusted": "certificate", "plain": "HTTP response to HTTPS client", "busy": "HTTP 503",
		"venue kyberswap": "HTTP 401", "database": "connection refused", "shared cache": "WRONGPASS",
		"token list away": "connection refused", "token list lost": "HTTP status 404", "token list page": "read token list",
		"prices lost": "HTTP status 404", "prices page": "read prices", "origin away": "connection refused", "event stream": "connection refused",
	}, true)
	compareDefects(t, "limited", found.limited, map[string]string{
		"stateless": "state: newest 0", "logless": "logs: newest 0", "blockless": "blocks: newest 0",
		"untagged": "no eth_getBlockByNumber finalized; no eth_getBlockByNumber safe",
		"single":   "takes 1 calls at once", "few": "takes 3 calls at once", "far": "slow: an answer takes ",
		"recent": "blocks: newest ", "timeless": "no eth_getLogs times",
	}, false)
	if strings.Contains(found.text, doctorKey) {
		t.Errorf("the diagnosis holds the key: %s", found.text)
	}
}

// compareDefects checks what is reported of each name; with isAll nothing may be reported of others.
func compareDefects(t *testing.T, kind string, got, want map[string]string, isAll bool) {
	t.Helper()
	for of, words := range want {
		if !strings.Contains(got[of], words) {
			t.Errorf("%s: %s is %q, want %q", of, kind, got[of], words)
		}
	}
	for of, said := range got {
		if _, is := want[of]; !is && isAll {
			t.Errorf("%s is %s as well: %q", of, kind, said)
		}
	}
}

// elsewhere returns endpoints at which no node answers; their URLs contain a key.
func elsewhere(t *testing.T, key string) (endpoints []config.Endpoint) {
	t.Helper()
	at := func(name, url string) {
		endpoints = append(endpoints, config.Endpoint{Name: name, URL: config.NewSecret(url + "/" + key), Timeout: time.Minute})
	}
	for name, status := range map[string]int{
		"page": http.StatusOK, "moved": http.StatusMovedPermanently, "lost": http.StatusNotFound, "forbidden": http.StatusForbidden,
		"busy": http.StatusServiceUnavailable,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://127.0.0.1:9/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html><body>Welcome</body></html>")
		}))
		t.Cleanup(server.Close)
		at(name, server.URL)
		if name == "page" {
			at("plain", strings.Replace(server.URL, "http:", "https:", 1))
		}
	}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // of failed handshakes
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	at("untrusted", untrusted.URL)
	at("nowhere", "http://node.invalid")
	return endpoints
}

// diagnosis is what doctor reports of each endpoint or service.
type diagnosis struct {
	wrong, limited map[string]string
	sound          int
	text           string // all of it, as JSON
}

func diagnose(t *testing.T, c config.Config) diagnosis {
	t.Helper()
	d := must.Get(doctor.Diagnose(t.Context(), c, func(audit.Progress) {}))(t)
	text := must.Get(json.Marshal(d))(t)
	found := diagnosis{wrong: map[string]string{}, limited: map[string]string{}, text: string(text)}
	look := func(name, said string, lines []string) {
		if len(lines) == 0 && said != "" {
			found.sound++
			return
		}
		found.wrong[name] = strings.Join(lines, "; ")
	}
	for _, of := range d.Chains {
		for _, e := range of.Endpoints {
			look(e.Endpoint, e.Said, e.Wrong)
			found.limited[e.Endpoint] = strings.Join(e.Shortcomings, "; ")
		}
	}
	for _, s := range d.Services {
		look(s.Name, s.Said, s.Wrong)
	}
	return found
}

// defects lists, by endpoint name, the methods that are not answered like the node.
type defects map[string]map[string]answering

// answering returns the members of the reply to a call in a batch: a result or an error; empty: the node answers.
type answering func(params string, calls int) string

func always(answer string) answering { return func(string, int) string { return answer } }

// batchesOf refuses calls in too large a batch.
func batchesOf(most int) answering {
	return func(_ string, calls int) string {
		if calls <= most {
			return ""
		}
		return fmt.Sprintf(`"error":{"code":-32000,"message":"batch limit %d exceeded: %d requests given"}`, most, calls)
	}
}

// nodeDefects are defects of an EVM node itself. Heads are low by too few blocks to raise doubt.
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

// defective returns endpoints in front of a node, one for each of some defects.
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

// early returns an endpoint in front of a node that dates its blocks a day ahead.
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

// far returns an endpoint in front of a node over a slow link.
func far(t *testing.T, node config.Endpoint) config.Endpoint {
	t.Helper()
	server := defective(t, node, defects{"far": nil})[0]
	host, _ := strings.CutSuffix(strings.TrimPrefix(server.URL.Reveal(), "http://"), "/"+doctorKey)
	link := must.Get(linktest.Open("tcp", "127.0.0.1:0", host))(t)
	t.Cleanup(func() { _ = link.Close() })
	link.Slow(300 * time.Millisecond) // each way
	return config.Endpoint{Name: "far", URL: config.NewSecret("http://" + link.Address() + "/" + doctorKey)}
}
