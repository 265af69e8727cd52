package solana

import "slices"

// held is an account's content. It is never changed once the ledger has it: writers replace it.
type held struct {
	lamports   uint64
	owner      Key // the program that may write it
	data       []byte
	executable bool
	// state is what data says, for the programs of the sandbox.
	state any
}

// rent is what an account of size bytes must hold: 3480 lamports per byte-year for two years, and 128
// bytes for the account itself (solana rent, DEFAULT_LAMPORTS_PER_BYTE_YEAR).
func rent(size int) uint64 { return uint64(128+size) * 3480 * 2 }

// put places an account when the ledger begins.
func (c *Chain) put(at Key, h held) {
	if h.lamports == 0 {
		h.lamports = rent(len(h.data))
	}
	c.accounts[at] = &h
}

// accountAt is what the account held at the end of slot; nil when there was none.
func (c *Chain) accountAt(at Key, slot uint64) *held {
	content := c.accounts[at]
	for _, tx := range slices.Backward(c.transactions) {
		if tx.slot <= slot {
			break
		}
		if before, written := tx.before[at]; written {
			content = before
		}
	}
	return content
}
