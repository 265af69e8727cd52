// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20, Transfer} from "./Transfer.sol";

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast);
    function getAmountOut(address tokenIn, uint256 amountIn) external view returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @notice Swaps that lie in this contract's own balance through pools, one after the other.
library PoolSwap {
    error WrongPool(address pool, address token);

    /// @notice The pool's other token.
    function otherToken(address pool, address token) internal view returns (address) {
        (address token0, address token1) = (IPool(pool).token0(), IPool(pool).token1());
        if (token == token0) return token1;
        if (token == token1) return token0;
        revert WrongPool(pool, token);
    }

    function swap(address pool, address tokenIn, uint256 amountIn, address to) internal returns (address tokenOut, uint256 amountOut) {
        tokenOut = otherToken(pool, tokenIn);
        Transfer.pay(tokenIn, pool, amountIn);
        amountOut = _buy(pool, tokenIn, amountIn, to);
    }

    /// @notice Swaps what has come into the pool beyond its reserve.
    function swapReceived(address pool, address tokenIn, address to) internal returns (uint256 amountOut) {
        (uint112 reserve0, uint112 reserve1,) = IPool(pool).getReserves();
        uint256 reserve = IPool(pool).token0() == tokenIn ? reserve0 : reserve1;
        return _buy(pool, tokenIn, IERC20(tokenIn).balanceOf(pool) - reserve, to);
    }

    /// @dev The input is in the pool already.
    function _buy(address pool, address tokenIn, uint256 amountIn, address to) private returns (uint256 amountOut) {
        amountOut = IPool(pool).getAmountOut(tokenIn, amountIn);
        bool zeroForOne = IPool(pool).token0() == tokenIn;
        IPool(pool).swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, to, "");
    }
}
