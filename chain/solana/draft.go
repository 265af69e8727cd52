package solana

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
)

// Draft is a transaction in the making, which its fee payer alone is to sign.
type Draft struct {
	FeePayer     chain.Address
	Blockhash    [KeySize]byte
	Instructions []DraftInstruction
	Tables       []LookupTable
}

// DraftInstruction is a call of a program.
type DraftInstruction struct {
	Program  chain.Address
	Accounts []DraftAccount
	Data     []byte
}

// DraftAccount is an account and what an instruction may do with it.
type DraftAccount struct {
	Address          chain.Address
	Signer, Writable bool
}

// LookupTable is an address lookup table and what it holds, in its sequence.
type LookupTable struct {
	Address chain.Address
	Holds   []chain.Address
}

// Errors of drafts that make no transaction.
var (
	errNoInstructions = errors.New("transaction without instructions")
	errSecondSigner   = errors.New("transaction with a second signer")
)

// Draft takes an unsigned message apart. What lookup tables hold is not known: stand-ins are in the place of the
// accounts that the message takes of them.
func (m Message) Draft() Draft {
	d := Draft{FeePayer: m.FeePayer(), Blockhash: m.blockhash, Tables: make([]LookupTable, len(m.Tables))}
	var accounts, read []DraftAccount
	for i, account := range m.Accounts {
		accounts = append(accounts, DraftAccount{Address: account, Signer: i < m.signers, Writable: m.IsWritten(i)})
	}
	for i, use := range m.Tables {
		d.Tables[i] = LookupTable{Address: use.Table, Holds: make([]chain.Address, 1<<8)}
		hold := func(at byte) chain.Address {
			standIn := sha256.Sum256(append(use.Table.Bytes(), at))
			d.Tables[i].Holds[at] = chain.NewAddress(standIn[:])
			return d.Tables[i].Holds[at]
		}
		for _, at := range use.Written {
			accounts = append(accounts, DraftAccount{Address: hold(at), Writable: true})
		}
		for _, at := range use.Read {
			read = append(read, DraftAccount{Address: hold(at)})
		}
	}
	accounts = append(accounts, read...)
	for _, i := range m.Instructions {
		d.Instructions = append(d.Instructions, i.draft(accounts))
	}
	return d
}

// draft names the program and the accounts of an instruction, absent where the message does not have them.
func (c CompiledInstruction) draft(accounts []DraftAccount) DraftInstruction {
	at := func(position int) (account DraftAccount) {
		if position < len(accounts) {
			account = accounts[position]
		}
		return account
	}
	d := DraftInstruction{Program: at(c.Program).Address, Data: c.Data}
	for _, position := range c.Accounts {
		d.Accounts = append(d.Accounts, at(int(position)))
	}
	return d
}

// Compile returns the draft in wire form as ParseUnsigned reads it: version 0, its signature all zero. Fee payer and
// programs stand in the message itself, other accounts in the first table that holds them. The same draft makes the
// same bytes.
func (d Draft) Compile() ([]byte, error) {
	if len(d.Instructions) == 0 {
		return nil, errNoInstructions
	}
	roles, err := d.roles()
	if err != nil {
		return nil, err
	}
	l := d.place(roles)
	positions := l.positions()
	if len(positions) > 1<<8 {
		return nil, fmt.Errorf("transaction with %d accounts", len(positions))
	}
	const signatures, readSigners = 1, 0
	raw := append([]byte{signatures}, make([]byte, SignatureSize)...)
	raw = append(raw, versionFlag, signatures, readSigners, byte(len(l.read)))
	raw = appendLength(raw, len(l.written)+len(l.read))
	for _, at := range slices.Concat(l.written, l.read) {
		raw = append(raw, at.Bytes()...)
	}
	raw = append(raw, d.Blockhash[:]...)
	raw = appendLength(raw, len(d.Instructions))
	for _, i := range d.Instructions {
		raw = append(raw, positions[i.Program])
		raw = appendLength(raw, len(i.Accounts))
		for _, account := range i.Accounts {
			raw = append(raw, positions[account.Address])
		}
		raw = append(appendLength(raw, len(i.Data)), i.Data...)
	}
	raw = l.appendTables(raw)
	if len(raw) > MaxTransaction {
		return nil, fmt.Errorf("transaction of %d bytes", len(raw))
	}
	return raw, nil
}

// role is what all instructions together do with an account.
type role struct {
	account            chain.Address
	isWritten, isFixed bool // fixed: it must stand in the message itself
}

// roles are the accounts in the sequence in which they are named, the fee payer first.
func (d Draft) roles() ([]role, error) {
	roles, places := []role{{d.FeePayer, true, true}}, map[chain.Address]int{d.FeePayer: 0}
	add := func(r role) error {
		if len(r.account.Bytes()) != KeySize {
			return fmt.Errorf("account of %d bytes", len(r.account.Bytes()))
		}
		place, known := places[r.account]
		if !known {
			place, places[r.account] = len(roles), len(roles)
			roles = append(roles, role{account: r.account})
		}
		roles[place].isWritten = roles[place].isWritten || r.isWritten
		roles[place].isFixed = roles[place].isFixed || r.isFixed
		return nil
	}
	for _, i := range d.Instructions {
		err := add(role{account: i.Program, isFixed: true})
		for _, account := range i.Accounts {
			if account.Signer && account.Address != d.FeePayer {
				return nil, errSecondSigner
			}
			err = errors.Join(err, add(role{account: account.Address, isWritten: account.Writable}))
		}
		if err != nil {
			return nil, err
		}
	}
	return roles, nil
}

// layout is where the accounts of a message stand.
type layout struct {
	written, read []chain.Address // in the message itself
	tables        []tableUse
}

// tableUse is what a message takes of a lookup table whose accounts are known.
type tableUse struct {
	table         LookupTable
	written, read []byte
}

func (d Draft) place(roles []role) (l layout) {
	for _, table := range d.Tables {
		l.tables = append(l.tables, tableUse{table: table})
	}
	for _, r := range roles {
		list := &l.read
		if r.isWritten {
			list = &l.written
		}
		if use, at := l.tableOf(r); use == nil {
			*list = append(*list, r.account)
		} else if r.isWritten {
			use.written = append(use.written, at)
		} else {
			use.read = append(use.read, at)
		}
	}
	l.tables = slices.DeleteFunc(l.tables, func(u tableUse) bool { return len(u.written)+len(u.read) == 0 })
	return l
}

// tableOf is the first table that holds an account, and where; nil when the account stands in the message.
func (l layout) tableOf(r role) (*tableUse, byte) {
	for i := range l.tables {
		at := slices.Index(l.tables[i].table.Holds, r.account)
		if !r.isFixed && at >= 0 && at < 1<<8 {
			return &l.tables[i], byte(at)
		}
	}
	return nil, 0
}

// positions are the places by which instructions name accounts: those of the message, then what all tables have
// written, then what they have read.
func (l layout) positions() map[chain.Address]byte {
	all := slices.Concat(l.written, l.read)
	for _, use := range l.tables {
		all = append(all, use.accounts(use.written)...)
	}
	for _, use := range l.tables {
		all = append(all, use.accounts(use.read)...)
	}
	positions := make(map[chain.Address]byte, len(all))
	for i, at := range all {
		positions[at] = byte(i)
	}
	return positions
}

func (u tableUse) accounts(at []byte) []chain.Address {
	accounts := make([]chain.Address, len(at))
	for i, place := range at {
		accounts[i] = u.table.Holds[place]
	}
	return accounts
}

func (l layout) appendTables(raw []byte) []byte {
	raw = appendLength(raw, len(l.tables))
	for _, use := range l.tables {
		raw = append(raw, use.table.Address.Bytes()...)
		raw = append(appendLength(raw, len(use.written)), use.written...)
		raw = append(appendLength(raw, len(use.read)), use.read...)
	}
	return raw
}

// appendLength writes a length as compactU16 reads it.
func appendLength(raw []byte, length int) []byte { return binary.AppendUvarint(raw, uint64(length)) }
