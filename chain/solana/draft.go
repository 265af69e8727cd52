package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
)

// Draft is a transaction being built, which only its fee payer will sign.
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

// LookupTable is an address lookup table and the accounts in it, in their sequence.
type LookupTable struct {
	Address chain.Address
	Holds   []chain.Address
}

// ReadLookupTable returns the accounts in a lookup table, which follow a header
// (docs.rs/solana-address-lookup-table-interface).
func ReadLookupTable(data []byte) (holds []chain.Address) {
	const head = 56
	for keys := range slices.Chunk(data[min(head, len(data)):], KeySize) {
		if len(keys) == KeySize {
			holds = append(holds, chain.NewAddress(keys))
		}
	}
	return holds
}

// Errors of drafts that cannot be compiled.
var (
	ErrTooLong      = errors.New("transaction is too long")
	errSecondSigner = errors.New("transaction with a second signer")
)

// Draft converts an unsigned message to a draft; lookedUp are the accounts from its lookup tables, as for Resolve.
func (m Message) Draft(lookedUp []chain.Address) (Draft, error) {
	tx, err := m.Resolve(lookedUp, nil, nil)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{FeePayer: m.FeePayer(), Blockhash: m.blockhash, Tables: make([]LookupTable, len(m.Tables))}
	written := m.Written()
	for i, use := range m.Tables {
		d.Tables[i] = LookupTable{Address: use.Table, Holds: make([]chain.Address, 1<<8)} // known as far as used
		for _, at := range use.Written {
			d.Tables[i].Holds[at], written, lookedUp = lookedUp[0], append(written, lookedUp[0]), lookedUp[1:]
		}
	}
	for i, use := range m.Tables {
		for _, at := range use.Read {
			d.Tables[i].Holds[at], lookedUp = lookedUp[0], lookedUp[1:]
		}
	}
	for _, i := range tx.Instructions {
		one := DraftInstruction{Program: i.Program, Data: i.Data}
		for _, account := range i.Accounts {
			one.Accounts = append(one.Accounts, DraftAccount{account, m.IsSigner(account), slices.Contains(written, account)})
		}
		d.Instructions = append(d.Instructions, one)
	}
	return d, nil
}

// Compile encodes the draft in wire form: version 0, signature all zero. Fee payer and programs are listed in the
// message, other accounts in the first table that holds them. It is deterministic.
func (d Draft) Compile() ([]byte, error) {
	roles, err := d.roles()
	if err != nil {
		return nil, err
	}
	l := d.place(roles)
	positions := l.positions(d.Tables)
	if len(positions) > 1<<8 {
		return nil, fmt.Errorf("%w: %d accounts", ErrTooLong, len(positions))
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
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(raw))
	}
	return raw, nil
}

// role is what all instructions together do with an account.
type role struct {
	account            chain.Address
	isWritten, isFixed bool // fixed: it must be listed in the message itself
}

// roles returns the accounts in the sequence of their first mention, the fee payer first.
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

// layout assigns the accounts of a message to itself or to the draft's tables, used or not.
type layout struct {
	written, read []chain.Address
	tables        []TableUse
}

func (d Draft) place(roles []role) layout {
	l := layout{tables: make([]TableUse, len(d.Tables))}
	for i, table := range d.Tables {
		l.tables[i].Table = table.Address
	}
	for _, r := range roles {
		table, at := d.tableOf(r)
		switch {
		case table < 0 && r.isWritten:
			l.written = append(l.written, r.account)
		case table < 0:
			l.read = append(l.read, r.account)
		case r.isWritten:
			l.tables[table].Written = append(l.tables[table].Written, at)
		default:
			l.tables[table].Read = append(l.tables[table].Read, at)
		}
	}
	return l
}

// tableOf returns the first table that holds an account, and its index there; -1 if the message lists the account.
func (d Draft) tableOf(r role) (table int, at byte) {
	for i := range d.Tables {
		at := slices.Index(d.Tables[i].Holds, r.account)
		if !r.isFixed && at >= 0 && at < 1<<8 {
			return i, byte(at)
		}
	}
	return -1, 0
}

// positions returns the index of each account: those of the message, then all tables' written ones, then the read ones.
func (l layout) positions(tables []LookupTable) map[chain.Address]byte {
	positions := map[chain.Address]byte{}
	add := func(at chain.Address) { positions[at] = byte(len(positions)) }
	for _, at := range slices.Concat(l.written, l.read) {
		add(at)
	}
	for i, use := range l.tables {
		for _, at := range use.Written {
			add(tables[i].Holds[at])
		}
	}
	for i, use := range l.tables {
		for _, at := range use.Read {
			add(tables[i].Holds[at])
		}
	}
	return positions
}

func (l layout) appendTables(raw []byte) []byte {
	used := slices.DeleteFunc(l.tables, func(u TableUse) bool { return len(u.Written)+len(u.Read) == 0 })
	raw = appendLength(raw, len(used))
	for _, use := range used {
		raw = append(raw, use.Table.Bytes()...)
		raw = append(appendLength(raw, len(use.Written)), use.Written...)
		raw = append(appendLength(raw, len(use.Read)), use.Read...)
	}
	return raw
}

// appendLength encodes a length as compactU16 decodes it.
func appendLength(raw []byte, length int) []byte { return binary.AppendUvarint(raw, uint64(length)) }
