package solana

import (
	"errors"
	"fmt"
)

// checks are those made before a transaction from outside runs.
type checks struct{ signatures, blockhash bool }

// errNotRun is an instruction of a program that the ledger only runs for itself.
var errNotRun = errors.New("the sandbox does not run this program's instructions from outside")

// simulate runs a transaction from outside on a state of the ledger, and leaves that as it is. Why it fails is in the
// outcome; an error says that the sandbox cannot simulate it. The caller holds the lock.
func (c *Chain) simulate(t *transaction, wanted checks, state func(Key) *account) (*execution, error) {
	t.slot = next(c.head)
	e := newExecution(state, t)
	if e.outcome.rejected = c.reject(t, wanted); e.outcome.rejected != nil {
		return e, nil
	}
	calls := t.calls()
	if e.outcome.rejected = e.rejectCalls(calls); e.outcome.rejected != nil {
		return e, nil
	}
	for _, in := range calls {
		if programs[in.Program] == nil {
			return nil, fmt.Errorf("%w: %s", errNotRun, in.Program)
		}
	}
	err := e.run(calls)
	if err == nil && e.outcome.err == nil {
		e.outcome.rejected = e.rejectPoor()
	}
	return e, err
}

// reject returns why a transaction does not get as far as its accounts: agave, sdk transaction_error.rs.
func (c *Chain) reject(t *transaction, wanted checks) any {
	if wanted.signatures && t.VerifySignatures() != nil {
		return "SignatureFailure"
	}
	if rejected := t.resolve(c.tables); rejected != nil {
		return rejected
	}
	if wanted.blockhash && !c.isRecent(t.Message.RecentBlockhash) {
		return "BlockhashNotFound"
	}
	return nil
}

// rejectCalls returns why no instruction runs: nobody pays, or there is no program.
func (e *execution) rejectCalls(calls []Instruction) any {
	e.setBudget(calls)
	payer := e.account(e.tx.Message.AccountKeys[0])
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

// rejectPoor refuses a transaction that leaves an account with less than its rent.
func (e *execution) rejectPoor() any {
	for index, k := range e.tx.keys() {
		if e.written[k].isPoor() {
			return object{"InsufficientFundsForRent": object{"account_index": index}}
		}
	}
	return nil
}
