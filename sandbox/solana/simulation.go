package solana

import (
	"errors"
	"fmt"
)

// checks selects what is verified before a transaction from outside runs.
type checks struct{ signatures, blockhash bool }

// errNotRun is the error for an instruction of a program that only the ledger itself can run.
var errNotRun = errors.New("the sandbox does not run this program's instructions from outside")

// simulate runs a transaction from outside on a state of the ledger without changing it. The outcome has the reason for
// a failure; an error means that the sandbox cannot simulate the transaction. The caller holds the lock.
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

// reject returns why a transaction is rejected before its accounts are loaded: agave, sdk transaction_error.rs.
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

// rejectCalls returns why no instruction can run: the payer cannot pay, or a program is missing.
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

// rejectPoor rejects a transaction that leaves an account with less than its rent.
func (e *execution) rejectPoor() any {
	for index, k := range e.tx.keys() {
		if e.written[k].isPoor() {
			return object{"InsufficientFundsForRent": object{"account_index": index}}
		}
	}
	return nil
}
