package creation

import (
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
)

// Call is what runs on an EVM chain after an order was filled (dln-contracts, libraries/DlnExternalCallLib.sol).
type Call struct {
	Fallback chain.Address // gets the tokens where the call fails
	Executor chain.Address // contract that reads Payload; the zero address: the protocol's own, see Payload
	Reward   chain.Amount  // of the take token, for the one who runs it
	Delayed  bool          // it may run later than the fill
	Required bool          // a failing call makes the fill fail
	Payload  []byte
}

// callVersion is the first byte of an order's call.
const callVersion = 1

// Envelope is the call as an order carries it. A reward over 160 bits makes one that no contract can read.
func (c Call) Envelope() []byte {
	call := words.Tuple{c.Fallback, c.Executor, c.Reward, c.Delayed, c.Required, c.Payload}
	return append([]byte{callVersion}, words.Encode(call)...)
}

// CallPayload has the protocol's own executor call a contract with at most so much gas; 0: as much as there is.
func CallPayload(to chain.Address, gas uint32, data []byte) []byte {
	return words.Encode(words.Tuple{to, uint64(gas), data})
}

// refusedSelectors are of functions that the protocol's own executor does not call: the fallback gets the tokens
// instead.
var refusedSelectors = []words.Selector{
	words.SelectorOf("approve(address,uint256)"), words.SelectorOf("transfer(address,uint256)"),
	words.SelectorOf("transferFrom(address,address,uint256)"), words.SelectorOf("increaseAllowance(address,uint256)"),
}

// ReadCall is the contract that an order's call calls, and why no taker can fill an order with it, or nothing can run
// it, where the order takes so much; empty: nothing is known against it. An envelope has at least one byte. The adapter
// takes a version byte and (address fallback, address executor, uint160 reward, bool, bool, bytes payload); the payload
// of its own executor is (address to, uint32 gas, bytes callData) (dln-contracts, libraries/DlnExternalCallLib.sol).
func ReadCall(envelope []byte, takes chain.Amount) (target chain.Address, fault string) {
	if envelope[0] != callVersion {
		return target, fmt.Sprintf("has the unknown version %d", envelope[0])
	}
	w := words.New(envelope[1:]).Tail(0)
	target, payload := w.Address(1), w.Bytes(5)
	w.Address(0)
	w.Address(2) // the reward has as many bits as an address
	w.Bool(3)
	mustSucceed := w.Bool(4)
	if w.Err() != nil {
		return target, "is malformed: " + w.Err().Error()
	}
	if reward := w.Amount(2); reward.Cmp(takes) > 0 {
		return target, fmt.Sprintf("has a reward of %s, more than the %s that the order takes", reward, takes)
	}
	if !target.IsNative() {
		return target, "" // reads the payload in its own way
	}
	p := words.New(payload).Tail(0)
	target = p.Address(0)
	p.Uint(1, 32)
	data := p.Bytes(2)
	switch {
	case p.Err() != nil:
		return target, "is malformed: " + p.Err().Error()
	case len(data) < selectorLength:
		return target, fmt.Sprintf("calls with %d bytes, which is less than a selector", len(data))
	}
	if mustSucceed && (target.IsNative() || slices.Contains(refusedSelectors, words.Selector(data[:selectorLength]))) {
		return target, "must succeed, and calls the zero address or moves tokens, which its executor does not do"
	}
	return target, ""
}
