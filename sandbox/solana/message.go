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

// Meta is an account of an instruction, with its privileges.
type Meta struct {
	Key      Key
	Signer   bool
	Writable bool
}

func signs(k Key) Meta  { return Meta{Key: k, Signer: true, Writable: true} }
func reads(k Key) Meta  { return Meta{Key: k} }
func writes(k Key) Meta { return Meta{Key: k, Writable: true} }

// draft is a transaction before its accounts are laid out.
type draft struct {
	payer        Account
	signers      []Account // in addition to the payer
	instructions []Instruction
	// table is the address lookup table of a version 0 transaction. The zero key makes it a legacy transaction.
	table Key
}

// transaction is a transaction in wire form (https://solana.com/docs/core/transactions) with its outcome.
type transaction struct {
	solana.Transaction // its keys end with those loaded from lookup tables, once resolved

	slot    uint64
	outcome outcome
	// before is what the accounts that it wrote held previously.
	before map[Key]*account
}

// compiled is an instruction with account indexes. StackHeight is 1 for outer instructions.
type compiled struct {
	solana.CompiledInstruction
	StackHeight int `json:"stackHeight"`
}

// compile lays out the accounts: payer, signers, writable, read-only, then those from the table.
func (d draft) compile(blockhash solana.Hash, tables map[Key]solana.PublicKeySlice) (*transaction, error) {
	options := []solana.TransactionOption{solana.TransactionPayer(d.payer.Key)}
	if d.table != (Key{}) {
		used := map[Key]solana.PublicKeySlice{d.table: tables[d.table]}
		options = append(options, solana.TransactionAddressTables(used))
	}
	calls := make([]solana.Instruction, len(d.instructions))
	for n, in := range d.instructions {
		var accounts solana.AccountMetaSlice
		for _, account := range in.Accounts {
			accounts.Append(solana.NewAccountMeta(account.Key, account.Writable, account.Signer))
		}
		calls[n] = solana.NewInstruction(in.Program, accounts, in.Data)
	}
	made, err := solana.NewTransaction(calls, blockhash, options...)
	if err != nil {
		return nil, err
	}
	t := &transaction{Transaction: *made}
	return t, t.Message.ResolveLookups()
}

// keys returns all accounts in the order that instructions index them.
func (t *transaction) keys() solana.PublicKeySlice { return t.Message.AccountKeys }

// parts returns the keys in the message itself and those loaded from lookup tables.
func (t *transaction) parts() (static, loaded solana.PublicKeySlice) {
	own := len(t.keys()) - t.Message.NumLookups()
	return t.keys()[:own], t.keys()[own:]
}

// isWritable reports whether the message allows writing an account.
func (t *transaction) isWritable(k Key) bool {
	writable, err := t.Message.IsWritable(k)
	return writable && err == nil
}

// index compiles an instruction to account indexes. The transaction must have all of its accounts.
func (t *transaction) index(in Instruction) (c solana.CompiledInstruction, err error) {
	keys := t.keys()
	program := slices.Index(keys, in.Program)
	c = solana.CompiledInstruction{ProgramIDIndex: uint16(program), Accounts: []uint16{}, Data: in.Data}
	for _, account := range in.Accounts {
		at := slices.Index(keys, account.Key)
		if at < 0 || account.Writable && !t.isWritable(account.Key) {
			return c, fmt.Errorf("an instruction of %s uses %s as the transaction does not", in.Program, account.Key)
		}
		c.Accounts = append(c.Accounts, uint16(at))
	}
	if program < 0 {
		return c, fmt.Errorf("the transaction does not name the invoked program %s", in.Program)
	}
	return c, nil
}

// sign signs for the payer and the draft's other signers.
func (t *transaction) sign(d draft) error {
	signers := append([]Account{d.payer}, d.signers...)
	_, err := t.Sign(func(k Key) *solana.PrivateKey {
		if i := slices.IndexFunc(signers, func(a Account) bool { return a.Key == k }); i >= 0 {
			return &signers[i].private
		}
		return nil
	})
	return err
}

// maxTransactionBytes is what fits into a packet: 1280 bytes less headers.
const maxTransactionBytes = 1232

// wire returns the transaction in wire form.
func (t *transaction) wire() ([]byte, error) {
	raw, err := t.MarshalBinary()
	if err == nil && len(raw) > maxTransactionBytes {
		err = fmt.Errorf("transaction of %d bytes, at most %d fit", len(raw), maxTransactionBytes)
	}
	return raw, err
}

// readTransaction decodes a transaction in wire form without resolving lookup tables. Because the library decodes
// lengths and versions leniently, it rejects whatever the library would encode differently.
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

// sanitize rejects a transaction with indexes out of range: solana-message, sanitize.
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

// resolve appends the keys that the message loads from lookup tables. On failure it returns the runtime's error for
// clients.
func (t *transaction) resolve(tables map[Key]solana.PublicKeySlice) (rejected any) {
	for _, l := range t.Message.AddressTableLookups {
		holds, known := tables[l.AccountKey]
		if !known {
			return "AddressLookupTableNotFound"
		}
		isBeyond := func(index uint8) bool { return int(index) >= len(holds) }
		if slices.ContainsFunc(slices.Concat(l.WritableIndexes, l.ReadonlyIndexes), isBeyond) {
			return "InvalidAddressLookupTableIndex"
		}
	}
	_ = t.Message.SetAddressTables(tables) // fails if compile has set them already
	if err := t.Message.ResolveLookups(); err != nil {
		return "AddressLookupTableNotFound"
	}
	sorted := slices.SortedFunc(slices.Values(t.keys()), func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	if len(slices.Compact(sorted)) < len(t.keys()) {
		return "AccountLoadedTwice"
	}
	return nil
}

// calls returns the message's instructions, with the privileges that the message grants to their accounts.
func (t *transaction) calls() []Instruction {
	keys := t.keys()
	calls := make([]Instruction, len(t.Message.Instructions))
	for n, in := range t.Message.Instructions {
		calls[n] = Instruction{Program: keys[in.ProgramIDIndex], Data: in.Data}
		for _, index := range in.Accounts {
			at := keys[index]
			calls[n].Accounts = append(calls[n].Accounts, Meta{at, t.Message.IsSigner(at), t.isWritable(at)})
		}
	}
	return calls
}
