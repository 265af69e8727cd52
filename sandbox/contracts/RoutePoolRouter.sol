// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IPoolFactory, IWrappedCoin} from "./PoolRouter.sol";
import {IPool, PoolSwap} from "./PoolSwap.sol";
import {Transfer} from "./Transfer.sol";

/// @notice Aerodrome's router for exact input over constant-product pools: a way is a list of routes, each of
/// which may ask for a stable pool, of which there are none here.
contract RoutePoolRouter {
    struct Route {
        address from;
        address to;
        bool stable;
        address factory;
    }

    address public defaultFactory;
    address public weth;

    error Expired();
    error InvalidPath();
    error PoolDoesNotExist();
    error InsufficientOutputAmount();

    modifier ensure(uint256 deadline) {
        if (deadline < block.timestamp) revert Expired();
        _;
    }

    receive() external payable {}

    /// @notice Where a pool does not exist the amount is zero.
    function getAmountsOut(uint256 amountIn, Route[] calldata routes) public view returns (uint256[] memory amounts) {
        amounts = new uint256[](routes.length + 1);
        amounts[0] = amountIn;
        for (uint256 i = 0; i < routes.length; ++i) {
            address pool = _pool(routes[i]);
            if (pool != address(0)) amounts[i + 1] = IPool(pool).getAmountOut(routes[i].from, amounts[i]);
        }
    }

    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, Route[] calldata routes, address to, uint256 deadline)
        external
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        Transfer.pull(routes[0].from, msg.sender, address(this), amountIn);
        amounts = _swap(amountIn, amountOutMin, routes);
        Transfer.pay(routes[routes.length - 1].to, to, amounts[amounts.length - 1]);
    }

    function swapExactETHForTokens(uint256 amountOutMin, Route[] calldata routes, address to, uint256 deadline)
        external
        payable
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        if (routes[0].from != weth) revert InvalidPath();
        IWrappedCoin(weth).deposit{value: msg.value}();
        amounts = _swap(msg.value, amountOutMin, routes);
        Transfer.pay(routes[routes.length - 1].to, to, amounts[amounts.length - 1]);
    }

    function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, Route[] calldata routes, address to, uint256 deadline)
        external
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        if (routes[routes.length - 1].to != weth) revert InvalidPath();
        Transfer.pull(routes[0].from, msg.sender, address(this), amountIn);
        amounts = _swap(amountIn, amountOutMin, routes);
        uint256 amountOut = amounts[amounts.length - 1];
        IWrappedCoin(weth).withdraw(amountOut);
        Transfer.pay(address(0), to, amountOut);
    }

    function _swap(uint256 amountIn, uint256 amountOutMin, Route[] calldata routes) private returns (uint256[] memory amounts) {
        amounts = new uint256[](routes.length + 1);
        amounts[0] = amountIn;
        for (uint256 i = 0; i < routes.length; ++i) {
            address pool = _pool(routes[i]);
            if (pool == address(0)) revert PoolDoesNotExist();
            (, amounts[i + 1]) = PoolSwap.swap(pool, routes[i].from, amounts[i], address(this));
        }
        if (amounts[routes.length] < amountOutMin) revert InsufficientOutputAmount();
    }

    function _pool(Route calldata route) private view returns (address) {
        if (route.stable || route.factory != defaultFactory) return address(0);
        return IPoolFactory(defaultFactory).getPair(route.from, route.to);
    }
}
