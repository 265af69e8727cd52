// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice Balances and allowances, with the words of OpenZeppelin's ERC-20, version 4, for what it refuses; how a token
/// describes itself is left to its kind.
abstract contract Ledger {
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function approve(address spender, uint256 amount) external returns (bool) {
        _approve(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return _answer();
    }

    /// @dev An unlimited allowance is not used up.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= amount, "ERC20: insufficient allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        return true;
    }

    function _answer() internal pure virtual returns (bool) {
        return true;
    }

    function _approve(address owner, address spender, uint256 amount) internal {
        allowance[owner][spender] = amount;
        emit Approval(owner, spender, amount);
    }

    function _move(address from, address to, uint256 amount) internal virtual {
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 balance = balanceOf[from];
        require(balance >= amount, "ERC20: transfer amount exceeds balance");
        unchecked {
            balanceOf[from] = balance - amount;
            balanceOf[to] += amount;
        }
        emit Transfer(from, to, amount);
    }

    function _mint(address to, uint256 amount) internal {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }
}

/// @notice Test tokens: anybody may mint.
abstract contract Faucet is Ledger {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice An ordinary ERC-20 whose holders may allow by signature (EIP-2612); genesis writes its name, symbol
/// and decimals.
contract Token is Faucet {
    bytes32 private constant DOMAIN = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PERMIT =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    string public name;
    string public symbol;
    uint8 public decimals;
    /// @notice Of the permit's domain; empty stands for "1".
    string public version;
    mapping(address => uint256) public nonces;

    error PermitExpired(uint256 deadline);
    error PermitNotSigned(address owner);

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        if (deadline < block.timestamp) revert PermitExpired(deadline);
        bytes32 said = keccak256(abi.encode(PERMIT, owner, spender, value, nonces[owner]++, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), said)), v, r, s);
        if (signer == address(0) || signer != owner) revert PermitNotSigned(owner);
        _approve(owner, spender, value);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes memory v = bytes(version).length == 0 ? bytes("1") : bytes(version);
        return keccak256(abi.encode(DOMAIN, keccak256(bytes(name)), keccak256(v), block.chainid, address(this)));
    }
}

/// @notice A token that keeps a hundredth of every transfer.
contract TaxedToken is Faucet {
    string public name;
    string public symbol;
    uint8 public decimals;

    function _move(address from, address to, uint256 amount) internal override {
        super._move(from, to, amount);
        uint256 tax = amount / 100;
        balanceOf[to] -= tax;
        totalSupply -= tax;
        emit Transfer(to, address(0), tax);
    }
}

/// @notice A token of Tether's kind: its functions return nothing, an allowance cannot be changed but to and from
/// nothing, and even an unlimited one is used up.
contract SilentToken {
    string public name;
    string public symbol;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error AllowanceNotReset(address spender, uint256 allowance);

    function approve(address spender, uint256 amount) external {
        uint256 allowed = allowance[msg.sender][spender];
        if (amount != 0 && allowed != 0) revert AllowanceNotReset(spender, allowed);
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        require(allowance[from][msg.sender] >= amount);
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        require(balanceOf[from] >= amount);
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}

/// @notice A token from before strings were customary: name and symbol are bytes32, as Maker's is.
contract BytesToken is Faucet {
    bytes32 public name;
    bytes32 public symbol;
    uint8 public decimals;
}

/// @notice A token that does not tell its decimals.
contract MuteToken is Faucet {
    string public name;
    string public symbol;

    error DecimalsUnknown();

    function decimals() external pure returns (uint8) {
        revert DecimalsUnknown();
    }
}

/// @notice The wrapped native coin; genesis writes its name, symbol and decimals, which are the coin's.
contract WrappedCoin is Ledger {
    string public name;
    string public symbol;
    uint8 public decimals;

    event Deposit(address indexed account, uint256 amount);
    event Withdrawal(address indexed account, uint256 amount);

    error CoinNotAccepted();

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        totalSupply += msg.value;
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        uint256 balance = balanceOf[msg.sender];
        require(balance >= amount, "ERC20: burn amount exceeds balance");
        balanceOf[msg.sender] = balance - amount;
        totalSupply -= amount;
        emit Withdrawal(msg.sender, amount);
        (bool ok,) = msg.sender.call{value: amount}("");
        if (!ok) revert CoinNotAccepted();
    }
}
