// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Transfer} from "./Transfer.sol";

/// @notice Holds what users allow a venue whose router is replaced from time to time. Only the router moves it.
contract TokenApproval {
    address public router;

    error NotTheRouter(address caller);

    function claimTokens(address token, address from, address to, uint256 amount) external {
        if (msg.sender != router) revert NotTheRouter(msg.sender);
        Transfer.pull(token, from, to, amount);
    }
}
