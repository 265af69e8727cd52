package onchain

import (
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/chain/words"
	"crossgate/order"
)

// OrderOf returns the order that an account belongs to, for accounts of TakeOrderAccount and CallAccount.
type OrderOf func(account chain.Address) (id order.ID, known bool)

// ErrLogsCut says that a node truncated a transaction's logs before a required value.
var ErrLogsCut = errors.New("logs are cut off")

// DecodeSolana returns the order events of a transaction, with their position as LogIndex. Some programs list an
// account instead of an order: orderOf maps it (UnnamedOrders returns them), and unmapped facts are omitted. An
// instruction counts if its logs report success or, if they are truncated, because the transaction succeeded. Fees are
// only in logs: a creation without them is omitted, and ErrLogsCut returned with the other facts. Other errors mean
// malformed data or wrong IDs.
func DecodeSolana(c chain.Contracts, tx solana.Transaction, orderOf OrderOf) ([]Found, error) {
	x := execution{contracts: c, steps: invocations(tx), orderOf: orderOf}
	var found []Found
	var cut error
	for i := range x.steps {
		facts, err := x.decode(i)
		switch {
		case errors.Is(err, words.ErrForeignChain):
			continue // see Decode
		case errors.Is(err, ErrLogsCut):
			cut = err
		case err != nil:
			return nil, err
		}
		found = append(found, facts...)
	}
	return found, cut
}

// UnnamedOrders returns the accounts of orders in batches of sent unlocks, for which DecodeSolana needs orderOf.
func UnnamedOrders(c chain.Contracts, tx solana.Transaction) []chain.Address {
	var accounts []chain.Address
	for _, each := range tx.Instructions {
		if d, _ := splitDiscriminator(each.Data); each.Program == c.DlnDestination && d == sendBatchUnlock {
			accounts = append(accounts, batchAccounts(each)...)
		}
	}
	return accounts
}

type execution struct {
	contracts chain.Contracts
	steps     []invocation
	orderOf   OrderOf
}

func (x *execution) decode(i int) ([]Found, error) {
	step := &x.steps[i]
	switch step.Program {
	case chain.Address{}:
		return nil, nil
	case x.contracts.ExternalCallAdapter:
		return x.callProgress(i), nil
	case x.contracts.DlnSource, x.contracts.DlnDestination:
	default:
		return nil, nil
	}
	d, args := splitDiscriminator(step.Data)
	kind, known := solanaInstructions[d]
	if !known || kind.program(x.contracts) != step.Program {
		return nil, x.refuseUnknown(step)
	}
	event, told := step.event(kind.reports)
	if !told && !step.cut {
		return nil, nil
	}
	if !told && kind.needsEvent {
		return nil, fmt.Errorf("decode %s: %w", kind.name, ErrLogsCut)
	}
	s := &scene{execution: x, index: i, invocation: step, args: newBorsh(args), told: newBorsh(event)}
	found := kind.read(s)
	if err := errors.Join(s.args.Err, s.told.Err); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind.name, err)
	}
	return found, nil
}

// refuseUnknown returns an error if an unknown instruction advanced an order: a newer program must be noticed.
func (x *execution) refuseUnknown(step *invocation) error {
	for _, kind := range solanaInstructions {
		if _, told := step.event(kind.reports); told && kind.program(x.contracts) == step.Program {
			return fmt.Errorf("an unknown instruction did the work of %s", kind.name)
		}
	}
	return nil
}

// callProgress decodes a report about an external call. The order is the first argument, or belongs to an account.
func (x *execution) callProgress(i int) []Found {
	step := &x.steps[i]
	fact, told := callFact(step)
	if !told {
		return nil
	}
	_, args := splitDiscriminator(step.Data)
	argument := newBorsh(args).hash()
	if slices.Contains(step.Accounts, CallAccount(x.contracts, argument)) {
		return []Found{{Order: argument, LogIndex: positionOf(i, 0), Fact: fact}}
	}
	for _, account := range step.Accounts {
		if id, known := x.orderOf(account); known && CallAccount(x.contracts, id) == account {
			return []Found{{Order: id, LogIndex: positionOf(i, 0), Fact: fact}}
		}
	}
	return nil
}

// callFact decodes the executor's event. The order's terms decide what a fallback means.
func callFact(step *invocation) (fact order.ExternalCall, told bool) {
	if _, told := step.event(callFallbacked); told {
		const authority = 3 // of extcallMeta, executeAuth, executeWallet, fallbackAuthority, …
		fact.Step = order.CallFallenBack
		if d, _ := splitDiscriminator(step.Data); d == makeFallback && len(step.Accounts) > authority {
			fact.By = step.Accounts[authority] // who signed that the call be given up
		}
		return fact, true
	}
	data, told := step.event(callExecuted)
	if !told || len(data) == 0 {
		return order.ExternalCall{}, false
	}
	if isWhole := data[0] != 0; isWhole {
		return order.ExternalCall{Step: order.CallExecuted}, true
	}
	return order.ExternalCall{Step: order.CallBegun}, true
}

// positionOf orders facts within a transaction: by instruction, then by the order's place in it.
func positionOf(instruction, place int) uint {
	const places = 8 // bits: an instruction has at most 255 accounts
	return uint(instruction)<<places | uint(place)
}

// scene is one step of an execution, to be decoded.
type scene struct {
	*execution
	*invocation
	index int
	args  *borsh // the instruction's arguments
	told  *borsh // the event's contents; empty if the logs are truncated before it
}

func (s *scene) found(id order.ID, fact order.Fact) []Found {
	return []Found{{Order: id, LogIndex: positionOf(s.index, 0), Fact: fact}}
}

// account returns the instruction's account at an index of the program's IDL.
func (s *scene) account(i int) chain.Address {
	if i >= len(s.Accounts) {
		s.args.Fail(fmt.Errorf("no account %d", i))
		return chain.Address{}
	}
	return s.Accounts[i]
}

// sentSubmission returns the ID of the message that the instruction sent through the gate.
func (s *scene) sentSubmission() chain.Hash {
	for _, below := range s.steps[s.index+1:] {
		if below.Depth <= s.Depth {
			break
		}
		if data, told := below.event(gateTransferred); told && below.Program == s.contracts.Gate {
			event := newBorsh(data)
			event.Uint8() // the kind of sending
			return event.hash()
		}
	}
	return chain.Hash{}
}

// claimedSubmission returns the ID of the executed message, if this claim's account derives from it.
func (s *scene) claimedSubmission() chain.Hash {
	account := s.account(0)
	for i := range s.steps {
		step := &s.steps[i]
		if step.Program != s.contracts.Gate {
			continue
		}
		_, args := splitDiscriminator(step.Data)
		executed, _ := step.event(gateExecuted)
		bridged, _ := step.event(gateBridged)
		for _, data := range [][]byte{executed, bridged, args} {
			candidate := newBorsh(data).hash()
			if !candidate.IsAbsent() && solana.ProgramAddress(s.contracts.Gate, []byte("SUBMISSION"), candidate[:]) == account {
				return candidate
			}
		}
	}
	return chain.Hash{}
}
