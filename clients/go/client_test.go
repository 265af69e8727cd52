package crossgate

import (
	"testing"

	"crossgate/chain"
)

// TestChainsAreNumberedAsDocumented compares the table with the gateway's own.
func TestChainsAreNumberedAsDocumented(t *testing.T) {
	renumbered := 0
	for _, facts := range chain.Documented().All() {
		native := ChainID(facts.Native)
		if facts.Native == 0 { // Solana
			native = ChainID(facts.ID)
		}
		if native.API() != uint64(facts.ID) {
			t.Errorf("the API's number of %s (%d) = %d, want %d", facts.Name, native, native.API(), facts.ID)
		}
		if uint64(native) != uint64(facts.ID) {
			renumbered++
		}
	}
	if renumbered != len(apiIDs) {
		t.Errorf("%d chains are renumbered, the table has %d", renumbered, len(apiIDs))
	}
}
