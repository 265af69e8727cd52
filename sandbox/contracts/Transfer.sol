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
    error TransferFailed(address token, address to, uint256 amount);

    function pull(address token, address from, address to, uint256 amount) internal {
        if (!_ask(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)))) revert TransferFailed(token, to, amount);
    }

    function pay(address token, address to, uint256 amount) internal {
        if (amount == 0) return;
        if (token != address(0)) {
            if (!_ask(token, abi.encodeCall(IERC20.transfer, (to, amount)))) revert TransferFailed(token, to, amount);
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert TransferFailed(token, to, amount);
    }

    function balanceOf(address token, address account) internal view returns (uint256) {
        return token == address(0) ? account.balance : IERC20(token).balanceOf(account);
    }

    /// @notice Allows spender any amount, unless he may take this one already. Some tokens want the allowance
    /// to be nothing first.
    function allow(address token, address spender, uint256 amount) internal {
        if (IERC20(token).allowance(address(this), spender) >= amount) return;
        bool ok = _ask(token, abi.encodeCall(IERC20.approve, (spender, 0)))
            && _ask(token, abi.encodeCall(IERC20.approve, (spender, type(uint256).max)));
        if (!ok) revert TransferFailed(token, spender, amount);
    }

    function _ask(address token, bytes memory data) private returns (bool) {
        (bool ok, bytes memory result) = token.call(data);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
        return result.length == 0 ? token.code.length != 0 : abi.decode(result, (bool));
    }

    /// @notice Reads an EVM address out of an order's field; an empty field is the zero address.
    function toAddress(bytes memory raw) internal pure returns (address) {
        return raw.length == 0 ? address(0) : address(bytes20(raw));
    }
}
