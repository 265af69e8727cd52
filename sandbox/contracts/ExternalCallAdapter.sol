// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {IERC20, Transfer} from "./Transfer.sol";

/// @notice Runs the call that an order asks for on the take chain: at once when the taker claims the
/// reward for it, otherwise whenever somebody comes by.
contract ExternalCallAdapter {
    enum CallStatus { NotSet, Created, Executed, Cancelled }

    struct Envelope {
        address fallbackAddress;
        address executorAddress;
        uint160 executionFee;
        bool allowDelayedExecution;
        bool requireSuccessfullExecution;
        bytes payload;
    }

    struct Execution {
        address to;
        uint32 txGas;
        bytes callData;
    }

    struct Call {
        bytes32 orderId;
        address callAuthority;
        address token;
        uint256 amount;
        bytes externalCall;
    }

    uint8 private constant ENVELOPE_VERSION = 1;

    address public dlnDestination;
    /// @notice Registrations use the event with the misspelled name, as older adapters do.
    bool public legacyEvents;
    mapping(bytes32 => CallStatus) public externalCallStatus;

    event ExternalCallRegistered(
        bytes32 callId, bytes32 orderId, address callAuthority, address tokenAddress, uint256 amount, bytes externalCall
    );
    event ExternallCallRegistered(
        bytes32 callId, bytes32 orderId, address callAuthority, address tokenAddress, uint256 amount, bytes externalCall
    );
    event ExternalCallExecuted(bytes32 orderId, bool callSucceeded);
    event ExternalCallFailed(bytes32 orderId, bytes callResult);
    event ExternalCallCancelled(bytes32 callId, bytes32 orderId, address cancelBeneficiary, address tokenAddress, uint256 amount);

    error DlnBadRole();
    error BadRole();
    error InvalideState();
    error UnknownEnvelopeVersion(uint8 version);
    error DisabledDelayedExecution();
    error FailedExecuteExternalCall();
    error IncorrectExecutionFee(uint256 amount, uint256 executionFee);

    receive() external payable {}

    function getCallId(bytes32 orderId, address callAuthority, address token, uint256 amount, bytes32 externalCallHash)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encodePacked(orderId, callAuthority, token, amount, externalCallHash));
    }

    function _callId(Call memory call) private pure returns (bytes32) {
        return getCallId(call.orderId, call.callAuthority, call.token, call.amount, keccak256(call.externalCall));
    }

    function receiveCall(
        bytes32 orderId, address callAuthority, address token, uint256 amount, bytes calldata externalCall, address rewardBeneficiary
    ) external {
        if (msg.sender != dlnDestination) revert DlnBadRole();
        Call memory call = Call(orderId, callAuthority, token, amount, externalCall);
        if (rewardBeneficiary != address(0)) {
            _run(call, rewardBeneficiary); // which leaves no status
            return;
        }
        bytes32 callId = _callId(call);
        if (!_open(call.externalCall).allowDelayedExecution) revert DisabledDelayedExecution();
        externalCallStatus[callId] = CallStatus.Created;
        if (legacyEvents) emit ExternallCallRegistered(callId, orderId, callAuthority, token, amount, externalCall);
        else emit ExternalCallRegistered(callId, orderId, callAuthority, token, amount, externalCall);
    }

    /// @notice Runs a registered call; the caller names who receives the execution fee.
    function executeCall(
        bytes32 orderId, address callAuthority, address token, uint256 amount, bytes calldata externalCall, address rewardBeneficiary
    ) external {
        Call memory call = Call(orderId, callAuthority, token, amount, externalCall);
        _advance(_callId(call), CallStatus.Executed);
        _run(call, rewardBeneficiary);
    }

    /// @notice Gives the tokens of a registered call to whom the order's authority names.
    function cancelCall(
        bytes32 orderId, address callAuthority, address token, uint256 amount, address recipient, bytes32 externalCallHash
    ) external {
        if (msg.sender != callAuthority) revert BadRole();
        bytes32 callId = getCallId(orderId, callAuthority, token, amount, externalCallHash);
        _advance(callId, CallStatus.Cancelled);
        Transfer.pay(token, recipient, amount);
        emit ExternalCallCancelled(callId, orderId, recipient, token, amount);
    }

    function _advance(bytes32 callId, CallStatus to) private {
        if (externalCallStatus[callId] != CallStatus.Created) revert InvalideState();
        externalCallStatus[callId] = to;
    }

    function _open(bytes memory externalCall) private pure returns (Envelope memory) {
        uint8 version = uint8(externalCall[0]);
        if (version != ENVELOPE_VERSION) revert UnknownEnvelopeVersion(version);
        bytes memory body = new bytes(externalCall.length - 1);
        for (uint256 i = 0; i < body.length; ++i) body[i] = externalCall[i + 1];
        return abi.decode(body, (Envelope));
    }

    /// @dev Whatever the call leaves, and everything when it fails, goes to the fallback address.
    function _run(Call memory call, address rewardBeneficiary) private {
        Envelope memory envelope = _open(call.externalCall);
        if (envelope.executionFee > call.amount) revert IncorrectExecutionFee(call.amount, envelope.executionFee);
        Transfer.pay(call.token, rewardBeneficiary, envelope.executionFee);
        uint256 amount = call.amount - envelope.executionFee;
        uint256 before = _balance(call.token) - amount;
        (bool ok, bytes memory result) = _execute(call.token, amount, envelope.payload);
        if (!ok && envelope.requireSuccessfullExecution) revert FailedExecuteExternalCall();
        Transfer.pay(call.token, envelope.fallbackAddress, _balance(call.token) - before);
        emit ExternalCallExecuted(call.orderId, ok);
        if (!ok) emit ExternalCallFailed(call.orderId, result);
    }

    /// @dev The payload is a struct, or its members alone, as the sandbox's own orders have them.
    function _execute(address token, uint256 amount, bytes memory payload) private returns (bool ok, bytes memory result) {
        Execution memory e;
        if (bytes32(payload) == bytes32(uint256(32))) e = abi.decode(payload, (Execution));
        else (e.to, e.txGas, e.callData) = abi.decode(payload, (address, uint32, bytes));
        require(e.callData.length >= 4, "toBytes4_outOfBounds");
        if (_isProhibited(bytes4(e.callData))) return (false, "Prohibited selector");
        if (e.to.code.length == 0) return (false, "");
        uint256 txGas = e.txGas == 0 ? gasleft() : e.txGas;
        if (token == address(0)) return e.to.call{value: amount, gas: txGas}(e.callData);
        IERC20(token).approve(e.to, amount);
        (ok, result) = e.to.call{gas: txGas}(e.callData);
        IERC20(token).approve(e.to, 0);
    }

    /// @dev transfer, transferFrom, approve and increaseAllowance.
    function _isProhibited(bytes4 selector) private pure returns (bool) {
        return selector == IERC20.transfer.selector || selector == IERC20.transferFrom.selector
            || selector == IERC20.approve.selector || selector == bytes4(keccak256("increaseAllowance(address,uint256)"));
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }
}
