// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20} from "./Transfer.sol";

interface IPermit {
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
}

/// @notice Lets a caller allow the input with a signature (EIP-2612) instead of a transaction of its own.
library Permit {
    /// @dev Amount, deadline, r and s of 32 bytes, v of one. Missing bytes are read as zeros, but for the first 64.
    uint256 private constant LENGTH = 129;
    uint256 private constant LEAST_LENGTH = 64;

    error WrongArgumentLength();
    error SignatureInvalidV();

    /// @notice Uses the caller's permit, or none when the envelope is empty. A permit that fails is forgiven where
    /// the allowance covers its amount: somebody may have used it before.
    function use(address token, bytes memory envelope) internal returns (bool) {
        if (envelope.length == 0) return true;
        if (envelope.length < LEAST_LENGTH) revert WrongArgumentLength();
        bytes memory whole = bytes.concat(envelope, new bytes(LENGTH));
        uint256 amount;
        uint256 deadline;
        bytes32 r;
        bytes32 s;
        assembly ("memory-safe") {
            amount := mload(add(whole, 32))
            deadline := mload(add(whole, 64))
            r := mload(add(whole, 96))
            s := mload(add(whole, 128))
        }
        uint8 v = uint8(whole[LENGTH - 1]);
        if (v < 27) v += 27;
        if (v != 27 && v != 28) revert SignatureInvalidV();
        try IPermit(token).permit(msg.sender, address(this), amount, deadline, v, r, s) {
            return true;
        } catch {
            return IERC20(token).allowance(msg.sender, address(this)) >= amount;
        }
    }
}
