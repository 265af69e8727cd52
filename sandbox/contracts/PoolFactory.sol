// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice Tells pools by their tokens, as Uniswap V2's factory does, and by their fee as well, as V3's does.
/// Genesis fills it.
contract PoolFactory {
    mapping(address => mapping(address => address)) public getPair;
    /// @dev The fee is in hundredths of a basis point.
    mapping(address => mapping(address => mapping(uint24 => address))) public getPool;
}
