package config_test

import (
	"reflect"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
)

func address(t *testing.T, text string) chain.Address {
	t.Helper()
	a, _, err := chain.ParseAnyAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRegistryPutsTheFileOverTheDocuments(t *testing.T) {
	c := must.Get(config.Parse([]byte(`
chains:
  - id: 1
    name: Ours
    contracts: {gate: "0x1111111111111111111111111111111111111111"}
    endpoints: [{url: "https://example.com"}]
  - id: 100000099
    family: evm
    native: 31337
    name: Staging
    coin: {symbol: ETH, decimals: 18}
    blockTime: 2s
    finality: 12
    contracts: {dlnSource: "0x2222222222222222222222222222222222222222", dlnDestination: "0x3333333333333333333333333333333333333333"}
    endpoints: [{url: "https://example.com"}]
  - id: 10
    native: 901
    endpoints: [{url: "https://example.com"}]
  - id: 7565164
    genesis: EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG
    endpoints: [{url: "https://example.com"}]
`)))(t)
	registry, documented := c.Registry(), chain.Documented()

	want, _ := documented.Chain(1)
	want.Name, want.Listed, want.Contracts.Gate = "Ours", "Ours", address(t, "0x1111111111111111111111111111111111111111")
	if got, _ := registry.Chain(1); !reflect.DeepEqual(got, want) {
		t.Errorf("Chain(1) = %+v, want %+v", got, want)
	}
	want = chain.Chain{
		ID: 100000099, Native: 31337, Name: "Staging", Listed: "Staging", Family: chain.EVM, BlockTime: 2 * time.Second,
		Finality: 12, Coin: chain.Coin{Name: "ETH", Symbol: "ETH", Decimals: 18},
		Contracts: chain.Contracts{
			DlnSource:      address(t, "0x2222222222222222222222222222222222222222"),
			DlnDestination: address(t, "0x3333333333333333333333333333333333333333"),
		},
	}
	if got, _ := registry.Chain(100000099); !reflect.DeepEqual(got, want) {
		t.Errorf("Chain(100000099) = %+v, want %+v", got, want)
	}
	want, _ = documented.Chain(10)
	if want.Since.IsZero() {
		t.Errorf("Chain(10) = %+v, want its beginning documented", want)
	}
	want.Native, want.Since = 901, time.Time{}
	if got, _ := registry.Chain(10); !reflect.DeepEqual(got, want) {
		t.Errorf("Chain(10) = %+v, want %+v: it is another network", got, want)
	}
	if got, want := len(registry.All()), len(documented.All())+1; got != want {
		t.Errorf("registry has %d chains, want %d: those without endpoints still have names", got, want)
	}
	want, _ = documented.Chain(chain.Solana)
	want.Genesis, want.Since, want.FirstBlock = must.Get(chain.ParseSolanaHash("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"))(t), time.Time{}, 0
	if got, _ := registry.Chain(chain.Solana); !reflect.DeepEqual(got, want) {
		t.Errorf("Chain(Solana) = %+v, want %+v: it is another cluster", got, want)
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]config.Bytes{
		"0": 0, "17": 17, "17B": 17, "2kB": 2000, "2 KiB": 2048, "3MB": 3e6, "256MiB": 256 << 20, "1GiB": 1 << 30, "2GB": 2e9,
	} {
		if got, err := config.ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1MiB", "1.5GiB", "1TiB", "1 M", "9223372036854775807KiB", "99999999999999999999"} {
		if got, err := config.ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}
