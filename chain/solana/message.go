package solana

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"crossgate/chain"
)

// Sizes in bytes (solana.com/docs/core/transactions).
const (
	MaxTransaction = 1232 // in wire form
	SignatureSize  = 64
	KeySize        = 32
)

// versionFlag marks a versioned message; a legacy one begins with its number of signatures. Transactions of version 1
// and later begin with their version and end with the signatures (SIMD-0385).
const (
	versionFlag = 0x80
	version1    = versionFlag | 1
)

// Message is a transaction in wire form. It refers to accounts by position: in Accounts, then in the lookup tables.
type Message struct {
	Signature    chain.TxHash // of the fee payer over everything else: identifies the transaction; absent if unsigned
	Accounts     []chain.Address
	Tables       []TableUse
	LookedUp     int // accounts that come from lookup tables
	Instructions []CompiledInstruction

	signers                   int // how many accounts must sign
	readSigners, readAccounts int // how many of those that sign, and of those that do not, are only read: the last ones
	blockhash                 [KeySize]byte
}

// TableUse lists the accounts of a lookup table that a message uses, by position.
type TableUse struct {
	Table         chain.Address
	Written, Read []byte
}

// CompiledInstruction is an instruction with positions in the list of accounts.
type CompiledInstruction struct {
	Program  int
	Accounts []uint8
	Data     []byte
	Depth    int // 2 if called by an outer instruction, and so on; zero for an outer one
}

// Transaction is a successful transaction, in which every instruction succeeded.
type Transaction struct {
	Instructions []Instruction // as they ran: each outer one, then those that it called
	Logs         []string
}

// Instruction is one run of a program.
type Instruction struct {
	Program  chain.Address
	Accounts []chain.Address
	Data     []byte
	Depth    int // 1 for an outer instruction, otherwise one more than its caller's
}

// FeePayer returns the account that sends the transaction.
func (m Message) FeePayer() chain.Address { return m.Accounts[0] }

// Account returns the account at a position, absent if it comes from a lookup table.
func (m Message) Account(position int) chain.Address {
	if position >= len(m.Accounts) {
		return chain.Address{}
	}
	return m.Accounts[position]
}

// IsSigner reports whether an account must sign.
func (m Message) IsSigner(account chain.Address) bool {
	return slices.Contains(m.Accounts[:min(m.signers, len(m.Accounts))], account)
}

// Written returns the accounts listed in the message itself that may be written.
func (m Message) Written() (written []chain.Address) {
	for i, account := range m.Accounts {
		if i < m.signers-m.readSigners || i >= m.signers && i < len(m.Accounts)-m.readAccounts {
			written = append(written, account)
		}
	}
	return written
}

// ErrVersion means that a transaction's version is not supported.
var ErrVersion = errors.New("unsupported transaction version")

// ParseSigned parses a transaction, legacy or of version 0 or 1, and verifies the signature, which is its hash.
func ParseSigned(raw []byte) (Message, error) {
	m, signatures, signed, err := parse(raw, version1)
	if err != nil {
		return Message{}, err
	}
	if len(signatures) == 0 {
		return Message{}, errors.New("transaction without a signer")
	}
	first := signatures[:SignatureSize]
	if !ed25519.Verify(m.FeePayer().Bytes(), signed, first) {
		return Message{}, errors.New("transaction is not signed by its fee payer")
	}
	m.Signature = chain.NewTxHash(first)
	return m, nil
}

// Parse parses a transaction, legacy or of version 0, whether it is signed or not.
func Parse(raw []byte) (Message, error) {
	m, _, _, err := parse(raw, versionFlag)
	return m, err
}

// ParseUnsigned parses a transaction as Parse does, which lacks only the signature of its fee payer.
func ParseUnsigned(raw []byte) (Message, error) {
	m, signatures, _, err := parse(raw, versionFlag)
	switch {
	case err != nil:
		return Message{}, err
	case m.signers != 1 || len(signatures) != SignatureSize:
		return Message{}, errors.New("transaction needs several signatures")
	case !bytes.Equal(signatures, make([]byte, SignatureSize)):
		return Message{}, errors.New("transaction is already signed")
	}
	return m, nil
}

// parse decodes a transaction up to a version, and returns its message, its signatures and the bytes that they sign.
func parse(raw []byte, newest byte) (m Message, signatures, signed []byte, err error) {
	r := &Reader{Rest: raw}
	switch first := (&Reader{Rest: raw}).Uint8(); {
	case first > newest:
		return m, nil, nil, otherVersion(first)
	case first == version1:
		m = r.message1()
		signed = raw[:len(raw)-len(r.Rest)]
		signatures = r.Take(uint64(m.signers) * SignatureSize)
	case len(raw) > MaxTransaction:
		return m, nil, nil, fmt.Errorf("transaction of %d bytes", len(raw))
	default:
		signatures = r.Take(r.compactU16() * SignatureSize)
		signed = r.Rest
		m = r.message()
	}
	switch {
	case errors.Is(r.Err, ErrVersion):
		return m, nil, nil, r.Err
	case r.Err != nil:
		return m, nil, nil, fmt.Errorf("truncated transaction: %w", r.Err)
	case len(r.Rest) > 0:
		return m, nil, nil, fmt.Errorf("%d bytes after the transaction", len(r.Rest))
	case len(m.Accounts) == 0:
		return m, nil, nil, errors.New("transaction without a signer")
	}
	return m, signatures, signed, nil
}

func otherVersion(first byte) error { return fmt.Errorf("%w: %d", ErrVersion, first&^versionFlag) }

func (r *Reader) header() Message {
	return Message{signers: int(r.Uint8()), readSigners: int(r.Uint8()), readAccounts: int(r.Uint8())}
}

func (r *Reader) accounts(count uint64) (accounts []chain.Address) {
	for key := range slices.Chunk(r.Take(count*KeySize), KeySize) {
		accounts = append(accounts, chain.NewAddress(key))
	}
	return accounts
}

// message reads a message, legacy or of version 0.
func (r *Reader) message() Message {
	versioned := len(r.Rest) > 0 && r.Rest[0]&versionFlag != 0
	if versioned {
		if version := r.Uint8(); version != versionFlag {
			r.Fail(otherVersion(version))
		}
	}
	m := r.header()
	m.Accounts = r.accounts(r.compactU16())
	copy(m.blockhash[:], r.Take(KeySize))
	for count := r.compactU16(); count > 0 && r.Err == nil; count-- {
		m.Instructions = append(m.Instructions, CompiledInstruction{
			Program: int(r.Uint8()), Accounts: r.bytes(), Data: r.bytes(),
		})
	}
	if !versioned {
		return m
	}
	for count := r.compactU16(); count > 0 && r.Err == nil; count-- {
		use := TableUse{Table: r.Key(), Written: r.bytes(), Read: r.bytes()}
		m.Tables = append(m.Tables, use)
		m.LookedUp += len(use.Written) + len(use.Read)
	}
	return m
}

// message1 reads a message of version 1. Its budget, which is beside the instructions, is dropped.
func (r *Reader) message1() Message {
	r.Uint8() // the version
	m := r.header()
	budget := bits.OnesCount32(r.Uint32())
	copy(m.blockhash[:], r.Take(KeySize))
	instructions := int(r.Uint8())
	m.Accounts = r.accounts(uint64(r.Uint8()))
	r.Take(4 * uint64(budget))
	heads := &Reader{Rest: r.Take(4 * uint64(instructions))}
	for range instructions {
		program, accounts, data := heads.Uint8(), heads.Uint8(), heads.Uint16()
		m.Instructions = append(m.Instructions, CompiledInstruction{
			Program: int(program), Accounts: r.Take(uint64(accounts)), Data: r.Take(uint64(data)),
		})
	}
	return m
}

// Resolve replaces the positions in the message's instructions and in those that they called (inner, by the index of
// the outer one) by accounts. lookedUp are the accounts from lookup tables, writable ones first.
func (m Message) Resolve(
	lookedUp []chain.Address, inner map[int][]CompiledInstruction, logs []string,
) (Transaction, error) {
	if len(lookedUp) != m.LookedUp {
		return Transaction{}, fmt.Errorf("%d accounts from lookup tables, the message names %d", len(lookedUp), m.LookedUp)
	}
	accounts := slices.Concat(m.Accounts, lookedUp)
	tx := Transaction{Logs: logs}
	for i, outer := range m.Instructions {
		outer.Depth = 1
		for _, compiled := range append([]CompiledInstruction{outer}, inner[i]...) {
			resolved, err := compiled.resolve(accounts)
			if err != nil {
				return Transaction{}, fmt.Errorf("instruction %d: %w", i, err)
			}
			tx.Instructions = append(tx.Instructions, resolved)
		}
	}
	return tx, nil
}

func (c CompiledInstruction) resolve(accounts []chain.Address) (Instruction, error) {
	if c.Program < 0 || c.Program >= len(accounts) {
		return Instruction{}, fmt.Errorf("no account %d", c.Program)
	}
	resolved := Instruction{Program: accounts[c.Program], Data: c.Data, Depth: c.Depth}
	for _, position := range c.Accounts {
		if int(position) >= len(accounts) {
			return Instruction{}, fmt.Errorf("no account %d", position)
		}
		resolved.Accounts = append(resolved.Accounts, accounts[position])
	}
	return resolved, nil
}

// Ran reconstructs a simulated transaction from its logs, since nodes need not return the inner instructions of a
// simulation. Only the programs of these are known. The runtime's lines begin with "Program".
func (m Message) Ran(logs []string) Transaction {
	tx := Transaction{Logs: logs}
	outer := 0
	for _, line := range logs {
		said, isRuntime := strings.CutPrefix(line, "Program ")
		program, verb, _ := strings.Cut(said, " ")
		depth, isBegin := strings.CutPrefix(verb, "invoke [")
		at, err := chain.ParseAddress(program, chain.SVM)
		if !isRuntime || !isBegin || err != nil {
			continue
		}
		n, _ := strconv.Atoi(strings.TrimSuffix(depth, "]"))
		in := Instruction{Program: at, Depth: n}
		if n == 1 && outer < len(m.Instructions) {
			in.Data = m.Instructions[outer].Data
			outer++
		}
		tx.Instructions = append(tx.Instructions, in)
	}
	return tx
}
