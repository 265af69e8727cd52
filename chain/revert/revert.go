// Package revert reads and writes what contracts of Solidity revert with.
package revert

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

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

// Reason is an error as contracts declare it.
type Reason struct {
	Name      string // "Error" and "Panic" are Solidity's; empty: without data, or of an unknown selector
	Selector  string // 0x and 8 digits; empty without data
	Arguments []Argument
}

// Argument is a parameter of an error.
type Argument struct {
	Name, Value string
	Inner       *Reason // of bytes: the error of a call that failed within
}

// Read reads what a transaction reverts with. Arguments that are cut off are absent.
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

// String writes the error with its arguments, that of a call within it in place of its bytes, and of a require the
// text.
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

// Chain is the error and those of the calls that failed within, outermost first.
func (r Reason) Chain() []Reason {
	all := []Reason{r}
	for _, a := range r.Arguments {
		if a.Inner != nil {
			all = append(all, a.Inner.Chain()...)
		}
	}
	return all
}
