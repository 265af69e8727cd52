package onchain

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// giveStates and takeStates are the meanings of the statuses of DlnSource and DlnDestination, by number.
var (
	giveStates = []order.State{order.None, order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel}
	takeStates = []order.State{order.None, order.StateFulfilled, order.StateSentUnlock, order.StateSentOrderCancel}
)

// GiveOrderCall returns the calldata that asks DlnSource for an order.
func GiveOrderCall(id order.ID) []byte { return words.Call("giveOrders(bytes32)", id) }

// TakeOrderCall returns the calldata that asks DlnDestination for an order.
func TakeOrderCall(id order.ID) []byte { return words.Call("takeOrders(bytes32)", id) }

// GivePatchesCall returns the calldata that asks DlnSource by how much an order's give amount was raised.
func GivePatchesCall(id order.ID) []byte { return words.Call("givePatches(bytes32)", id) }

// TakePatchesCall returns the calldata that asks DlnDestination by how much an order's take amount was lowered.
func TakePatchesCall(id order.ID) []byte { return words.Call("takePatches(bytes32)", id) }

// CallHash returns the hash by which contracts identify an external call.
func CallHash(externalCall []byte) chain.Hash { return chain.Hash(crypto.Keccak256Hash(externalCall)) }

// CallID returns the ID of an external call that awaits execution with an amount of a token (dln-contracts,
// DlnExternalCallAdapter.sol).
func CallID(id order.ID, authority, token chain.Address, amount chain.Amount, callHash chain.Hash) []byte {
	packed := appendAmount(slices.Concat(id[:], authority.Bytes(), token.Bytes()), amount)
	return crypto.Keccak256(packed, callHash[:])
}

// CallStatusCall returns the calldata for a call's status at the adapter; registration begins with the call's ID.
func CallStatusCall(registration []byte) []byte {
	return append(words.Call("externalCallStatus(bytes32)"), registration[:min(words.Size, len(registration))]...)
}

// DecodeCallStatus decodes the answer: whether a registered call was executed, failed or was cancelled.
func DecodeCallStatus(answer []byte) (isOver bool, err error) {
	const created, cancelled = 1, 3
	w := words.New(answer)
	status := w.Uint(0, 8)
	if err := w.Err(); err != nil {
		return false, fmt.Errorf("decode externalCallStatus: %w", err)
	}
	if status > cancelled {
		return false, fmt.Errorf("decode externalCallStatus: status %d is unknown", status)
	}
	return status > created, nil
}

// DecodePatches decodes the answer to GivePatchesCall or TakePatchesCall. Empty, from a missing contract, is zero.
func DecodePatches(answer []byte) (chain.Amount, error) {
	if len(answer) == 0 {
		return chain.Amount{}, nil
	}
	w := words.New(answer)
	patched := w.Amount(0)
	if err := w.Err(); err != nil {
		return chain.Amount{}, fmt.Errorf("decode patches: %w", err)
	}
	return patched, nil
}

// DecodeGiveOrder decodes the answer to GiveOrderCall. Its amount is that before patches.
func DecodeGiveOrder(answer []byte) (order.StoredState, error) {
	const amount, lastWord = 5, 7
	w := words.New(answer)
	state, err := readState(w, giveStates, lastWord)
	if err != nil {
		return order.StoredState{}, fmt.Errorf("decode giveOrders: %w", err)
	}
	return order.StoredState{State: state, Amount: w.Amount(amount)}, nil
}

// DecodeTakeOrder decodes the answer to TakeOrderCall: three words, or four from newer contracts.
func DecodeTakeOrder(answer []byte) (stored order.StoredState, err error) {
	const lastWord = 2
	if stored.State, err = readState(words.New(answer), takeStates, lastWord); err != nil {
		return order.StoredState{}, fmt.Errorf("decode takeOrders: %w", err)
	}
	return stored, nil
}

// readState decodes the status in the first word of an answer that must reach to word last.
func readState(w words.Reader, known []order.State, last int) (order.State, error) {
	w.Word(last)
	status := w.Uint(0, 8)
	if err := w.Err(); err != nil {
		return order.None, err
	}
	if status >= uint64(len(known)) {
		return order.None, fmt.Errorf("status %d is unknown", status)
	}
	return known[status], nil
}
