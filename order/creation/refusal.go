package creation

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
)

// Refusal says why a transaction creates no order.
type Refusal struct {
	By   chain.Address // contract that makes the check; absent: nodes reject the transaction
	Data []byte        // revert data; nil if only the chain could provide it
	Why  string
	// IsUnapproved says that an allowance is missing. Later checks were not made.
	IsUnapproved bool
}

// known are the errors of DlnSource, the router and Solidity that a creation can cause.
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
	panicOverflow = 0x11 // arithmetic
	panicMemory   = 0x41
)

// malformed returns the refusal of calldata that a contract cannot decode.
func malformed(by chain.Address, err error) *Refusal {
	if errors.Is(err, words.ErrNoMemory) {
		return refused(by, err.Error(), "Panic", panicMemory)
	}
	return &Refusal{By: by, Data: []byte{}, Why: err.Error()}
}

// refused returns a refusal with an error of the table known.
func refused(by chain.Address, why, name string, arguments ...any) *Refusal {
	return &Refusal{By: by, Data: known.Encode(name, arguments...), Why: why}
}

// passed returns the refusal as passed on by the router.
func (r *Refusal) passed(router, target chain.Address) *Refusal {
	if r == nil || r.Data == nil {
		return r
	}
	return &Refusal{By: r.By, Data: refused(router, "", "CallFailed", target, r.Data).Data, Why: r.Why}
}

// Reason decodes the revert data.
func (r Refusal) Reason() revert.Reason { return known.Read(r.Data) }
