// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

interface IFeePoolFactory {
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address);
}

/// @notice Uniswap V3's packed path: token (20 bytes), fee (3), token (20), fee (3), token …
library FeePath {
    uint256 private constant STEP = 23;
    uint256 private constant LAST = 20;

    error InvalidPath(uint256 length);

    function hops(bytes memory path) internal pure returns (uint256) {
        if (path.length < STEP + LAST || (path.length - LAST) % STEP != 0) revert InvalidPath(path.length);
        return (path.length - LAST) / STEP;
    }

    function hop(bytes memory path, uint256 index) internal pure returns (address tokenIn, address tokenOut, uint24 fee) {
        uint256 start = index * STEP;
        tokenIn = address(uint160(_read(path, start, 20)));
        fee = uint24(_read(path, start + 20, 3));
        tokenOut = address(uint160(_read(path, start + STEP, 20)));
    }

    function _read(bytes memory path, uint256 start, uint256 length) private pure returns (uint256 value) {
        for (uint256 i = 0; i < length; ++i) {
            value = value << 8 | uint8(path[start + i]);
        }
    }
}
