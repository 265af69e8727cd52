// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Order, OrderId} from "./Order.sol";
import {Permit} from "./Permit.sol";
import {SolanaMessage} from "./SolanaMessage.sol";
import {IERC20, Transfer} from "./Transfer.sol";

interface IGate {
    function sendMessage(uint256 chainIdTo, bytes calldata receiver, bytes calldata data, uint256 flags, uint32 referralCode)
        external
        payable
        returns (bytes32 submissionId);
}

interface IExternalCallAdapter {
    function receiveCall(
        bytes32 orderId, address callAuthority, address token, uint256 amount, bytes calldata externalCall, address rewardBeneficiary
    ) external;
}

interface IDlnSource {
    function claimUnlock(bytes32 orderId, address beneficiary) external;
    function claimBatchUnlock(bytes32[] calldata orderIds, address beneficiary) external;
    function claimCancel(bytes32 orderId, address beneficiary) external;
}

/// @notice Take side of the order protocol: takers fulfil here, then send word to the give chain.
contract DlnDestination {
    enum Status { NotSet, Fulfilled, SentUnlock, SentCancel }

    struct TakeOrder {
        Status status;
        address takerAddress;
        uint32 giveChainId;
        /// @dev Used instead of giveChainId when the id does not fit.
        uint256 bigGiveChainId;
    }

    /// @dev Gate flags: revert when the call fails, and hand the sender to the receiver.
    uint8 private constant EVM_ENGINE = 1;
    uint8 private constant SOLANA_ENGINE = 2;
    uint256 private constant FLAGS = (1 << 1) | (1 << 2);

    address public owner;
    address public deBridgeGate;
    address public externalCallAdapter;
    uint256 public subscriptionId;
    uint256 public maxOrderCountPerBatchEvmUnlock;
    uint256 public maxOrderCountPerBatchSolanaUnlock;
    /// @notice Fulfilments are announced without the actual amount, as before version 1.7.
    bool public legacyEvents;

    mapping(bytes32 => TakeOrder) public takeOrders;
    mapping(bytes32 => uint256) public takePatches;
    mapping(uint256 => bytes) public dlnSourceAddresses;
    mapping(uint256 => uint8) public chainEngines;

    event FulfilledOrder(Order order, bytes32 orderId, uint256 actualFulfillAmount, address sender, address unlockAuthority);
    event FulfilledOrder(Order order, bytes32 orderId, address sender, address unlockAuthority);
    event DecreasedTakeAmount(bytes32 orderId, uint256 orderTakeFinalAmount);
    event SentOrderUnlock(bytes32 orderId, bytes beneficiary, bytes32 submissionId);
    event SentOrderCancel(Order order, bytes32 orderId, bytes cancelBeneficiary, bytes32 submissionId);
    event SetDlnSourceAddress(uint256 chainIdFrom, bytes dlnSourceAddress, uint8 chainEngine);
    event ExternalCallAdapterUpdated(address oldAdapter, address newAdapter);
    event MaxOrderCountPerBatchEvmUnlockChanged(uint256 oldValue, uint256 newValue);
    event MaxOrderCountPerBatchSolanaUnlockChanged(uint256 oldValue, uint256 newValue);

    error AdminBadRole();
    error AllowOnlyForBeneficiary(bytes expectedBeneficiary);
    error IncorrectOrderStatus();
    error MismatchedOrderId();
    error MismatchedTransferAmount();
    error MismatchGiveChainId();
    error MismatchNativeTakerAmount();
    error MismatchTakerAmount();
    error PermitFailure();
    error Unauthorized();
    error UnexpectedBatchSize();
    error WrongArgument();
    error WrongChain();
    error WrongExternalCallHash();
    error WrongToken();

    modifier onlyOwner() {
        if (msg.sender != owner) revert AdminBadRole();
        _;
    }

    function version() external pure returns (string memory) {
        return "1.7.1";
    }

    function getChainId() public view returns (uint256) {
        return subscriptionId == 0 ? block.chainid : subscriptionId;
    }

    function getOrderId(Order memory order) external pure returns (bytes32) {
        return OrderId.hash(order);
    }

    // ---- the taker ----

    function fulfillOrder(Order memory order, uint256 fulfillAmount, bytes32 orderId, bytes calldata permitEnvelope, address unlockAuthority)
        external
        payable
    {
        _fulfill(order, fulfillAmount, orderId, permitEnvelope, unlockAuthority, address(0));
    }

    /// @param externalCallRewardBeneficiary who is paid for running the external call at once; nobody leaves it registered
    function fulfillOrder(
        Order memory order,
        uint256 fulfillAmount,
        bytes32 orderId,
        bytes calldata permitEnvelope,
        address unlockAuthority,
        address externalCallRewardBeneficiary
    ) external payable {
        _fulfill(order, fulfillAmount, orderId, permitEnvelope, unlockAuthority, externalCallRewardBeneficiary);
    }

    function sendEvmUnlock(bytes32 orderId, address beneficiary, uint256) external payable {
        uint256 giveChainId = _markUnlock(orderId, EVM_ENGINE);
        bytes32 submissionId = _send(giveChainId, abi.encodeCall(IDlnSource.claimUnlock, (orderId, beneficiary)));
        emit SentOrderUnlock(orderId, abi.encodePacked(beneficiary), submissionId);
    }

    /// @notice One message for many orders of one give chain; every order's event names it.
    function sendBatchEvmUnlock(bytes32[] calldata orderIds, address beneficiary, uint256) external payable {
        if (orderIds.length == 0 || orderIds.length > maxOrderCountPerBatchEvmUnlock) revert UnexpectedBatchSize();
        uint256 giveChainId = _markUnlock(orderIds[0], EVM_ENGINE);
        for (uint256 i = 1; i < orderIds.length; ++i) {
            if (_markUnlock(orderIds[i], EVM_ENGINE) != giveChainId) revert MismatchGiveChainId();
        }
        bytes32 submissionId = _send(giveChainId, abi.encodeCall(IDlnSource.claimBatchUnlock, (orderIds, beneficiary)));
        for (uint256 i = 0; i < orderIds.length; ++i) {
            emit SentOrderUnlock(orderIds[i], abi.encodePacked(beneficiary), submissionId);
        }
    }

    /// @notice The rewards are for executing the message's instructions on Solana, in lamports. The order has the hash of
    /// its external call in the place of the call.
    function sendSolanaUnlock(Order memory order, bytes32 beneficiary, uint256, uint64 initWalletReward, uint64 claimUnlockReward)
        external
        payable
    {
        bytes32 orderId = _hashed(order);
        uint256 giveChainId = _markUnlock(orderId, SOLANA_ENGINE);
        bytes memory instructions = SolanaMessage.initWallet(beneficiary, bytes32(order.giveTokenAddress), initWalletReward);
        bytes memory claim = _claimOnSolana(SolanaMessage.CLAIM_UNLOCK, order, orderId, beneficiary, claimUnlockReward);
        bytes32 submissionId = _send(giveChainId, bytes.concat(instructions, claim));
        emit SentOrderUnlock(orderId, abi.encodePacked(beneficiary), submissionId);
    }

    /// @notice One message for several orders of one give token.
    function sendBatchSolanaUnlock(
        Order[] memory orders, bytes32 beneficiary, uint256, uint64 initWalletReward, uint64 claimUnlockReward
    ) external payable {
        if (orders.length == 0 || orders.length > maxOrderCountPerBatchSolanaUnlock) revert UnexpectedBatchSize();
        bytes32[] memory orderIds = new bytes32[](orders.length);
        bytes32 token = bytes32(orders[0].giveTokenAddress);
        bytes memory instructions = SolanaMessage.initWallet(beneficiary, token, initWalletReward);
        for (uint256 i = 0; i < orders.length; ++i) {
            Order memory order = orders[i];
            orderIds[i] = _hashed(order);
            _markUnlock(orderIds[i], SOLANA_ENGINE);
            if (order.giveChainId != orders[0].giveChainId) revert WrongChain();
            if (bytes32(order.giveTokenAddress) != token) revert WrongToken();
            bytes memory claim = _claimOnSolana(SolanaMessage.CLAIM_UNLOCK, order, orderIds[i], beneficiary, claimUnlockReward);
            instructions = bytes.concat(instructions, claim);
        }
        bytes32 submissionId = _send(orders[0].giveChainId, instructions);
        for (uint256 i = 0; i < orderIds.length; ++i) {
            emit SentOrderUnlock(orderIds[i], abi.encodePacked(beneficiary), submissionId);
        }
    }

    function _claimOnSolana(bytes8 instruction, Order memory order, bytes32 orderId, bytes32 beneficiary, uint64 reward)
        private
        view
        returns (bytes memory)
    {
        bytes32 source = bytes32(dlnSourceAddresses[order.giveChainId]);
        return SolanaMessage.claim(
            instruction, source, order.takeChainId, beneficiary, bytes32(order.giveTokenAddress), orderId, reward
        );
    }

    function _fulfill(
        Order memory order,
        uint256 fulfillAmount,
        bytes32 orderId,
        bytes calldata permitEnvelope,
        address unlockAuthority,
        address rewardBeneficiary
    ) private {
        if (order.takeChainId != getChainId()) revert WrongChain();
        if (OrderId.hash(order) != orderId) revert MismatchedOrderId();
        _checkOpen(orderId);
        if (order.allowedTakerDst.length != 0 && Transfer.toAddress(order.allowedTakerDst) != unlockAuthority) revert Unauthorized();
        uint256 wanted = order.takeAmount - takePatches[orderId];
        if (fulfillAmount < wanted || (legacyEvents && fulfillAmount != wanted)) revert MismatchTakerAmount();

        TakeOrder storage take = takeOrders[orderId];
        take.status = Status.Fulfilled;
        take.takerAddress = unlockAuthority;
        if (order.giveChainId <= type(uint32).max) take.giveChainId = uint32(order.giveChainId);
        else take.bigGiveChainId = order.giveChainId;

        _deliver(order, orderId, fulfillAmount, permitEnvelope, rewardBeneficiary);
        if (legacyEvents) emit FulfilledOrder(order, orderId, msg.sender, unlockAuthority);
        else emit FulfilledOrder(order, orderId, fulfillAmount, msg.sender, unlockAuthority);
    }

    /// @dev With an external call the adapter receives the tokens, and its events come before ours.
    function _deliver(
        Order memory order, bytes32 orderId, uint256 amount, bytes calldata permitEnvelope, address rewardBeneficiary
    ) private {
        address token = Transfer.toAddress(order.takeTokenAddress);
        bool called = order.externalCall.length != 0;
        address to = called ? externalCallAdapter : Transfer.toAddress(order.receiverDst);
        if (token == address(0)) {
            if (msg.value != amount) revert MismatchNativeTakerAmount();
            Transfer.pay(token, to, amount);
        } else {
            if (!Permit.use(token, permitEnvelope)) revert PermitFailure();
            uint256 before = IERC20(token).balanceOf(to);
            Transfer.pull(token, msg.sender, to, amount);
            if (IERC20(token).balanceOf(to) - before != amount) revert MismatchedTransferAmount();
        }
        if (!called) return;
        IExternalCallAdapter(externalCallAdapter).receiveCall(
            orderId, Transfer.toAddress(order.orderAuthorityAddressDst), token, amount, order.externalCall, rewardBeneficiary
        );
    }

    function _markUnlock(bytes32 orderId, uint8 engine) private returns (uint256 giveChainId) {
        TakeOrder storage take = takeOrders[orderId];
        if (take.status != Status.Fulfilled) revert IncorrectOrderStatus();
        if (take.takerAddress != msg.sender) revert Unauthorized();
        giveChainId = take.giveChainId == 0 ? take.bigGiveChainId : take.giveChainId;
        if (chainEngines[giveChainId] != engine) revert WrongChain();
        take.status = Status.SentUnlock;
    }

    function _hashed(Order memory order) private pure returns (bytes32) {
        if (order.externalCall.length != 0 && order.externalCall.length != 32) revert WrongExternalCallHash();
        return OrderId.hashed(order);
    }

    // ---- the order's authority ----

    function sendEvmOrderCancel(Order memory order, address cancelBeneficiary, uint256) external payable {
        bytes32 orderId = _markCancel(order, EVM_ENGINE, abi.encodePacked(cancelBeneficiary));
        bytes32 submissionId = _send(order.giveChainId, abi.encodeCall(IDlnSource.claimCancel, (orderId, cancelBeneficiary)));
        emit SentOrderCancel(order, orderId, abi.encodePacked(cancelBeneficiary), submissionId);
    }

    function sendSolanaOrderCancel(
        Order memory order, bytes32 cancelBeneficiary, uint256, uint64 initWalletReward, uint64 claimCancelReward
    ) external payable {
        bytes32 orderId = _markCancel(order, SOLANA_ENGINE, abi.encodePacked(cancelBeneficiary));
        bytes memory instructions = SolanaMessage.initWallet(cancelBeneficiary, bytes32(order.giveTokenAddress), initWalletReward);
        bytes memory claim =
            _claimOnSolana(SolanaMessage.CLAIM_ORDER_CANCEL, order, orderId, cancelBeneficiary, claimCancelReward);
        bytes32 submissionId = _send(order.giveChainId, bytes.concat(instructions, claim));
        emit SentOrderCancel(order, orderId, abi.encodePacked(cancelBeneficiary), submissionId);
    }

    function _markCancel(Order memory order, uint8 engine, bytes memory cancelBeneficiary) private returns (bytes32 orderId) {
        if (order.takeChainId != getChainId() || chainEngines[order.giveChainId] != engine) revert WrongChain();
        orderId = OrderId.hash(order);
        if (Transfer.toAddress(order.orderAuthorityAddressDst) != msg.sender) revert Unauthorized();
        bytes memory allowed = order.allowedCancelBeneficiarySrc;
        if (allowed.length != 0 && keccak256(allowed) != keccak256(cancelBeneficiary)) revert AllowOnlyForBeneficiary(allowed);
        _checkOpen(orderId);
        takeOrders[orderId].status = Status.SentCancel;
    }

    /// @notice Lowers what takers must deliver. Later contracts dropped this; its history remains.
    function patchOrderTake(Order memory order, uint256 newSubtrahend) external {
        if (order.takeChainId != getChainId()) revert WrongChain();
        bytes32 orderId = _hashed(order);
        if (Transfer.toAddress(order.orderAuthorityAddressDst) != msg.sender) revert Unauthorized();
        if (newSubtrahend <= takePatches[orderId] || newSubtrahend >= order.takeAmount) revert WrongArgument();
        _checkOpen(orderId);
        takePatches[orderId] = newSubtrahend;
        emit DecreasedTakeAmount(orderId, order.takeAmount - newSubtrahend);
    }

    function _checkOpen(bytes32 orderId) private view {
        if (takeOrders[orderId].status != Status.NotSet) revert IncorrectOrderStatus();
    }

    function _send(uint256 giveChainId, bytes memory data) private returns (bytes32) {
        return IGate(deBridgeGate).sendMessage{value: msg.value}(giveChainId, dlnSourceAddresses[giveChainId], data, FLAGS, 0);
    }

    // ---- the owner ----

    function setLegacyEvents(bool legacy) external onlyOwner {
        legacyEvents = legacy;
    }

    function setDlnSourceAddress(uint256 chainIdFrom, bytes calldata source, uint8 engine) external onlyOwner {
        dlnSourceAddresses[chainIdFrom] = source;
        chainEngines[chainIdFrom] = engine;
        emit SetDlnSourceAddress(chainIdFrom, source, engine);
    }

    function setExternalCallAdapter(address adapter) external onlyOwner {
        emit ExternalCallAdapterUpdated(externalCallAdapter, adapter);
        externalCallAdapter = adapter;
    }

    function setMaxOrderCountPerBatchEvmUnlock(uint256 count) external onlyOwner {
        emit MaxOrderCountPerBatchEvmUnlockChanged(maxOrderCountPerBatchEvmUnlock, count);
        maxOrderCountPerBatchEvmUnlock = count;
    }

    function setMaxOrderCountPerBatchSolanaUnlock(uint256 count) external onlyOwner {
        emit MaxOrderCountPerBatchSolanaUnlockChanged(maxOrderCountPerBatchSolanaUnlock, count);
        maxOrderCountPerBatchSolanaUnlock = count;
    }
}
