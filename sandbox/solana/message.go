package solana

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Instruction is a call of a program.
type Instruction struct {
	Program  Key
	Accounts []Meta
	Data     []byte

	// run is what the program does; nil does nothing that others can see.
	run func(*invocation) error
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

// Transaction is what somebody sends.
type Transaction struct {
	Payer        Account
	Signers      []Account // beside the payer
	Instructions []Instruction
	// Versioned makes it version 0, which Tables, address lookup tables, need.
	Versioned bool
	Tables    []Key
}

// message is a transaction compiled to indexes of accounts: https://solana.com/docs/core/transactions.
type message struct {
	versioned bool
	// signed of the static keys sign, the last readonlySigned of them without being written; of the
	// others the last readonlyUnsigned are not written.
	signed, readonlySigned, readonlyUnsigned int

	static       []Key
	blockhash    [32]byte
	instructions []compiled
	lookups      []lookup
	// loaded are the keys that lookups bring, those to be written first.
	loadedWritable, loadedReadonly []Key
}

type compiled struct {
	program  int
	accounts []byte
	data     []byte
	// height counts from 1 at the outer instruction.
	height int
}

type lookup struct {
	table              Key
	writable, readonly []byte // positions in the table
}

// compile lays the accounts out: payer, signers, written, read, then what tables bring.
func compile(tx Transaction, blockhash [32]byte, table func(Key) []Key) (*message, error) {
	m := &message{versioned: tx.Versioned, blockhash: blockhash}
	uses := gather(tx)
	invoked := make(map[Key]bool)
	for _, in := range tx.Instructions {
		invoked[in.Program] = true
	}
	for _, t := range tx.Tables {
		uses = m.load(t, table(t), uses, invoked)
	}
	rank := func(u Meta) int {
		switch {
		case u.Signer && u.Writable:
			return 0
		case u.Signer:
			return 1
		case u.Writable:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(uses, func(a, b Meta) int { return rank(a) - rank(b) })
	for _, u := range uses {
		m.static = append(m.static, u.Key)
		switch rank(u) {
		case 0:
			m.signed++
		case 1:
			m.signed++
			m.readonlySigned++
		case 3:
			m.readonlyUnsigned++
		}
	}
	for _, in := range tx.Instructions {
		c, err := m.index(in, 1)
		if err != nil {
			return nil, err
		}
		m.instructions = append(m.instructions, c)
	}
	return m, nil
}

// gather merges what the instructions say of each account, in the sequence of their appearance.
func gather(tx Transaction) []Meta {
	uses := []Meta{signs(tx.Payer.Key)}
	add := func(m Meta) {
		i := slices.IndexFunc(uses, func(u Meta) bool { return u.Key == m.Key })
		if i < 0 {
			uses = append(uses, m)
			return
		}
		uses[i].Signer = uses[i].Signer || m.Signer
		uses[i].Writable = uses[i].Writable || m.Writable
	}
	for _, in := range tx.Instructions {
		for _, account := range in.Accounts {
			add(account)
		}
	}
	for _, in := range tx.Instructions {
		add(reads(in.Program))
	}
	return uses
}

// load moves the keys that the table holds out of uses. Signers and invoked programs stay.
func (m *message) load(table Key, holds []Key, uses []Meta, invoked map[Key]bool) (rest []Meta) {
	l := lookup{table: table}
	for _, u := range uses {
		at := slices.Index(holds, u.Key)
		switch {
		case at < 0 || u.Signer || invoked[u.Key]:
			rest = append(rest, u)
		case u.Writable:
			l.writable = append(l.writable, byte(at))
			m.loadedWritable = append(m.loadedWritable, u.Key)
		default:
			l.readonly = append(l.readonly, byte(at))
			m.loadedReadonly = append(m.loadedReadonly, u.Key)
		}
	}
	m.lookups = append(m.lookups, l)
	return rest
}

// keys are all accounts as instructions count them.
func (m *message) keys() []Key { return slices.Concat(m.static, m.loadedWritable, m.loadedReadonly) }

// writable reports whether the message lets the account at an index be written.
func (m *message) writable(i int) bool {
	switch {
	case i < m.signed:
		return i < m.signed-m.readonlySigned
	case i < len(m.static):
		return i < len(m.static)-m.readonlyUnsigned
	}
	return i < len(m.static)+len(m.loadedWritable)
}

func (m *message) index(in Instruction, height int) (compiled, error) {
	keys := m.keys()
	find := func(k Key) (byte, error) {
		i := slices.Index(keys, k)
		if i < 0 {
			return 0, fmt.Errorf("an instruction of %s names %s, which the transaction does not", in.Program, k)
		}
		return byte(i), nil
	}
	program, err := find(in.Program)
	if err != nil {
		return compiled{}, err
	}
	c := compiled{program: int(program), data: in.Data, height: height, accounts: []byte{}}
	for _, account := range in.Accounts {
		i, err := find(account.Key)
		if err != nil {
			return compiled{}, err
		}
		if account.Writable && !m.writable(int(i)) {
			return compiled{}, fmt.Errorf("an instruction of %s writes %s, which the transaction does not", in.Program, account.Key)
		}
		c.accounts = append(c.accounts, i)
	}
	return c, nil
}

// bytes is the message in wire form, what is signed.
func (m *message) bytes() []byte {
	const version0 = 0x80
	var out []byte
	if m.versioned {
		out = append(out, version0)
	}
	out = append(out, byte(m.signed), byte(m.readonlySigned), byte(m.readonlyUnsigned))
	out = appendLength(out, len(m.static))
	for _, k := range m.static {
		out = append(out, k[:]...)
	}
	out = append(out, m.blockhash[:]...)
	out = appendLength(out, len(m.instructions))
	for _, in := range m.instructions {
		out = append(out, byte(in.program))
		out = append(appendLength(out, len(in.accounts)), in.accounts...)
		out = append(appendLength(out, len(in.data)), in.data...)
	}
	if !m.versioned {
		return out
	}
	out = appendLength(out, len(m.lookups))
	for _, l := range m.lookups {
		out = append(out, l.table[:]...)
		out = append(appendLength(out, len(l.writable)), l.writable...)
		out = append(appendLength(out, len(l.readonly)), l.readonly...)
	}
	return out
}

// appendLength writes a compact-u16: seven bits a byte, lowest first.
func appendLength(out []byte, n int) []byte { return binary.AppendUvarint(out, uint64(n)) }
