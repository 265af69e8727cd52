package solana

import (
	"encoding/binary"
	"math/big"

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

// Inbound is a message that another chain's gate sent here.
type Inbound struct {
	Submission  [32]byte
	From        uint64
	Cancel      bool // word of a cancel, not of fulfilments
	Beneficiary Key
	Orders      [][32]byte
}

// Message flags: revert when the call fails, and hand the sender to the receiver.
const messageFlags = 1<<1 | 1<<2

// unlockMessage calls DlnSource.claimUnlock, or claimBatchUnlock, for the orders' taker.
func unlockMessage(beneficiary []byte, orders ...takeOrder) Outbound {
	m := Outbound{To: orders[0].from, Flags: messageFlags, Sender: destinationSender}
	if len(orders) == 1 {
		m.Data = append(crypto.Keccak256([]byte("claimUnlock(bytes32,address)"))[:4], orders[0].id[:]...)
		m.Data = append(m.Data, wordOf(beneficiary)...)
		return m
	}
	const listAt = 64
	m.Data = append(crypto.Keccak256([]byte("claimBatchUnlock(bytes32[],address)"))[:4], wordOf([]byte{listAt})...)
	m.Data = append(m.Data, wordOf(beneficiary)...)
	m.Data = append(m.Data, wordOf([]byte{byte(len(orders))})...)
	for _, o := range orders {
		m.Data = append(m.Data, o.id[:]...)
	}
	return m
}

// cancelMessage calls DlnSource.claimCancel.
func cancelMessage(beneficiary []byte, o takeOrder) Outbound {
	data := append(crypto.Keccak256([]byte("claimCancel(bytes32,address)"))[:4], o.id[:]...)
	return Outbound{To: o.from, Flags: messageFlags, Sender: destinationSender, Data: append(data, wordOf(beneficiary)...)}
}

// wordOf is a value in a word of the EVM's ABI.
func wordOf(value []byte) []byte { return new(big.Int).SetBytes(value).FillBytes(make([]byte, 32)) }

// callStorage is where a message's call is kept until it is carried out.
func callStorage(sender Key) Key {
	return pda(debridgeProgram, []byte("EXTERNAL_CALL_STORAGE"), sender[:])
}

// Accounts of the bridge under which messages travel, that of the wrapped coin. Their seeds are the
// sandbox's own.
var (
	bridgedMint    = Tokens[0]
	bridge         = pda(debridgeProgram, []byte("BRIDGE"), bridgedMint.Mint[:])
	bridgeFee      = pda(settingsProgram, []byte("BRIDGE_FEE_INFO"), bridge[:])
	bridgeStaking  = bridgedMint.Wallet(bridge)
	mintAuthority  = pda(debridgeProgram, []byte("MINT_AUTHORITY"))
	senderWallet   = bridgedMint.Wallet(destinationSender)
	sharedBySender = []Key{bridge, bridgeFee, bridgeStaking, mintAuthority, senderWallet}
)

// sending are the eighteen accounts of every message.
func sending(sender Key, chain uint64) []Meta {
	storage := callStorage(sender)
	return []Meta{
		writes(messageNonces), reads(destinationSender), reads(senderWallet), reads(systemProgram),
		writes(storage), writes(pda(debridgeProgram, []byte("EXTERNAL_CALL_META"), storage[:])),
		reads(pda(settingsProgram, []byte("DISCOUNT_INFO"), sender[:])), reads(bridgeFee), writes(bridge),
		reads(bridgedMint.Mint), writes(bridgeStaking), reads(mintAuthority),
		reads(pda(settingsProgram, []byte("CHAIN_SUPPORT_INFO"), chainSeed(chain))), reads(settingsProgram),
		reads(tokenProgram), reads(debridgeState), writes(debridgeFees), reads(debridgeProgram),
	}
}

// messageFee is what a message costs its sender, in lamports.
const messageFee = 30_000_000

// send gives the message its number and its id, by a call of debridge, and announces it.
func (i *invocation) send(m Outbound, payer Key) (Outbound, error) {
	accounts := sending(payer, m.To)
	err := i.call(Instruction{
		Program:  debridgeProgram,
		Accounts: append(accounts[:len(accounts)-1:len(accounts)-1], signs(payer)),
		Data:     anchor("global", "send").raw(chainSeed(m.To)).bytes(m.Receiver).u64(0).bool(false).bytes(m.Data),
		run: func(i *invocation) error {
			i.log("Instruction: Send")
			if err := i.call(transferLamports(payer, debridgeFees, messageFee)); err != nil {
				return err
			}
			m.Nonce, _ = stateOf[uint64](i.account(messageNonces))
			m.number()
			i.update(messageNonces, nonceData(m.Nonce+1), m.Nonce+1)
			i.emit(m.transferred())
			return nil
		},
	})
	return m, err
}

// number computes the ids of the bridge and of the submission: debridge-contracts-v1, DeBridgeGate.
func (m *Outbound) number() {
	const prefix = 1
	word := func(n uint64) []byte { return wordOf(binary.BigEndian.AppendUint64(nil, n)) }
	m.DebridgeID = crypto.Keccak256Hash(word(ID), bridgedMint.Mint[:])
	m.Submission = crypto.Keccak256Hash(
		word(prefix), m.DebridgeID[:], word(ID), word(m.To), word(0), m.Receiver, word(m.Nonce),
		word(0), word(m.Flags), crypto.Keccak256(m.Receiver), crypto.Keccak256(m.Data), crypto.Keccak256(m.Sender[:]),
	)
}

// transferred is the event of a sent message. The public description ends with the submission.
func (m *Outbound) transferred() borsh {
	const asMessage = 1
	event := anchor("event", "Transferred").u8(asMessage).raw(m.Submission[:]).raw(m.DebridgeID[:])
	return event.u64(0).bytes(m.Receiver).u64(m.Nonce).raw(chainSeed(m.To)).u8(0).key(m.Sender)
}

// submitted says that a message has arrived, and whether its calls have been made.
type submitted struct{ done bool }

// receive is the instruction claim: it lets a message in.
func (m Inbound) receive(keeper Key) Instruction {
	submission := submissionAccount(m.Submission)
	return Instruction{
		Program: debridgeProgram,
		Accounts: []Meta{
			writes(submission), reads(submissionAuthority(submission)), signs(keeper), reads(debridgeState),
			reads(instructionsSysvar), reads(settingsProgram), reads(systemProgram),
		},
		Data: anchor("global", "claim").raw(chainSeed(m.From)).raw(m.Submission[:]),
		run: func(i *invocation) error {
			i.log("Instruction: Claim")
			data := anchor("account", "Submission").raw(chainSeed(m.From)).key(keeper)
			if err := i.create(keeper, submission, debridgeProgram, data, submitted{}); err != nil {
				return err
			}
			i.emit(anchor("event", "Bridged").raw(m.Submission[:]))
			return nil
		},
	}
}

// execute is the instruction execute_external_call: it makes the calls that a message carries, one for
// each order.
func (m Inbound) execute(keeper Key, orders []giveOrder) Instruction {
	submission := submissionAccount(m.Submission)
	in := Instruction{
		Program: debridgeProgram,
		Accounts: []Meta{
			writes(submission), writes(submissionAuthority(submission)), signs(keeper), reads(debridgeState), reads(sourceProgram),
		},
		Data: anchor("global", "execute_external_call").raw(m.Submission[:]),
	}
	for _, g := range orders {
		in.Accounts = append(in.Accounts, m.claim(g).Accounts...)
	}
	in.run = func(i *invocation) error {
		i.log("Instruction: ExecuteExternalCall")
		arrived, known := stateOf[submitted](i.account(submission))
		if !known || arrived.done {
			return i.refuse(6020, "WrongSubmission", "The message has not arrived, or its calls have been made")
		}
		for _, g := range orders {
			if err := i.call(m.claim(g)); err != nil {
				return err
			}
		}
		content := i.account(submission)
		i.update(submission, content.data, submitted{done: true})
		i.emit(anchor("event", "ExternalCallExecuted").raw(m.Submission[:]).u32(0))
		return nil
	}
	return in
}
