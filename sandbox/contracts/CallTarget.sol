// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20} from "./Transfer.sol";

/// @notice A contract for external calls to call: keeps what it is offered, or refuses.
contract CallTarget {
    mapping(address => mapping(address => uint256)) public deposits;

    error Refused(string reason);

    function deposit(address token, uint256 amount, address beneficiary) external payable {
        if (token != address(0)) IERC20(token).transferFrom(msg.sender, address(this), amount);
        deposits[token][beneficiary] += token == address(0) ? msg.value : amount;
    }

    function refuse(string calldata reason) external payable {
        revert Refused(reason);
    }
}
