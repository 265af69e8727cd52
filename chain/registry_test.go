package chain

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/internal/recorded"
)

func TestDocumentedChains(t *testing.T) {
	registry := Documented()
	if got, want := len(registry.All()), 30; got != want {
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
		if (c.FirstBlock == 0) == c.Since.IsZero() || !c.Since.IsZero() && c.Since.Year() < 2022 {
			t.Errorf("chain %d begins at block %d and time %s, want one of them", c.ID, c.FirstBlock, c.Since)
		}
		for _, each := range []Address{c.WrappedCoin, c.Contracts.DlnSource, c.Contracts.DlnDestination, c.Contracts.Gate, c.Contracts.Router} {
			if !each.IsAbsent() && each.Len() != NativeCoin(c.Family).Len() {
				t.Errorf("chain %d has the address %s, which is of another family", c.ID, each)
			}
		}
		explorer, err := url.Parse(c.Explorer)
		if err != nil || explorer.Scheme != "https" || explorer.Host == "" || strings.HasSuffix(c.Explorer, "/") {
			t.Errorf("chain %d has the explorer %q, want https and no slash at its end", c.ID, c.Explorer)
		}
	}
}

// TestListedChains compares the registry with the hosted service's list of chains, if that is available.
func TestListedChains(t *testing.T) {
	var list struct {
		Chains []struct {
			ChainID         ID
			OriginalChainID uint64
			ChainName       string
		}
	}
	recorded.JSON(t, "recorded/debridge/supported-chains-info-2026-09.json", &list)
	hosted := []ID{5042} // newer than the list
	for _, listed := range list.Chains {
		hosted = append(hosted, listed.ChainID)
		c, known := Documented().Chain(listed.ChainID)
		if !known || c.Listed != listed.ChainName {
			t.Errorf("chain %d is listed as %q, want %q", listed.ChainID, c.Listed, listed.ChainName)
		}
		if listed.OriginalChainID != 0 && c.Native != listed.OriginalChainID {
			t.Errorf("chain %d has native id %d, want %d", listed.ChainID, c.Native, listed.OriginalChainID)
		}
	}
	for _, c := range Documented().All() {
		if got, want := c.Retired, !slices.Contains(hosted, c.ID); got != want {
			t.Errorf("chain %d is retired: %t, want %t", c.ID, got, want)
		}
	}
}

func TestHeadsLiveForTwentyBlocksAndAMinuteAtLeast(t *testing.T) {
	for blockTime, want := range map[time.Duration]time.Duration{0: 0, 2 * time.Second: time.Minute, 12 * time.Second: 4 * time.Minute} {
		if got := (Chain{BlockTime: blockTime}).HeadLife(); got != want {
			t.Errorf("HeadLife() of blocks each %s = %s, want %s", blockTime, got, want)
		}
	}
}
