package creation

import (
	"fmt"

	"crossgate/chain/solana"
)

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
