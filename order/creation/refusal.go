package creation

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
)

// Refusal is why a transaction makes no order.
type Refusal struct {
	By   chain.Address // the contract whose check it is, absent: no node takes the transaction
	Data []byte        // that the transaction reverts with; nil where only the chain could say
	Why  string
	// IsUnapproved marks the lack of an allowance. Checks behind that were not made.
	IsUnapproved bool
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

// Reason reads what the transaction reverts with.
func (r Refusal) Reason() revert.Reason { return known.Read(r.Data) }
