package onchain

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"crossgate/chain"
)

// SolanaMessage is a transaction as its signers sent it: accounts are named by their position in a list of
// which only the first part, Accounts, is in the message; lookup tables on the chain hold the rest.
type SolanaMessage struct {
	Signature    chain.TxHash // of the fee payer over everything else: it names the transaction
	Accounts     []chain.Address
	LookedUp     int // accounts that come from lookup tables
	Instructions []CompiledInstruction
}

// CompiledInstruction is an instruction with positions in the list of accounts.
type CompiledInstruction struct {
	Program  int
	Accounts []uint8
	Data     []byte
	Depth    int // 2 for what an outer instruction called, and so on; zero for an outer one
}

// FeePayer is the account that sent the transaction.
func (m SolanaMessage) FeePayer() chain.Address { return m.Accounts[0] }

const (
	solanaSignatureSize = 64
	solanaKeySize       = 32
	// versionFlag marks a versioned message; a legacy one begins with its number of signatures.
	versionFlag = 0x80
)

// ParseSolanaMessage reads a transaction in its wire form, legacy or version 0
// (solana.com/docs/core/transactions). One whose first signature is not the fee payer's is an error: nobody
// can make up a transaction of that signature.
func ParseSolanaMessage(raw []byte) (SolanaMessage, error) {
	w := &wire{rest: raw}
	signatures := w.take(w.length() * solanaSignatureSize)
	signed := w.rest
	versioned := len(signed) > 0 && signed[0]&versionFlag != 0
	if version := w.peek() &^ versionFlag; versioned && version != 0 {
		return SolanaMessage{}, fmt.Errorf("message of version %d", version)
	}
	if versioned {
		w.take(1)
	}
	m := w.message(versioned)
	switch {
	case w.broken:
		return SolanaMessage{}, errors.New("transaction breaks off")
	case len(w.rest) > 0:
		return SolanaMessage{}, fmt.Errorf("%d bytes behind the transaction", len(w.rest))
	case len(signatures) == 0 || len(m.Accounts) == 0:
		return SolanaMessage{}, errors.New("transaction without a signer")
	}
	first := signatures[:solanaSignatureSize]
	if !ed25519.Verify(m.FeePayer().Bytes(), signed, first) {
		return SolanaMessage{}, errors.New("transaction is not signed by its fee payer")
	}
	m.Signature = chain.NewTxHash(first)
	return m, nil
}

// wire reads a transaction from front to back. When it breaks off, zero values are read.
type wire struct {
	rest   []byte
	broken bool
}

func (w *wire) take(length int) []byte {
	if length > len(w.rest) {
		w.broken = true
	}
	if w.broken {
		return nil
	}
	taken := w.rest[:length]
	w.rest = w.rest[length:]
	return taken
}

func (w *wire) peek() byte {
	if len(w.rest) == 0 {
		return 0
	}
	return w.rest[0]
}

func (w *wire) byte() byte {
	if raw := w.take(1); raw != nil {
		return raw[0]
	}
	return 0
}

// length reads a length: seven bits a byte, lowest first, at most three bytes ("compact-u16").
func (w *wire) length() int {
	length := 0
	for shift := 0; shift <= 14; shift += 7 {
		next := w.byte()
		length |= int(next&0x7f) << shift
		if next&0x80 == 0 {
			return length
		}
	}
	w.broken = true
	return 0
}

func (w *wire) message(versioned bool) SolanaMessage {
	const headerSize = 3 // how many accounts sign, and how many of either kind are only read
	var m SolanaMessage
	w.take(headerSize)
	keys := w.take(w.length() * solanaKeySize)
	for len(keys) > 0 {
		m.Accounts = append(m.Accounts, chain.NewAddress(keys[:solanaKeySize]))
		keys = keys[solanaKeySize:]
	}
	w.take(solanaKeySize) // recent blockhash
	for count := w.length(); count > 0 && !w.broken; count-- {
		m.Instructions = append(m.Instructions, CompiledInstruction{
			Program:  int(w.byte()),
			Accounts: w.take(w.length()),
			Data:     w.take(w.length()),
		})
	}
	if !versioned {
		return m
	}
	for count := w.length(); count > 0 && !w.broken; count-- {
		w.take(solanaKeySize) // the lookup table
		writable := len(w.take(w.length()))
		m.LookedUp += writable + len(w.take(w.length()))
	}
	return m
}

// Resolve names the accounts of all instructions: the message's and those that they called, inner, by the
// index of the outer instruction. lookedUp are the accounts from lookup tables, writable ones first.
func (m SolanaMessage) Resolve(lookedUp []chain.Address, inner map[int][]CompiledInstruction, logs []string) (SolanaTransaction, error) {
	if len(lookedUp) != m.LookedUp {
		return SolanaTransaction{}, fmt.Errorf("%d accounts from lookup tables, the message names %d", len(lookedUp), m.LookedUp)
	}
	accounts := append(append([]chain.Address{}, m.Accounts...), lookedUp...)
	tx := SolanaTransaction{Logs: logs}
	for i, outer := range m.Instructions {
		outer.Depth = 1
		for _, compiled := range append([]CompiledInstruction{outer}, inner[i]...) {
			resolved, err := compiled.resolve(accounts)
			if err != nil {
				return SolanaTransaction{}, fmt.Errorf("instruction %d: %w", i, err)
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
