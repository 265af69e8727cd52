package solana

import (
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
)

// Outbound is a message that the chain sent.
type Outbound struct {
	Submission [32]byte
	DebridgeID [32]byte
	To         uint64
	Receiver   []byte // the contract that it calls
	Nonce      uint64
	Flags      uint64
	Data       []byte // the call
	Sender     Key
}

// Inbound is a message that another chain's gate sent to Solana.
type Inbound struct {
	Submission  [32]byte
	From        uint64
	Cancel      bool // the orders were cancelled, not fulfilled
	Beneficiary Key
	Orders      [][32]byte
}

// unlockMessage calls DlnSource.claimUnlock, or claimBatchUnlock, for the beneficiary that the orders' taker chose.
func unlockMessage(beneficiary []byte, orders ...takeOrder) Outbound {
	if len(orders) == 1 {
		return callAbroad(orders[0].from, "claimUnlock(bytes32,address)", orders[0].id[:], beneficiary)
	}
	const listAt = 64
	words := [][]byte{{listAt}, beneficiary, {byte(len(orders))}}
	for _, o := range orders {
		words = append(words, o.id[:])
	}
	return callAbroad(orders[0].from, "claimBatchUnlock(bytes32[],address)", words...)
}

// cancelMessage calls DlnSource.claimCancel.
func cancelMessage(beneficiary []byte, o takeOrder) Outbound {
	return callAbroad(o.from, "claimCancel(bytes32,address)", o.id[:], beneficiary)
}

// callAbroad returns a message that calls a method of an EVM contract with ABI words as arguments.
func callAbroad(to uint64, method string, words ...[]byte) Outbound {
	const revertIfCallFails, passSender = 1 << 1, 1 << 2
	m := Outbound{To: to, Flags: revertIfCallFails | passSender, Sender: destinationSender}
	m.Data = crypto.Keccak256([]byte(method))[:4]
	for _, w := range words {
		m.Data = append(m.Data, word(new(big.Int).SetBytes(w))...)
	}
	return m
}

// Accounts of the bridge that carries messages, the wrapped coin's. Seeds: @debridge-finance/solana-utils 4.5.2; which
// of them a message has: @debridge-finance/solana-contracts-client 3.3.0.
var (
	bridgedMint    = Tokens[0]
	bridge         = pda(settingsProgram, "BRIDGE", bridgedMint.Mint[:])
	bridgeFee      = pda(settingsProgram, "DEFAULT_BRIDGE_FEE_INFO")
	noDiscount     = pda(settingsProgram, "NO_DISCOUNT")
	mintAuthority  = pda(debridgeProgram, "BRIDGE_MINTER", bridge[:])
	bridgeStaking  = bridgedMint.Wallet(mintAuthority)
	senderWallet   = bridgedMint.Wallet(destinationSender)
	sharedBySender = []Key{bridge, bridgeFee, noDiscount, bridgeStaking, mintAuthority, senderWallet}
)

func chainSupport(chain uint64) Key {
	return pda(settingsProgram, "CHAIN_SUPPORT_INFO", numberWord(chain))
}

// sendingCount is the number of accounts that sending a message takes.
const sendingCount = 18

// sending returns those accounts. The call is stored under its hash until it is executed.
func (m Outbound) sending() []Meta {
	storage := pda(debridgeProgram, "EXTERNAL_CALL_STORAGE", crypto.Keccak256(m.Data), destinationSender[:], numberWord(ID))
	return []Meta{
		writes(messageNonces), writes(destinationSender), writes(senderWallet), reads(systemProgram),
		writes(storage), writes(pda(debridgeProgram, "EXTERNAL_CALL_META", storage[:])),
		reads(noDiscount), reads(bridgeFee), writes(bridge), writes(bridgedMint.Mint), writes(bridgeStaking),
		reads(mintAuthority), reads(chainSupport(m.To)), reads(settingsProgram), reads(tokenProgram),
		writes(debridgeState), writes(debridgeFees), reads(debridgeProgram),
	}
}

// messageFee is what a message costs its sender, in lamports: as much as an order, as on other chains.
const messageFee = 15_000_000

// send assigns the message its nonce and IDs in a call of debridge, and announces it.
func (i *invocation) send(m Outbound, payer Key) Outbound {
	const asMessage, noAmount, noReferral, noFallback = uint8(1), uint64(0), uint8(0), false
	accounts := m.sending()
	accounts[len(accounts)-1] = signs(payer)
	i.call(anchorCall(debridgeProgram, "send", accounts, func(i *invocation) {
		i.call(transferLamports(payer, debridgeFees, messageFee))
		m.Nonce, _ = stateOf[uint64](i.account(messageNonces))
		m.number()
		i.update(messageNonces, nonceData(m.Nonce+1), m.Nonce+1)
		// The public description of the event ends with the submission; the other fields are the sandbox's own.
		i.emit("Transferred", asMessage, m.Submission, m.DebridgeID, noAmount, m.Receiver, m.Nonce, numberWord(m.To),
			noReferral, m.Sender)
	}, numberWord(m.To), m.Receiver, noAmount, noFallback, m.Data))
	return m
}

// number computes the IDs of the bridge and of the submission: debridge-contracts-v1, DeBridgeGate.
func (m *Outbound) number() {
	const prefix = 1
	m.DebridgeID = crypto.Keccak256Hash(numberWord(ID), bridgedMint.Mint[:])
	m.Submission = crypto.Keccak256Hash(
		numberWord(prefix), m.DebridgeID[:], numberWord(ID), numberWord(m.To), numberWord(0), m.Receiver,
		numberWord(m.Nonce), numberWord(0), numberWord(m.Flags),
		crypto.Keccak256(m.Receiver), crypto.Keccak256(m.Data), crypto.Keccak256(m.Sender[:]),
	)
}

// submissionSize is the size of a message's account: its kind, its origin, and who claimed it.
const submissionSize = 8 + 32 + 32

// submitted records that a message has arrived, and whether its calls have been made.
type submitted struct{ done bool }

// Claim accepts a message and executes its calls, in two transactions or together in one.
func (c *Chain) Claim(at time.Time, keeper Account, m Inbound, together bool) error {
	orders := make([]giveOrder, len(m.Orders))
	for i, id := range m.Orders {
		var known bool
		if orders[i], known = read[giveOrder](c, giveOrderState(id)); !known {
			return fmt.Errorf("order %x was not created here", id)
		}
	}
	instructions := []Instruction{m.receive(keeper.Key)}
	if !together {
		if err := c.submit(at, Way{}, keeper, instructions...); err != nil {
			return err
		}
		instructions = nil
	}
	if t := orders[0].token; !t.isNative() {
		instructions = append(instructions, t.openWallet(keeper.Key, m.Beneficiary))
	}
	return c.submit(at, Way{Versioned: true}, keeper, append(instructions, m.execute(keeper.Key, orders))...)
}

// receive returns the instruction claim, which accepts a message.
func (m Inbound) receive(keeper Key) Instruction {
	submission := submissionAccount(m.Submission)
	return anchorCall(debridgeProgram, "claim", []Meta{
		writes(submission), reads(submissionAuthority(submission)), signs(keeper), reads(debridgeState),
		reads(instructionsSysvar), reads(settingsProgram), reads(systemProgram),
	}, func(i *invocation) {
		data := anchor("account", "Submission", numberWord(m.From), keeper)
		i.create(keeper, submission, debridgeProgram, data, submitted{})
		i.emit("Bridged", m.Submission)
	}, numberWord(m.From), m.Submission)
}

// execute returns the instruction execute_external_call, which makes the calls of a message, one per order.
func (m Inbound) execute(keeper Key, orders []giveOrder) Instruction {
	submission := submissionAccount(m.Submission)
	accounts := []Meta{
		writes(submission), writes(submissionAuthority(submission)), signs(keeper),
		reads(debridgeState), reads(sourceProgram),
	}
	for _, g := range orders {
		accounts = append(accounts, m.claim(g).Accounts...)
	}
	return anchorCall(debridgeProgram, "execute_external_call", accounts, func(i *invocation) {
		arrived, isKnown := stateOf[submitted](i.account(submission))
		isWaiting := isKnown && !arrived.done
		i.check(isWaiting, 6020, "WrongSubmission", "The message has not arrived, or its calls have been made")
		for _, g := range orders {
			i.call(m.claim(g))
		}
		i.update(submission, i.account(submission).data, submitted{done: true})
		i.emit("ExternalCallExecuted", m.Submission, uint32(0))
	}, m.Submission)
}
