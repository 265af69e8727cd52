// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function approve(address spender, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @notice Moves tokens and the native coin, which the protocol spells as the zero address. Tokens from before
/// ERC-20 was settled return nothing; what a token reverts with comes through.
library Transfer {
    error EthTransferFailed();

    function pull(address token, address from, address to, uint256 amount) internal {
        _ask(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    function pay(address token, address to, uint256 amount) internal {
        if (token != address(0)) {
            if (amount != 0) _ask(token, abi.encodeCall(IERC20.transfer, (to, amount)));
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert EthTransferFailed();
    }

    function balanceOf(address token, address account) internal view returns (uint256) {
        return token == address(0) ? account.balance : IERC20(token).balanceOf(account);
    }

    /// @notice Allows spender any amount, unless he may take this one already. Some tokens want the allowance
    /// to be nothing first.
    function allow(address token, address spender, uint256 amount) internal {
        if (IERC20(token).allowance(address(this), spender) >= amount) return;
        _ask(token, abi.encodeCall(IERC20.approve, (spender, 0)));
        _ask(token, abi.encodeCall(IERC20.approve, (spender, type(uint256).max)));
    }

    /// @notice Pays a token whatever it answers, as long as it does not revert.
    function send(address token, address to, uint256 amount) internal {
        (bool ok, bytes memory result) = token.call(abi.encodeCall(IERC20.transfer, (to, amount)));
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
    }

    /// @dev With the words of OpenZeppelin's SafeERC20, version 4.
    function _ask(address token, bytes memory data) private {
        (bool ok, bytes memory result) = token.call(data);
        if (!ok) {
            require(result.length != 0, "SafeERC20: low-level call failed");
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
        if (result.length == 0) require(token.code.length != 0, "Address: call to non-contract");
        else require(abi.decode(result, (bool)), "SafeERC20: ERC20 operation did not succeed");
    }

    /// @notice Reads an EVM address out of an order's field; an empty field is the zero address.
    function toAddress(bytes memory raw) internal pure returns (address) {
        return raw.length == 0 ? address(0) : address(bytes20(raw));
    }
}
