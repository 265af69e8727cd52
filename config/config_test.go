package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/config"
)

func TestDefaultReachesEveryDocumentedChain(t *testing.T) {
	c := config.Default()
	given := make(map[chain.ID]bool)
	for _, each := range c.Chains {
		given[each.ID] = true
		for _, endpoint := range each.Endpoints {
			if !strings.HasPrefix(endpoint.URL.Reveal(), "https://") {
				t.Errorf("chain %d: endpoint %s is not https", each.ID, endpoint)
			}
		}
	}
	for _, documented := range chain.Documented().All() {
		if !given[documented.ID] {
			t.Errorf("chain %d (%s) has no endpoint", documented.ID, documented.Name)
		}
	}
	if got, want := len(given), len(chain.Documented().All()); got != want {
		t.Errorf("default lists %d chains, %d are documented", got, want)
	}
	if len(c.Venues) == 0 || c.Prices.DefiLlama == nil {
		t.Errorf("default has %d venues and prices %v, want both", len(c.Venues), c.Prices.DefiLlama)
	}
}

const minimal = "chains: [{id: 1, endpoints: [{url: 'https://example.com'}]}]\n"

func TestWhatTheFileLeavesOutIsDefault(t *testing.T) {
	c, err := config.Parse([]byte(minimal + "index: {path: here.db}\ncache:\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Index{Path: "here.db", Lookback: 50_000, Behind: time.Minute, Asked: 1900 * time.Millisecond, Connections: 8}); c.Index != want {
		t.Errorf("Index = %+v, want %+v", c.Index, want)
	}
	if want := (config.Swap{Execution: "router", Unsimulated: "refuse", Window: 2500 * time.Millisecond, Deadline: 6 * time.Second}); c.Swap != want {
		t.Errorf("Swap = %+v, want %+v", c.Swap, want)
	}
	if c.Listen != "127.0.0.1:8080" || c.Cache.MaxBytes != 256<<20 || c.Telemetry.Admin != "127.0.0.1:9464" {
		t.Errorf("Listen, Cache, Telemetry = %v, %v, %v, want the defaults", c.Listen, c.Cache, c.Telemetry)
	}
	if len(c.Venues) != 0 || c.Prices.DefiLlama != nil {
		t.Errorf("venues and prices are on without being listed")
	}
}

func TestEndpointsWithoutANameAreNamedAfterTheirOwner(t *testing.T) {
	c, err := config.Parse([]byte(`
chains: [{id: 10, endpoints: [{url: "https://a.example"}, {url: "https://b.example"}, {name: own, url: "https://c.example"}]}]
venues: [{name: velora, endpoints: [{url: "https://d.example"}]}]
prices: {defillama: {endpoints: [{url: "https://e.example"}]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, list := range [][]config.Endpoint{c.Chains[0].Endpoints, c.Venues[0].Endpoints, c.Prices.DefiLlama.Endpoints} {
		for _, endpoint := range list {
			got = append(got, endpoint.String())
		}
	}
	if want := []string{"chain-10", "chain-10-2", "own", "velora", "defillama"}; !cmp.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
}

func TestLoadSaysWhichFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(minimal+"drain: soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(path)
	var mistakes config.Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != 1 {
		t.Fatalf("Load = %v, want one mistake", err)
	}
	want := config.Mistake{Path: "drain", Line: 2, Message: "want a duration such as 2500ms, 5s or 1m"}
	if mistakes[0] != want || !strings.Contains(err.Error(), path) {
		t.Errorf("Load = %v, want %v in %s", err, want, path)
	}
	if _, err := config.Load(path + ".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of no file = %v, want %v", err, os.ErrNotExist)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add([]byte("a: &a [*a]\nchains: *a"))
	f.Add([]byte("? [x]\n: y"))
	f.Add([]byte("chains: [{id: ${HOME}}]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := config.Parse(text)
		var mistakes config.Mistakes
		if err != nil && (!errors.As(err, &mistakes) || len(mistakes) == 0) {
			t.Errorf("Parse = %v, want Mistakes", err)
		}
	})
}
