package solana

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
)

// Instruction is a call of a program.
type Instruction struct {
	Program  Key
	Accounts []Meta
	Data     []byte

	// run is what the program does, for instructions that the ledger makes itself.
	run func(*invocation)
}

// Meta is an account as an instruction names it.
type Meta struct {
	Key      Key
	Signer   bool
	Writable bool
}

func signs(k Key) Meta  { return Meta{Key: k, Signer: true, Writable: true} }
func reads(k Key) Meta  { return Meta{Key: k} }
func writes(k Key) Meta { return Meta{Key: k, Writable: true} }

// rank is the account's place in a message: signers first, and of each kind those that are written.
func (m Meta) rank() (rank int) {
	if !m.Signer {
		rank = 2
	}
	if !m.Writable {
		rank++
	}
	return rank
}

// draft is a transaction before its accounts are laid out.
type draft struct {
	payer        Account
	signers      []Account // besides the payer
	instructions []Instruction
	// table is the address lookup table of a version 0 transaction; without one it is a legacy transaction.
	table Key
}

// transaction is a transaction in wire form (https://solana.com/docs/core/transactions) with what became of it.
type transaction struct {
	solana.Transaction
	// writable and readonly are the keys that its lookup tables bring.
	writable, readonly []Key

	slot    uint64
	outcome outcome
	// before is what the accounts that it wrote held until then.
	before map[Key]*account
}

// compiled is an instruction by indexes of accounts. StackHeight counts from 1 at the outer instructions.
type compiled struct {
	solana.CompiledInstruction
	StackHeight int `json:"stackHeight"`
}

// compile lays the accounts out: payer, signers, written, read, then what the table brings.
func (d draft) compile(blockhash solana.Hash, tables map[Key][]Key) (*transaction, error) {
	t := &transaction{}
	m := &t.Message
	m.RecentBlockhash = blockhash
	uses := d.accounts()
	if d.table != (Key{}) {
		m.SetVersion(solana.MessageVersionV0)
		uses = t.lookUp(d, tables[d.table], uses)
	}
	slices.SortStableFunc(uses, func(a, b Meta) int { return a.rank() - b.rank() })
	for _, u := range uses {
		m.AccountKeys = append(m.AccountKeys, u.Key)
		switch {
		case u.Signer && !u.Writable:
			m.Header.NumReadonlySignedAccounts++
		case !u.Writable:
			m.Header.NumReadonlyUnsignedAccounts++
		}
		if u.Signer {
			m.Header.NumRequiredSignatures++
		}
	}
	for _, in := range d.instructions {
		indexed, err := t.index(in)
		if err != nil {
			return nil, err
		}
		m.Instructions = append(m.Instructions, indexed)
	}
	return t, nil
}

// accounts merges what the instructions say of each account, in the order of first appearance.
func (d draft) accounts() []Meta {
	uses := []Meta{signs(d.payer.Key)}
	add := func(m Meta) {
		i := slices.IndexFunc(uses, func(u Meta) bool { return u.Key == m.Key })
		if i < 0 {
			uses = append(uses, m)
			return
		}
		uses[i].Signer = uses[i].Signer || m.Signer
		uses[i].Writable = uses[i].Writable || m.Writable
	}
	for _, in := range d.instructions {
		for _, account := range in.Accounts {
			add(account)
		}
	}
	for _, in := range d.instructions {
		add(reads(in.Program))
	}
	return uses
}

// lookUp takes the keys that the table holds out of uses. Signers and invoked programs stay.
func (t *transaction) lookUp(d draft, holds []Key, uses []Meta) (rest []Meta) {
	lookup := solana.MessageAddressTableLookup{AccountKey: d.table}
	for _, u := range uses {
		at := slices.Index(holds, u.Key)
		isInvoked := slices.ContainsFunc(d.instructions, func(in Instruction) bool { return in.Program == u.Key })
		switch {
		case at < 0 || u.Signer || isInvoked:
			rest = append(rest, u)
		case u.Writable:
			lookup.WritableIndexes = append(lookup.WritableIndexes, byte(at))
			t.writable = append(t.writable, u.Key)
		default:
			lookup.ReadonlyIndexes = append(lookup.ReadonlyIndexes, byte(at))
			t.readonly = append(t.readonly, u.Key)
		}
	}
	t.Message.AddressTableLookups = append(t.Message.AddressTableLookups, lookup)
	return rest
}

// keys are all accounts as instructions count them.
func (t *transaction) keys() []Key {
	return slices.Concat(t.Message.AccountKeys, t.writable, t.readonly)
}

// isWritable reports whether the message lets the account at an index be written.
func (t *transaction) isWritable(i int) bool {
	static, signed := len(t.Message.AccountKeys), int(t.Message.Header.NumRequiredSignatures)
	switch {
	case i < signed:
		return i < signed-int(t.Message.Header.NumReadonlySignedAccounts)
	case i < static:
		return i < static-int(t.Message.Header.NumReadonlyUnsignedAccounts)
	}
	return i < static+len(t.writable)
}

// index is an instruction by indexes of the transaction's accounts, which must have all that it names.
func (t *transaction) index(in Instruction) (c solana.CompiledInstruction, err error) {
	keys := t.keys()
	program := slices.Index(keys, in.Program)
	c = solana.CompiledInstruction{ProgramIDIndex: uint16(program), Accounts: []uint16{}, Data: in.Data}
	for _, account := range in.Accounts {
		at := slices.Index(keys, account.Key)
		if at < 0 || account.Writable && !t.isWritable(at) {
			return c, fmt.Errorf("an instruction of %s uses %s as the transaction does not", in.Program, account.Key)
		}
		c.Accounts = append(c.Accounts, uint16(at))
	}
	if program < 0 {
		return c, fmt.Errorf("the transaction does not name the invoked program %s", in.Program)
	}
	return c, nil
}

// sign signs for the payer and the other signers of the draft.
func (t *transaction) sign(d draft) error {
	text, err := t.Message.MarshalBinary()
	if err != nil {
		return err
	}
	signers := append([]Account{d.payer}, d.signers...)
	for _, k := range t.Message.Signers() {
		i := slices.IndexFunc(signers, func(a Account) bool { return a.Key == k })
		if i < 0 {
			return fmt.Errorf("nobody signs for %s", k)
		}
		t.Signatures = append(t.Signatures, signers[i].sign(text))
	}
	return nil
}

// maxTransactionBytes is what fits into a packet: 1280 bytes less headers.
const maxTransactionBytes = 1232

// wire is the transaction in wire form.
func (t *transaction) wire() ([]byte, error) {
	raw, err := t.MarshalBinary()
	if err == nil && len(raw) > maxTransactionBytes {
		err = fmt.Errorf("transaction of %d bytes, at most %d fit", len(raw), maxTransactionBytes)
	}
	return raw, err
}

// readTransaction reads a transaction in wire form, without what its lookup tables hold. The library reads lengths and
// versions leniently: what it would write differently is refused.
func readTransaction(raw []byte) (*transaction, error) {
	t := &transaction{}
	if err := t.UnmarshalWithDecoder(bin.NewBinDecoder(raw)); err != nil {
		return nil, err
	}
	again, err := t.wire()
	switch {
	case err != nil:
		return nil, err
	case !bytes.Equal(again, raw):
		return nil, errors.New("not the canonical form of a transaction")
	}
	return t, t.sanitize()
}

// sanitize refuses a transaction whose indexes lead nowhere: solana-message, sanitize.
func (t *transaction) sanitize() error {
	m, h := t.Message, t.Message.Header
	static, signed := len(m.AccountKeys), int(h.NumRequiredSignatures)
	isSane := h.NumReadonlySignedAccounts < h.NumRequiredSignatures && len(t.Signatures) == signed &&
		signed+int(h.NumReadonlyUnsignedAccounts) <= static
	for _, in := range m.Instructions {
		isSane = isSane && in.ProgramIDIndex > 0 && int(in.ProgramIDIndex) < static
		for _, account := range in.Accounts {
			isSane = isSane && int(account) < static+m.NumLookups()
		}
	}
	if !isSane {
		return errors.New("transaction failed to sanitize accounts offsets correctly")
	}
	return nil
}

// resolve fetches what the message looks up in tables; otherwise it says which error the runtime has for that.
func (t *transaction) resolve(tables map[Key][]Key) (rejected any) {
	for _, l := range t.Message.AddressTableLookups {
		holds, known := tables[l.AccountKey]
		if !known {
			return "AddressLookupTableNotFound"
		}
		isBeyond := func(index uint8) bool { return int(index) >= len(holds) }
		if slices.ContainsFunc(l.WritableIndexes, isBeyond) || slices.ContainsFunc(l.ReadonlyIndexes, isBeyond) {
			return "InvalidAddressLookupTableIndex"
		}
		for _, index := range l.WritableIndexes {
			t.writable = append(t.writable, holds[index])
		}
		for _, index := range l.ReadonlyIndexes {
			t.readonly = append(t.readonly, holds[index])
		}
	}
	return nil
}

// calls are the instructions of the message, whose accounts sign and are written as the message says.
func (t *transaction) calls() []Instruction {
	keys := t.keys()
	calls := make([]Instruction, len(t.Message.Instructions))
	for n, in := range t.Message.Instructions {
		calls[n] = Instruction{Program: keys[in.ProgramIDIndex], Data: in.Data}
		for _, index := range in.Accounts {
			at := int(index)
			isSigner := at < int(t.Message.Header.NumRequiredSignatures)
			calls[n].Accounts = append(calls[n].Accounts, Meta{keys[at], isSigner, t.isWritable(at)})
		}
	}
	return calls
}
