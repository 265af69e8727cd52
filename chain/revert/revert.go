// Package revert decodes and encodes the errors that Solidity's contracts revert with.
package revert

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain/words"
)

// Errors maps selectors to errors of contracts.
type Errors map[[4]byte]abi.Error

// Parse parses signatures with named parameters.
func Parse(signatures ...string) Errors {
	byID := make(Errors, len(signatures))
	for _, signature := range signatures {
		name, parameters, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
		var inputs abi.Arguments
		for parameter := range strings.SplitSeq(parameters, ",") {
			kind, label, named := strings.Cut(parameter, " ")
			if !named {
				continue
			}
			parsed, err := abi.NewType(kind, "", nil)
			if err != nil {
				panic("revert: error " + signature + ": " + err.Error())
			}
			inputs = append(inputs, abi.Argument{Name: label, Type: parsed})
		}
		e := abi.NewError(name, inputs)
		byID[[4]byte(e.ID[:4])] = e
	}
	return byID
}

// Encode encodes an error of the table by its name, with arguments that words.Encode accepts.
func (e Errors) Encode(name string, arguments ...any) []byte {
	for id, known := range e {
		if known.Name != name {
			continue
		}
		return append(id[:], words.Encode(arguments...)...)
	}
	panic("revert: no error " + name)
}

// Reason is a decoded error of a contract.
type Reason struct {
	Name      string // "Error" and "Panic" are Solidity's; empty: without data, or of an unknown selector
	Selector  string // 0x and 8 digits; empty without data
	Arguments []Argument
}

// Argument is a parameter of an error.
type Argument struct {
	Name, Value string
	Inner       *Reason // of bytes: the error of an inner call that failed
}

// Read decodes the data that a transaction reverts with. If the arguments are cut off, they are absent.
func (e Errors) Read(data []byte) Reason {
	if len(data) < len(words.Selector{}) {
		return Reason{}
	}
	selector, arguments := [4]byte(data), data[4:]
	reason := Reason{Selector: "0x" + hex.EncodeToString(selector[:])}
	known, isKnown := e[selector]
	if !isKnown {
		return reason
	}
	reason.Name = known.Name
	values, err := known.Inputs.Unpack(arguments)
	if err != nil {
		return reason
	}
	for i, value := range values {
		argument := Argument{Name: known.Inputs[i].Name, Value: fmt.Sprint(value)}
		switch value := value.(type) {
		case common.Address:
			argument.Value = strings.ToLower(value.Hex())
		case []byte:
			argument.Value = "0x" + hex.EncodeToString(value)
			argument.Inner = new(e.Read(value))
		}
		reason.Arguments = append(reason.Arguments, argument)
	}
	return reason
}

// String formats the error with its arguments, an inner call's error in place of its bytes, and a require as its text.
func (r Reason) String() string {
	switch {
	case r.Selector == "":
		return "no reason given"
	case r.Name == "":
		return "error " + r.Selector
	case r.Name == "Error" && len(r.Arguments) == 1:
		return r.Arguments[0].Value
	}
	arguments := make([]string, len(r.Arguments))
	for i, a := range r.Arguments {
		if arguments[i] = a.Name + " " + a.Value; a.Inner != nil {
			arguments[i] = a.Name + " " + a.Inner.String()
		}
	}
	return r.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// Chain returns the error and those of the inner calls that failed, outermost first.
func (r Reason) Chain() []Reason {
	all := []Reason{r}
	for _, a := range r.Arguments {
		if a.Inner != nil {
			all = append(all, a.Inner.Chain()...)
		}
	}
	return all
}
