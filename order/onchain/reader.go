package onchain

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// giveStates and takeStates are what the statuses of DlnSource and of DlnDestination mean, in their sequence.
var (
	giveStates = []order.State{order.None, order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel}
	takeStates = []order.State{order.None, order.StateFulfilled, order.StateSentUnlock, order.StateSentOrderCancel}
)

// GiveOrderCall is the calldata that asks DlnSource for an order.
func GiveOrderCall(id order.ID) []byte { return words.Call("giveOrders(bytes32)", id) }

// TakeOrderCall is the calldata that asks DlnDestination for an order.
func TakeOrderCall(id order.ID) []byte { return words.Call("takeOrders(bytes32)", id) }

// GivePatchesCall is the calldata that asks DlnSource by how much an order's give amount was raised.
func GivePatchesCall(id order.ID) []byte { return words.Call("givePatches(bytes32)", id) }

// TakePatchesCall is the calldata that asks DlnDestination by how much an order's take amount was lowered.
func TakePatchesCall(id order.ID) []byte { return words.Call("takePatches(bytes32)", id) }

// CallHash is the hash by which contracts know an external call.
func CallHash(externalCall []byte) chain.Hash { return chain.Hash(crypto.Keccak256Hash(externalCall)) }

// CallID is the id under which an external call waits with an amount of a token (dln-contracts,
// DlnExternalCallAdapter.sol).
func CallID(id order.ID, authority, token chain.Address, amount chain.Amount, callHash chain.Hash) []byte {
	packed := appendAmount(slices.Concat(id[:], authority.Bytes(), token.Bytes()), amount)
	return crypto.Keccak256(packed, callHash[:])
}

// CallStatusCall asks the external call adapter for a call, by the id that ExternalCallRegistered carries first.
func CallStatusCall(registration []byte) []byte {
	return append(words.Call("externalCallStatus(bytes32)"), registration[:min(words.Size, len(registration))]...)
}

// DecodeCallStatus reads the answer: whether a call was executed, failed or was cancelled since it was registered.
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

// DecodePatches reads the answer to either; an empty one, from a missing contract, is zero.
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

// DecodeGiveOrder reads DlnSource's answer to GiveOrderCall, whose amount is that before patches.
func DecodeGiveOrder(answer []byte) (order.StoredState, error) {
	const amount, lastWord = 5, 7
	w := words.New(answer)
	state, err := readState(w, giveStates, lastWord)
	if err != nil {
		return order.StoredState{}, fmt.Errorf("decode giveOrders: %w", err)
	}
	return order.StoredState{State: state, Amount: w.Amount(amount)}, nil
}

// DecodeTakeOrder reads the answer to TakeOrderCall: three words, or four of newer contracts.
func DecodeTakeOrder(answer []byte) (stored order.StoredState, err error) {
	const lastWord = 2
	if stored.State, err = readState(words.New(answer), takeStates, lastWord); err != nil {
		return order.StoredState{}, fmt.Errorf("decode takeOrders: %w", err)
	}
	return stored, nil
}

// readState reads the status in the first word of an answer that reaches to a last one.
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
