// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IFeePoolFactory} from "./FeePath.sol";
import {IPoolFactory, IWrappedCoin} from "./PoolRouter.sol";
import {PoolSwap} from "./PoolSwap.sol";
import {Transfer} from "./Transfer.sol";

/// @notice SUN.io's router on TRON for exact input over pools of version "v2", which are told apart by their tokens,
/// and "v3", which are also by their fee. The coin is the zero address; "v2" wraps and unwraps it.
contract SmartExchangeRouter {
    struct SwapData {
        uint256 amountIn;
        uint256 amountOutMin;
        address to;
        uint256 deadline;
    }

    bytes32 private constant V2 = keccak256("v2");
    bytes32 private constant V3 = keccak256("v3");

    address public WTRX;
    /// @dev Of version 2.
    address public pairFactory;
    /// @dev Of version 3.
    address public poolFactory;

    error Expired();
    error UnknownPool(string version, address tokenIn, address tokenOut, uint24 fee);

    receive() external payable {}

    /// @dev The first of versionLen counts the tokens of its part of the path, the others the tokens that they add.
    function swapExactInput(
        address[] calldata path,
        string[] calldata poolVersion,
        uint256[] calldata versionLen,
        uint24[] calldata fees,
        SwapData calldata data
    ) external payable returns (uint256[] memory amountsOut) {
        if (data.deadline < block.timestamp) revert Expired();
        require(poolVersion.length == versionLen.length && poolVersion.length != 0, "INVALID_POOL_VERSION.");
        require(path.length != 0 && path.length == fees.length, "INVALID_PATH");
        amountsOut = new uint256[](path.length);
        amountsOut[0] = data.amountIn;
        if (path[0] == address(0)) require(msg.value >= data.amountIn, "INSUFFIENT_TRX");
        else Transfer.pull(path[0], msg.sender, address(this), data.amountIn);
        uint256 stop;
        for (uint256 i = 0; i < poolVersion.length; ++i) {
            uint256 end = stop + (i == 0 ? versionLen[i] - 1 : versionLen[i]);
            require(end > stop && end < path.length, "INVALID_VERSION_LEN");
            for (; stop < end; ++stop) {
                amountsOut[stop + 1] = _swap(poolVersion[i], path[stop], path[stop + 1], fees[stop], amountsOut[stop]);
            }
        }
        require(stop + 1 == path.length, "INVALID_VERSION_LEN");
        require(amountsOut[stop] >= data.amountOutMin, "Global amountOutMin not satisfied.");
        Transfer.pay(path[stop], data.to, amountsOut[stop]);
    }

    function _swap(string calldata version, address tokenIn, address tokenOut, uint24 fee, uint256 amountIn)
        private
        returns (uint256 amountOut)
    {
        bytes32 kind = keccak256(bytes(version));
        if (kind == V2 && tokenIn == address(0) && tokenOut == WTRX) {
            IWrappedCoin(WTRX).deposit{value: amountIn}();
            return amountIn;
        }
        if (kind == V2 && tokenIn == WTRX && tokenOut == address(0)) {
            IWrappedCoin(WTRX).withdraw(amountIn);
            return amountIn;
        }
        address pool;
        if (kind == V2) pool = IPoolFactory(pairFactory).getPair(tokenIn, tokenOut);
        if (kind == V3) pool = IFeePoolFactory(poolFactory).getPool(tokenIn, tokenOut, fee);
        if (pool == address(0)) revert UnknownPool(version, tokenIn, tokenOut, fee);
        (, amountOut) = PoolSwap.swap(pool, tokenIn, amountIn, address(this));
    }
}
