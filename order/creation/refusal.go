package creation

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
)

// Refusal is why a transaction makes no order.
type Refusal struct {
	By   chain.Address // the contract whose check it is, absent: no node takes the transaction
	Data []byte        // that the transaction reverts with; nil where only the chain could say
	Why  string
}

// errors are those of DlnSource, of the router and of Solidity that a creation can come to.
var known = revert.Parse(
	"Error(string message)",
	"Panic(uint256 code)",
	"IncorrectOrderStatus()",
	"MismatchNativeGiveAmount()",
	"MismatchedTransferAmount()",
	"NotSupportedDstChain()",
	"PermitFailure()",
	"SignatureInvalidV()",
	"WrongAddressLength()",
	"WrongAffiliateFeeLength()",
	"WrongArgumentLength()",
	"WrongFixedFee(uint256 received,uint256 actual)",
	"ZeroAddress()",
	"CallCausedBalanceDiscrepancy(address target,address token,uint256 expectedBalance,uint256 actualBalance)",
	"CallFailed(address target,bytes data)",
	"EthTransferFailed()",
	"NotEnoughSrcFundsIn(uint256 amount)",
	"NotSupportedRouter()",
	"SwapEmptyResult(address srcTokenOut)",
	"SwapOutcomeTooLow(address tokenOut,uint256 amountOut,uint256 actualAmountOut,uint256 expectedAmountOut)",
)

// Codes of Solidity's Panic.
const (
	panicOverflow = 0x11 // of arithmetic
	panicMemory   = 0x41
)

// malformed is the refusal of calldata by a contract's decoder.
func malformed(by chain.Address, err error) *Refusal {
	if errors.Is(err, words.ErrNoMemory) {
		return refused(by, err.Error(), "Panic", panicMemory)
	}
	return &Refusal{By: by, Data: []byte{}, Why: err.Error()}
}

// refused is a refusal with an error of the table.
func refused(by chain.Address, why, name string, arguments ...any) *Refusal {
	return &Refusal{By: by, Data: known.Encode(name, arguments...), Why: why}
}

// passed is the refusal as the router passes it on.
func (r *Refusal) passed(router, target chain.Address) *Refusal {
	if r == nil || r.Data == nil {
		return r
	}
	return &Refusal{By: r.By, Data: refused(router, "", "CallFailed", target, r.Data).Data, Why: r.Why}
}

// Reason is an error as contracts declare it.
type Reason struct {
	Name      string // "Error" and "Panic" are Solidity's; empty: without data, or of an unknown selector
	Selector  string // 0x and 8 digits; empty without data
	Arguments []Argument
	Inner     *Reason // of a call that failed within
}

// Argument is a parameter of an error.
type Argument struct{ Name, Value string }

// Reason reads what the transaction reverts with.
func (r Refusal) Reason() Reason { return readReason(r.Data) }

func readReason(data []byte) Reason {
	if len(data) < selectorLength {
		return Reason{}
	}
	reason := Reason{Selector: "0x" + hex.EncodeToString(data[:selectorLength])}
	e, isKnown := known.Find(data)
	if !isKnown {
		return reason
	}
	reason.Name = e.Name
	values, err := e.Inputs.Unpack(data[selectorLength:])
	if err != nil {
		return reason
	}
	for i, value := range values {
		argument := Argument{Name: e.Inputs[i].Name, Value: fmt.Sprint(value)}
		switch value := value.(type) {
		case common.Address:
			argument.Value = strings.ToLower(value.Hex())
		case []byte:
			argument.Value = "0x" + hex.EncodeToString(value)
			inner := readReason(value)
			reason.Inner = &inner
		}
		reason.Arguments = append(reason.Arguments, argument)
	}
	return reason
}

// String writes the error with its arguments, and that of a call within it in place of its bytes.
func (r Reason) String() string {
	if r.Name == "" {
		if r.Selector == "" {
			return "no data"
		}
		return "error " + r.Selector
	}
	arguments := make([]string, len(r.Arguments))
	for i, a := range r.Arguments {
		if arguments[i] = a.Name + " " + a.Value; r.Inner != nil && a.Name == "data" {
			arguments[i] = a.Name + " " + r.Inner.String()
		}
	}
	return r.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// Chain is the error and those of the calls that failed within, outermost first.
func (r Reason) Chain() (all []Reason) {
	for at := &r; at != nil; at = at.Inner {
		all = append(all, *at)
	}
	return all
}
