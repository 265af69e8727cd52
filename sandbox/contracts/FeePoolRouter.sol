// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {FeePath, IFeePoolFactory} from "./FeePath.sol";
import {IWrappedCoin} from "./PoolRouter.sol";
import {PoolSwap} from "./PoolSwap.sol";
import {IERC20, Transfer} from "./Transfer.sol";

/// @notice Uniswap's SwapRouter02 for exact input over constant-product pools that are told apart by their fee.
contract FeePoolRouter {
    struct ExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    struct ExactInputParams {
        bytes path;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
    }

    /// @dev Recipients that mean the caller and this contract.
    address private constant CALLER = address(1);
    address private constant HERE = address(2);

    address public factory;
    address public WETH9;

    error TransactionTooOld();
    error TooLittleReceived(uint256 amountOut, uint256 amountOutMinimum);
    error UnknownPool(address tokenIn, address tokenOut, uint24 fee);

    receive() external payable {}

    function multicall(uint256 deadline, bytes[] calldata data) external payable returns (bytes[] memory results) {
        if (block.timestamp > deadline) revert TransactionTooOld();
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            (bool ok, bytes memory result) = address(this).delegatecall(data[i]);
            if (!ok) {
                assembly ("memory-safe") {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function exactInputSingle(ExactInputSingleParams calldata params) external payable returns (uint256 amountOut) {
        _takeInput(params.tokenIn, params.amountIn);
        amountOut = _swap(params.tokenIn, params.tokenOut, params.fee, params.amountIn);
        _pay(params.tokenOut, params.recipient, amountOut, params.amountOutMinimum);
    }

    function exactInput(ExactInputParams calldata params) external payable returns (uint256 amountOut) {
        bytes memory path = params.path;
        uint256 hops = FeePath.hops(path);
        (address tokenIn, address tokenOut, uint24 fee) = FeePath.hop(path, 0);
        _takeInput(tokenIn, params.amountIn);
        amountOut = _swap(tokenIn, tokenOut, fee, params.amountIn);
        for (uint256 i = 1; i < hops; ++i) {
            (tokenIn, tokenOut, fee) = FeePath.hop(path, i);
            amountOut = _swap(tokenIn, tokenOut, fee, amountOut);
        }
        _pay(tokenOut, params.recipient, amountOut, params.amountOutMinimum);
    }

    function unwrapWETH9(uint256 amountMinimum, address recipient) external payable {
        uint256 amount = IERC20(WETH9).balanceOf(address(this));
        if (amount < amountMinimum) revert TooLittleReceived(amount, amountMinimum);
        IWrappedCoin(WETH9).withdraw(amount);
        Transfer.pay(address(0), recipient, amount);
    }

    /// @dev The coin that came along is wrapped; else the token is pulled from the caller.
    function _takeInput(address token, uint256 amount) private {
        if (token == WETH9 && address(this).balance >= amount) {
            IWrappedCoin(WETH9).deposit{value: amount}();
            return;
        }
        Transfer.pull(token, msg.sender, address(this), amount);
    }

    /// @dev Swaps what lies here, and leaves the outcome here.
    function _swap(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) internal virtual returns (uint256 amountOut) {
        (, amountOut) = PoolSwap.swap(_pool(tokenIn, tokenOut, fee), tokenIn, amountIn, address(this));
    }

    function _pool(address tokenIn, address tokenOut, uint24 fee) internal view returns (address pool) {
        pool = IFeePoolFactory(factory).getPool(tokenIn, tokenOut, fee);
        if (pool == address(0)) revert UnknownPool(tokenIn, tokenOut, fee);
    }

    function _pay(address token, address recipient, uint256 amount, uint256 minimum) private {
        if (amount < minimum) revert TooLittleReceived(amount, minimum);
        if (recipient == HERE) return;
        Transfer.pay(token, recipient == CALLER ? msg.sender : recipient, amount);
    }
}
