package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// counted is a proxy that counts the requests to a service.
type counted struct {
	*httptest.Server
	requests atomic.Int64
}

func countedWay(t *testing.T, to string) *counted {
	t.Helper()
	target := must.Get(url.Parse(to))(t)
	c := &counted{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = target.Scheme, target.Host, target.Path
	}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// TestReloadIsNotNoticed replaces a running configuration several times, under load.
func TestReloadIsNotNoticed(t *testing.T) {
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	g, front := serveConfig(t, c)
	must.Do(t, g.AwaitIndexed(t.Context()))
	followers := following()
	stop := keepAsking(t, world, front)

	way := countedWay(t, c.Chains[0].Endpoints[0].URL.Reveal())
	detour := c
	detour.Chains = append([]config.Chain(nil), c.Chains...)
	detour.Chains[0].Endpoints = []config.Endpoint{{Name: "detour", URL: config.NewSecret(way.URL)}}
	for range 3 {
		for _, next := range []config.Config{detour, c, detour} {
			must.Do(t, g.Reload(next))
			must.Do(t, g.AwaitIndexed(t.Context()))
		}
	}
	if way.requests.Load() == 0 {
		t.Error("the new endpoint was never asked")
	}
	unknown := detour
	unknown.Venues = append([]config.Venue{{Name: "nowhere"}}, c.Venues...)
	if err := g.Reload(unknown); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("Reload with an unknown venue = %v, want it named", err)
	}
	before := way.requests.Load()
	await(t, "asked by the running one", func() bool { return way.requests.Load() > before })
	answers, failures := stop()
	if answers == 0 || len(failures) > 0 {
		t.Errorf("%d answers and these failures while configurations changed: %s", answers, strings.Join(failures, "\n"))
	}
	await(t, "as many followers as before", func() bool { return following() == followers })
	if followers == 0 {
		t.Error("no goroutine is seen to follow a chain")
	}
}

// keepAsking requests all three documented paths until stop is called, which returns the results.
func keepAsking(t *testing.T, world *sandbox.World, front string) (stop func() (answers int, failures []string)) {
	t.Helper()
	known := factsOf(t, world)
	paths := []string{"/api/Satistics/" + known.Takers[0].Address + "/lockedAssets"}
	for _, o := range known.Orders[:4] {
		paths = append(paths, "/api/Orders/creationTxHash/"+o.CreationTxHash)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	var mu sync.Mutex
	var answers int
	var failed []string
	for i := range 4 {
		asking.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				path := paths[n%len(paths)]
				status, body := fetch(front + path)
				mu.Lock()
				if answers++; status != http.StatusOK && !isLate(status, []byte(body)) {
					failed = append(failed, fmt.Sprintf("%s: %d %s", path, status, body))
				}
				mu.Unlock()
			}
		})
	}
	return func() (int, []string) {
		cancel()
		asking.Wait()
		return answers, failed
	}
}

func fetch(url string) (status int, body string) {
	response, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// following returns the number of goroutines that follow chains.
func following() int {
	var text bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&text, 2)
	return strings.Count(text.String(), "follow.(*Follower).Run(")
}
