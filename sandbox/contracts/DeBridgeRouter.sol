// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Permit} from "./Permit.sol";
import {IERC20, Transfer} from "./Transfer.sol";

/// @notice The protocol's public router: swaps through any venue's router on its list, for the caller
/// himself or before an order is created.
contract DeBridgeRouter {
    struct Listing {
        bool isSupported;
        /// Pulls the tokens for a venue's router that does not do it itself.
        address allowanceAggregator;
    }

    struct SwapDetails {
        address allowanceAggregator;
        address swapRouter;
        bytes swapCalldata;
        address tokenOut;
        uint256 tokenOutMinAmount;
        /// The recipient's share of what comes out beyond the minimum; the treasury gets the rest.
        uint16 surplusShareBps;
        bytes affiliateFeeEnvelope;
        address recipient;
    }

    uint256 private constant BPS = 10_000;
    /// @dev 2 bytes of basis points and 20 of the recipient.
    uint256 private constant AFFILIATE_FEE_LENGTH = 22;

    address public owner;
    address public feeTreasury;
    /// @notice Always callable, though on no list.
    address public dlnDestination;
    /// @notice Of the gross outcome of a same-chain swap, for the treasury.
    uint16 public swapVariableFeeBps;
    mapping(address => Listing) public supportedRouters;

    event SwapExecuted(address router, address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut);
    event Refund(address token, uint256 amount, address recipient);
    event AffiliateFeePaid(address token, uint256 amount, address recipient, uint32 referralCode);
    event CollectedFee(address token, uint256 amount);
    event SameChainSwapExecuted(
        address sender,
        address recipient,
        address tokenIn,
        uint256 amountIn,
        address tokenOut,
        uint256 amountOut,
        uint256 fee,
        uint256 affiliateFee,
        uint32 referralCode
    );
    event SupportedRouter(address srcSwapRouter, bool isSupported);
    event AllowanceAggregatorUpdated(address router, address allowanceAggregator);
    event SwapVariableFeeBpsUpdated(uint16 swapVariableFeeBps);
    event FeeTreasuryUpdated(address feeTreasury);

    error AdminBadRole();
    error CallFailed(address target, bytes data);
    error CallCausedBalanceDiscrepancy(address target, address token, uint256 expectedBalance, uint256 actualBalance);
    error ExcessiveMsgValue(uint256 requiredAmount, uint256 providedAmount);
    error InvalidAffiliateFeeData(uint16 bps, address recipient);
    error InvalidAffiliateFeeDataLength(uint256 length);
    error InvalidSwapVariableFeeBps();
    error NotEnoughSrcFundsIn(uint256 amount);
    error NotSupportedRouter();
    error SwapEmptyResult(address srcTokenOut);
    error SwapOutcomeTooLow(address tokenOut, uint256 amountOut, uint256 actualAmountOut, uint256 expectedAmountOut);
    error SwapToSameToken();
    error ZeroFeeTreasuryAddress();

    modifier onlyOwner() {
        if (msg.sender != owner) revert AdminBadRole();
        _;
    }

    receive() external payable {}

    function version() external pure returns (uint256) {
        return 320;
    }

    /// @notice Swaps on the caller's chain. Of the outcome the treasury and the affiliate get their shares,
    /// and the recipient, or the caller where none is named, the rest.
    /// @return What the recipient is paid.
    function swap(
        address tokenIn,
        uint256 amountIn,
        bytes calldata tokenInPermitEnvelope,
        SwapDetails calldata swapDetails,
        uint32 referralCode
    ) external payable returns (uint256) {
        if (tokenIn != address(0) && msg.value != 0) revert ExcessiveMsgValue(0, msg.value);
        if (tokenIn == swapDetails.tokenOut) revert SwapToSameToken();
        if (tokenIn != address(0)) {
            _permit(tokenIn, tokenInPermitEnvelope);
            _pull(tokenIn, amountIn);
        } else {
            if (msg.value < amountIn) revert NotEnoughSrcFundsIn(amountIn);
            if (msg.value > amountIn) revert ExcessiveMsgValue(amountIn, msg.value);
        }
        uint256 amountOut = _swap(
            tokenIn, amountIn, swapDetails.allowanceAggregator, swapDetails.swapRouter, swapDetails.swapCalldata, swapDetails.tokenOut
        );
        return _share(tokenIn, amountIn, swapDetails, amountOut, referralCode);
    }

    /// @notice What the venue pays for the input, before any share. For eth_call only: sent as a transaction it
    /// leaves the outcome here.
    function simulateSwap(address tokenIn, uint256 amountIn, address swapRouter, bytes calldata swapCalldata, address tokenOut)
        external
        payable
        returns (uint256)
    {
        if (tokenIn != address(0)) _pull(tokenIn, amountIn);
        else if (msg.value < amountIn) revert NotEnoughSrcFundsIn(amountIn);
        return _swap(tokenIn, amountIn, address(0), swapRouter, swapCalldata, tokenOut);
    }

    /// @notice Exactly expectedAmountOut goes to the target's call; what the swap brought beyond is refunded.
    function strictlySwapAndCall(
        address tokenIn,
        uint256 amountIn,
        bytes memory permitEnvelope,
        address swapRouter,
        bytes calldata swapCalldata,
        address tokenOut,
        uint256 expectedAmountOut,
        address refundRecipient,
        address target,
        bytes calldata targetData
    ) external payable {
        uint256 native = address(this).balance - msg.value;
        if (tokenIn != address(0)) {
            _permit(tokenIn, permitEnvelope);
            _pull(tokenIn, amountIn);
        } else if (msg.value < amountIn) {
            revert NotEnoughSrcFundsIn(amountIn);
        }
        require(tokenIn != address(0) || tokenOut != address(0));
        uint256 amountOut = _swap(tokenIn, amountIn, address(0), swapRouter, swapCalldata, tokenOut);
        if (amountOut < expectedAmountOut) revert NotEnoughSrcFundsIn(expectedAmountOut);
        if (amountOut > expectedAmountOut) {
            _pay(tokenOut, refundRecipient, amountOut - expectedAmountOut);
            emit Refund(tokenOut, amountOut - expectedAmountOut, refundRecipient);
        }
        if (!supportedRouters[target].isSupported && target != dlnDestination) revert NotSupportedRouter();
        _handOver(tokenOut, expectedAmountOut, target, address(this).balance - native, targetData);
    }

    /// @dev All native coin of the call goes along; of a token, the target must take no less than expected.
    function _handOver(address token, uint256 amount, address target, uint256 value, bytes calldata data) private {
        uint256 held;
        if (token != address(0)) {
            Transfer.allow(token, target, amount);
            held = _balance(token);
        }
        _call(target, value, data);
        if (token == address(0)) return;
        uint256 taken = held - _balance(token);
        if (taken < amount) revert CallCausedBalanceDiscrepancy(target, token, held - amount, taken);
    }

    function updateSupportedRouter(address router, bool isSupported) external onlyOwner {
        supportedRouters[router].isSupported = isSupported;
        emit SupportedRouter(router, isSupported);
    }

    function updateAllowanceAggregator(address router, address allowanceAggregator) external onlyOwner {
        if (allowanceAggregator != address(0) && !supportedRouters[allowanceAggregator].isSupported) revert NotSupportedRouter();
        supportedRouters[router].allowanceAggregator = allowanceAggregator;
        emit AllowanceAggregatorUpdated(router, allowanceAggregator);
    }

    function updateSwapVariableFeeBps(uint16 bps) external onlyOwner {
        if (bps > BPS) revert InvalidSwapVariableFeeBps();
        swapVariableFeeBps = bps;
        emit SwapVariableFeeBpsUpdated(bps);
    }

    function updateFeeTreasury(address treasury) external onlyOwner {
        if (treasury == address(0)) revert ZeroFeeTreasuryAddress();
        feeTreasury = treasury;
        emit FeeTreasuryUpdated(treasury);
    }

    /// @dev What an envelope lacks is read from what lies behind it in the real contract's memory, after a look at the
    /// balance: that, and the end of its own address.
    function _permit(address token, bytes memory envelope) private {
        uint256 held = _balance(token);
        uint256 length = envelope.length;
        if (length >= 64 && length < 129) {
            envelope = bytes.concat(envelope, new bytes(31 - (length - 1) % 32), bytes32(held), bytes4(uint32(uint160(address(this)))));
        }
        require(Permit.use(token, envelope), "Permit failure");
    }

    /// @dev A token that delivers less than it is asked for is no input.
    function _pull(address token, uint256 amount) private {
        uint256 before = _balance(token);
        Transfer.pull(token, msg.sender, address(this), amount);
        uint256 received = _balance(token) - before;
        if (received == 0 || received < amount) revert NotEnoughSrcFundsIn(amount);
    }

    /// @dev The outcome is what this contract has more of afterwards, whatever the venue says.
    function _swap(
        address tokenIn,
        uint256 amountIn,
        address allowanceAggregator,
        address swapRouter,
        bytes calldata swapCalldata,
        address tokenOut
    ) private returns (uint256 amountOut) {
        uint256 before = _balance(tokenOut);
        Listing memory known = supportedRouters[swapRouter];
        if (tokenIn != address(0)) {
            address spender = swapRouter;
            if (allowanceAggregator != address(0)) {
                if (!supportedRouters[allowanceAggregator].isSupported) revert NotSupportedRouter();
                spender = allowanceAggregator;
            } else if (known.allowanceAggregator != address(0)) {
                spender = known.allowanceAggregator;
            }
            Transfer.allow(tokenIn, spender, amountIn);
        }
        if (!known.isSupported && swapRouter != dlnDestination) revert NotSupportedRouter();
        _call(swapRouter, tokenIn == address(0) ? amountIn : 0, swapCalldata);
        uint256 held = _balance(tokenOut);
        if (held <= before) revert SwapEmptyResult(tokenOut);
        amountOut = held - before;
        emit SwapExecuted(swapRouter, tokenIn, amountIn, tokenOut, amountOut);
    }

    /// @dev Deals out the outcome: variable fee, affiliate, surplus beyond the minimum, recipient.
    function _share(address tokenIn, uint256 amountIn, SwapDetails calldata details, uint256 amountOut, uint32 referralCode)
        private
        returns (uint256 rest)
    {
        uint256 fee = amountOut * swapVariableFeeBps / BPS;
        rest = amountOut - fee;
        uint256 affiliateFee = _payAffiliate(details, rest, referralCode);
        rest -= affiliateFee;
        if (rest < details.tokenOutMinAmount) {
            revert SwapOutcomeTooLow(details.tokenOut, amountOut, rest, details.tokenOutMinAmount);
        }
        uint256 surplus = rest - details.tokenOutMinAmount;
        uint256 withheld = surplus - surplus * details.surplusShareBps / BPS;
        fee += withheld;
        rest -= withheld;
        if (fee > 0) {
            if (feeTreasury == address(0)) revert ZeroFeeTreasuryAddress();
            _pay(details.tokenOut, feeTreasury, fee);
            emit CollectedFee(details.tokenOut, fee);
        }
        address recipient = details.recipient == address(0) ? msg.sender : details.recipient;
        _pay(details.tokenOut, recipient, rest);
        emit SameChainSwapExecuted(
            msg.sender, recipient, tokenIn, amountIn, details.tokenOut, amountOut, fee, affiliateFee, referralCode
        );
    }

    function _payAffiliate(SwapDetails calldata details, uint256 amount, uint32 referralCode) private returns (uint256 fee) {
        bytes calldata envelope = details.affiliateFeeEnvelope;
        if (envelope.length == 0) return 0;
        if (envelope.length != AFFILIATE_FEE_LENGTH) revert InvalidAffiliateFeeDataLength(envelope.length);
        uint16 bps = uint16(bytes2(envelope[:2]));
        address recipient = address(bytes20(envelope[2:]));
        if (bps == 0) return 0;
        if (bps > BPS || recipient == address(0)) revert InvalidAffiliateFeeData(bps, recipient);
        fee = amount * bps / BPS;
        _pay(details.tokenOut, recipient, fee);
        emit AffiliateFeePaid(details.tokenOut, fee, recipient, referralCode);
    }

    function _call(address target, uint256 value, bytes calldata data) private {
        (bool ok, bytes memory result) = target.call{value: value}(data);
        if (!ok) revert CallFailed(target, result);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token != address(0)) {
            Transfer.send(token, to, amount);
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert Transfer.EthTransferFailed();
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }
}
