// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {FeePoolRouter} from "./FeePoolRouter.sol";
import {IRangePoolCaller, RangePool} from "./RangePool.sol";
import {Transfer} from "./Transfer.sol";

/// @notice Uniswap's SwapRouter02 for exact input over pools that call back for the input.
contract RangePoolRouter is FeePoolRouter, IRangePoolCaller {
    /// @dev The least and the greatest price of Uniswap V3.
    uint160 private constant LEAST_PRICE = 4295128739;
    uint160 private constant GREATEST_PRICE = 1461446703485210103287273052203988822378723970342;

    error NotThePool(address caller);

    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external {
        (address tokenIn, address tokenOut, uint24 fee) = abi.decode(data, (address, address, uint24));
        if (msg.sender != _pool(tokenIn, tokenOut, fee)) revert NotThePool(msg.sender);
        Transfer.pay(tokenIn, msg.sender, uint256(amount0Delta > 0 ? amount0Delta : amount1Delta));
    }

    function _swap(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) internal override returns (uint256) {
        bool zeroForOne = tokenIn < tokenOut;
        (int256 amount0, int256 amount1) = RangePool(_pool(tokenIn, tokenOut, fee)).swap(
            address(this),
            zeroForOne,
            int256(amountIn),
            zeroForOne ? LEAST_PRICE + 1 : GREATEST_PRICE - 1,
            abi.encode(tokenIn, tokenOut, fee)
        );
        return uint256(-(zeroForOne ? amount1 : amount0));
    }
}
