package creation

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// OnSolana is an order as dln_src is asked for it by the account that signs. It needs a nonce of the maker's choice.
type OnSolana struct {
	onchain.SolanaCreation
	Maker        chain.Address
	GiveToken    chain.Address // mint; the zero address is the coin
	TokenProgram chain.Address // of the mint; that of most tokens for the coin
}

// Split divides the give amount; see Creation.Split.
func (c OnSolana) Split(percentBps uint64) (Split, error) {
	return split(c.GiveAmount, c.Affiliate, percentBps)
}

// Terms are those of the order that the creation becomes; see Creation.Terms.
func (c OnSolana) Terms(net chain.Amount) order.Terms {
	return order.Terms{
		Nonce: *c.Nonce, Maker: c.Maker,
		Give: order.Offer{Chain: chain.Solana, Token: c.GiveToken, Amount: net},
		Take: c.Take, Receiver: c.Receiver, Authorities: c.Authorities, ExternalCall: c.ExternalCall,
	}
}

// Instruction asks dln_src for the order with an id (IDL 3.0.0: twelve accounts; seeds of
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

// Places of accounts of create_order that are looked at.
const (
	makerAccount  = 0
	mintAccount   = 2
	walletAccount = 5
	tokenAccount  = 10
)

var writtenAccounts = [12]bool{makerAccount: true, 3: true, walletAccount: true, 6: true, 7: true, 8: true}

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

// Mistakes of a transaction on Solana.
var (
	ErrNoCreation    = errors.New("the transaction does not call dln_src to create one order")
	ErrOtherAccounts = errors.New("the program refuses the accounts")
)

// OfSolana reads the order that a transaction asks dln_src for, which its outer instructions must do once. Where a
// table brings an account in its own way, it is absent in the message, and taken as right.
func OfSolana(m solana.Message, at chain.Contracts) (OnSolana, error) {
	var found []solana.CompiledInstruction
	for _, each := range m.Instructions {
		if _, err := onchain.ParseSolanaCreation(each.Data); m.Account(each.Program) == at.DlnSource && !errors.Is(err, onchain.ErrOtherInstruction) {
			found = append(found, each)
		}
	}
	if len(found) != 1 || len(found[0].Accounts) < len(writtenAccounts) {
		return OnSolana{}, fmt.Errorf("%w, but %d", ErrNoCreation, len(found))
	}
	asked, err := onchain.ParseSolanaCreation(found[0].Data)
	account := func(place int) chain.Address { return m.Account(int(found[0].Accounts[place])) }
	return OnSolana{
		SolanaCreation: asked, Maker: account(makerAccount), GiveToken: account(mintAccount), TokenProgram: account(tokenAccount),
	}, err
}

// CheckAccounts is ErrOtherAccounts where an account that a message names for the creation is not the one that the
// program wants for the order; the maker's wallet may be any.
func (c OnSolana) CheckAccounts(m solana.Message, at chain.Contracts, id order.ID) error {
	want := c.accounts(at, id)
	for _, each := range m.Instructions {
		if m.Account(each.Program) != at.DlnSource || len(each.Accounts) < len(want) {
			continue
		}
		for n, address := range want {
			got := m.Account(int(each.Accounts[n]))
			if n != walletAccount && !got.IsAbsent() && got != address {
				return fmt.Errorf("%w: account %d is %s in place of %s", ErrOtherAccounts, n, got.Format(chain.SVM), address.Format(chain.SVM))
			}
		}
	}
	return nil
}
