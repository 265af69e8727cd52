package quote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
)

// Sizes of a Solana transaction: https://solana.com/docs/core/transactions
const (
	largestMessage  = 1232
	signatureLength = 64
	keyLength       = 32
	versionBit      = 0x80
)

// Programs that every swap may call beside the venue's own.
var (
	systemProgram    = solanaProgram("11111111111111111111111111111111")
	tokenProgram     = solanaProgram("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	token2022Program = solanaProgram("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	plainPrograms    = []chain.Address{
		systemProgram, tokenProgram, token2022Program,
		solanaProgram("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
		budgetProgram,
		solanaProgram("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
	}
)

// What a swap asks the token programs to do for the sender: accounts of the wrapped coin are opened, told of their
// coin and closed. Transfers, approvals and new owners are the venue's program's business, never the sender's.
const (
	initializeAccount  = 1
	closeAccount       = 9
	initializeAccount2 = 16
	syncNative         = 17
	initializeAccount3 = 18
)

// transferLamports is what a swap asks the system program to do: the instruction's number, four bytes before the
// amount.
const transferLamports = 2

func solanaProgram(text string) chain.Address {
	a, err := chain.ParseAddress(text, chain.SVM)
	if err != nil {
		panic("quote: program: " + err.Error())
	}
	return a
}

// guardMessage refuses a Solana transaction that somebody else than the sender pays or signs, that calls
// programs a swap has no use for, or that moves the sender's coin or tokens outside the venue's own program.
func guardMessage(s Swap, p Profile, tx Tx) error {
	if !tx.To.IsAbsent() || !tx.Value.IsZero() {
		return fmt.Errorf("%w: it has a contract or a value beside the message", ErrRefused)
	}
	m, err := readMessage(tx.Data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if len(m.keys) == 0 || m.keys[0] != s.Sender {
		return fmt.Errorf("%w: the sender does not pay for it", ErrRefused)
	}
	if s.Sender != s.Recipient && !slices.Contains(m.keys, s.Recipient) {
		return fmt.Errorf("%w: it does not name the recipient", ErrRefused)
	}
	called, moved := false, chain.Amount{}
	for _, i := range m.instructions {
		program := m.key(i.program)
		if p.Calls(s.Chain.ID, program) {
			called = true
			continue
		}
		lamports, err := m.plain(s, program, i)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		moved = moved.Add(lamports)
	}
	switch {
	case !called:
		return fmt.Errorf("%w: it does not call the venue's program", ErrRefused)
	case !moved.IsZero() && (!s.In.Address.IsNative() || moved.Cmp(s.In.Amount) > 0):
		return fmt.Errorf("%w: it moves %s lamports of the sender's", ErrRefused, moved)
	}
	return nil
}

// plain refuses an instruction that is not part of preparing a swap or of tidying up after it, and tells how
// many lamports it moves.
func (m message) plain(s Swap, program chain.Address, i instruction) (lamports chain.Amount, err error) {
	switch {
	case !slices.Contains(plainPrograms, program):
		return lamports, fmt.Errorf("it calls the program %s", program.Format(chain.SVM))
	case program == systemProgram:
		if len(i.data) != 12 || binary.LittleEndian.Uint32(i.data) != transferLamports {
			return lamports, errors.New("it asks of the system program what swaps do not need")
		}
		return chain.NewAmount(binary.LittleEndian.Uint64(i.data[4:])), nil
	case program == tokenProgram || program == token2022Program:
		return lamports, m.tokenInstruction(s, i)
	}
	return lamports, nil
}

func (m message) tokenInstruction(s Swap, i instruction) error {
	allowed := []byte{initializeAccount, closeAccount, initializeAccount2, syncNative, initializeAccount3}
	if len(i.data) == 0 || !slices.Contains(allowed, i.data[0]) {
		return errors.New("it moves the sender's tokens by itself")
	}
	if i.data[0] != closeAccount {
		return nil
	}
	const destination = 1
	if len(i.accounts) <= destination {
		return errors.New("it closes an account for nobody")
	}
	if heir := m.key(i.accounts[destination]); heir != s.Sender && heir != s.Recipient {
		return errors.New("it closes an account for somebody else")
	}
	return nil
}

// message is an unsigned Solana transaction, as far as it is looked at.
type message struct {
	keys         []chain.Address // the first one pays
	instructions []instruction
}

type instruction struct {
	program  byte   // index of keys
	accounts []byte // indices of keys, and after them of what address tables hold
	data     []byte
}

// key returns the key at an index, absent when it comes from an address table: no program and no heir may.
func (m message) key(index byte) chain.Address {
	if int(index) >= len(m.keys) {
		return chain.Address{}
	}
	return m.keys[index]
}

// readMessage reads a transaction that waits for one signature.
func readMessage(raw []byte) (m message, err error) {
	if len(raw) > largestMessage {
		return m, fmt.Errorf("message of %d bytes", len(raw))
	}
	r := reader{raw: raw}
	if signatures := r.count(); signatures != 1 || bytes.ContainsFunc(r.take(signatureLength), func(b rune) bool { return b != 0 }) {
		return m, errors.New("message is signed, or wants several signatures")
	}
	versioned := len(r.raw) > 0 && r.raw[0]&versionBit != 0
	if versioned && r.take(1)[0] != versionBit {
		return m, errors.New("message of an unknown version")
	}
	if header := r.take(3); len(header) == 3 && header[0] != 1 {
		return m, errors.New("message wants several signatures")
	}
	for range r.count() {
		m.keys = append(m.keys, chain.NewAddress(r.take(keyLength)))
	}
	r.take(keyLength) // the block hash
	for range r.count() {
		i := instruction{}
		if program := r.take(1); len(program) == 1 {
			i.program = program[0]
		}
		i.accounts = r.take(r.count())
		i.data = r.take(r.count())
		m.instructions = append(m.instructions, i)
	}
	if r.short {
		return message{}, errors.New("message breaks off")
	}
	return m, nil
}

// reader takes bytes off the front. Once they do not suffice it gives nothing any more.
type reader struct {
	raw   []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.raw) {
		r.raw, r.short = nil, true
		return nil
	}
	taken := r.raw[:n]
	r.raw = r.raw[n:]
	return taken
}

// count reads a length of up to three bytes, seven bits each.
func (r *reader) count() int {
	n := 0
	for shift := 0; shift < 21; shift += 7 {
		b := r.take(1)
		if b == nil {
			return 0
		}
		n |= int(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			break
		}
	}
	return min(n, largestMessage)
}
