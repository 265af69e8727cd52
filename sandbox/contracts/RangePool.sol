// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20, Transfer} from "./Transfer.sol";
import {WideMath} from "./WideMath.sol";

interface IRangePoolCaller {
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external;
}

/// @notice Uniswap V3's pool for exact input, with all of its liquidity in one range that no swap leaves. Genesis puts the
/// liquidity there, and it is nobody's, so fees need no book.
contract RangePool {
    uint256 private constant FEE_UNIT = 1e6;
    uint8 private constant PRICE_BITS = 96;

    address public token0;
    address public token1;
    /// @notice Hundredths of a basis point.
    uint24 public fee;
    /// @notice The square root of how much of token1 one unit of token0 costs, with 96 bits behind the point.
    uint160 public sqrtPriceX96;
    uint128 public liquidity;

    error ExactInputOnly();
    error InputNotPaid(uint256 received, uint256 expected);
    /// @dev The real pool would take a part of the input.
    error PriceLimitPassed(uint256 sqrtPriceX96);

    /// @notice Pays out first; the caller pays in when he is called back.
    function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1)
    {
        if (amountSpecified <= 0) revert ExactInputOnly();
        uint256 amountIn = uint256(amountSpecified);
        uint256 amountOut = _move(zeroForOne, amountIn * (FEE_UNIT - fee) / FEE_UNIT, sqrtPriceLimitX96);
        (address tokenIn, address tokenOut) = zeroForOne ? (token0, token1) : (token1, token0);
        (amount0, amount1) = zeroForOne ? (amountSpecified, -int256(amountOut)) : (-int256(amountOut), amountSpecified);
        Transfer.pay(tokenOut, recipient, amountOut);
        uint256 before = IERC20(tokenIn).balanceOf(address(this));
        IRangePoolCaller(msg.sender).uniswapV3SwapCallback(amount0, amount1, data);
        uint256 received = IERC20(tokenIn).balanceOf(address(this)) - before;
        if (received < amountIn) revert InputNotPaid(received, amountIn);
    }

    /// @dev Moves the price by the input less its fee, every rounding in the pool's favour.
    function _move(bool zeroForOne, uint256 amountIn, uint160 limit) private returns (uint256 amountOut) {
        uint256 price = sqrtPriceX96;
        uint256 scaled = uint256(liquidity) << PRICE_BITS;
        uint256 next;
        if (zeroForOne) {
            bool exact;
            (next, exact) = WideMath.mulDiv(scaled, price, scaled + amountIn * price);
            if (!exact) ++next;
            if (next < limit) revert PriceLimitPassed(next);
            (amountOut,) = WideMath.mulDiv(liquidity, price - next, 1 << PRICE_BITS);
        } else {
            next = price + (amountIn << PRICE_BITS) / liquidity;
            if (next > limit) revert PriceLimitPassed(next);
            (amountOut,) = WideMath.mulDiv(scaled, next - price, next);
            amountOut /= price;
        }
        sqrtPriceX96 = uint160(next);
    }
}
