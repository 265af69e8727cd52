// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice What a message to Solana carries: instructions for debridge to execute there. An instruction
/// names the accounts that depend on it as seeds; in the list of accounts stand placeholders for them.
/// Integers are little-endian, counts and lengths of 64 bits.
library SolanaMessage {
    bytes8 internal constant CLAIM_UNLOCK = 0x5951b44f8e9042fb;
    bytes8 internal constant CLAIM_ORDER_CANCEL = 0x13617eeecc8d454c;

    bytes32 private constant SYSTEM = 0;
    bytes32 private constant TOKEN = 0x06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9;
    bytes32 private constant ASSOCIATED_TOKEN = 0x8c97258f4e2489f1bb3d1029148e0d830b5a1399daff1084048e7bd8dbe9f859;
    bytes32 private constant INSTRUCTIONS = 0x06a7d517187bd16635dad40455fdc2c0c124c68f215675a5dbbacb5f08000000;

    /// @dev Placeholders: for whoever executes the message, for the submission, and for derived accounts.
    bytes32 private constant EXECUTOR = 0x1968562fef0aab1b1d8f99d44306595cd4ba41d7cc899c007a774d23ad702ff6;
    bytes32 private constant SUBMISSION = 0x62584959deb8a728a91cebdc187b545d920479265052145f31fb80c73fac5aea;
    bytes32 private constant WALLET = 0x9f3d96f657370bf1dbb3313efba51ea7a08296ac33d77b949e1b62d538db37f2;
    bytes32 private constant STATE = 0x980176896e24d940ee6f0a89d0020e1cd53aa3d17be42270bb39223f6ed75c63;
    bytes32 private constant FEE_LEDGER = 0x8c6ecc336484fb8f32871d3c1656d832cc86eb2465048fea348cde76ae572331;
    bytes32 private constant FEE_LEDGER_WALLET = 0x4026e8772b7640ce6fb9fd348473f43df344e3dcd89a43c93db81ee6efe08e67;
    bytes32 private constant ORDER_STATE = 0x107fe6a33e564217c5773c604a479581564c5e4c12465d65c9374ee2190f5ee4;
    bytes32 private constant ORDER_WALLET = 0x1507b8f891ebbfc57577d4d2e6a2b52dc0a744eba2be503e686d0d07d19e6ec7;
    bytes32 private constant SENDER = 0xefe9c4afa6dc798a27b0c18e3cf0b76ad3fe8cc93764f6cb3112f9397f2cd1c6;

    /// @dev How an instruction uses an account: whether it signs, whether it is written.
    bytes2 private constant READ = 0x0000;
    bytes2 private constant WRITTEN = 0x0001;
    bytes2 private constant SIGNS_AND_WRITTEN = 0x0101;

    /// @dev The executor may spend the rent of one token account: 2 039 280 lamports.
    bytes private constant RENT = hex"01f01d1f0000000000";
    bytes private constant NO_EXPENSE = hex"00";

    /// @notice Opens the beneficiary's account for the token, unless it is there.
    function initWallet(bytes32 beneficiary, bytes32 token, uint64 reward) internal pure returns (bytes memory) {
        bytes memory accounts = bytes.concat(
            bytes.concat(EXECUTOR, SIGNS_AND_WRITTEN, WALLET, WRITTEN, beneficiary, READ),
            bytes.concat(token, READ, SYSTEM, READ, TOKEN, READ)
        );
        return bytes.concat(
            _head(reward, RENT, 1),
            _wallet(1, beneficiary, token),
            hex"00",
            bytes.concat(ASSOCIATED_TOKEN, _number(6), accounts),
            bytes.concat(_number(1), hex"01")
        );
    }

    /// @notice Calls claim_unlock or claim_order_cancel of source for one order.
    function claim(
        bytes8 instruction, bytes32 source, uint256 takeChainId, bytes32 beneficiary, bytes32 token, bytes32 orderId, uint64 reward
    ) internal pure returns (bytes memory) {
        bytes memory derived = bytes.concat(
            bytes.concat(_derived(2, source, 1), _seed("STATE"), hex"00"),
            bytes.concat(_derived(3, source, 1), _seed("FEE LEDGER"), hex"00"),
            bytes.concat(_derived(4, source, 2), _seed("FEE_LEDGER_WALLET"), _seed(bytes.concat(token)), hex"00"),
            bytes.concat(_derived(6, source, 2), _seed("GIVE_ORDER_STATE"), _seed(bytes.concat(orderId)), hex"00"),
            _wallet(7, beneficiary, token),
            bytes.concat(_derived(9, source, 2), _seed("GIVE_ORDER_WALLET"), _seed(bytes.concat(orderId)), hex"00"),
            bytes.concat(_derived(11, source, 2), _seed("AUTHORIZED_NATIVE_SENDER"), _seed(abi.encode(takeChainId)), hex"00")
        );
        bytes memory accounts = bytes.concat(
            bytes.concat(SUBMISSION, READ, EXECUTOR, SIGNS_AND_WRITTEN, STATE, WRITTEN),
            bytes.concat(FEE_LEDGER, WRITTEN, FEE_LEDGER_WALLET, WRITTEN, INSTRUCTIONS, READ),
            bytes.concat(ORDER_STATE, WRITTEN, WALLET, WRITTEN, beneficiary, WRITTEN),
            bytes.concat(ORDER_WALLET, WRITTEN, token, READ, SENDER, READ, TOKEN, READ)
        );
        return bytes.concat(
            _head(reward, NO_EXPENSE, 7),
            derived,
            hex"00",
            bytes.concat(source, _number(13), accounts),
            bytes.concat(_number(40), instruction, orderId)
        );
    }

    /// @dev The reward for executing it, what may be spent, and that it must succeed.
    function _head(uint64 reward, bytes memory expense, uint64 derivedCount) private pure returns (bytes memory) {
        return bytes.concat(_number(reward), expense, hex"0000000001", _number(derivedCount));
    }

    /// @dev An associated token account takes the place of the account at index.
    function _wallet(uint64 index, bytes32 owner, bytes32 token) private pure returns (bytes memory) {
        return bytes.concat(
            _derived(index, ASSOCIATED_TOKEN, 3),
            _seed(bytes.concat(owner)),
            _seed(bytes.concat(TOKEN)),
            _seed(bytes.concat(token)),
            hex"00"
        );
    }

    function _derived(uint64 index, bytes32 program, uint64 seedCount) private pure returns (bytes memory) {
        return bytes.concat(_number(index), hex"01000000", program, _number(seedCount));
    }

    function _seed(bytes memory seed) private pure returns (bytes memory) {
        return bytes.concat(hex"00000000", _number(uint64(seed.length)), seed);
    }

    function _number(uint64 value) private pure returns (bytes8 reversed) {
        for (uint256 i = 0; i < 8; ++i) {
            reversed = (reversed << 8) | bytes8(uint64(uint8(value)));
            value >>= 8;
        }
    }
}
