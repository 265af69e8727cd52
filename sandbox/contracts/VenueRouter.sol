// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {PoolSwap} from "./PoolSwap.sol";
import {IWrappedCoin} from "./PoolRouter.sol";
import {Transfer} from "./Transfer.sol";
import {VenueCalls} from "./VenueCalls.sol";

interface ITokenApproval {
    function claimTokens(address token, address from, address to, uint256 amount) external;
}

/// @notice What stands at each swap venue's router address: pulls or takes the input, pays those who
/// have a share of it, swaps along the given pools, keeps the venue's share and pays the recipient. It is called as the
/// venues' own routers are (VenueCalls.sol), or by swapOrder.
contract VenueRouter is VenueCalls {
    uint256 private constant BPS = 10_000;
    /// @dev Venues spell the native coin so; the zero address means it too.
    address private constant COIN = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    address public wrappedCoin;
    /// @dev What users approve instead of this contract; the zero address: nothing does.
    address public approval;
    /// @dev Of the coin that came with the call, before the input; zero between calls.
    uint256 private shareTaken;

    event Swapped(address indexed sender, address indexed recipient, address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut);

    error Expired();
    error WrongValue(uint256 received, uint256 expected);
    error WrongRoute(address tokenOut);
    error MinReturnNotReached(uint256 amountOut, uint256 minAmountOut);

    receive() external payable {}

    function swapOrder(SwapOrder memory order) external payable returns (uint256 amountOut) {
        return _carryOut(order);
    }

    function _carryOut(SwapOrder memory order) internal override returns (uint256 amountOut) {
        if (order.plan.deadline < block.timestamp) revert Expired();
        (address token, uint256 amount) = _takeInput(order);
        for (uint256 i = 0; i < order.plan.pools.length; ++i) {
            (token, amount) = PoolSwap.swap(order.plan.pools[i], token, amount, address(this));
        }
        amountOut = amount - amount * order.plan.outputFeeBps / BPS;
        if (amountOut < order.minAmountOut) revert MinReturnNotReached(amountOut, order.minAmountOut);
        _payOutcome(order, token, amountOut);
        emit Swapped(msg.sender, order.recipient, order.tokenIn, order.amountIn, order.tokenOut, amountOut);
    }

    /// @dev Returns what is left to swap, the coin already wrapped.
    function _takeInput(SwapOrder memory order) private returns (address token, uint256 amount) {
        if (_isCoin(order.tokenIn)) {
            uint256 due = order.amountIn + shareTaken;
            if (shareTaken > 0 ? msg.value < due : msg.value != due) revert WrongValue(msg.value, due);
            shareTaken = 0;
            amount = _payShares(order, address(0));
            IWrappedCoin(wrappedCoin).deposit{value: amount}();
            return (wrappedCoin, amount);
        }
        if (msg.value != 0) revert WrongValue(msg.value, 0);
        if (approval == address(0)) Transfer.pull(order.tokenIn, msg.sender, address(this), order.amountIn);
        else ITokenApproval(approval).claimTokens(order.tokenIn, msg.sender, address(this), order.amountIn);
        return (order.tokenIn, _payShares(order, order.tokenIn));
    }

    function _takeShare(address token, address to, uint256 amount) internal override {
        if (_isCoin(token)) {
            shareTaken += amount;
            Transfer.pay(address(0), to, amount);
        } else if (approval == address(0)) {
            Transfer.pull(token, msg.sender, to, amount);
        } else {
            ITokenApproval(approval).claimTokens(token, msg.sender, to, amount);
        }
    }

    function _payShares(SwapOrder memory order, address token) private returns (uint256 rest) {
        rest = order.amountIn;
        for (uint256 i = 0; i < order.plan.shares.length; ++i) {
            uint256 share = order.amountIn * order.plan.shares[i].bps / BPS;
            Transfer.pay(token, order.plan.shares[i].recipient, share);
            rest -= share;
        }
    }

    function _payOutcome(SwapOrder memory order, address token, uint256 amountOut) private {
        if (_isCoin(order.tokenOut)) {
            if (token != wrappedCoin) revert WrongRoute(token);
            IWrappedCoin(wrappedCoin).withdraw(amountOut);
            Transfer.pay(address(0), order.recipient, amountOut);
            return;
        }
        if (token != order.tokenOut) revert WrongRoute(token);
        Transfer.pay(token, order.recipient, amountOut);
    }

    function _isCoin(address token) internal pure override returns (bool) {
        return token == COIN || token == address(0);
    }
}
