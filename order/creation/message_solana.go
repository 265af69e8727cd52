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

// settingsProgram keeps the settings of Solana's gate (docs.debridge.com, deployed contracts).
var settingsProgram = solana.MustAccount("DeSetTwWhjZq6Pz9Kfdo1KoS5NqtsM6G8ERbX4SSCSft")

// MessageSettings is the account of the gate's settings.
func MessageSettings() chain.Address { return ofSettings("DEBRIDGE_STATE") }

// MessageSupport is the account of what the gate's settings say of a chain that messages go to.
func MessageSupport(to chain.ID) chain.Address {
	return ofSettings("CHAIN_SUPPORT_INFO", idBytes(to))
}

func ofSettings(name string, seeds ...[]byte) chain.Address {
	return solana.ProgramAddress(settingsProgram, append([][]byte{[]byte(name)}, seeds...)...)
}

// MessageFees are the gate's for a message from Solana: who gets them, and how many lamports. The program itself takes
// them from the sender.
type MessageFees struct {
	To     chain.Address
	Amount chain.Amount
}

// ErrNoMessages says that the gate sends no messages to a chain, or keeps its settings in another form.
var ErrNoMessages = errors.New("the gate's settings do not have the chain")

// ReadMessageFees reads the accounts of MessageSettings and MessageSupport (IDL of the settings program in
// @debridge-finance/solana-contracts-client 3.3.0). A chain's own fee goes before that for all.
func ReadMessageFees(settings, support []byte) (f MessageFees, err error) {
	const kind, oracle, timeslot, guard = 8, 20, 8, 24 // bytes
	r := &solana.Reader{Rest: settings}
	r.Take(kind)
	r.Uint8() // status
	r.Key()   // protocol's authority
	r.Key()   // who may pause
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

// SolanaMessage is one that dln_dst has the gate send from Solana to a chain for a sender, who pays for it: accounts in
// the sequence of the IDL of dln_dst, with seeds of @debridge-finance/solana-utils 4.5.2. Messages travel under the
// bridge of the wrapped coin.
type SolanaMessage struct {
	At      chain.Contracts
	Wrapped chain.Address
	Fees    chain.Address // see MessageFees
	Sender  chain.Address
}

// Cancel are the instructions by which an order's authority cancels it and sends the message about it.
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

// Unlock are the instructions that send an unlock. A batch names its orders by their accounts behind all others.
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

// idBytes are a chain's id as accounts are derived from it.
func idBytes(id chain.ID) []byte {
	word := chain.NewAmount(uint64(id)).Bytes32()
	return word[:]
}

func (m SolanaMessage) signer() solana.DraftAccount {
	return solana.DraftAccount{Address: m.Sender, Signer: true, Writable: true}
}

// program is the account that sends for dln_dst, and source that of the DlnSource which a message goes to.
func (m SolanaMessage) program() chain.Address {
	return solana.ProgramAddress(m.At.DlnDestination, []byte("AUTHORIZED_DST_NATIVE_SENDER"))
}

func (m SolanaMessage) source(to chain.ID) solana.DraftAccount {
	return read(solana.ProgramAddress(m.At.DlnDestination, []byte("AUTHORIZED_SRC_CONTRACT"), idBytes(to)))
}

func (m SolanaMessage) wallet(owner chain.Address) chain.Address {
	return solana.TokenAccount(owner, solana.TokenProgram, m.Wrapped)
}

// prepare stands before the sending of each message; a batch is about the system program.
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

// sending are the accounts of every message, which calls a contract with some data.
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
