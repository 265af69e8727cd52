package stories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
	"crossgate/proxy/admin"
	"crossgate/sandbox/sandboxtest"
)

// awaitAnswer asks again until the answer is as wanted.
func awaitAnswer(t *testing.T, what, url string, wanted func(*http.Response, []byte) bool) {
	t.Helper()
	await(t, what, func() bool { return wanted(ask(t, http.MethodGet, url, "")) })
}

// sharedState is what operators are told of the shared cache.
func sharedState(t *testing.T, body []byte) (told admin.Dependency) {
	t.Helper()
	var all struct{ Dependencies []admin.Dependency }
	must.Do(t, json.Unmarshal(body, &all))
	for _, each := range all.Dependencies {
		if each.Kind == "cache" {
			return each
		}
	}
	t.Fatalf("operators are told nothing of the shared cache: %s", body)
	return told
}

func isHit(response *http.Response) bool {
	return strings.HasPrefix(response.Header.Get("Cache-Status"), "crossgate; hit")
}

// TestGatewaysShareACache has two gateways, each with an index of its own, on one Redis: one has the other's answers, a purge
// reaches both, swaps stay where they were asked for, and both go on when it ends.
func TestGatewaysShareACache(t *testing.T) {
	server := redistest.Serve(t)
	telemetry := startTelemetry(t)
	world := sandboxtest.Shared(t)
	var urls, admins [2]string
	const token = "token-of-the-operators"
	for i := range urls {
		c := configOf(t, world)
		c.Cache.Shared = config.NewSecret(server.URL())
		c.Telemetry.Token = config.NewSecret(token)
		urls[i], admins[i] = runLogged(t, c, telemetry, io.Discard)
		awaitAnswer(t, "a connection", admins[i]+"/readyz", func(_ *http.Response, body []byte) bool { return sharedState(t, body).OK })
	}
	facts := factsOf(t, world)

	remote := 0
	for _, o := range facts.Orders {
		path := "/api/Orders/creationTxHash/" + o.CreationTxHash
		ask(t, http.MethodGet, urls[0]+path, "")
		if response, _ := ask(t, http.MethodGet, urls[1]+path, ""); isHit(response) {
			remote++
		}
	}
	if remote == 0 {
		t.Errorf("one gateway made all of %d answers anew that the other had made", len(facts.Orders))
	}

	order := "/api/Orders/creationTxHash/" + facts.Orders[0].CreationTxHash
	awaitAnswer(t, "the order to be kept", urls[1]+order, func(r *http.Response, _ []byte) bool { return isHit(r) })
	purge := admins[0] + "/purge?how=hard&chain=" + fmt.Sprint(facts.Orders[0].ChainID)
	if response, body := ask(t, http.MethodPost, purge, "", "Authorization: Bearer "+token); response.StatusCode != http.StatusOK {
		t.Fatalf("purge: %s %s", response.Status, body)
	}
	awaitAnswer(t, "the purge to reach the other gateway", urls[1]+order, func(r *http.Response, _ []byte) bool { return !isHit(r) })

	var swap struct {
		Tx struct{ To, Data string }
	}
	get(t, urls[0]+swapPath(facts), &swap)
	content := must.Get(server.Save())(t)
	for what, text := range map[string]string{"calldata of a swap": swap.Tx.Data, "the operators' token": token} {
		if text == "" || bytes.Contains(content, []byte(text)) {
			t.Errorf("the shared cache holds %s: %.80s", what, text)
		}
	}
	if !bytes.Contains(content, []byte("crossgate:")) {
		t.Error("the shared cache is empty: the test looks at nothing")
	}

	must.Do(t, server.Kill())
	for i := range urls {
		awaitAnswer(t, "operators to be told", admins[i]+"/readyz", func(r *http.Response, body []byte) bool {
			return r.StatusCode == http.StatusOK && !sharedState(t, body).OK
		})
		for _, path := range []string{"/api/Orders/creationTxHash/" + facts.Orders[0].CreationTxHash, swapPath(facts)} {
			if response, body := ask(t, http.MethodGet, urls[i]+path, ""); response.StatusCode != http.StatusOK {
				t.Errorf("without the shared cache GET %s = %s %s", path, response.Status, body)
			}
		}
	}
}
