// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice 0x's registry of the contracts that swap for it: today's, and the one before.
contract SettlerRegistry {
    uint256 private constant TAKER_SUBMITTED = 2;

    address public current;
    address public previous;

    error NoToken();

    function ownerOf(uint256 tokenId) external view returns (address) {
        if (tokenId != TAKER_SUBMITTED) revert NoToken();
        return current;
    }

    function prev(uint128 feature) external view returns (address) {
        if (feature != TAKER_SUBMITTED) revert NoToken();
        return previous;
    }
}
