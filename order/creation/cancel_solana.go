package creation

import (
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// settingsProgram keeps the settings of Solana's gate (docs.debridge.com, deployed contracts).
var settingsProgram = solana.MustAccount("DeSetTwWhjZq6Pz9Kfdo1KoS5NqtsM6G8ERbX4SSCSft")

// MessageSettings is the account of the gate's settings.
func MessageSettings() chain.Address { return ofSettings("DEBRIDGE_STATE") }

func ofSettings(name string, seeds ...[]byte) chain.Address {
	return solana.ProgramAddress(settingsProgram, append([][]byte{[]byte(name)}, seeds...)...)
}

// FeeBeneficiary reads who gets the fees of messages from the settings (IDL of the settings program in
// @debridge-finance/solana-contracts-client 3.3.0); absent where they have another form.
func FeeBeneficiary(settings []byte) chain.Address {
	r := &solana.Reader{Rest: settings}
	r.Take(8) // the kind of account
	r.Uint8() // status
	r.Key()   // protocol's authority
	r.Key()   // who may pause
	return r.Key()
}

// CancelOnSolana are the instructions by which an order's authority cancels it on Solana and sends the message about
// it, for which the authority pays the gate's fee: the order of the IDL of dln_dst, with seeds of
// @debridge-finance/solana-utils 4.5.2. Messages travel under the bridge of the wrapped coin; fees is FeeBeneficiary.
func CancelOnSolana(at chain.Contracts, wrapped, fees chain.Address, id order.ID, t order.Terms) []solana.DraftInstruction {
	m := message{at, wrapped, fees, chain.NewAmount(uint64(t.Give.Chain)).Bytes32()}
	own := func(seeds ...[]byte) chain.Address { return solana.ProgramAddress(at.DlnDestination, seeds...) }
	beneficiary := Beneficiary(t)
	taken, authority := write(onchain.TakeOrderAccount(at, id)), write(t.Authorities.Order)
	authority.Signer = true
	source := read(own([]byte("AUTHORIZED_SRC_CONTRACT"), m.to[:]))
	refund, selector := chain.AmountFromBytes(beneficiary.Bytes()).Bytes32(), onchain.CallHash([]byte("claimCancel(bytes32,address)"))
	call := slices.Concat(selector[:selectorLength], id[:], refund[:])
	return []solana.DraftInstruction{{
		Program: at.DlnDestination, Data: onchain.SolanaCancellation(t),
		Accounts: []solana.DraftAccount{taken, source, authority, read(solana.SystemProgram)},
	}, {
		Program: at.DlnDestination, Data: onchain.SolanaPreparation(),
		Accounts: []solana.DraftAccount{
			read(taken.Address), write(m.sender()), write(m.wallet(m.sender())), authority, write(m.wallet(authority.Address)),
			read(m.support()), read(MessageSettings()), read(solana.SystemProgram), read(solana.TokenProgram),
			read(solana.InstructionsSysvar),
		},
	}, {
		Program: at.DlnDestination, Data: onchain.SolanaCancelMessage(id, beneficiary),
		Accounts: append([]solana.DraftAccount{taken, authority, source}, m.sending(call)...),
	}}
}

func read(a chain.Address) solana.DraftAccount { return solana.DraftAccount{Address: a} }
func write(a chain.Address) solana.DraftAccount {
	return solana.DraftAccount{Address: a, Writable: true}
}

// message is one that dln_dst has the gate send to a chain, whose id is a word.
type message struct {
	at            chain.Contracts
	wrapped, fees chain.Address
	to            [32]byte
}

func (m message) sender() chain.Address {
	return solana.ProgramAddress(m.at.DlnDestination, []byte("AUTHORIZED_DST_NATIVE_SENDER"))
}

func (m message) wallet(owner chain.Address) chain.Address {
	return solana.TokenAccount(owner, solana.TokenProgram, m.wrapped)
}

func (m message) support() chain.Address { return ofSettings("CHAIN_SUPPORT_INFO", m.to[:]) }

// sending are the accounts of every message, which calls a contract with some data.
func (m message) sending(call []byte) []solana.DraftAccount {
	gate := func(name string, seeds ...[]byte) chain.Address {
		return solana.ProgramAddress(m.at.Gate, append([][]byte{[]byte(name)}, seeds...)...)
	}
	home := chain.NewAmount(uint64(chain.Solana)).Bytes32()
	bridge, kept := ofSettings("BRIDGE", m.wrapped.Bytes()), onchain.CallHash(call)
	storage := gate("EXTERNAL_CALL_STORAGE", kept[:], m.sender().Bytes(), home[:])
	minter := gate("BRIDGE_MINTER", bridge.Bytes())
	return []solana.DraftAccount{
		write(gate("NONCE")), write(m.sender()), write(m.wallet(m.sender())), read(solana.SystemProgram),
		write(storage), write(gate("EXTERNAL_CALL_META", storage.Bytes())),
		read(ofSettings("NO_DISCOUNT")), read(ofSettings("DEFAULT_BRIDGE_FEE_INFO")),
		write(bridge), write(m.wrapped), write(m.wallet(minter)), read(minter),
		read(m.support()), read(settingsProgram), read(solana.TokenProgram), write(MessageSettings()), write(m.fees),
		read(m.at.Gate),
	}
}
