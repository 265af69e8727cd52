// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Transfer} from "./Transfer.sol";
import {ITokenApproval} from "./VenueRouter.sol";

interface IPathRouter {
    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        returns (uint256[] memory amounts);
}

/// @notice A venue that takes the input by another contract than the one that is called, and swaps it along a path of
/// Uniswap V2's pools for its caller.
contract SpenderVenue {
    /// @notice What callers approve.
    address public approval;
    address public router;

    function go(address[] calldata path, uint256 amountIn, uint256 amountOutMin) external {
        ITokenApproval(approval).claimTokens(path[0], msg.sender, address(this), amountIn);
        Transfer.allow(path[0], router, amountIn);
        IPathRouter(router).swapExactTokensForTokens(amountIn, amountOutMin, path, msg.sender, block.timestamp);
    }
}
