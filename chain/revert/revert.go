// Package revert reads and writes what contracts of Solidity revert with.
package revert

import (
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"crossgate/chain/words"
)

// Errors are errors of contracts by their selectors.
type Errors map[[4]byte]abi.Error

// Parse reads signatures with names of their parameters.
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

// Encode writes an error of the table by its name, with arguments that words.Encode takes.
func (e Errors) Encode(name string, arguments ...any) []byte {
	for id, known := range e {
		if known.Name != name {
			continue
		}
		return append(id[:], words.Encode(arguments...)...)
	}
	panic("revert: no error " + name)
}

// Find is the error that data begins with.
func (e Errors) Find(data []byte) (found abi.Error, isKnown bool) {
	if len(data) < 4 {
		return found, false
	}
	found, isKnown = e[[4]byte(data)]
	return found, isKnown
}
