package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/golden"
	"crossgate/internal/must"
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

func TestEndpointsWithoutANameAreNamedAfterTheirOwner(t *testing.T) {
	c := must.Get(config.Parse([]byte(`
chains: [{id: 10, endpoints: [{url: "https://a.example"}, {url: "https://b.example"}, {name: own, url: "https://c.example"}]}]
venues: [{name: velora, endpoints: [{url: "https://d.example"}]}]
prices: {defillama: [{url: "https://e.example"}]}
`)))(t)
	var got []string
	for _, list := range [][]config.Endpoint{c.Chains[0].Endpoints, c.Venues[0].Endpoints, c.Prices.DefiLlama} {
		for _, endpoint := range list {
			got = append(got, endpoint.String())
		}
	}
	if want := []string{"chain-10", "chain-10-2", "own", "velora", "defillama"}; !cmp.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
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

func TestSectionsAreRead(t *testing.T) {
	c := must.Get(config.Parse([]byte(minimal + `
tls: {certFile: a.pem, keyFile: a.key, clientCAFile: ca.pem}
connections: {total: 0}
telemetry: {tls: {certFile: b.pem, keyFile: b.key}}
limits:
  loads: 10
  address: {units: 100, window: 10s}
  keys: [{name: wallet, key: 0123456789abcdef, quota: {units: 1000, window: 1m}}]
  proxies: [10.0.0.0/8, 192.0.2.1, "2001:db8::/32"]
`)))(t)
	if want := (config.Connections{Total: 0, PerAddress: 512}); c.Connections != want {
		t.Errorf("connections are read as %+v, want %+v", c.Connections, want)
	}
	if c.TLS != (config.TLS{CertFile: "a.pem", KeyFile: "a.key", ClientCAFile: "ca.pem"}) || c.Telemetry.TLS != (config.TLS{CertFile: "b.pem", KeyFile: "b.key"}) {
		t.Errorf("TLS is read as %+v and %+v", c.TLS, c.Telemetry.TLS)
	}
	if l := c.Limits; l.Loads != 10 || l.Address != (config.Quota{Units: 100, Window: 10 * time.Second}) || l.Keys[0].Quota.Units != 1000 || l.Proxies[1].String() != "192.0.2.1/32" {
		t.Errorf("limits are read as %+v", l)
	}
}

const feeChains = `
chains:
  - {id: 1, endpoints: [{url: "https://one.example"}]}
  - {id: 10, fee: {bps: 0}, endpoints: [{url: "https://ten.example"}]}
  - {id: 8453, fee: {bps: 35, recipient: "0x4444444444444444444444444444444444444444"}, endpoints: [{url: "https://base.example"}]}
`

func TestFeesAreThoseOfTheChainBeforeThoseOfAll(t *testing.T) {
	c := must.Get(config.Parse([]byte(feeChains + `swap: {fee: {bps: 20, recipient: "0x3333333333333333333333333333333333333333"}}`)))(t)
	fees := c.Fees()
	usual := config.Fee{Bps: 20, Recipient: address(t, "0x3333333333333333333333333333333333333333")}
	want := map[chain.ID]config.Fee{
		1: usual, 56: usual, 10: {}, 8453: {Bps: 35, Recipient: address(t, "0x4444444444444444444444444444444444444444")},
		chain.Solana: {}, 100000026: {}, // their family differs from the recipient's
	}
	got := map[chain.ID]config.Fee{}
	for id := range want {
		got[id] = fees[id]
	}
	golden.Same(t, "Fees", want, got, cmp.Comparer(func(a, b chain.Address) bool { return a == b }))
	if c, err := config.Parse([]byte(minimal)); err != nil || len(c.Fees()) > 0 {
		t.Errorf("Fees of a file without any = %v, %v, want none", c.Fees(), err)
	}
}

// TestEveryMistakeIsReportedAtOnce parses the texts of testdata/mistakes.txtar: all that is wrong with each is in the
// file behind it, which -update writes, and quotes no secret.
func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	path := filepath.Join("testdata", "mistakes.txtar")
	archive := must.Get(txtar.ParseFile(path))(t)
	for i := 0; i < len(archive.Files); i += 2 {
		text, want := archive.Files[i], &archive.Files[i+1]
		said := "none\n"
		if _, err := config.Parse(text.Data); err != nil {
			said = err.Error() + "\n"
		}
		if golden.IsUpdated() {
			want.Data = []byte(said)
		}
		golden.Same(t, text.Name, string(want.Data), said)
		if strings.Contains(said, "SECRET") {
			t.Errorf("%s: the report quotes a secret: %s", text.Name, said)
		}
	}
	if golden.IsUpdated() {
		must.Do(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
}
