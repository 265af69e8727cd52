// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20, Transfer} from "./Transfer.sol";

/// @notice A constant-product pool with Uniswap V2's interface for swaps and a fee of its own.
/// Its liquidity is nobody's: genesis puts it there.
contract Pool {
    uint256 private constant BPS = 10_000;

    address public token0;
    address public token1;
    uint16 public feeBps;
    uint112 private reserve0;
    uint112 private reserve1;
    uint32 private blockTimestampLast;

    event Swap(
        address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to
    );
    event Sync(uint112 reserve0, uint112 reserve1);

    error InsufficientOutputAmount();
    error InsufficientInputAmount();
    error InsufficientLiquidity();
    error InvalidTo();
    error CallbackNotSupported();
    error K();

    function getReserves() public view returns (uint112, uint112, uint32) {
        return (reserve0, reserve1, blockTimestampLast);
    }

    /// @notice What amountIn of tokenIn buys at the present reserves.
    function getAmountOut(address tokenIn, uint256 amountIn) external view returns (uint256) {
        (uint256 reserveIn, uint256 reserveOut) = tokenIn == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 afterFee = amountIn * (BPS - feeBps);
        return afterFee * reserveOut / (reserveIn * BPS + afterFee);
    }

    /// @notice Pays out first and then checks that enough came in since the last swap.
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external {
        if (amount0Out == 0 && amount1Out == 0) revert InsufficientOutputAmount();
        if (amount0Out >= reserve0 || amount1Out >= reserve1) revert InsufficientLiquidity();
        if (to == token0 || to == token1) revert InvalidTo();
        if (data.length != 0) revert CallbackNotSupported();
        if (amount0Out > 0) Transfer.pay(token0, to, amount0Out);
        if (amount1Out > 0) Transfer.pay(token1, to, amount1Out);

        uint256 balance0 = IERC20(token0).balanceOf(address(this));
        uint256 balance1 = IERC20(token1).balanceOf(address(this));
        uint256 amount0In = _paidIn(balance0, reserve0, amount0Out);
        uint256 amount1In = _paidIn(balance1, reserve1, amount1Out);
        if (amount0In == 0 && amount1In == 0) revert InsufficientInputAmount();
        uint256 adjusted0 = balance0 * BPS - amount0In * feeBps;
        uint256 adjusted1 = balance1 * BPS - amount1In * feeBps;
        if (adjusted0 * adjusted1 < uint256(reserve0) * reserve1 * BPS * BPS) revert K();

        _update(balance0, balance1);
        emit Swap(msg.sender, amount0In, amount1In, amount0Out, amount1Out, to);
    }

    /// @notice Takes the present balances as reserves, which is how liquidity is added here.
    function sync() external {
        _update(IERC20(token0).balanceOf(address(this)), IERC20(token1).balanceOf(address(this)));
    }

    function _paidIn(uint256 balance, uint256 reserve, uint256 out) private pure returns (uint256) {
        return balance > reserve - out ? balance - (reserve - out) : 0;
    }

    function _update(uint256 balance0, uint256 balance1) private {
        reserve0 = uint112(balance0);
        reserve1 = uint112(balance1);
        blockTimestampLast = uint32(block.timestamp);
        emit Sync(reserve0, reserve1);
    }
}
