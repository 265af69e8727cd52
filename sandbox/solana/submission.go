package solana

import (
	"crypto/ed25519"
	"errors"
	"fmt"
)

// checks are what is looked at before a transaction from outside runs.
type checks struct{ signatures, blockhash bool }

// errNotRun is an instruction of a program that the ledger only runs for itself.
var errNotRun = errors.New("the sandbox does not run this program's instructions from outside")

// trial runs a transaction from outside on a state of the ledger, and leaves that as it is. Why the runtime rejects
// one is in the outcome; an error says that the sandbox cannot tell. The caller holds the lock.
func (c *Chain) trial(tx *recorded, look checks, state func(Key) *held) (*execution, error) {
	tx.slot = next(c.head)
	e := newExecution(state, tx)
	if e.outcome.rejected = c.reject(tx, look); e.outcome.rejected != nil {
		return e, nil
	}
	calls := tx.message.calls()
	if e.outcome.rejected = e.rejectCalls(calls); e.outcome.rejected != nil {
		return e, nil
	}
	for _, in := range calls {
		if !isRunnable(in.Program) {
			return nil, fmt.Errorf("%w: %s", errNotRun, in.Program)
		}
	}
	refusal, err := e.run(calls)
	if err == nil && refusal == nil {
		e.outcome.rejected = e.rejectPaupers()
	}
	return e, err
}

// reject tells why a transaction does not get as far as its accounts: agave, sdk transaction_error.rs.
func (c *Chain) reject(tx *recorded, look checks) any {
	if look.signatures && !tx.isSigned() {
		return "SignatureFailure"
	}
	if rejected := tx.message.resolve(func(t Key) []Key { return c.tables[t] }); rejected != nil {
		return rejected
	}
	if look.blockhash && !c.isRecent(tx.message.blockhash) {
		return "BlockhashNotFound"
	}
	return nil
}

// isSigned reports whether every signature is one of the message.
func (r *recorded) isSigned() bool {
	text := r.message.bytes()
	for n, signature := range r.signatures {
		if !ed25519.Verify(r.message.static[n][:], text, signature[:]) {
			return false
		}
	}
	return true
}

// isRecent reports whether a blockhash still serves.
func (c *Chain) isRecent(hash [32]byte) bool {
	slot := c.head
	for range hashLife {
		if slot <= firstSlot {
			break
		}
		if c.blockhash(slot) == hash {
			return true
		}
		slot = previous(slot)
	}
	return false
}

// rejectCalls tells why no instruction runs: nobody pays, or there is no program.
func (e *execution) rejectCalls(calls []Instruction) any {
	e.setBudget(calls)
	payer := e.account(e.tx.message.static[0])
	switch {
	case payer == nil || payer.lamports == 0:
		return "AccountNotFound"
	case len(payer.data) > 0 || payer.owner != systemProgram:
		return "InvalidAccountForFee"
	case payer.lamports < e.fee(e.budget):
		return "InsufficientFundsForFee"
	}
	for _, in := range calls {
		switch program := e.account(in.Program); {
		case program == nil:
			return "ProgramAccountNotFound"
		case !program.executable:
			return "InvalidProgramForExecution"
		}
	}
	return nil
}

// rejectPaupers tells whether the transaction leaves an account with less than its rent.
func (e *execution) rejectPaupers() any {
	for index, k := range e.tx.message.keys() {
		content, written := e.written[k]
		if !written || content == nil || content.lamports == 0 || content.lamports >= rent(len(content.data)) {
			continue
		}
		return map[string]any{"InsufficientFundsForRent": map[string]int{"account_index": index}}
	}
	return nil
}
