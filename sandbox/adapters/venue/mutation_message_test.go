package venue_test

import (
	"bytes"
	"encoding/binary"
	"slices"

	"crossgate/chain"
	messages "crossgate/chain/solana"
	"crossgate/sandbox/solana"
)

// messageChange is a way in which a hostile venue might alter a message and the call of its program.
type messageChange struct {
	name string
	make func(m *solanaMutant, d *messages.Draft, swap *messages.DraftInstruction)
}

var messageChanges = []messageChange{
	{"the recipient's accounts exchanged for the thief's, and appended", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		for i, account := range slices.Clone(swap.Accounts) {
			if theirs, his := m.thiefsFor(account.Address); his {
				swap.Accounts[i].Address = theirs
				swap.Accounts = append(swap.Accounts, account)
			}
		}
	}},
	{"one of them exchanged", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		at := m.random.IntN(len(swap.Accounts))
		if theirs, his := m.thiefsFor(swap.Accounts[at].Address); his {
			swap.Accounts[at].Address = theirs
		}
	}},
	{"the thief's account in a place", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		of := solana.Tokens[m.random.IntN(len(solana.Tokens))].Wallet(solana.Key(m.thief.Bytes()))
		swap.Accounts[m.random.IntN(len(swap.Accounts))] = messages.DraftAccount{Address: chain.NewAddress(of[:]), Writable: true}
	}},
	{"two places exchanged", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		a, b := m.random.IntN(len(swap.Accounts)), m.random.IntN(len(swap.Accounts))
		swap.Accounts[a], swap.Accounts[b] = swap.Accounts[b], swap.Accounts[a]
	}},
	{"an account appended", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		swap.Accounts = append(swap.Accounts, messages.DraftAccount{Address: m.thief, Writable: true})
	}},
	{"a lower minimum", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		quoted, _ := m.quote.AmountOut.Uint64()
		swap.Data = bytes.ReplaceAll(swap.Data, binary.LittleEndian.AppendUint64(nil, quoted), binary.LittleEndian.AppendUint64(nil, m.random.Uint64N(quoted)))
	}},
	{"more slippage", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		quoted, _ := m.quote.AmountOut.Uint64()
		said := binary.LittleEndian.AppendUint64(nil, quoted)
		if before, behind, found := bytes.Cut(swap.Data, said); found {
			slippage := binary.LittleEndian.AppendUint16(nil, uint16(51+m.random.IntN(12_000)))
			swap.Data = slices.Concat(before, said, slippage, behind[2:])
		}
	}},
	{"no minimum, and good terms behind", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		quoted, _ := m.quote.AmountOut.Uint64()
		said := binary.LittleEndian.AppendUint64(nil, quoted)
		if before, behind, found := bytes.Cut(swap.Data, said); found {
			none := binary.LittleEndian.AppendUint64(nil, 1)
			swap.Data = slices.Concat(before, none, behind, said, behind)
		}
	}},
	{"another input", func(m *solanaMutant, _ *messages.Draft, swap *messages.DraftInstruction) {
		in, _ := m.swap.In.Amount.Uint64()
		swap.Data = bytes.ReplaceAll(swap.Data, binary.LittleEndian.AppendUint64(nil, in), binary.LittleEndian.AppendUint64(nil, m.random.Uint64N(3*in)))
	}},
	{"another fee payer", func(m *solanaMutant, d *messages.Draft, _ *messages.DraftInstruction) {
		d.FeePayer = m.thief
		for i := range d.Instructions {
			for n := range d.Instructions[i].Accounts {
				d.Instructions[i].Accounts[n].Signer = false
			}
		}
	}},
	{"a tip", func(m *solanaMutant, d *messages.Draft, _ *messages.DraftInstruction) {
		jito := messages.MustAccount("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5")
		d.Instructions = append(d.Instructions, m.lamports([]chain.Address{jito, m.thief}[m.random.IntN(2)]))
	}},
	{"an heir of closed accounts, and owner of new ones", func(m *solanaMutant, d *messages.Draft, swap *messages.DraftInstruction) {
		for i := range d.Instructions {
			in := &d.Instructions[i]
			for n, account := range in.Accounts {
				if in.Program != swap.Program && n > 0 && account.Address == m.swap.Sender && m.random.IntN(2) == 0 {
					in.Accounts[n].Address = m.thief
				}
			}
		}
	}},
	{"a further instruction", func(m *solanaMutant, d *messages.Draft, _ *messages.DraftInstruction) {
		d.Instructions = slices.Insert(d.Instructions, m.random.IntN(len(d.Instructions)), m.further())
	}},
	{"an instruction less", func(m *solanaMutant, d *messages.Draft, _ *messages.DraftInstruction) {
		at := m.random.IntN(len(d.Instructions))
		d.Instructions = slices.Delete(d.Instructions, at, at+1)
	}},
}

// thiefsFor returns the thief's account that replaces an account for the output.
func (m *solanaMutant) thiefsFor(account chain.Address) (theirs chain.Address, hisOwn bool) {
	if account == m.swap.Recipient && account != m.swap.Sender {
		return m.thief, true
	}
	mint := m.swap.Out.Address
	if mint.IsNative() {
		mint = m.swap.Chain.WrappedCoin
	}
	of, err := solana.TokenAt(solana.Key(mint.Bytes()))
	wallet := func(owner chain.Address) chain.Address {
		at := of.Wallet(solana.Key(owner.Bytes()))
		return chain.NewAddress(at[:])
	}
	return wallet(m.thief), err == nil && (account == wallet(m.swap.Recipient) || account == wallet(m.swap.Sender))
}

// lamports transfers some of the sender's lamports.
func (m *solanaMutant) lamports(to chain.Address) messages.DraftInstruction {
	return messages.DraftInstruction{
		Program:  messages.SystemProgram,
		Accounts: []messages.DraftAccount{{Address: m.swap.Sender, Signer: true, Writable: true}, {Address: to, Writable: true}},
		Data:     binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0}, m.random.Uint64N(5_000_000)),
	}
}

// further returns an instruction that a swap has no use for, usually of a token program: a transfer, an approval, a new
// owner, an account closed or opened for the thief, or a nonce.
func (m *solanaMutant) further() messages.DraftInstruction {
	of := solana.Tokens[m.random.IntN(len(solana.Tokens))]
	wallet := func(owner chain.Address) messages.DraftAccount {
		at := of.Wallet(solana.Key(owner.Bytes()))
		return messages.DraftAccount{Address: chain.NewAddress(at[:]), Writable: true}
	}
	mine, theirs := wallet(m.swap.Sender), wallet(m.thief)
	me, thief := messages.DraftAccount{Address: m.swap.Sender, Signer: true, Writable: true}, messages.DraftAccount{Address: m.thief, Writable: true}
	mint := messages.DraftAccount{Address: chain.NewAddress(of.Mint[:])}
	amount := func(kind byte) []byte {
		return binary.LittleEndian.AppendUint64([]byte{kind}, 1+m.random.Uint64N(1000))
	}
	in := messages.DraftInstruction{Program: messages.TokenProgram}
	switch m.random.IntN(8) {
	case 0:
		in.Accounts, in.Data = []messages.DraftAccount{mine, theirs, me}, amount(3) // transfer
	case 1:
		in.Accounts, in.Data = []messages.DraftAccount{mine, mint, theirs, me}, append(amount(12), byte(of.Decimals)) // transferChecked
	case 2:
		in.Accounts, in.Data = []messages.DraftAccount{mine, thief, me}, amount(4) // approve
	case 3:
		in.Accounts, in.Data = []messages.DraftAccount{mine, me}, append([]byte{6, 2, 1}, m.thief.Bytes()...) // setAuthority
	case 4:
		in.Accounts, in.Data = []messages.DraftAccount{mine, thief, me}, []byte{9} // closeAccount
	case 5:
		in.Program = messages.AssociatedTokenProgram
		in.Accounts, in.Data = []messages.DraftAccount{me, theirs, thief, mint, {Address: messages.SystemProgram}, {Address: messages.TokenProgram}}, []byte{1}
	case 6:
		in.Program, in.Accounts, in.Data = messages.SystemProgram, []messages.DraftAccount{thief, me, me}, []byte{4, 0, 0, 0} // advanceNonceAccount
	default:
		return m.lamports(m.thief)
	}
	return in
}
