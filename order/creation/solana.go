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

// InstructionOnSolana is an instruction that asks dln_src for an order, with everything about it that depends on the
// rest of the transaction.
type InstructionOnSolana struct {
	solana.Instruction
	Asked    OnSolana // as read by OfSolana
	Mistake  error    // error of OfSolana
	IsSigned bool     // by the maker
	IsFirst  bool     // no earlier instruction can pay the maker
}

// JudgeOnSolana returns what an instruction would do in a state, whose Input is the maker's wallet of the give token.
// Value is in the maker's lamports, without deposits for accounts. The checks are those of dln_src (IDL 3.0.0).
func JudgeOnSolana(in InstructionOnSolana, s State) Forecast {
	o, by := in.Asked, s.Contracts.DlnSource
	if in.Mistake != nil {
		return Forecast{Refusal: &Refusal{By: by, Why: in.Mistake.Error()}}
	}
	j := judge{Transaction: Transaction{Sender: o.Maker, To: by}, s: s}
	j.f = Forecast{Maker: o.Maker, Affiliate: o.Affiliate, Creation: Creation{
		GiveToken: o.GiveToken, GiveAmount: o.GiveAmount, Take: o.Take, Receiver: o.Receiver, Authorities: o.Authorities,
		ExternalCall: o.ExternalCall, Salt: o.Nonce, ReferralCode: o.ReferralCode, Metadata: o.Metadata,
	}}
	j.decide(func() *Refusal {
		why := j.program(in)
		if why == "" {
			return nil
		}
		return &Refusal{By: by, Why: why}
	})
	return j.f
}

// program returns why dln_src would refuse the order; empty: no reason is known.
func (j *judge) program(in InstructionOnSolana) string {
	c, s := j.f.Creation, j.s
	switch {
	case !in.IsSigned:
		return "the maker does not sign"
	case j.known("pause of the program", s.Paused != nil) && *s.Paused:
		return "the program is paused"
	case j.known("percentage", s.PercentBps != nil) && j.f.Split == nil:
		return "percentage and affiliate fee exceed the give amount"
	case c.Take.Chain == 0 || s.Destination != nil && s.Destination.IsAbsent():
		return fmt.Sprintf("the program has no DlnDestination for chain %d", c.Take.Chain)
	}
	if j.known("DlnDestination of the take chain", s.Destination != nil) {
		if r := j.lengths(s.Destination.Len(), solana.KeySize); r != "" {
			return r
		}
	}
	if j.known("order id", j.f.ID != nil) {
		if err := in.Asked.CheckAccounts(in.Instruction, s.Contracts, *j.f.ID); err != nil {
			return err.Error()
		}
		if j.known("status of the order id", s.IsUsed != nil) && *s.IsUsed {
			return "an order with this id exists"
		}
	}
	if j.known("balance of the maker's wallet", in.IsFirst && s.Input.Balance != nil) && s.Input.Balance.Cmp(c.GiveAmount) < 0 {
		return fmt.Sprintf("the maker's wallet has %s of the give token, the order takes %s", s.Input.Balance, c.GiveAmount)
	}
	j.known("other checks of the program and the runtime", false) // deposits, wallet's owner, writable accounts
	return ""
}
