// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice Messages between chains. Validators are outside the sandbox: whoever presents the
/// content of a Sent message may claim it, and its id is recomputed from that content.
contract DeBridgeGate {
    struct FeeParams {
        uint256 receivedAmount;
        uint256 fixFee;
        uint256 transferFee;
        bool useAssetFee;
        bool isNativeToken;
    }

    struct AutoParamsTo {
        uint256 executionFee;
        uint256 flags;
        bytes fallbackAddress;
        bytes data;
    }

    struct AutoParamsFrom {
        uint256 executionFee;
        uint256 flags;
        address fallbackAddress;
        bytes data;
        bytes nativeSender;
    }

    /// @dev Every submission's hash starts with this word.
    uint256 private constant SUBMISSION_PREFIX = 1;
    uint256 private constant REVERT_IF_EXTERNAL_FAIL = 1 << 1;

    uint256 public subscriptionId;
    uint256 public globalFixedNativeFee;
    uint256 public nonce;
    mapping(bytes32 => bool) public isSubmissionUsed;

    /// @notice Where the message being claimed came from; empty outside a claim.
    uint256 public submissionChainIdFrom;
    bytes public submissionNativeSender;

    event Sent(
        bytes32 submissionId,
        bytes32 indexed debridgeId,
        uint256 amount,
        bytes receiver,
        uint256 nonce,
        uint256 indexed chainIdTo,
        uint32 referralCode,
        FeeParams feeParams,
        bytes autoParams,
        address nativeSender
    );
    event Claimed(
        bytes32 submissionId,
        bytes32 indexed debridgeId,
        uint256 amount,
        address indexed receiver,
        uint256 nonce,
        uint256 indexed chainIdFrom,
        bytes autoParams,
        bool isNativeToken
    );
    event AutoRequestExecuted(bytes32 submissionId, bool indexed success, address callProxy);

    error TransferAmountNotCoverFees();
    error SubmissionUsed();
    error WrongAmount();
    error ExternalCallFailed();

    function getChainId() public view returns (uint256) {
        return subscriptionId == 0 ? block.chainid : subscriptionId;
    }

    /// @notice The native coin's id, under which plain messages travel with amount zero.
    function getDebridgeId(uint256 chainId, bytes memory token) public pure returns (bytes32) {
        return keccak256(abi.encodePacked(chainId, token));
    }

    function sendMessage(uint256 chainIdTo, bytes calldata receiver, bytes calldata data, uint256 flags, uint32 referralCode)
        external
        payable
        returns (bytes32 submissionId)
    {
        if (msg.value < globalFixedNativeFee) revert TransferAmountNotCoverFees();
        bytes32 debridgeId = getDebridgeId(getChainId(), abi.encodePacked(address(0)));
        uint256 number = nonce++;
        AutoParamsTo memory auto_ = AutoParamsTo(0, flags, receiver, data);
        bytes memory route = abi.encodePacked(debridgeId, getChainId(), chainIdTo, uint256(0), receiver, number);
        submissionId = _submissionId(route, auto_, abi.encodePacked(msg.sender));
        emit Sent(
            submissionId,
            debridgeId,
            0,
            receiver,
            number,
            chainIdTo,
            referralCode,
            FeeParams(0, globalFixedNativeFee, 0, false, true),
            abi.encode(auto_),
            msg.sender
        );
    }

    function claim(
        bytes32 debridgeId,
        uint256 amount,
        uint256 chainIdFrom,
        address receiver,
        uint256 number,
        bytes calldata,
        bytes calldata autoParams
    ) external {
        if (amount != 0) revert WrongAmount();
        AutoParamsFrom memory auto_ = abi.decode(autoParams, (AutoParamsFrom));
        bytes32 submissionId = _claimedId(debridgeId, chainIdFrom, receiver, number, auto_);
        if (isSubmissionUsed[submissionId]) revert SubmissionUsed();
        isSubmissionUsed[submissionId] = true;
        _run(submissionId, chainIdFrom, receiver, auto_);
        emit Claimed(submissionId, debridgeId, amount, receiver, number, chainIdFrom, autoParams, true);
    }

    function _claimedId(bytes32 debridgeId, uint256 chainIdFrom, address receiver, uint256 number, AutoParamsFrom memory auto_)
        private
        view
        returns (bytes32)
    {
        bytes memory route = abi.encodePacked(debridgeId, chainIdFrom, getChainId(), uint256(0), abi.encodePacked(receiver), number);
        AutoParamsTo memory sent =
            AutoParamsTo(auto_.executionFee, auto_.flags, abi.encodePacked(auto_.fallbackAddress), auto_.data);
        return _submissionId(route, sent, auto_.nativeSender);
    }

    function _run(bytes32 submissionId, uint256 chainIdFrom, address receiver, AutoParamsFrom memory auto_) private {
        submissionChainIdFrom = chainIdFrom;
        submissionNativeSender = auto_.nativeSender;
        (bool ok,) = receiver.call(auto_.data);
        delete submissionChainIdFrom;
        delete submissionNativeSender;
        if (!ok && auto_.flags & REVERT_IF_EXTERNAL_FAIL != 0) revert ExternalCallFailed();
        emit AutoRequestExecuted(submissionId, ok, address(this));
    }

    function _submissionId(bytes memory route, AutoParamsTo memory auto_, bytes memory nativeSender) private pure returns (bytes32) {
        return keccak256(
            abi.encodePacked(
                SUBMISSION_PREFIX,
                route,
                auto_.executionFee,
                auto_.flags,
                keccak256(auto_.fallbackAddress),
                keccak256(auto_.data),
                keccak256(nativeSender)
            )
        );
    }
}
