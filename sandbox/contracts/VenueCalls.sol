// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Transfer} from "./Transfer.sol";

/// @notice The functions of the venues' own routers, as far as their APIs have them called. What a router passes on
/// unread is a Plan here; recipient, tokens, amount and minimum stand where the venue has them.
abstract contract VenueCalls {
    /// @dev Of the input, before it is swapped.
    struct Share {
        address recipient;
        uint16 bps;
    }

    struct Plan {
        address[] pools;
        Share[] shares;
        uint16 outputFeeBps;
        uint256 deadline;
    }

    struct SwapOrder {
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint256 minAmountOut;
        address recipient;
        Plan plan;
    }

    struct KyberDescription {
        address srcToken;
        address dstToken;
        address[] srcReceivers;
        uint256[] srcAmounts;
        address[] feeReceivers;
        uint256[] feeAmounts;
        address dstReceiver;
        uint256 amount;
        uint256 minReturnAmount;
        uint256 flags;
        bytes permit;
    }

    struct KyberExecution {
        address callTarget;
        address approveTarget;
        bytes targetData;
        KyberDescription desc;
        bytes clientData;
    }

    struct VeloraData {
        address srcToken;
        address destToken;
        uint256 fromAmount;
        uint256 toAmount;
        uint256 quotedAmount;
        bytes32 metadata;
        address beneficiary;
    }

    struct OneInchDescription {
        address srcToken;
        address dstToken;
        address srcReceiver;
        address dstReceiver;
        uint256 amount;
        uint256 minReturnAmount;
        uint256 flags;
    }

    struct OpenOceanDescription {
        address srcToken;
        address dstToken;
        address srcReceiver;
        address dstReceiver;
        uint256 amount;
        uint256 minReturnAmount;
        uint256 guaranteedAmount;
        uint256 flags;
        address referrer;
        bytes permit;
    }

    struct OpenOceanCall {
        uint256 target;
        uint256 gasLimit;
        uint256 value;
        bytes data;
    }

    struct LifiSwap {
        address callTo;
        address approveTo;
        address sendingAssetId;
        address receivingAssetId;
        uint256 fromAmount;
        bytes callData;
        bool requiresDeposit;
    }

    struct OkxRequest {
        uint256 fromToken;
        address toToken;
        uint256 fromTokenAmount;
        uint256 minReturnAmount;
        uint256 deadLine;
    }

    struct OkxPath {
        address[] mixAdapters;
        address[] assetTo;
        uint256[] rawData;
        bytes[] extraData;
        uint256 fromToken;
    }

    struct EnsoToken {
        uint8 tokenType;
        bytes data;
    }

    struct RelayCall {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    /// @dev The ends of OKX's flags of shares, and their unit and limit.
    uint256 private constant OKX_OF_INPUT = 0x0afc2aaa;
    uint256 private constant OKX_OF_OUTPUT = 0x0afc2bbb;
    uint256 private constant OKX_UNIT = 1_000_000_000;
    uint256 private constant OKX_MOST_RATE = 30_000_000;

    error PartialFill();
    error ShareTooLarge();
    error UnknownSettler(address target);

    function _carryOut(SwapOrder memory order) internal virtual returns (uint256 amountOut);

    /// @dev Has the caller pay somebody beside the input.
    function _takeShare(address token, address to, uint256 amount) internal virtual;

    function _isCoin(address token) internal pure virtual returns (bool);

    function _make(address tokenIn, address tokenOut, uint256 amountIn, uint256 least, address recipient, bytes memory plan)
        private
        returns (uint256)
    {
        address payee = recipient == address(0) ? msg.sender : recipient;
        return _carryOut(SwapOrder(tokenIn, tokenOut, amountIn, least, payee, abi.decode(plan, (Plan))));
    }

    /// @notice KyberSwap.
    function swap(KyberExecution calldata e) external payable returns (uint256, uint256) {
        if (e.desc.flags & 1 != 0) revert PartialFill();
        return (
            _make(e.desc.srcToken, e.desc.dstToken, e.desc.amount, e.desc.minReturnAmount, e.desc.dstReceiver, e.targetData),
            0
        );
    }

    /// @notice Velora. The fee, which the plan takes, is not in the minimum.
    function swapExactAmountIn(
        address,
        VeloraData calldata data,
        uint256 partnerAndFee,
        bytes calldata,
        bytes calldata executorData
    ) external payable returns (uint256, uint256, uint256) {
        uint256 least = data.toAmount < data.quotedAmount ? data.toAmount : data.quotedAmount;
        least -= least * (partnerAndFee & 0x3fff) / 10_000;
        return (_make(data.srcToken, data.destToken, data.fromAmount, least, data.beneficiary, executorData), 0, 0);
    }

    /// @notice 1inch.
    function swap(address, OneInchDescription calldata desc, bytes calldata data) external payable returns (uint256, uint256) {
        if (desc.flags & 1 != 0) revert PartialFill();
        return (_make(desc.srcToken, desc.dstToken, desc.amount, desc.minReturnAmount, desc.dstReceiver, data), desc.amount);
    }

    /// @notice OpenOcean.
    function swap(address, OpenOceanDescription calldata desc, OpenOceanCall[] calldata calls) external payable returns (uint256) {
        if (desc.flags & 1 != 0) revert PartialFill();
        return _make(desc.srcToken, desc.dstToken, desc.amount, desc.minReturnAmount, desc.dstReceiver, calls[0].data);
    }

    /// @notice SushiSwap.
    function snwap(
        address tokenIn,
        uint256 amountIn,
        address recipient,
        address tokenOut,
        uint256 amountOutMin,
        address,
        bytes calldata executorData
    ) external payable returns (uint256) {
        return _make(tokenIn, tokenOut, amountIn, amountOutMin, recipient, executorData);
    }

    /// @notice 0x: the allowance holder with a Settler behind it, which here is what the registry names.
    function exec(address, address token, uint256 amount, address payable target, bytes calldata data)
        external
        payable
        returns (bytes memory)
    {
        if (target.code.length == 0) revert UnknownSettler(target);
        (address recipient, address buyToken, uint256 least, bytes[] memory actions) = this.readSettler(data);
        return abi.encode(_make(token, buyToken, amount, least, recipient, actions[0]));
    }

    function readSettler(bytes calldata data)
        external
        pure
        returns (address recipient, address buyToken, uint256 least, bytes[] memory actions)
    {
        (recipient, buyToken, least, actions,) = abi.decode(data[4:], (address, address, uint256, bytes[], bytes32));
    }

    /// @notice OKX. Behind the arguments stand shares of the input, which come beside the amount, or of the output, which
    /// are taken from what reached the minimum.
    function dagSwapTo(uint256, address receiver, OkxRequest calldata base, OkxPath[] calldata paths)
        external
        payable
        returns (uint256 amountOut)
    {
        (uint256 side, uint256[2] memory rates, address[2] memory to) = _okxShares();
        if (rates[0] + rates[1] > OKX_MOST_RATE) revert ShareTooLarge();
        address from = address(uint160(base.fromToken));
        for (uint256 i = 0; i < 2 && side == OKX_OF_INPUT; ++i) {
            if (rates[i] > 0) _takeShare(from, to[i], base.fromTokenAmount * rates[i] / (OKX_UNIT - rates[0] - rates[1]));
        }
        address payee = side == OKX_OF_OUTPUT ? address(this) : receiver;
        amountOut = _make(from, base.toToken, base.fromTokenAmount, base.minReturnAmount, payee, paths[0].extraData[0]);
        if (payee == address(this)) _okxDivide(base.toToken, amountOut, receiver, rates, to);
    }

    function _okxDivide(address token, uint256 amount, address receiver, uint256[2] memory rates, address[2] memory to) private {
        if (_isCoin(token)) token = address(0);
        uint256 rest = amount;
        for (uint256 i = 0; i < 2; ++i) {
            uint256 share = amount * rates[i] / OKX_UNIT;
            if (share > 0) Transfer.pay(token, to[i], share);
            rest -= share;
        }
        Transfer.pay(token, receiver, rest);
    }

    /// @dev Read from the end of the calldata: the first share, the token, and the second share where the flag is of two.
    function _okxShares() private pure returns (uint256 side, uint256[2] memory rates, address[2] memory to) {
        uint256 first;
        uint256 second;
        assembly ("memory-safe") {
            first := calldataload(sub(calldatasize(), 0x20))
            second := calldataload(sub(calldatasize(), 0x60))
        }
        uint256 flag = first >> 208;
        side = flag & 0xffffffff;
        if (side != OKX_OF_INPUT && side != OKX_OF_OUTPUT) return (0, rates, to);
        if (flag >> 32 != 0x3ca2 && flag >> 32 != 0x2222) return (0, rates, to);
        (rates[0], to[0]) = (uint48(first >> 160), address(uint160(first)));
        if (flag >> 32 == 0x2222) (rates[1], to[1]) = (uint48(second >> 160), address(uint160(second)));
    }

    /// @notice LI.FI.
    function swapTokensSingleV3ERC20ToERC20(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 least,
        LifiSwap calldata one
    ) external {
        _lifi(receiver, least, one);
    }

    function swapTokensSingleV3ERC20ToNative(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 least,
        LifiSwap calldata one
    ) external {
        _lifi(receiver, least, one);
    }

    function swapTokensSingleV3NativeToERC20(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 least,
        LifiSwap calldata one
    ) external payable {
        _lifi(receiver, least, one);
    }

    function _lifi(address receiver, uint256 least, LifiSwap calldata one) private {
        _make(one.sendingAssetId, one.receivingAssetId, one.fromAmount, least, receiver, one.callData);
    }

    /// @notice Enso.
    function safeRouteSingle(EnsoToken calldata tokenIn, EnsoToken calldata tokenOut, address receiver, bytes calldata data)
        external
        payable
        returns (bytes memory)
    {
        (address from, uint256 amount) = _enso(tokenIn);
        (address to, uint256 least) = _enso(tokenOut);
        return abi.encode(_make(from, to, amount, least, receiver, data));
    }

    function _enso(EnsoToken calldata token) private pure returns (address, uint256) {
        if (token.tokenType == 0) return (address(0), abi.decode(token.data, (uint256)));
        return abi.decode(token.data, (address, uint256));
    }

    /// @notice Relay, with the coin. Calls are made in a row; what they leave here is paid out by the last ones.
    function multicall(RelayCall[] calldata calls, address refundTo, address, bytes calldata) external payable {
        _relay(calls, refundTo);
    }

    /// @notice Relay, with tokens.
    function transferAndMulticall(
        address[] calldata tokens,
        uint256[] calldata amounts,
        RelayCall[] calldata calls,
        address refundTo,
        address,
        bytes calldata
    ) external payable {
        for (uint256 i = 0; i < tokens.length; ++i) {
            Transfer.pull(tokens[i], msg.sender, address(this), amounts[i]);
            Transfer.allow(tokens[i], address(this), amounts[i]);
        }
        _relay(calls, refundTo);
    }

    /// @dev What is left of the coin is paid out at the end.
    function _relay(RelayCall[] calldata calls, address refundTo) private {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok, bytes memory result) = calls[i].target.call{value: calls[i].value}(calls[i].callData);
            if (ok || calls[i].allowFailure) continue;
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
        Transfer.pay(address(0), refundTo == address(0) ? msg.sender : refundTo, address(this).balance);
    }

    /// @notice Pays tokens out; all that is here where an amount is zero.
    function cleanupErc20s(address[] calldata tokens, address[] calldata recipients, uint256[] calldata amounts, bytes calldata)
        external
    {
        for (uint256 i = 0; i < tokens.length; ++i) {
            uint256 amount = amounts[i] == 0 ? Transfer.balanceOf(tokens[i], address(this)) : amounts[i];
            Transfer.pay(tokens[i], recipients[i], amount);
        }
    }

    function cleanupNative(uint256 amount, address recipient, bytes calldata) external {
        Transfer.pay(address(0), recipient, amount == 0 ? address(this).balance : amount);
    }
}
