package creation

import (
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

// Envelope is the call as an order carries it. A reward over 160 bits makes one that no contract can read.
func (c Call) Envelope() []byte {
	const version = 1
	call := words.Tuple{c.Fallback, c.Executor, c.Reward, c.Delayed, c.Required, c.Payload}
	return append([]byte{version}, words.Encode(call)...)
}

// CallPayload has the protocol's own executor call a contract with at most so much gas; 0: as much as there is.
func CallPayload(to chain.Address, gas uint32, data []byte) []byte {
	return words.Encode(words.Tuple{to, uint64(gas), data})
}
