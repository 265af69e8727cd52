package creations

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"crossgate/chain"
	"crossgate/order/creation"
	"crossgate/proxy"
	"crossgate/quote/crosschain"
)

// hookData has the members of all documented hooks and external calls.
type hookData struct {
	To, Calldata, Data             string // evm_transaction_call, evm_1
	Gas                            json.Number
	FallbackAddress, Target        string // evm_hook_data_v1
	Reward                         *string
	IsNonAtomic, IsSuccessRequired *bool
	TargetPayload, Instructions    string // Instructions: solana_serialized_instructions
}

// assumedCallGas is the gas charged for a call that specifies none.
const assumedCallGas = 300_000

// mostCallGas is the highest gas of a call, below the gas of a block on every chain.
const mostCallGas = 10_000_000

// longestCall is the longest call in bytes, well below the size of a transaction.
const longestCall = 16 << 10

// ExternalCall returns the external call that parameters of create-tx give an order; empty if there is none, or it is
// wrong.
func ExternalCall(asked proxy.Query, take chain.Family) []byte {
	p, r := &parameters{Query: asked, take: take}, crosschain.Request{}
	p.call(&r, p.Account("dstChainTokenOutRecipient", take))
	return r.ExternalCall
}

// hook parses dlnHook or its older form externalCall: the call to run after the order is filled. One that would make
// the order impossible to fill is a mistake.
func (p *parameters) hook(r *crosschain.Request, recipient chain.Address) {
	name := p.call(r, recipient)
	if len(r.ExternalCall) == 0 || p.take == chain.SVM {
		return
	}
	var fault string
	takes := r.AmountOut
	if takes.IsZero() { // not known yet
		takes = chain.MaxAmount
	}
	if r.CallTarget, fault = creation.ReadCall(r.ExternalCall, takes); fault != "" {
		p.Mistake(name + " " + fault + ": the order could never be filled")
	}
}

// call parses the call and returns its parameter's name.
func (p *parameters) call(r *crosschain.Request, recipient chain.Address) (name string) {
	name, kind, members := "dlnHook", "type", "data"
	if p.Optional(name) != "" && p.Optional("externalCall") != "" {
		p.Mistake("dlnHook or externalCall must be left out")
	}
	if p.Optional(name) == "" {
		name, kind, members = "externalCall", "version", "fields"
	}
	text := p.Optional(name)
	if text == "" {
		return name
	}
	if name == "externalCall" && strings.HasPrefix(text, "0x") {
		r.ExternalCall, r.CallGas = p.hex(name, text, longestCall), assumedCallGas
		return name
	}
	var given map[string]json.RawMessage
	var of string
	var data hookData
	decoder := json.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&given) != nil || json.Unmarshal(given[kind], &of) != nil {
		p.Mistake(name + " must be a JSON object with " + kind + " and " + members)
		return name
	}
	strict := json.NewDecoder(bytes.NewReader(given[members]))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&data); err != nil {
		p.Mistake(name + "." + members + " must be an object of the documented members")
		return name
	}
	switch {
	case p.take == chain.SVM && (of == "solana_serialized_instructions" || of == "solana_1"):
		r.ExternalCall = p.hex(name+" instructions", cmp.Or(data.Instructions, data.Calldata), longestCall)
	case p.take == chain.EVM && (of == "evm_transaction_call" || of == "evm_1"):
		p.transactionCall(name, r, data, recipient)
	case p.take == chain.EVM && of == "evm_hook_data_v1":
		p.hookV1(name, r, data)
	default:
		p.Mistake(name + "." + kind + " must be one that the destination chain has")
	}
	return name
}

// transactionCall lets the protocol's executor call a contract; if that fails, the recipient gets the tokens.
func (p *parameters) transactionCall(name string, r *crosschain.Request, data hookData, recipient chain.Address) {
	to := p.Address(name+" to", data.To, p.take)
	input := p.hex(name+" calldata", cmp.Or(data.Calldata, data.Data), longestCall)
	gas, err := data.Gas.Int64()
	if data.Gas != "" && (err != nil || gas < 0 || gas > mostCallGas) {
		p.Mistake(name + " gas must be a whole number up to 10000000")
		return
	}
	if r.CallGas = uint64(gas); gas == 0 {
		r.CallGas = assumedCallGas
	}
	r.ExternalCall = creation.Call{
		Fallback: recipient, Executor: chain.NativeCoin(chain.EVM), Delayed: true,
		Payload: creation.CallPayload(to, uint32(gas), input),
	}.Envelope()
}

func (p *parameters) hookV1(name string, r *crosschain.Request, data hookData) {
	if data.IsNonAtomic == nil || data.IsSuccessRequired == nil {
		p.Mistake(name + " isNonAtomic and isSuccessRequired must be true or false")
		return
	}
	c := creation.Call{
		Fallback: p.Address(name+" fallbackAddress", data.FallbackAddress, p.take), Executor: p.Address(name+" target", data.Target, p.take),
		Delayed: *data.IsNonAtomic, Required: *data.IsSuccessRequired, Payload: p.hex(name+" targetPayload", data.TargetPayload, longestCall),
	}
	if data.Reward != nil {
		amount, err := chain.ParseAmount(*data.Reward)
		if err != nil || amount.Big().BitLen() > 128 {
			p.Mistake(name + " reward must be a whole number of smallest units")
		}
		c.Reward = amount
	}
	if c.Fallback.IsNative() && !c.Required {
		p.Mistake(name + " fallbackAddress must not be the zero address, which gets the tokens where the call fails")
	}
	r.CallGas, r.ExternalCall = assumedCallGas, c.Envelope()
}
