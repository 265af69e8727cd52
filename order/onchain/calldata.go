package onchain

import (
	"bytes"
	"math/big"
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/order"
)

const (
	// selectorLength is the part of calldata that names the function.
	selectorLength = 4
	// mostNested is how deep calls within calls are read: the gate's, the contract's that it calls, and one more.
	mostNested = 3
	// mostListed is how many structs of a list are read. A batch holds 7 at most (dln-contracts), and each may repeat
	// all of the calldata.
	mostListed = 16
)

// function is a function of one of the protocol's contracts.
type function struct {
	name       string
	of         role
	parameters []parameter

	selector [selectorLength]byte
	inputs   abi.Arguments // the parameters to the library
}

func newFunction(of role, name string, parameters ...parameter) function {
	f := function{name: name, of: of, parameters: parameters, inputs: inputsOf(parameters)}
	f.selector = [selectorLength]byte(abi.NewMethod(name, name, abi.Function, "payable", false, true, f.inputs, nil).ID)
	return f
}

func inputsOf(parameters []parameter) abi.Arguments {
	inputs := make(abi.Arguments, len(parameters))
	for i, each := range marshalled(parameters) {
		kind, err := abi.NewType(each.Type, "", each.Components)
		if err != nil {
			panic("onchain: " + each.Name + ": " + err.Error())
		}
		inputs[i] = abi.Argument{Name: each.Name, Type: kind}
	}
	return inputs
}

// marshalled are parameters as the library takes them.
func marshalled(parameters []parameter) []abi.ArgumentMarshaling {
	all := make([]abi.ArgumentMarshaling, len(parameters))
	for i, p := range parameters {
		all[i] = abi.ArgumentMarshaling{Name: p.name, Type: p.abi}
		if p.isStruct() {
			all[i].Components = marshalled(p.members)
		}
	}
	return all
}

func (p parameter) isStruct() bool { return p.abi == "tuple" || p.abi == "tuple[]" }

func bySelector(list ...function) map[[selectorLength]byte]function {
	table := make(map[[selectorLength]byte]function, len(list))
	for _, f := range list {
		table[f.selector] = f
	}
	return table
}

// ReadCall decodes calldata for a contract on a chain. Functions of the protocol's own contracts are known, by
// contract and selector; other calls keep selector and size.
func ReadCall(on chain.Chain, contract chain.Address, data []byte) order.ContractCall {
	return readCall(on, contract, data, mostNested)
}

func readCall(on chain.Chain, contract chain.Address, data []byte, nested int) order.ContractCall {
	call := order.ContractCall{
		Contract: contract, Role: roleOf(on.Contracts, contract), Size: len(data),
		Selector: bytes.Clone(data[:min(selectorLength, len(data))]),
	}
	if len(data) < selectorLength {
		return call
	}
	f, known := functions[[selectorLength]byte(data)]
	if !known || call.Role != f.of.name {
		return call
	}
	call.Function = f.name
	content := data[selectorLength:]
	values := f.unpack(content)
	r := callReader{chain: on, nested: nested}
	call.Arguments = r.arguments(f.parameters[:len(values)], values)
	r.resolve(f.parameters, scope{call.Arguments, nil})
	for _, unread := range f.inputs[len(values):] {
		call.Unread = append(call.Unread, unread.Type.String())
	}
	if len(call.Unread) > 0 {
		return call
	}
	again, err := f.inputs.Pack(values...)
	if err != nil || !bytes.HasPrefix(content, again) {
		call.Irregular = true
		return call
	}
	call.Unused = len(content) - len(again)
	return call
}

// roleOf is what the protocol calls a contract.
func roleOf(c chain.Contracts, contract chain.Address) string {
	for _, each := range []role{dlnSource, dlnDestination, deBridgeGate, deBridgeRouter, callAdapter} {
		if !contract.IsAbsent() && each.address(c) == contract {
			return each.name
		}
	}
	return ""
}

// unpack decodes arguments, all of them or those before the first that cannot be read.
func (f function) unpack(content []byte) []any {
	for count := len(f.inputs); count > 0; count-- {
		if f.isLong(content, count-1) {
			continue
		}
		values, err := f.inputs[:count].Unpack(content)
		if err == nil {
			return values
		}
	}
	return nil
}

// isLong reports whether one of the arguments up to last is a list of more structs than are read.
func (f function) isLong(content []byte, last int) bool {
	return slices.ContainsFunc(f.parameters[:last+1], func(p parameter) bool {
		if p.abi != "tuple[]" {
			return false
		}
		w := newWords(content)
		at := slices.IndexFunc(f.parameters, func(other parameter) bool { return other.name == p.name })
		count := w.tail(at).uint(0, 64)
		return w.err() != nil || count > mostListed
	})
}

// callReader makes arguments of what the library decoded.
type callReader struct {
	chain  chain.Chain
	nested int // calls that may yet be within this one
}

func (r callReader) arguments(parameters []parameter, values []any) []order.Argument {
	read := make([]order.Argument, len(values))
	for i, value := range values {
		read[i] = r.argument(parameters[i], reflect.ValueOf(value))
	}
	return read
}

func (r callReader) argument(p parameter, value reflect.Value) order.Argument {
	a := order.Argument{Name: p.name, Type: p.abi, Kind: p.kind}
	switch v := value.Interface().(type) {
	case common.Address:
		a.Address = chain.NewAddress(v[:])
	case []byte:
		r.readBytes(&a, p, v)
	case [32]byte:
		if a.Bytes = v[:]; a.Kind == order.AccountArgument {
			a.Address, a.Bytes = chain.NewAddress(v[:]), nil
		}
	case *big.Int:
		a.Number, _ = chain.AmountFromBig(v) // it has 256 bits at most
	case bool:
		a.Kind = order.TruthArgument
		if v {
			a.Number = chain.NewAmount(1)
		}
	default:
		switch value.Kind() {
		case reflect.Struct:
			for i, member := range p.members {
				a.Members = append(a.Members, r.argument(member, value.Field(i)))
			}
		case reflect.Slice:
			for i := range value.Len() {
				a.Members = append(a.Members, r.argument(p.element(), value.Index(i)))
			}
		default: // the library's type of a number that 64 bits hold
			a.Number = chain.NewAmount(value.Uint())
		}
	}
	return a
}

// element is a parameter of a list's elements.
func (p parameter) element() parameter {
	if p.isStruct() {
		return parameter{abi: "tuple", kind: order.MembersArgument, members: p.members}
	}
	return p.members[0]
}

// readBytes reads a byte string: an address of either chain, or several things in one.
func (r callReader) readBytes(a *order.Argument, p parameter, raw []byte) {
	switch {
	case p.kind == order.AccountArgument || p.kind == order.TokenArgument:
		a.Address = chain.NewAddress(raw)
		return
	case p.packed != nil:
		a.Members = p.packed(raw)
	case p.within != nil:
		whole := abi.Arguments{{Type: structType(p.within)}}
		if values, err := whole.Unpack(raw); err == nil {
			a.Members = r.argument(tuple("", p.within), reflect.ValueOf(values[0])).Members
		}
	}
	a.Bytes = raw
	if a.Members != nil {
		a.Kind = order.MembersArgument
	}
}

func structType(members []parameter) abi.Type {
	return inputsOf([]parameter{tuple("", members)})[0].Type
}
