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
        tokenIn = address(bytes20(_word(path, start)));
        fee = uint24(bytes3(_word(path, start + 20)));
        tokenOut = address(bytes20(_word(path, start + STEP)));
    }

    /// @dev The 32 bytes from start on, with what lies behind the path when it is nearer to its end. hops has looked
    /// at the length: all that is taken of a word is in the path.
    function _word(bytes memory path, uint256 start) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(add(path, 32), start))
        }
    }
}
