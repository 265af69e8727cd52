// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Transfer} from "./Transfer.sol";

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
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
        amountOut = IPool(pool).getAmountOut(tokenIn, amountIn);
        Transfer.pay(tokenIn, pool, amountIn);
        bool zeroForOne = IPool(pool).token0() == tokenIn;
        IPool(pool).swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, to, "");
    }
}
