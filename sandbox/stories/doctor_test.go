package stories_test

import (
	"bytes"
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

	"crossgate/cache/redistest"
	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
	"crossgate/order/index"
	"crossgate/sandbox/sandboxtest"
)

// TestDoctorNamesEachDefect has everything of a sandbox looked at, first as it is, then with one of each defect.
func TestDoctorNamesEachDefect(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	if text, sound := wrongOf(t, c); len(text) > 0 || sound < len(c.Chains)+len(c.Venues) {
		t.Errorf("of a sound configuration are wrong %q, of %d that were looked at", text, sound)
	}
	evm := slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == 1 })
	other := slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == 8453 })
	const key = "canary-4f1d2a"
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"message":"Invalid API key"}`, http.StatusUnauthorized)
	}))
	t.Cleanup(refusing.Close)
	silent := c.Chains[evm].Endpoints[0].URL.Reveal()
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { withoutLogs(w, r, silent) }))
	t.Cleanup(deaf.Close)
	ahead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tomorrow(w, r, silent) }))
	t.Cleanup(ahead.Close)
	c.Chains[evm].Endpoints = append(c.Chains[evm].Endpoints,
		config.Endpoint{Name: "confused", URL: c.Chains[other].Endpoints[0].URL},
		config.Endpoint{Name: "again", URL: c.Chains[evm].Endpoints[0].URL},
		config.Endpoint{Name: "early", URL: config.NewSecret(ahead.URL)},
		config.Endpoint{Name: "deaf", URL: config.NewSecret(deaf.URL)},
		config.Endpoint{Name: "gone", URL: config.NewSecret("http://127.0.0.1:9/" + key)})
	c.Chains[evm].Endpoints = append(c.Chains[evm].Endpoints, elsewhere(t, key)...)
	c.Chains[other].Contracts.Multicall = c.Registry().All()[0].WrappedCoin // where nobody has put a contract
	keyed := slices.IndexFunc(c.Venues, func(v config.Venue) bool { return v.Name == "kyberswap" })
	c.Venues[keyed].Endpoints = []config.Endpoint{{Name: "keyed", URL: config.NewSecret(refusing.URL)}}
	c.Index.Postgres = config.NewSecret("postgres://crossgate:" + key + "@127.0.0.1:9/crossgate")
	authority := redistest.NewAuthority(t)
	guarded := redistest.ServeGuarded(t, redistest.Guarded{Own: authority.Issue(t, "127.0.0.1"), User: "crossgate", Password: "another"})
	c.Cache.Shared = config.NewSecret(fmt.Sprintf("rediss://crossgate:%s@127.0.0.1:%d/0", key, guarded.Port()))
	c.Cache.SharedCAFile = authority.File
	wrong, _ := wrongOf(t, c)
	for of, want := range map[string]string{
		"confused": "serves chain 8453, not 1", "gone": "unreachable", "chain-8453": "multicall: no code at 0x",
		"again": "has the URL of", "early": "ahead of this machine's clock",
		"deaf": "lists no logs", "page": "not a JSON-RPC response", "moved": "HTTP 301", "lost": "HTTP 404", "forbidden": "HTTP 403",
		"nowhere": "lookup", "untrusted": "certificate", "plain": "HTTP response to HTTPS client", "busy": "HTTP 503",
		"venue kyberswap": "HTTP 401", "database": "connection refused", "shared cache": "WRONGPASS",
	} {
		if got := wrong[of]; !strings.Contains(got, want) || strings.Contains(got, key) {
			t.Errorf("%s: %q, want %q and no key", of, got, want)
		}
		delete(wrong, of)
	}
	if len(wrong) > 0 {
		t.Errorf("wrong as well: %q", wrong)
	}
}

// elsewhere are endpoints at which no node answers; their URLs hold a key.
func elsewhere(t *testing.T, key string) (endpoints []config.Endpoint) {
	t.Helper()
	at := func(name, url string) {
		endpoints = append(endpoints, config.Endpoint{Name: name, URL: config.NewSecret(url + "/" + key), Timeout: 5 * time.Second})
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
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	at("untrusted", untrusted.URL)
	at("nowhere", "http://node.invalid")
	return endpoints
}

var stamped = regexp.MustCompile(`"timestamp":"0x[0-9a-f]+"`)

// tomorrow passes calls on to a node, and dates its blocks a day from now.
func tomorrow(w http.ResponseWriter, r *http.Request, node string) {
	response, err := http.Post(node, "application/json", r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // the client asks again
	_, _ = w.Write(stamped.ReplaceAll(body, fmt.Appendf(nil, `"timestamp":"0x%x"`, time.Now().Add(24*time.Hour).Unix())))
}

// withoutLogs passes calls on to a node, but for searches of logs.
func withoutLogs(w http.ResponseWriter, r *http.Request, node string) {
	body, err := io.ReadAll(r.Body)
	if err == nil && bytes.Contains(body, []byte("eth_getLogs")) {
		var call struct{ ID json.RawMessage }
		_ = json.Unmarshal(bytes.Trim(body, "[]"), &call)
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"the method eth_getLogs does not exist"}}`, call.ID)
		if body[0] == '[' {
			answer = "[" + answer + "]"
		}
		_, _ = io.WriteString(w, answer)
		return
	}
	response, err := http.Post(node, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	_, _ = io.Copy(w, response.Body)
}

// wrongOf returns what is wrong with c, by endpoint or service, and how much of it is sound.
func wrongOf(t *testing.T, c config.Config) (wrong map[string]string, sound int) {
	t.Helper()
	d, err := gateway.Diagnose(t.Context(), c, func(index.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	wrong = make(map[string]string)
	look := func(name, said string, lines []string) {
		if len(lines) == 0 && said != "" {
			sound++
			return
		}
		wrong[name] = strings.Join(lines, "; ")
	}
	for _, of := range d.Chains {
		for _, e := range of.Endpoints {
			look(e.Endpoint, e.Said, e.Wrong)
		}
	}
	for _, s := range d.Services {
		look(s.Name, s.Said, s.Wrong)
	}
	return wrong, sound
}
