package swap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"crossgate/chain/revert"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// knownErrors are the errors that a swap can end in: Solidity's, and those of the public router, its permit and
// signature libraries, of OpenZeppelin's contracts since version 5 (tokens, Address, SafeERC20), of Permit2 and the
// Universal Router (github.com/Uniswap), of 1inch's router and its token library (github.com/1inch), of 0x's Settler
// (github.com/0xProject) and of Solady's transfers (github.com/Vectorized/solady).
var knownErrors = revert.Parse(
	"Error(string message)",
	"Panic(uint256 code)",
	"AdminBadRole()",
	"CallCausedBalanceDiscrepancy(address target,address token,uint256 expectedBalance,uint256 actualBalance)",
	"CallFailed(address target,bytes data)",
	"EthTransferFailed()",
	"ExcessiveMsgValue(uint256 requiredAmount,uint256 providedAmount)",
	"InvalidAffiliateFeeData(uint16 bps,address recipient)",
	"InvalidAffiliateFeeDataLength(uint256 length)",
	"InvalidSwapVariableFeeBps()",
	"NotEnoughSrcFundsIn(uint256 amount)",
	"NotSupportedRouter()",
	"SignatureInvalidLength()",
	"SignatureInvalidV()",
	"SwapEmptyResult(address srcTokenOut)",
	"SwapFailed(address srcRouter)",
	"SwapOutcomeTooLow(address tokenOut,uint256 amountOut,uint256 actualAmountOut,uint256 expectedAmountOut)",
	"SwapToSameToken()",
	"WrongArgument()",
	"WrongArgumentLength()",
	"ZeroDlnDestinationAddress()",
	"ZeroFeeTreasuryAddress()",
	"PermitFailure()",
	"ERC20InsufficientBalance(address sender,uint256 balance,uint256 needed)",
	"ERC20InsufficientAllowance(address spender,uint256 allowance,uint256 needed)",
	"ERC20InvalidReceiver(address receiver)",
	"AddressEmptyCode(address target)",
	"AddressInsufficientBalance(address account)",
	"FailedCall()",
	"FailedInnerCall()",
	"SafeERC20FailedOperation(address token)",
	"AllowanceExpired(uint256 deadline)",
	"InsufficientAllowance(uint256 amount)",
	"SignatureExpired(uint256 signatureDeadline)",
	"ExecutionFailed(uint256 commandIndex,bytes message)",
	"InsufficientETH()",
	"InsufficientToken()",
	"TransactionDeadlinePassed()",
	"V2TooLittleReceived()",
	"V3TooLittleReceived()",
	"ReturnAmountIsNotEnough(uint256 result,uint256 minReturn)",
	"SafeTransferFailed()",
	"SafeTransferFromFailed()",
	"TooMuchSlippage(address token,uint256 expected,uint256 actual)",
	"ETHTransferFailed()",
	"TransferFailed()",
	"TransferFromFailed()",
)

// reverted turns a contract's refusal into quote.ErrReverted and returns other errors unchanged.
func reverted(err error) error {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || !said.IsRevert() {
		return err
	}
	return fmt.Errorf("%w: %s", quote.ErrReverted, revertReason(said))
}

// revertReason returns why a contract refused, in the node's words if it sent no data.
func revertReason(said *jsonrpc.Error) string {
	if data := revertData(said); len(data) > 0 {
		return explainRevert(data)
	}
	return token.CleanText(said.Message)
}

// revertData returns what a contract reverted with, which nodes like OpenEthereum's send behind a word; empty if a node
// sends nothing.
func revertData(said *jsonrpc.Error) evm.Payload {
	data := evm.Payload{}
	_ = json.Unmarshal(bytes.Replace(said.Data, []byte("Reverted "), nil, 1), &data)
	return data
}

// explainRevert describes the error that a contract reverted with.
func explainRevert(data []byte) string { return token.CleanText(knownErrors.Read(data).String()) }
