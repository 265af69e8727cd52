// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Token} from "./Token.sol";
import {IERC20, Transfer} from "./Transfer.sol";

/// @notice A token that moves what it is told and says that it did not, as Tether's does on TRON.
contract DenyingToken is Token {
    function _answer() internal pure override returns (bool) {
        return false;
    }
}

/// @notice A token that moves nothing on behalf of others, and says so.
contract IdleToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return false;
    }
}

/// @notice A venue that takes and pays what its calldata says, or what was written into its storage.
contract StandInVenue {
    address public tokenIn;
    uint256 public amountIn;
    address public tokenOut;
    uint256 public amountOut;

    error VenueRefused(uint256 code);

    receive() external payable {}

    fallback() external payable {
        require(amountOut != 0);
        swap(tokenIn, amountIn, tokenOut, amountOut, msg.sender, 0);
    }

    function swap(address input, uint256 taken, address outcome, uint256 paid, address recipient, uint256 nativeBack) public payable {
        if (input != address(0) && taken > 0) _ask(input, abi.encodeCall(IERC20.transferFrom, (msg.sender, address(this), taken)));
        if (outcome != address(0) && paid > 0) _ask(outcome, abi.encodeCall(IERC20.transfer, (recipient, paid)));
        if (outcome == address(0) && paid > 0) Transfer.pay(outcome, recipient, paid);
        if (nativeBack > 0) Transfer.pay(address(0), msg.sender, nativeBack);
    }

    /// @dev Whatever the token answers.
    function _ask(address token, bytes memory data) private {
        (bool ok,) = token.call(data);
        require(ok);
    }

    function refuse(uint256 code) external payable {
        revert VenueRefused(code);
    }

    function refuseText(string calldata why) external payable {
        revert(why);
    }
}

/// @notice A contract wallet that makes calls for anybody.
contract CallingWallet {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    receive() external payable {
        // As wallets do that note who paid them: more than 2300 gas.
        received += msg.value;
    }

    uint256 public received;

    function exec(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok, bytes memory result) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!ok) {
                assembly ("memory-safe") {
                    revert(add(result, 32), mload(result))
                }
            }
        }
    }
}

/// @notice A target of external calls: it keeps what it is offered of, or refuses.
contract StandInTarget {
    error Refused(uint256 code);

    /// @dev Of the recording's target only the selector is known.
    bytes4 private constant TAKE = 0x8033d687;

    function refuse(uint256 code) external payable {
        revert Refused(code);
    }

    receive() external payable {}

    fallback(bytes calldata data) external payable returns (bytes memory) {
        require(bytes4(data) == TAKE);
        (address token, uint256 amount,) = abi.decode(data[4:], (address, uint256, address));
        if (token != address(0)) Transfer.pull(token, msg.sender, address(this), amount);
        return "";
    }
}
