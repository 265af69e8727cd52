package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain/revert"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// knownErrors are the custom errors that a swap can come to: those of the public router, its permit and signature
// libraries, of OpenZeppelin's contracts since version 5 (tokens, Address, SafeERC20), of Permit2 and the Universal
// Router (github.com/Uniswap), of 1inch's router and its token library (github.com/1inch), of 0x's Settler
// (github.com/0xProject) and of Solady's transfers (github.com/Vectorized/solady).
var knownErrors = revert.Parse(
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

// reverted makes quote.ErrReverted of a contract's refusal and leaves other errors as they are.
func reverted(err error) error {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || !said.IsRevert() {
		return err
	}
	return fmt.Errorf("%w: %s", quote.ErrReverted, revertReason(said))
}

// revertReason says why a contract refused, in the node's words where it gave no data.
func revertReason(said *jsonrpc.Error) string {
	var data evm.Payload
	if json.Unmarshal(said.Data, &data) == nil && len(data) > 0 {
		return explainRevert(data)
	}
	return token.CleanText(said.Message)
}

// explainRevert names what a contract reverted with: the text of a require, the code of a panic, or a
// custom error with its arguments; that of a call within a call goes down to the innermost reason.
func explainRevert(data []byte) string {
	if reason, err := abi.UnpackRevert(data); err == nil {
		return token.CleanText(reason)
	}
	if len(data) < 4 {
		return "no reason given"
	}
	known, found := knownErrors.Find(data)
	if !found {
		return fmt.Sprintf("error 0x%x", data[:4])
	}
	values, err := known.Inputs.Unpack(data[4:])
	if err != nil {
		return known.Name
	}
	arguments := make([]string, len(values))
	for i, value := range values {
		arguments[i] = known.Inputs[i].Name + " " + explainArgument(value)
	}
	return known.Name + "(" + strings.Join(arguments, ", ") + ")"
}

func explainArgument(value any) string {
	switch value := value.(type) {
	case []byte:
		return explainRevert(value)
	case common.Address:
		return strings.ToLower(value.Hex())
	}
	return fmt.Sprint(value)
}
