// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

import {Order, OrderCreation, OrderId} from "./Order.sol";
import {Permit} from "./Permit.sol";
import {IERC20, Transfer} from "./Transfer.sol";

interface IGateContext {
    function submissionChainIdFrom() external view returns (uint256);
    function submissionNativeSender() external view returns (bytes memory);
}

/// @notice Give side of the order protocol: holds the maker's tokens until the gate brings word
/// from the take chain that the order was fulfilled or cancelled.
contract DlnSource {
    enum Status { NotSet, Created, ClaimedUnlock, ClaimedCancel }

    struct GiveOrder {
        Status status;
        uint160 giveTokenAddress;
        uint88 nativeFixFee;
        uint48 takeChainId;
        uint208 percentFee;
        uint256 giveAmount;
        address affiliateBeneficiary;
        uint256 affiliateAmount;
    }

    uint256 private constant BPS = 10_000;
    /// @dev 20 bytes of beneficiary and 32 of amount.
    uint256 private constant AFFILIATE_FEE_LENGTH = 52;

    address public owner;
    address public deBridgeGate;
    /// @notice The chain's number inside the protocol where it differs from the EIP-155 number.
    uint256 public subscriptionId;
    uint88 public globalFixedNativeFee;
    uint16 public globalTransferFeeBps;
    /// @notice Orders are announced by the event without metadata, as before September 2023.
    bool public legacyEvents;
    bool public paused;

    mapping(bytes32 => GiveOrder) public giveOrders;
    mapping(bytes32 => uint256) public givePatches;
    mapping(address => uint256) public masterNonce;
    mapping(uint256 => bytes) public dlnDestinationAddresses;
    mapping(uint256 => uint8) public chainEngines;
    mapping(bytes32 => address) public unexpectedOrderStatusForClaim;
    mapping(bytes32 => address) public unexpectedOrderStatusForCancel;
    /// @notice Fees kept, by token; the zero address collects the fixed fees.
    mapping(address => uint256) public collectedFee;
    /// @notice Coin of affiliates who could not take it when their orders were claimed.
    mapping(address => uint256) public unclaimedAffiliateETHFees;
    /// @notice Tokens whose transfer to an affiliate reverted, by token; the event says paid all the same.
    mapping(address => mapping(address => uint256)) public unclaimedERC20AffiliateFees;
    uint256 private constant EVM_ADDRESS_LENGTH = 20;

    event CreatedOrder(
        Order order, bytes32 orderId, bytes affiliateFee, uint256 nativeFixFee, uint256 percentFee, uint32 referralCode, bytes metadata
    );
    event CreatedOrder(
        Order order, bytes32 orderId, bytes affiliateFee, uint256 nativeFixFee, uint256 percentFee, uint32 referralCode
    );
    event IncreasedGiveAmount(bytes32 orderId, uint256 orderGiveFinalAmount, uint256 finalPercentFee);
    event AffiliateFeePaid(bytes32 _orderId, address beneficiary, uint256 affiliateFee, address giveTokenAddress);
    event ClaimedUnlock(bytes32 orderId, address beneficiary, uint256 giveAmount, address giveTokenAddress);
    event ClaimedOrderCancel(bytes32 orderId, address beneficiary, uint256 paidAmount, address giveTokenAddress);
    event UnexpectedOrderStatusForClaim(bytes32 orderId, Status status, address beneficiary);
    event UnexpectedOrderStatusForCancel(bytes32 orderId, Status status, address beneficiary);
    event CriticalMismatchChainId(bytes32 orderId, address beneficiary, uint256 takeChainId, uint256 submissionChainIdFrom);
    event SetDlnDestinationAddress(uint256 chainIdTo, bytes dlnDestinationAddress, uint8 chainEngine);
    event GlobalFixedNativeFeeUpdated(uint88 oldGlobalFixedNativeFee, uint88 newGlobalFixedNativeFee);
    event GlobalTransferFeeBpsUpdated(uint16 oldGlobalTransferFeeBps, uint16 newGlobalTransferFeeBps);

    event UnclaimedAffiliateFees(bytes32 orderId, address token, uint256 amount);
    event UnclaimedAffiliateFeePaid(address beneficiary, uint256 amount, address token);

    error AdminBadRole();
    error CallProxyBadRole();
    error CriticalMismatchTakeChainId(bytes32 orderId, uint48 takeChainId, uint256 submissionChainIdFrom);
    error IncorrectOrderStatus();
    error MismatchNativeGiveAmount();
    error MismatchedTransferAmount();
    error NativeSenderBadRole(bytes nativeSender, uint256 chainIdFrom);
    error NotSupportedDstChain();
    error PermitFailure();
    error Unauthorized();
    error WrongAddressLength();
    error WrongAffiliateFeeLength();
    error WrongArgument();
    error WrongExternalCallHash();
    error WrongFixedFee(uint256 received, uint256 actual);
    error ZeroAddress();

    modifier onlyOwner() {
        if (msg.sender != owner) revert AdminBadRole();
        _;
    }

    modifier onlyGate() {
        if (msg.sender != deBridgeGate) revert CallProxyBadRole();
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    function version() external pure returns (string memory) {
        return "1.8.0";
    }

    function getChainId() public view returns (uint256) {
        return subscriptionId == 0 ? block.chainid : subscriptionId;
    }

    function getOrderId(Order memory order) external pure returns (bytes32) {
        return OrderId.hash(order);
    }

    /// @notice The order that a creation would become, but for its fees: with the gross amount.
    function validateCreationOrder(OrderCreation memory creation, address signer, uint64 salt) external view returns (Order memory) {
        _checkTakeSide(creation);
        return _order(creation, signer, salt, 0, 0);
    }

    // ---- the maker ----

    function createOrder(
        OrderCreation calldata creation,
        bytes calldata affiliateFee,
        uint32 referralCode,
        bytes calldata permitEnvelope
    ) external payable returns (bytes32) {
        uint64 nonce = uint64(masterNonce[tx.origin]++);
        return _create(creation, nonce, affiliateFee, referralCode, permitEnvelope, "");
    }

    function createSaltedOrder(
        OrderCreation calldata creation,
        uint64 salt,
        bytes calldata affiliateFee,
        uint32 referralCode,
        bytes calldata permitEnvelope,
        bytes memory metadata
    ) external payable returns (bytes32) {
        return _create(creation, salt, affiliateFee, referralCode, permitEnvelope, metadata);
    }

    /// @notice Adds to an open order's give amount. It wants the hash of the external call, not the call. Later
    /// contracts dropped this; its history remains.
    function patchOrderGive(Order memory order, uint256 addGiveAmount, bytes calldata permitEnvelope) external payable whenNotPaused {
        if (order.externalCall.length != 0 && order.externalCall.length != 32) revert WrongExternalCallHash();
        bytes32 orderId = OrderId.hashed(order);
        if (msg.sender != Transfer.toAddress(order.givePatchAuthoritySrc)) revert Unauthorized();
        if (addGiveAmount == 0) revert WrongArgument();
        GiveOrder storage give = giveOrders[orderId];
        if (give.status != Status.Created) revert IncorrectOrderStatus();
        _collect(address(give.giveTokenAddress), addGiveAmount, 0, permitEnvelope);

        uint256 percentFee = addGiveAmount * globalTransferFeeBps / BPS;
        give.percentFee += uint208(percentFee);
        givePatches[orderId] += addGiveAmount - percentFee;
        emit IncreasedGiveAmount(orderId, order.giveAmount + givePatches[orderId], give.percentFee);
    }

    /// @dev The sequence of checks is that of the real contract, and so is when the tuple is copied and read in whole.
    function _create(
        OrderCreation calldata given,
        uint64 nonce,
        bytes calldata affiliateFee,
        uint32 referralCode,
        bytes calldata permitEnvelope,
        bytes memory metadata
    ) private whenNotPaused returns (bytes32 orderId) {
        if (affiliateFee.length != 0 && affiliateFee.length != AFFILIATE_FEE_LENGTH) revert WrongAffiliateFeeLength();
        OrderCreation memory creation = given;
        _checkTakeSide(creation);
        _collect(creation.giveTokenAddress, creation.giveAmount, globalFixedNativeFee, permitEnvelope);

        uint256 percentFee = creation.giveAmount * globalTransferFeeBps / BPS;
        (address beneficiary, uint256 affiliateAmount) = _affiliate(affiliateFee);
        Order memory order = _order(creation, tx.origin, nonce, percentFee, affiliateAmount);
        orderId = OrderId.hash(order);
        GiveOrder storage give = giveOrders[orderId];
        if (give.status != Status.NotSet) revert IncorrectOrderStatus();
        require(creation.takeChainId <= type(uint48).max, "SafeCast: value doesn't fit in 48 bits");
        require(percentFee <= type(uint208).max, "SafeCast: value doesn't fit in 208 bits");
        give.status = Status.Created;
        give.giveTokenAddress = uint160(creation.giveTokenAddress);
        give.nativeFixFee = globalFixedNativeFee;
        give.takeChainId = uint48(creation.takeChainId);
        give.percentFee = uint208(percentFee);
        give.giveAmount = order.giveAmount;
        if (affiliateAmount > 0) {
            if (beneficiary == address(0)) revert ZeroAddress();
            give.affiliateBeneficiary = beneficiary;
            give.affiliateAmount = affiliateAmount;
        }
        if (legacyEvents) {
            emit CreatedOrder(order, orderId, affiliateFee, globalFixedNativeFee, percentFee, referralCode);
        } else {
            emit CreatedOrder(order, orderId, affiliateFee, globalFixedNativeFee, percentFee, referralCode, metadata);
        }
    }

    /// @dev Addresses of the take chain are as long as its DlnDestination's.
    function _checkTakeSide(OrderCreation memory creation) private view {
        uint256 length = dlnDestinationAddresses[creation.takeChainId].length;
        if (length == 0) revert NotSupportedDstChain();
        if (
            creation.takeTokenAddress.length != length || creation.receiverDst.length != length
                || creation.orderAuthorityAddressDst.length != length
                || (creation.allowedTakerDst.length != 0 && creation.allowedTakerDst.length != length)
                || (creation.allowedCancelBeneficiarySrc.length != 0
                    && creation.allowedCancelBeneficiarySrc.length != EVM_ADDRESS_LENGTH)
        ) revert WrongAddressLength();
    }

    /// @dev The maker is the signer of the transaction, whatever contract stands in between.
    function _order(OrderCreation memory creation, address maker, uint64 nonce, uint256 percentFee, uint256 affiliateAmount)
        private
        view
        returns (Order memory order)
    {
        order.makerOrderNonce = nonce;
        order.makerSrc = abi.encodePacked(maker);
        order.giveChainId = getChainId();
        order.giveTokenAddress = abi.encodePacked(creation.giveTokenAddress);
        order.giveAmount = creation.giveAmount - percentFee - affiliateAmount;
        order.takeChainId = creation.takeChainId;
        order.takeTokenAddress = creation.takeTokenAddress;
        order.takeAmount = creation.takeAmount;
        order.receiverDst = creation.receiverDst;
        order.givePatchAuthoritySrc = abi.encodePacked(creation.givePatchAuthoritySrc);
        order.orderAuthorityAddressDst = creation.orderAuthorityAddressDst;
        order.allowedTakerDst = creation.allowedTakerDst;
        order.allowedCancelBeneficiarySrc = creation.allowedCancelBeneficiarySrc;
        order.externalCall = creation.externalCall;
    }

    function _affiliate(bytes calldata fee) private pure returns (address beneficiary, uint256 amount) {
        if (fee.length == 0) return (address(0), 0);
        return (address(bytes20(fee[:20])), uint256(bytes32(fee[20:])));
    }

    /// @dev Takes the give amount and the fixed fee; for the native coin both are in msg.value.
    function _collect(address token, uint256 amount, uint256 fixFee, bytes calldata permitEnvelope) private {
        if (token == address(0)) {
            if (msg.value != amount + fixFee) revert MismatchNativeGiveAmount();
            return;
        }
        if (msg.value != fixFee) revert WrongFixedFee(msg.value, fixFee);
        if (!Permit.use(token, permitEnvelope)) revert PermitFailure();
        uint256 before = IERC20(token).balanceOf(address(this));
        Transfer.pull(token, msg.sender, address(this), amount);
        if (IERC20(token).balanceOf(address(this)) - before != amount) revert MismatchedTransferAmount();
    }

    // ---- the gate ----

    function claimUnlock(bytes32 orderId, address beneficiary) external onlyGate whenNotPaused {
        _claimUnlock(orderId, beneficiary, _checkedSender());
    }

    function claimBatchUnlock(bytes32[] calldata orderIds, address beneficiary) external onlyGate whenNotPaused {
        uint256 chainIdFrom = _checkedSender();
        for (uint256 i = 0; i < orderIds.length; ++i) _claimUnlock(orderIds[i], beneficiary, chainIdFrom);
    }

    function claimCancel(bytes32 orderId, address beneficiary) external onlyGate whenNotPaused {
        _claimCancel(orderId, beneficiary, _checkedSender());
    }

    function claimBatchCancel(bytes32[] calldata orderIds, address beneficiary) external onlyGate whenNotPaused {
        uint256 chainIdFrom = _checkedSender();
        for (uint256 i = 0; i < orderIds.length; ++i) _claimCancel(orderIds[i], beneficiary, chainIdFrom);
    }

    /// @dev A message counts only when the take chain's own DlnDestination sent it.
    function _checkedSender() private view returns (uint256 chainIdFrom) {
        chainIdFrom = IGateContext(msg.sender).submissionChainIdFrom();
        bytes memory sender = IGateContext(msg.sender).submissionNativeSender();
        if (keccak256(sender) != keccak256(dlnDestinationAddresses[chainIdFrom])) revert NativeSenderBadRole(sender, chainIdFrom);
    }

    function _claimUnlock(bytes32 orderId, address beneficiary, uint256 chainIdFrom) private {
        GiveOrder storage give = giveOrders[orderId];
        if (give.status != Status.Created) {
            unexpectedOrderStatusForClaim[orderId] = beneficiary;
            emit UnexpectedOrderStatusForClaim(orderId, give.status, beneficiary);
            return;
        }
        if (give.takeChainId != chainIdFrom) {
            emit CriticalMismatchChainId(orderId, beneficiary, give.takeChainId, chainIdFrom);
            return;
        }
        give.status = Status.ClaimedUnlock;
        address token = address(give.giveTokenAddress);
        uint256 amount = give.giveAmount + givePatches[orderId];
        collectedFee[address(0)] += give.nativeFixFee;
        collectedFee[token] += give.percentFee;
        if (give.affiliateAmount > 0) _payAffiliate(orderId, give.affiliateBeneficiary, give.affiliateAmount, token);
        Transfer.pay(token, beneficiary, amount);
        emit ClaimedUnlock(orderId, beneficiary, amount, token);
    }

    /// @dev Coin that its beneficiary cannot take with 2300 gas waits for him. A token whose transfer returns nothing
    /// fails here, in the reading of what it returns, as with the real contract of version 1.4.0.
    function _payAffiliate(bytes32 orderId, address beneficiary, uint256 amount, address token) private {
        bool ok = true;
        if (token == address(0)) {
            (ok,) = beneficiary.call{value: amount, gas: 2300}("");
        } else {
            try IERC20(token).transfer(beneficiary, amount) {} catch {
                unclaimedERC20AffiliateFees[token][beneficiary] += amount;
                emit UnclaimedAffiliateFees(orderId, token, amount);
            }
        }
        if (ok) {
            emit AffiliateFeePaid(orderId, beneficiary, amount, token);
            return;
        }
        unclaimedAffiliateETHFees[beneficiary] += amount;
        emit UnclaimedAffiliateFees(orderId, token, amount);
    }

    /// @notice Pays what the caller has not claimed of some tokens to a beneficiary of his choice.
    function withdrawUnclaimedAffiliateFees(address[] calldata tokens, address beneficiary) external whenNotPaused {
        for (uint256 i = 0; i < tokens.length; ++i) {
            address token = tokens[i];
            uint256 amount = token == address(0) ? unclaimedAffiliateETHFees[msg.sender] : unclaimedERC20AffiliateFees[token][msg.sender];
            if (amount == 0) continue;
            if (token == address(0)) unclaimedAffiliateETHFees[msg.sender] = 0;
            else unclaimedERC20AffiliateFees[token][msg.sender] = 0;
            Transfer.pay(token, beneficiary, amount);
            emit UnclaimedAffiliateFeePaid(beneficiary, amount, token);
        }
    }

    /// @dev A cancelled order costs its maker nothing: all fees go back too.
    function _claimCancel(bytes32 orderId, address beneficiary, uint256 chainIdFrom) private {
        GiveOrder storage give = giveOrders[orderId];
        if (give.status != Status.Created) {
            unexpectedOrderStatusForCancel[orderId] = beneficiary;
            emit UnexpectedOrderStatusForCancel(orderId, give.status, beneficiary);
            return;
        }
        if (give.takeChainId != chainIdFrom) revert CriticalMismatchTakeChainId(orderId, give.takeChainId, chainIdFrom);
        give.status = Status.ClaimedCancel;
        address token = address(give.giveTokenAddress);
        uint256 amount = give.giveAmount + give.percentFee + give.affiliateAmount + givePatches[orderId];
        Transfer.pay(token, beneficiary, amount);
        Transfer.pay(address(0), beneficiary, give.nativeFixFee);
        emit ClaimedOrderCancel(orderId, beneficiary, amount, token);
    }

    // ---- the owner ----

    function pause() external onlyOwner {
        paused = true;
    }

    function unpause() external onlyOwner {
        paused = false;
    }

    function setLegacyEvents(bool legacy) external onlyOwner {
        legacyEvents = legacy;
    }

    function setDlnDestinationAddress(uint256 chainIdTo, bytes calldata destination, uint8 engine) external onlyOwner {
        dlnDestinationAddresses[chainIdTo] = destination;
        chainEngines[chainIdTo] = engine;
        emit SetDlnDestinationAddress(chainIdTo, destination, engine);
    }

    function updateGlobalFee(uint88 fixedNativeFee, uint16 transferFeeBps) external onlyOwner {
        emit GlobalFixedNativeFeeUpdated(globalFixedNativeFee, fixedNativeFee);
        emit GlobalTransferFeeBpsUpdated(globalTransferFeeBps, transferFeeBps);
        globalFixedNativeFee = fixedNativeFee;
        globalTransferFeeBps = transferFeeBps;
    }
}
