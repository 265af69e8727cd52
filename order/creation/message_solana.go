package creation

import (
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// settingsProgram stores the settings of Solana's gate (docs.debridge.com, deployed contracts).
var settingsProgram = solana.MustAccount("DeSetTwWhjZq6Pz9Kfdo1KoS5NqtsM6G8ERbX4SSCSft")

// MessageSettings returns the account with the gate's settings.
func MessageSettings() chain.Address { return ofSettings("DEBRIDGE_STATE") }

// MessageSupport returns the account with the gate's settings for a chain that messages go to.
func MessageSupport(to chain.ID) chain.Address {
	return ofSettings("CHAIN_SUPPORT_INFO", idBytes(to))
}

func ofSettings(name string, seeds ...[]byte) chain.Address {
	return solana.ProgramAddress(settingsProgram, append([][]byte{[]byte(name)}, seeds...)...)
}

// MessageFees is the gate's fee for a message from Solana: its recipient, and the amount in lamports. The program
// itself takes it from the sender.
type MessageFees struct {
	To     chain.Address
	Amount chain.Amount
}

// ErrNoMessages says that the gate sends no messages to a chain, or that its settings have an unknown format.
var ErrNoMessages = errors.New("the gate's settings do not have the chain")

// ReadMessageFees decodes the accounts of MessageSettings and MessageSupport (IDL of the settings program in
// @debridge-finance/solana-contracts-client 3.3.0). A chain's own fee takes precedence over the general one.
func ReadMessageFees(settings, support []byte) (f MessageFees, err error) {
	const kind, oracle, timeslot, guard = 8, 20, 8, 24 // bytes
	r := &solana.Reader{Rest: settings}
	r.Take(kind)
	r.Uint8() // status
	r.Key()   // protocol's authority
	r.Key()   // authority that may pause
	f.To = r.Key()
	for range 2 { // oracles, and those that must sign
		r.Take(uint64(r.Uint32()) * oracle)
	}
	r.Take(uint64(r.Uint8()) * timeslot)
	r.Take(guard)
	fee := r.Uint64()
	own := &solana.Reader{Rest: support, Err: r.Err}
	own.Take(kind)
	isSupported, hasFee := own.Uint8(), own.Uint8()
	if hasFee == 1 {
		fee = own.Uint64()
	}
	if own.Err != nil || isSupported != 1 {
		return MessageFees{}, ErrNoMessages
	}
	f.Amount = chain.NewAmount(fee)
	return f, nil
}

// SolanaMessage is a message that dln_dst sends through the gate from Solana to a chain, paid by the sender. Its
// accounts are in the order of dln_dst's IDL, with the seeds of @debridge-finance/solana-utils 4.5.2. Messages use the
// bridge of the wrapped coin.
type SolanaMessage struct {
	At      chain.Contracts
	Wrapped chain.Address
	Fees    chain.Address // MessageFees.To
	Sender  chain.Address
}

// Cancel returns the instructions with which an order's authority cancels it and sends the message about that.
func (m SolanaMessage) Cancel(id order.ID, t order.Terms) []solana.DraftInstruction {
	beneficiary, taken, source := Beneficiary(t), write(onchain.TakeOrderAccount(m.At, id)), m.source(t.Give.Chain)
	call := words.Call("claimCancel(bytes32,address)", id, beneficiary)
	return []solana.DraftInstruction{{
		Program: m.At.DlnDestination, Data: onchain.SolanaCancellation(t),
		Accounts: []solana.DraftAccount{taken, source, m.signer(), read(solana.SystemProgram)},
	}, m.prepare(taken.Address, t.Give.Chain), {
		Program: m.At.DlnDestination, Data: onchain.SolanaCancelMessage(id, beneficiary),
		Accounts: append([]solana.DraftAccount{taken, m.signer(), source}, m.sending(t.Give.Chain, call)...),
	}}
}

// Unlock returns the instructions that send an unlock. A batch lists its orders' accounts after all others.
func (m SolanaMessage) Unlock(u Unlock) []solana.DraftInstruction {
	to, states := u.Terms[0].Give.Chain, []solana.DraftAccount(nil)
	for _, id := range u.IDs {
		states = append(states, write(onchain.TakeOrderAccount(m.At, id)))
	}
	about, first, last := states[0].Address, states, []solana.DraftAccount(nil)
	call := words.Call("claimUnlock(bytes32,address)", u.IDs[0], u.Beneficiary)
	if len(states) > 1 {
		about, first, last = solana.SystemProgram, nil, states
		call = words.Call("claimBatchUnlock(bytes32[],address)", u.list(), u.Beneficiary)
	}
	return []solana.DraftInstruction{m.prepare(about, to), {
		Program: m.At.DlnDestination, Data: onchain.SolanaUnlockMessage(u.Beneficiary, u.IDs...),
		Accounts: slices.Concat(first, []solana.DraftAccount{m.signer(), m.source(to)}, m.sending(to, call), last),
	}}
}

func read(a chain.Address) solana.DraftAccount { return solana.DraftAccount{Address: a} }
func write(a chain.Address) solana.DraftAccount {
	return solana.DraftAccount{Address: a, Writable: true}
}

func sign(a chain.Address) solana.DraftAccount {
	return solana.DraftAccount{Address: a, Signer: true, Writable: true}
}

// idBytes returns a chain's ID as used in seeds of accounts.
func idBytes(id chain.ID) []byte {
	word := chain.NewAmount(uint64(id)).Bytes32()
	return word[:]
}

func (m SolanaMessage) signer() solana.DraftAccount { return sign(m.Sender) }

// program returns the account that sends on behalf of dln_dst; source returns that of a message's target DlnSource.
func (m SolanaMessage) program() chain.Address {
	return solana.ProgramAddress(m.At.DlnDestination, []byte("AUTHORIZED_DST_NATIVE_SENDER"))
}

func (m SolanaMessage) source(to chain.ID) solana.DraftAccount {
	return read(solana.ProgramAddress(m.At.DlnDestination, []byte("AUTHORIZED_SRC_CONTRACT"), idBytes(to)))
}

func (m SolanaMessage) wallet(owner chain.Address) chain.Address {
	return solana.TokenAccount(owner, solana.TokenProgram, m.Wrapped)
}

// prepare returns the instruction before each message; for a batch, about is the system program.
func (m SolanaMessage) prepare(about chain.Address, to chain.ID) solana.DraftInstruction {
	return solana.DraftInstruction{
		Program: m.At.DlnDestination, Data: onchain.SolanaPreparation(),
		Accounts: []solana.DraftAccount{
			read(about), write(m.program()), write(m.wallet(m.program())), m.signer(), write(m.wallet(m.Sender)),
			read(MessageSupport(to)), read(MessageSettings()), read(solana.SystemProgram), read(solana.TokenProgram),
			read(solana.InstructionsSysvar),
		},
	}
}

// sending returns the accounts of every message; call is the data of the call that the message makes.
func (m SolanaMessage) sending(to chain.ID, call []byte) []solana.DraftAccount {
	gate := func(name string, seeds ...[]byte) chain.Address {
		return solana.ProgramAddress(m.At.Gate, append([][]byte{[]byte(name)}, seeds...)...)
	}
	bridge, kept := ofSettings("BRIDGE", m.Wrapped.Bytes()), onchain.CallHash(call)
	storage := gate("EXTERNAL_CALL_STORAGE", kept[:], m.program().Bytes(), idBytes(chain.Solana))
	minter := gate("BRIDGE_MINTER", bridge.Bytes())
	return []solana.DraftAccount{
		write(gate("NONCE")), write(m.program()), write(m.wallet(m.program())), read(solana.SystemProgram),
		write(storage), write(gate("EXTERNAL_CALL_META", storage.Bytes())),
		read(ofSettings("NO_DISCOUNT")), read(ofSettings("DEFAULT_BRIDGE_FEE_INFO")),
		write(bridge), write(m.Wrapped), write(m.wallet(minter)), read(minter),
		read(MessageSupport(to)), read(settingsProgram), read(solana.TokenProgram), write(MessageSettings()), write(m.Fees),
		read(m.At.Gate),
	}
}
