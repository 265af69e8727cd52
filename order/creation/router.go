package creation

import (
	"fmt"

	"crossgate/chain"
)

// swap makes the router's checks in its order, including those of DlnSource. The venue's output, and thus the value
// left for DlnSource, is only known to the chain.
func (j *judge) swap(w Swap) *Refusal {
	by, source := j.s.Contracts.Router, j.s.Contracts.DlnSource
	if r := j.input(w); r != nil {
		return r
	}
	if is := j.s.Give.IsToken; is != nil && !*is && w.TokenOut == j.f.Creation.GiveToken && !w.TokenOut.IsNative() {
		return noToken(by)
	}
	if j.known("router's list of venues", j.s.CallsVenue != nil) && !*j.s.CallsVenue {
		// Its balance is read before.
		j.known("token of the outcome", w.TokenOut.IsNative() || w.TokenOut == w.TokenIn || w.TokenOut == j.f.Creation.GiveToken)
		return refused(by, "the venue is not on the router's list", "NotSupportedRouter")
	}
	j.known("outcome of the venue", false)
	if j.known("router's list of targets", j.s.CallsTarget != nil) && !*j.s.CallsTarget {
		return refused(by, "the target is not on the router's list", "NotSupportedRouter")
	}
	if w.Target != source { // it may create another order, or none
		j.known("target, which is not DlnSource", false)
		j.f.Split, j.f.Terms, j.f.ID = nil, nil, nil
		return nil
	}
	give := j.s.Give
	if j.f.Creation.GiveToken == w.TokenOut && !w.TokenOut.IsNative() {
		give = give.with(w.ExpectedOut)
	}
	if j.f.Creation.GiveToken == w.TokenIn { // part of the input may be left
		give.Balance = nil
	}
	if r := j.source(nil, give); r != nil {
		return r.passed(by, source)
	}
	return j.rest(w)
}

// with returns the router's token after a swap that brought an amount; it approves DlnSource without limit.
func (t Token) with(amount chain.Amount) Token {
	if t.Allowance == nil || t.Allowance.Cmp(amount) < 0 {
		t.Allowance = new(chain.MaxAmount)
	}
	if t.Balance != nil {
		sum := t.Balance.Add(amount)
		t.Balance = &sum
	}
	return t
}

// input checks the caller's payment to the router.
func (j *judge) input(w Swap) *Refusal {
	by := j.s.Contracts.Router
	short := refused(by, fmt.Sprintf("the router gets less than the input of %s, or nothing", w.AmountIn), "NotEnoughSrcFundsIn", w.AmountIn)
	if w.TokenIn.IsNative() {
		switch {
		case j.Value.Cmp(w.AmountIn) < 0:
			return short
		case w.TokenOut.IsNative():
			return &Refusal{By: by, Data: []byte{}, Why: "input and outcome are the native coin"}
		}
		return nil
	}
	if is := j.s.Input.IsToken; is != nil && !*is { // the router reads its own balance first
		return noToken(by)
	}
	payer := j.s.Input
	if r := j.permit(readByRouter(w.Permit, by), &payer, by, refused(by, permitFails, "Error", "Permit failure")); r != nil {
		return r
	}
	if r := j.pull(w.AmountIn, payer, by); r != nil {
		return r
	}
	if w.AmountIn.IsZero() {
		return short
	}
	return nil
}

// rest checks that DlnSource took everything that the router meant to hand over.
func (j *judge) rest(w Swap) *Refusal {
	taken, before := chain.Amount{}, chain.Amount{}
	if j.f.Creation.GiveToken == w.TokenOut {
		taken = j.f.Creation.GiveAmount
		if j.s.Give.Balance != nil {
			before = *j.s.Give.Balance
		}
	}
	if w.TokenOut.IsNative() || taken.Cmp(w.ExpectedOut) >= 0 {
		return nil
	}
	why := fmt.Sprintf("the order takes %s of the outcome of %s", taken, w.ExpectedOut)
	return refused(j.s.Contracts.Router, why, "CallCausedBalanceDiscrepancy", w.Target, w.TokenOut, before, taken)
}
