package creation

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
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

// envelopes has the encodings as functions, for the encoder.
var envelopes = parseABI(`[
	{"type":"function","name":"envelope","inputs":[{"name":"call","type":"tuple","components":[
		{"name":"fallbackAddress","type":"address"},
		{"name":"executorAddress","type":"address"},
		{"name":"executionFee","type":"uint160"},
		{"name":"allowDelayedExecution","type":"bool"},
		{"name":"requireSuccessfullExecution","type":"bool"},
		{"name":"payload","type":"bytes"}]}]},
	{"type":"function","name":"payload","inputs":[{"name":"call","type":"tuple","components":[
		{"name":"to","type":"address"},
		{"name":"txGas","type":"uint32"},
		{"name":"callData","type":"bytes"}]}]}]`)

type callTuple struct {
	FallbackAddress             common.Address
	ExecutorAddress             common.Address
	ExecutionFee                *big.Int
	AllowDelayedExecution       bool
	RequireSuccessfullExecution bool
	Payload                     []byte
}

type payloadTuple struct {
	To       common.Address
	TxGas    uint32
	CallData []byte
}

// Envelope is the call as an order carries it. A reward over 160 bits makes one that no contract can read.
func (c Call) Envelope() []byte {
	const version = 1
	arguments := encode("envelope", callTuple{
		nodeAddress(c.Fallback), nodeAddress(c.Executor), c.Reward.Big(), c.Delayed, c.Required, c.Payload,
	})
	return append([]byte{version}, arguments...)
}

// CallPayload has the protocol's own executor call a contract with at most so much gas; 0: as much as there is.
func CallPayload(to chain.Address, gas uint32, data []byte) []byte {
	return encode("payload", payloadTuple{nodeAddress(to), gas, data})
}

func encode(name string, tuple any) []byte {
	data, err := envelopes.Pack(name, tuple)
	if err != nil {
		panic("creation: encode " + name + ": " + err.Error())
	}
	return data[selectorLength:]
}
