// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20} from "./Transfer.sol";

interface IPermit {
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
}

/// @notice Lets a caller allow the input with a signature (EIP-2612) instead of a transaction of its own.
library Permit {
    /// @dev Amount, deadline, r and s of 32 bytes, v of one. The real router reads past the end of what is shorter
    /// but has 64 bytes at least.
    uint256 private constant LENGTH = 129;

    error WrongArgumentLength();
    error SignatureInvalidV();

    /// @notice Uses the caller's permit, or none when the envelope is empty. A permit that fails is forgiven where
    /// the allowance is there all the same: somebody may have used it before.
    function use(address token, bytes calldata envelope) internal {
        if (envelope.length == 0) return;
        if (envelope.length < LENGTH) revert WrongArgumentLength();
        (uint256 amount, uint256 deadline, bytes32 r, bytes32 s) =
            abi.decode(envelope[:LENGTH - 1], (uint256, uint256, bytes32, bytes32));
        uint8 v = uint8(envelope[LENGTH - 1]);
        if (v < 27) v += 27;
        if (v != 27 && v != 28) revert SignatureInvalidV();
        try IPermit(token).permit(msg.sender, address(this), amount, deadline, v, r, s) {}
        catch {
            require(IERC20(token).allowance(msg.sender, address(this)) >= amount, "Permit failure");
        }
    }
}
