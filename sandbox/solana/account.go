package solana

import "slices"

// account is what an address holds. It is never changed once the ledger has it: writers replace it.
type account struct {
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

// isPoor reports whether the account holds less than its rent, and is not empty either.
func (a *account) isPoor() bool {
	return a != nil && a.lamports > 0 && a.lamports < rent(len(a.data))
}

// stateOf is what an account says, if it is of that kind.
func stateOf[S any](a *account) (state S, ok bool) {
	if a != nil {
		state, ok = a.state.(S)
	}
	return state, ok
}

// put places an account when the ledger begins.
func (c *Chain) put(at Key, a account) {
	if a.lamports == 0 {
		a.lamports = rent(len(a.data))
	}
	c.accounts[at] = &a
}

// now is what an address holds at the head; nil when there is nothing.
func (c *Chain) now(at Key) *account { return c.accounts[at] }

// accountAt is what an address held at the end of slot; nil when there was nothing.
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
