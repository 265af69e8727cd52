// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice Several calls in one transaction, as routers in front of the protocol make them.
contract MultiCaller {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    error CallFailed(uint256 index, bytes reason);

    receive() external payable {}

    function run(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok, bytes memory result) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!ok) revert CallFailed(i, result);
        }
    }
}
