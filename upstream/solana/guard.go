package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// plainPrograms are what every swap may call beside the venue's own program.
var plainPrograms = []chain.Address{
	solana.SystemProgram, solana.TokenProgram, solana.Token2022Program, solana.AssociatedTokenProgram,
	solana.ComputeBudgetProgram, solana.MemoProgram,
}

// allowedTokenInstructions are what a swap asks the token programs to do for the sender: accounts of the wrapped coin
// are opened, told of their coin and closed. Transfers, approvals and new owners are the business of the venue's
// program, never the sender's.
var allowedTokenInstructions = []byte{initializeAccount, closeAccount, initializeAccount2, syncNative, initializeAccount3}

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

// Guard checks swap transactions of Solana.
type Guard struct{}

var _ quote.Guard = Guard{}

// MinOut implements quote.Guard. It takes the venue's word, which the simulation holds it to.
func (Guard) MinOut(_ quote.Swap, _ quote.Profile, q quote.Quote, _ quote.Tx, wanted chain.Amount) (chain.Amount, error) {
	if q.Minimum.Cmp(wanted) < 0 {
		return chain.Amount{}, fmt.Errorf("%w: its minimum is %s instead of %s", quote.ErrRefused, q.Minimum, wanted)
	}
	return q.Minimum, nil
}

// Check implements quote.Guard. It refuses a transaction that another account than the sender pays or signs, that calls
// programs a swap has no use for, or that moves the sender's coin or tokens outside the venue's own program.
func (Guard) Check(s quote.Swap, p quote.Profile, tx quote.Tx) error {
	if err := check(s, p, tx); err != nil {
		return fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	return nil
}

func check(s quote.Swap, p quote.Profile, tx quote.Tx) error {
	if !tx.To.IsAbsent() || !tx.Value.IsZero() {
		return errors.New("it has a contract or a value beside the message")
	}
	m, err := solana.ParseUnsigned(tx.Data)
	switch {
	case err != nil:
		return err
	case m.FeePayer() != s.Sender:
		return errors.New("the sender does not pay for it")
	case s.Sender != s.Recipient && !slices.Contains(m.Accounts, s.Recipient):
		return errors.New("it does not name the recipient")
	}
	called, moved := false, chain.Amount{}
	for _, i := range m.Instructions {
		program := m.Account(i.Program)
		if p.Calls(s.Chain.ID, program) {
			called = true
			continue
		}
		lamports, err := checkPlain(s, m, program, i)
		if err != nil {
			return err
		}
		moved = moved.Add(lamports)
	}
	switch {
	case !called:
		return errors.New("it does not call the venue's program")
	case !moved.IsZero() && (!s.In.Address.IsNative() || moved.Cmp(s.In.Amount) > 0):
		return fmt.Errorf("it moves %s lamports of the sender's", moved)
	}
	return nil
}

// checkPlain refuses an instruction that neither prepares a swap nor cleans up after it, and returns how many lamports
// it moves.
func checkPlain(
	s quote.Swap, m solana.Message, program chain.Address, i solana.CompiledInstruction,
) (lamports chain.Amount, err error) {
	switch {
	case !slices.Contains(plainPrograms, program):
		return lamports, fmt.Errorf("it calls the program %s", program.Format(chain.SVM))
	case program == solana.SystemProgram:
		if len(i.Data) != 12 || binary.LittleEndian.Uint32(i.Data) != transferLamports {
			return lamports, errors.New("it asks of the system program what swaps do not need")
		}
		return chain.NewAmount(binary.LittleEndian.Uint64(i.Data[4:])), nil
	case program == solana.TokenProgram || program == solana.Token2022Program:
		return lamports, checkTokenInstruction(s, m, i)
	}
	return lamports, nil
}

// checkTokenInstruction lets what a closed account held go to the sender or the recipient only. An address from a
// lookup table is neither.
func checkTokenInstruction(s quote.Swap, m solana.Message, i solana.CompiledInstruction) error {
	if len(i.Data) == 0 || !slices.Contains(allowedTokenInstructions, i.Data[0]) {
		return errors.New("it moves the sender's tokens by itself")
	}
	if i.Data[0] != closeAccount {
		return nil
	}
	const destination = 1
	if len(i.Accounts) <= destination {
		return errors.New("it closes an account for nobody")
	}
	if to := m.Account(int(i.Accounts[destination])); to != s.Sender && to != s.Recipient {
		return errors.New("it closes an account in favor of a stranger")
	}
	return nil
}
