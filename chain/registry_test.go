package chain

import (
	"net/url"
	"strings"
	"testing"
)

func TestDocumentedChains(t *testing.T) {
	registry := Documented()
	if got, want := len(registry.All()), 28; got != want {
		t.Fatalf("%d documented chains, want %d", got, want)
	}
	sonic, known := registry.Chain(100000014)
	if !known || sonic.Native != 146 || sonic.Coin.Symbol != "S" {
		t.Errorf("chain 100000014 = %+v, want Sonic with native id 146 and coin S", sonic)
	}
	if got := registry.Family(Solana); got != SVM {
		t.Errorf("family of %d = %v, want %v", Solana, got, SVM)
	}
	if got := registry.Family(4242); got != UnknownFamily {
		t.Errorf("family of an unknown chain = %v, want %v", got, UnknownFamily)
	}
	for _, c := range registry.All() {
		if isSolana := c.Family == SVM; isSolana == c.Genesis.IsAbsent() || isSolana != (c.Native == 0) {
			t.Errorf("chain %d has native id %d and genesis %s, want one of them", c.ID, c.Native, c.Genesis)
		}
		if c.Contracts.DlnSource.IsAbsent() || c.BlockTime <= 0 || c.Finality == 0 || c.Coin.Symbol == "" {
			t.Errorf("chain %d lacks a fact: %+v", c.ID, c)
		}
		explorer, err := url.Parse(c.Explorer)
		if err != nil || explorer.Scheme != "https" || explorer.Host == "" || strings.HasSuffix(c.Explorer, "/") {
			t.Errorf("chain %d has the explorer %q, want https and no slash at its end", c.ID, c.Explorer)
		}
	}
}
