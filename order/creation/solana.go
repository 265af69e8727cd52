package creation

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// OnSolana is the input of dln_src for an order, from the account that signs. It needs a nonce chosen by the maker.
type OnSolana struct {
	onchain.SolanaCreation
	Maker        chain.Address
	GiveToken    chain.Address // mint; the zero address is the native coin
	TokenProgram chain.Address // of the mint; for the native coin that of most tokens
}

// Instruction returns the instruction that creates the order with an ID (IDL 3.0.0: twelve accounts; seeds of
// @debridge-finance/solana-utils).
func (c OnSolana) Instruction(at chain.Contracts, id order.ID) solana.DraftInstruction {
	accounts := c.accounts(at, id)
	in := solana.DraftInstruction{Program: at.DlnSource, Data: c.Data()}
	for n, account := range accounts {
		in.Accounts = append(in.Accounts, solana.DraftAccount{
			Address: account, Signer: n == makerAccount, Writable: writtenAccounts[n],
		})
	}
	return in
}

// Indexes of the accounts of create_order that are used here.
const (
	makerAccount   = 0
	mintAccount    = 2
	peerAccount    = 4
	walletAccount  = 5
	counterAccount = 7
	tokenAccount   = 10
)

var writtenAccounts = [12]bool{makerAccount: true, 3: true, walletAccount: true, 6: true, counterAccount: true, 8: true}

func (c OnSolana) accounts(at chain.Contracts, id order.ID) [12]chain.Address {
	takeChain := chain.NewAmount(uint64(c.Take.Chain)).Bytes32()
	own := func(seeds ...[]byte) chain.Address { return solana.ProgramAddress(at.DlnSource, seeds...) }
	wallet := c.Maker
	if !c.GiveToken.IsNative() {
		wallet = solana.TokenAccount(c.Maker, c.TokenProgram, c.GiveToken)
	}
	return [12]chain.Address{
		c.Maker, own([]byte("STATE")), c.GiveToken, onchain.GiveOrderAccount(at, id),
		own([]byte("AUTHORIZED_NATIVE_SENDER"), takeChain[:]), wallet, own([]byte("GIVE_ORDER_WALLET"), id[:]),
		own([]byte("NONCE"), c.Maker.Bytes()), own([]byte("FEE_LEDGER_WALLET"), c.GiveToken.Bytes()),
		solana.SystemProgram, c.TokenProgram, solana.AssociatedTokenProgram,
	}
}

// ErrOtherAccounts says that dln_src would refuse the accounts of a creation.
var ErrOtherAccounts = errors.New("the program refuses the accounts")

// OfSolana reads the order that an instruction asks dln_src for, ErrOtherFunction if it does not. An account in an
// unknown lookup table is absent.
func OfSolana(in solana.Instruction, at chain.Contracts) (OnSolana, error) {
	asked, err := onchain.ParseSolanaCreation(in.Data)
	switch {
	case in.Program != at.DlnSource || errors.Is(err, onchain.ErrOtherInstruction):
		return OnSolana{}, ErrOtherFunction
	case err != nil:
		return OnSolana{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	case len(in.Accounts) < len(writtenAccounts):
		return OnSolana{}, fmt.Errorf("%w: create_order with %d accounts", ErrMalformed, len(in.Accounts))
	}
	return OnSolana{
		SolanaCreation: asked, Maker: in.Accounts[makerAccount], GiveToken: in.Accounts[mintAccount],
		TokenProgram: in.Accounts[tokenAccount],
	}, nil
}

// Views returns the accounts, besides the program's own, whose contents decide about the creation: the peer for orders
// of the take chain, the maker's counter, and the instruction's wallet.
func (c OnSolana) Views(in solana.Instruction, at chain.Contracts) [3]chain.Address {
	own := c.accounts(at, order.ID{})
	return [3]chain.Address{own[peerAccount], own[counterAccount], in.Accounts[walletAccount]}
}

// CheckAccounts returns ErrOtherAccounts if an account of the creation's instruction is not the one that the program
// requires for the order; the maker's wallet may be any. An absent account counts as correct.
func (c OnSolana) CheckAccounts(in solana.Instruction, at chain.Contracts, id order.ID) error {
	for n, want := range c.accounts(at, id) {
		if got := in.Accounts[n]; n != walletAccount && !got.IsAbsent() && got != want {
			return fmt.Errorf("%w: account %d is %s in place of %s", ErrOtherAccounts, n, got.Format(chain.SVM), want.Format(chain.SVM))
		}
	}
	return nil
}
