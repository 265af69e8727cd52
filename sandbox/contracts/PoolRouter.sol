// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IPool, PoolSwap} from "./PoolSwap.sol";
import {IERC20, Transfer} from "./Transfer.sol";

interface IPoolFactory {
    function getPair(address tokenA, address tokenB) external view returns (address);
}

interface IWrappedCoin {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @notice Uniswap V2 Router02's exact-input swaps, over one pool for each pair.
contract PoolRouter {
    address public WETH;
    address public factory;

    error Expired();
    error InvalidPath();
    error InsufficientOutputAmount(uint256 amountOut, uint256 amountOutMin);

    modifier ensure(uint256 deadline) {
        if (deadline < block.timestamp) revert Expired();
        _;
    }

    receive() external payable {}

    function getAmountsOut(uint256 amountIn, address[] calldata path) external view returns (uint256[] memory amounts) {
        amounts = new uint256[](path.length);
        amounts[0] = amountIn;
        for (uint256 i = 1; i < path.length; ++i) {
            amounts[i] = IPool(_pair(path[i - 1], path[i])).getAmountOut(path[i - 1], amounts[i - 1]);
        }
    }

    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        Transfer.pull(path[0], msg.sender, address(this), amountIn);
        amounts = _swap(amountIn, amountOutMin, path);
        Transfer.pay(path[path.length - 1], to, amounts[amounts.length - 1]);
    }

    function swapExactETHForTokens(uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        payable
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        if (path[0] != WETH) revert InvalidPath();
        IWrappedCoin(WETH).deposit{value: msg.value}();
        amounts = _swap(msg.value, amountOutMin, path);
        Transfer.pay(path[path.length - 1], to, amounts[amounts.length - 1]);
    }

    function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        if (path[path.length - 1] != WETH) revert InvalidPath();
        Transfer.pull(path[0], msg.sender, address(this), amountIn);
        amounts = _swap(amountIn, amountOutMin, path);
        uint256 amountOut = amounts[amounts.length - 1];
        IWrappedCoin(WETH).withdraw(amountOut);
        Transfer.pay(address(0), to, amountOut);
    }

    /// @notice For tokens that keep a part of what is moved: what arrives counts, not what was sent.
    function swapExactTokensForTokensSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external ensure(deadline) {
        address token = path[path.length - 1];
        uint256 before = IERC20(token).balanceOf(to);
        Transfer.pull(path[0], msg.sender, _pair(path[0], path[1]), amountIn);
        for (uint256 i = 1; i < path.length; ++i) {
            address next = i + 1 < path.length ? _pair(path[i], path[i + 1]) : to;
            PoolSwap.swapReceived(_pair(path[i - 1], path[i]), path[i - 1], next);
        }
        uint256 amountOut = IERC20(token).balanceOf(to) - before;
        if (amountOut < amountOutMin) revert InsufficientOutputAmount(amountOut, amountOutMin);
    }

    function _swap(uint256 amountIn, uint256 amountOutMin, address[] calldata path) private returns (uint256[] memory amounts) {
        amounts = new uint256[](path.length);
        amounts[0] = amountIn;
        for (uint256 i = 1; i < path.length; ++i) {
            (, amounts[i]) = PoolSwap.swap(_pair(path[i - 1], path[i]), path[i - 1], amounts[i - 1], address(this));
        }
        uint256 amountOut = amounts[amounts.length - 1];
        if (amountOut < amountOutMin) revert InsufficientOutputAmount(amountOut, amountOutMin);
    }

    function _pair(address tokenA, address tokenB) private view returns (address pool) {
        pool = IPoolFactory(factory).getPair(tokenA, tokenB);
        if (pool == address(0)) revert InvalidPath();
    }
}
