package solana

import "slices"

// account is what an address holds. It is immutable once in the ledger: writers replace it.
type account struct {
	lamports   uint64
	owner      Key // the program that may write it
	data       []byte
	executable bool
	// state is the decoded data, for the sandbox's programs.
	state any
}

// rent is the minimum balance of an account of size bytes: 3480 lamports per byte-year for two years, with 128 bytes
// for the account itself (solana rent, DEFAULT_LAMPORTS_PER_BYTE_YEAR).
func rent(size int) uint64 { return uint64(128+size) * 3480 * 2 }

// isPoor reports whether the account holds lamports, but fewer than its rent.
func (a *account) isPoor() bool {
	return a != nil && a.lamports > 0 && a.lamports < rent(len(a.data))
}

// stateOf returns an account's decoded state if it has that type.
func stateOf[S any](a *account) (state S, ok bool) {
	if a != nil {
		state, ok = a.state.(S)
	}
	return state, ok
}

// put places an account before the ledger begins.
func (c *Chain) put(at Key, a account) {
	if a.lamports == 0 {
		a.lamports = rent(len(a.data))
	}
	c.accounts[at] = &a
}

// now returns what an address holds at the head, or nil.
func (c *Chain) now(at Key) *account { return c.accounts[at] }

// accountAt returns what an address held at the end of slot, or nil.
func (c *Chain) accountAt(at Key, slot uint64) *account {
	content := c.accounts[at]
	for _, t := range slices.Backward(c.transactions) {
		if t.slot <= slot {
			break
		}
		if before, written := t.before[at]; written {
			content = before
		}
	}
	if content == nil || content.lamports == 0 {
		return nil
	}
	return content
}
