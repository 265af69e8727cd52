// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice An order as every event carries it, in the protocol's field order.
/// Addresses are free bytes because the two chains may have different lengths of address.
struct Order {
    uint64 makerOrderNonce;
    bytes makerSrc;
    uint256 giveChainId;
    bytes giveTokenAddress;
    uint256 giveAmount;
    uint256 takeChainId;
    bytes takeTokenAddress;
    uint256 takeAmount;
    bytes receiverDst;
    bytes givePatchAuthoritySrc;
    bytes orderAuthorityAddressDst;
    bytes allowedTakerDst;
    bytes allowedCancelBeneficiarySrc;
    bytes externalCall;
}

/// @notice What a maker asks for. The give amount is still gross here.
struct OrderCreation {
    address giveTokenAddress;
    uint256 giveAmount;
    bytes takeTokenAddress;
    uint256 takeAmount;
    uint256 takeChainId;
    bytes receiverDst;
    address givePatchAuthoritySrc;
    bytes orderAuthorityAddressDst;
    bytes allowedTakerDst;
    bytes externalCall;
    bytes allowedCancelBeneficiarySrc;
}

library OrderId {
    error FieldTooLong();

    /// @notice keccak256 over the packed order: integers big-endian, each variable field behind one
    /// byte of length, the external call as a flag and its hash.
    function hash(Order memory order) internal pure returns (bytes32) {
        return _hash(order, keccak256(order.externalCall));
    }

    /// @notice The same of an order that has the hash of its external call in the place of the call.
    function hashed(Order memory order) internal pure returns (bytes32) {
        return _hash(order, bytes32(order.externalCall));
    }

    function _hash(Order memory order, bytes32 callHash) private pure returns (bytes32) {
        bytes memory give = bytes.concat(
            bytes8(order.makerOrderNonce),
            _field(order.makerSrc),
            bytes32(order.giveChainId),
            _field(order.giveTokenAddress),
            bytes32(order.giveAmount)
        );
        bytes memory take = bytes.concat(
            bytes32(order.takeChainId),
            _field(order.takeTokenAddress),
            bytes32(order.takeAmount),
            _field(order.receiverDst)
        );
        bytes memory rights = bytes.concat(
            _field(order.givePatchAuthoritySrc),
            _field(order.orderAuthorityAddressDst),
            _field(order.allowedTakerDst),
            _field(order.allowedCancelBeneficiarySrc)
        );
        bytes memory call = order.externalCall.length == 0
            ? bytes(hex"00")
            : bytes.concat(bytes1(0x01), callHash);
        return keccak256(bytes.concat(give, take, rights, call));
    }

    function _field(bytes memory value) private pure returns (bytes memory) {
        if (value.length > type(uint8).max) revert FieldTooLong();
        return bytes.concat(bytes1(uint8(value.length)), value);
    }
}
