// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IPool} from "./PoolSwap.sol";
import {FeePath, IFeePoolFactory} from "./FeePath.sol";

/// @notice Uniswap V3's QuoterV2 over constant-product pools that are told apart by their fee.
contract FeePoolQuoter {
    struct QuoteExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint24 fee;
        uint160 sqrtPriceLimitX96;
    }

    uint256 private constant POOL_GAS = 90_000;

    address public factory;
    address public WETH9;

    error UnknownPool(address tokenIn, address tokenOut, uint24 fee);

    function quoteExactInputSingle(QuoteExactInputSingleParams memory params)
        external
        view
        returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)
    {
        amountOut = _quote(params.tokenIn, params.tokenOut, params.fee, params.amountIn);
        return (amountOut, 0, 0, POOL_GAS);
    }

    function quoteExactInput(bytes memory path, uint256 amountIn)
        external
        view
        returns (uint256 amountOut, uint160[] memory sqrtPriceX96AfterList, uint32[] memory ticksCrossedList, uint256 gasEstimate)
    {
        uint256 hops = FeePath.hops(path);
        sqrtPriceX96AfterList = new uint160[](hops);
        ticksCrossedList = new uint32[](hops);
        amountOut = amountIn;
        for (uint256 i = 0; i < hops; ++i) {
            (address tokenIn, address tokenOut, uint24 fee) = FeePath.hop(path, i);
            amountOut = _quote(tokenIn, tokenOut, fee, amountOut);
        }
        gasEstimate = hops * POOL_GAS;
    }

    function _quote(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) private view returns (uint256) {
        address pool = IFeePoolFactory(factory).getPool(tokenIn, tokenOut, fee);
        if (pool == address(0)) revert UnknownPool(tokenIn, tokenOut, fee);
        return IPool(pool).getAmountOut(tokenIn, amountIn);
    }
}
