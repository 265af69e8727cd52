package contracts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

var all = []*Contract{
	DlnSource, DlnDestination, DeBridgeGate, ExternalCallAdapter, DeBridgeRouter, CallTarget, MultiCaller, Multicall3,
	Token, TaxedToken, SilentToken, BytesToken, MuteToken, WrappedCoin, Pool, PoolFactory, PoolRouter, FeePoolQuoter, FeePoolRouter, RoutePoolRouter,
	RangePool, RangePoolRouter, SpenderVenue, VenueRouter, TokenApproval, PriceOracle, SettlerRegistry, SmartExchangeRouter,
	DenyingToken, IdleToken, StandInVenue, CallingWallet, StandInTarget,
}

// TestArtifactsBelongToTheSources compares the artifacts' hash with that of the sources, computed as in compile.mjs.
func TestArtifactsBelongToTheSources(t *testing.T) {
	files, err := filepath.Glob("*.sol")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(*.sol) = %v, %v, want the sources", files, err)
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, file := range files {
		fmt.Fprintf(hash, "%s\n%s\n", file, must.Get(os.ReadFile(file))(t))
	}
	want := hex.EncodeToString(hash.Sum(nil))
	for _, contract := range all {
		if contract.sourceHash != want {
			t.Errorf("artifact of %s was made from other sources: run make contracts", contract.Name)
		}
	}
}

func TestEveryArtifactIsLoaded(t *testing.T) {
	entries := must.Get(artifacts.ReadDir("artifacts"))(t)
	if len(entries) != len(all) {
		t.Errorf("%d artifacts, %d contracts: an artifact that nobody loads should not be compiled", len(entries), len(all))
	}
}

// TestInterfacesAreTheRealOnes proves that topics and selectors begin with the same bytes as those of the deployed
// contracts, which come from their published ABIs.
func TestInterfacesAreTheRealOnes(t *testing.T) {
	compared := 0
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/interfaces.txt"))(t))) {
		var want, kind, contract, name string
		must.Get(fmt.Sscan(line, &want, &kind, &contract, &name))(t)
		at := slices.IndexFunc(all, func(c *Contract) bool { return c.Name == contract })
		if at < 0 {
			t.Fatalf("the sandbox has no contract %s", contract)
		}
		id, signature := all[at].ABI.Methods[name].ID, all[at].ABI.Methods[name].Sig
		if kind == "event" {
			id, signature = all[at].Topic(name).Bytes()[:4], all[at].ABI.Events[name].Sig
		}
		if got := hex.EncodeToString(id); got != want {
			t.Errorf("%s %s.%s = %s (%s), want %s", kind, contract, name, got, signature, want)
		}
		compared++
	}
	if compared < 80 {
		t.Errorf("%d topics and selectors were compared", compared)
	}
}
