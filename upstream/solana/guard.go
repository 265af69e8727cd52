package solana

import (
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// plainPrograms are those that every swap may call besides the venue's own program.
var plainPrograms = []chain.Address{
	solana.SystemProgram, solana.TokenProgram, solana.Token2022Program, solana.AssociatedTokenProgram,
	solana.ComputeBudgetProgram, solana.MemoProgram,
}

// allowedTokenInstructions are the instructions of token programs that a swap needs for the sender: opening, syncing
// and closing accounts of the wrapped coin. Transfers, approvals and changes of owner are up to the venue's program,
// never to the sender.
var allowedTokenInstructions = []byte{initializeAccount, closeAccount, initializeAccount2, syncNative, initializeAccount3}

const (
	initializeAccount  = 1
	closeAccount       = 9
	initializeAccount2 = 16
	syncNative         = 17
	initializeAccount3 = 18
)

// Guard checks swap transactions of Solana.
type Guard struct{}

var _ quote.Guard = Guard{}

// mostFee bounds a transaction's priority fee, including tips, in lamports: twice the most that venues are asked to
// bid.
const mostFee = 2_000_000

// checkBid refuses a message whose priority fee for the units that it took exceeds the bound.
func checkBid(m solana.Message, units uint64) error {
	if fee := solana.PriorityFee(units, chain.NewAmount(m.Budget().Price)); fee.Cmp(chain.NewAmount(mostFee)) > 0 {
		return fmt.Errorf("%w: its priority fee is %s lamports", quote.ErrRefused, fee)
	}
	return nil
}

// tipAccounts belong to Jito, whose block builders are paid by transfers to them
// (https://docs.jito.wtf/lowlatencytxnsend, tip accounts).
var tipAccounts = []chain.Address{
	solana.MustAccount("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"),
	solana.MustAccount("HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe"),
	solana.MustAccount("Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY"),
	solana.MustAccount("ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49"),
	solana.MustAccount("DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh"),
	solana.MustAccount("ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt"),
	solana.MustAccount("DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL"),
	solana.MustAccount("3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT"),
}

// MinOut implements quote.Guard: it reads payee and minimum from the call of the venue's program.
func (Guard) MinOut(s quote.Swap, p quote.Profile, tx quote.Tx, wanted chain.Amount) (minimum chain.Amount, err error) {
	m, err := solana.ParseUnsigned(tx.Data)
	if err != nil {
		return minimum, fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	for _, i := range m.Instructions {
		if !p.Calls(s.Chain.ID, m.Account(i.Program)) {
			continue
		}
		if minimum, err = readMinimum(s, m, i); err != nil {
			return chain.Amount{}, fmt.Errorf("%w: %w", quote.ErrRefused, err)
		}
	}
	if minimum.Cmp(wanted) < 0 {
		return chain.Amount{}, fmt.Errorf("%w: its minimum is %s instead of %s", quote.ErrRefused, minimum, wanted)
	}
	return minimum, nil
}

// Check implements quote.Guard. It refuses a transaction that another account than the sender pays or signs, that calls
// programs a swap does not need or the venue's program more than once, or that moves the sender's coin or tokens
// outside of the venue's program, except into his own account of the wrapped coin and as a tip.
func (Guard) Check(s quote.Swap, p quote.Profile, tx quote.Tx) error {
	if err := check(s, p, tx); err != nil {
		return fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	return nil
}

func check(s quote.Swap, p quote.Profile, tx quote.Tx) error {
	if !tx.To.IsAbsent() || !tx.Value.IsZero() {
		return errors.New("it has a contract or a value besides the message")
	}
	m, err := solana.ParseUnsigned(tx.Data)
	switch {
	case err != nil:
		return err
	case m.FeePayer() != s.Sender:
		return errors.New("the sender does not pay for it")
	}
	moved, called := movedLamports{}, 0
	for _, i := range m.Instructions {
		program := m.Account(i.Program)
		if p.Calls(s.Chain.ID, program) {
			if called++; !mentions(m, i, payable(s)) {
				return errors.New("the venue's program gets no account of the recipient's")
			}
			continue
		}
		if err := checkPlain(s, m, program, i, &moved); err != nil {
			return err
		}
	}
	spent := moved.tips.Add(m.PriorityFee())
	switch {
	case called != 1:
		return fmt.Errorf("it calls the venue's program %d times", called)
	case !moved.wrapped.IsZero() && (!s.In.Address.IsNative() || moved.wrapped.Cmp(s.In.Amount) > 0):
		return fmt.Errorf("it moves %s lamports of the sender's", moved.wrapped)
	case spent.Cmp(chain.NewAmount(mostFee)) > 0:
		return fmt.Errorf("priority fee of %s lamports exceeds the limit", spent)
	}
	return nil
}

// movedLamports sums up the system transfers from the sender.
type movedLamports struct {
	wrapped chain.Amount // into his own account of the wrapped coin
	tips    chain.Amount
}

// payable returns the accounts that a swap may pay: the recipient's for the output and, if that is the coin, also the
// sender's for the wrapped coin, which pays out to either when it is closed.
func payable(s quote.Swap) []chain.Address {
	if !s.Out.Address.IsNative() {
		return holdings(s.Out.Address, s.Recipient)[1:]
	}
	return append(holdings(s.Chain.WrappedCoin, s.Recipient), holdings(s.Chain.WrappedCoin, s.Sender)[1:]...)
}

func mentions(m solana.Message, i solana.CompiledInstruction, accounts []chain.Address) bool {
	return slices.ContainsFunc(i.Accounts, func(at uint8) bool { return slices.Contains(accounts, m.Account(int(at))) })
}

// checkPlain refuses an instruction that neither prepares a swap nor cleans up after it, and adds up the lamports that
// it moves.
func checkPlain(
	s quote.Swap, m solana.Message, program chain.Address, i solana.CompiledInstruction, moved *movedLamports,
) error {
	switch {
	case !slices.Contains(plainPrograms, program):
		return fmt.Errorf("it calls the program %s", program.Format(chain.SVM))
	case program == solana.SystemProgram:
		return checkTransfer(s, m, i, moved)
	case program == solana.TokenProgram || program == solana.Token2022Program:
		return checkTokenInstruction(s, m, i)
	case program == solana.AssociatedTokenProgram:
		// The account is certainly the owner's: the program derives it.
		const owner = 2
		if len(i.Accounts) <= owner || !isOwn(s, m.Account(int(i.Accounts[owner]))) {
			return errors.New("it opens an account for a stranger")
		}
	}
	return nil
}

func isOwn(s quote.Swap, account chain.Address) bool {
	return !account.IsAbsent() && (account == s.Sender || account == s.Recipient)
}

// checkTransfer allows lamports to go only into the sender's account of the wrapped coin, or to block builders.
func checkTransfer(s quote.Swap, m solana.Message, i solana.CompiledInstruction, moved *movedLamports) error {
	read, is := m.ReadTransfer(i)
	switch {
	case !is:
		return errors.New("it calls the system program in a way that swaps do not need")
	case read.From != s.Sender:
		return errors.New("it moves a stranger's lamports")
	case slices.Contains(holdings(s.Chain.WrappedCoin, s.Sender)[1:], read.To):
		moved.wrapped = moved.wrapped.Add(read.Lamports)
	case slices.Contains(tipAccounts, read.To):
		moved.tips = moved.tips.Add(read.Lamports)
	default:
		return fmt.Errorf("it moves %s lamports to a stranger", read.Lamports)
	}
	return nil
}

// checkTokenInstruction allows the content of a closed account to go only to the sender or the recipient. An address
// from a lookup table is neither.
func checkTokenInstruction(s quote.Swap, m solana.Message, i solana.CompiledInstruction) error {
	if len(i.Data) == 0 || !slices.Contains(allowedTokenInstructions, i.Data[0]) {
		return errors.New("it moves the sender's tokens by itself")
	}
	if i.Data[0] != closeAccount {
		return nil
	}
	const destination = 1
	if len(i.Accounts) <= destination {
		return errors.New("it closes an account without a beneficiary")
	}
	if to := m.Account(int(i.Accounts[destination])); to != s.Sender && to != s.Recipient {
		return errors.New("it closes an account in favor of a stranger")
	}
	return nil
}
