package creation

import (
	"bytes"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Forecast is what a transaction would do.
type Forecast struct {
	Creation  Creation
	Affiliate *order.Affiliate // of the creation; nil: none
	Swap      *Swap            // before it; nil: none

	// Maker is the sender. Behind a contract wallet, that is the account which sends the transaction in the end.
	Maker    chain.Address
	Value    *chain.Amount // that the transaction has to carry; nil: not known
	FixedFee *chain.Amount
	Split    *Split
	Terms    *order.Terms // of the order that would be made, or is refused
	ID       *order.ID

	Refusal  *Refusal // the first one in the contracts' own order of checks; nil: none is known
	Unknown  []string // checks that could not be made
	Warnings []Warning
}

// Judge says what the transaction would do in the state. The caller is who calls To: the sender, unless a contract
// stands between. Calldata of other functions, and of other contracts, is ErrOtherFunction.
func Judge(t Transaction, caller chain.Address, s State) (Forecast, error) {
	j := judge{Transaction: t, caller: caller, s: s}
	j.f.Maker = t.Sender
	data := t.Data
	switch {
	case !s.Contracts.DlnSource.IsAbsent() && t.To == s.Contracts.DlnSource:
	case !s.Contracts.Router.IsAbsent() && t.To == s.Contracts.Router:
		swap, err := ParseSwap(data)
		if errors.Is(err, ErrOtherFunction) {
			return Forecast{}, err
		}
		if j.router, data = err, swap.TargetData; err == nil {
			j.f.Swap = &swap
		}
	default:
		return Forecast{}, ErrOtherFunction
	}
	if j.router == nil {
		var err error
		if j.f.Creation, j.late, err = parse(data); errors.Is(err, ErrOtherFunction) {
			return Forecast{}, err
		}
		j.early, j.f.Affiliate = err, j.f.Creation.Affiliate()
	}
	j.decide(j.refusal)
	if w, said := j.f.Swap, s.Executed; w != nil && w.Target != s.Contracts.DlnSource && said != nil && !said.IsReverted {
		return Forecast{}, ErrOtherFunction
	}
	return j.f, nil
}

// decide makes the forecast of a creation that was read.
func (j *judge) decide(refusal func() *Refusal) {
	isRead := j.router == nil && j.early == nil && j.late == nil
	if isRead {
		j.describe()
	}
	j.f.Refusal = refusal()
	j.hear()
	if isRead {
		j.warn()
	} else {
		j.f.Creation, j.f.Affiliate = Creation{}, nil
	}
}

// judge goes through the checks of the contracts.
type judge struct {
	Transaction
	caller chain.Address
	s      State
	f      Forecast

	router, early, late error // of calldata: of the router's; of DlnSource's, before its checks and within them
}

// describe computes fees, terms and id as far as the state is known. Refused creations have them, too.
func (j *judge) describe() {
	c := j.f.Creation
	j.f.FixedFee = j.s.FixedFee
	if j.s.FixedFee != nil {
		value := *j.s.FixedFee
		switch {
		case j.f.Swap == nil && c.GiveToken.IsNative():
			value = value.Add(c.GiveAmount)
		case j.f.Swap != nil && j.f.Swap.TokenIn.IsNative():
			value = value.Add(j.f.Swap.AmountIn)
		}
		j.f.Value = &value
	}
	nonce := c.Salt
	if nonce == nil {
		nonce = j.s.Nonce
	}
	if j.s.PercentBps == nil {
		return
	}
	split, err := split(c.GiveAmount, j.f.Affiliate, *j.s.PercentBps)
	if err != nil {
		return
	}
	j.f.Split = &split
	if nonce == nil || j.Sender.IsAbsent() || c.GiveToken.IsAbsent() {
		return
	}
	terms := c.Terms(j.s.Chain, j.Sender, *nonce, split.Net)
	id := onchain.ID(terms)
	j.f.Terms, j.f.ID = &terms, &id
}

// refusal is the first one.
func (j *judge) refusal() *Refusal {
	if j.known("balance of the native coin", j.s.Coins != nil) && j.s.Coins.Cmp(j.Value) < 0 {
		return &Refusal{Why: "the sender has " + j.s.Coins.String() + " of the native coin, less than the value"}
	}
	switch {
	case j.router != nil:
		return malformed(j.To, j.router)
	case j.f.Swap != nil:
		return j.swap(*j.f.Swap)
	}
	return j.source(&j.Value, j.s.Input)
}

// known notes a check that cannot be made.
func (j *judge) known(check string, is bool) bool {
	if !is {
		j.f.Unknown = append(j.f.Unknown, check)
	}
	return is
}

// OfNothing checks a forecast that names the lack of an allowance and no other fault: by the rules that are known the
// transaction makes the promised order. It returns calldata for the same order with nothing given, which needs no
// allowance, and its id. Errors: ErrUnforeseen, and ErrBroken.
func (f Forecast) OfNothing(p Promise) (data []byte, id order.ID, err error) {
	if f.Refusal == nil || !f.Refusal.IsUnapproved || len(f.Unknown) > 0 || f.ID == nil || f.FixedFee == nil {
		return nil, id, fmt.Errorf("%w: %+v, not known: %q", ErrUnforeseen, f.Refusal, f.Unknown)
	}
	err = p.Check([]onchain.Found{{Order: *f.ID, Fact: order.Created{
		Terms: *f.Terms, FixFee: *f.FixedFee, PercentFee: f.Split.Percent, Affiliate: f.Affiliate,
		ReferralCode: f.Creation.ReferralCode, Metadata: f.Creation.Metadata,
	}}})
	nothing, terms := f.Creation, *f.Terms
	nothing.GiveAmount, nothing.AffiliateFee, nothing.Permit, terms.Give.Amount = chain.Amount{}, nil, nil, chain.Amount{}
	return nothing.Data(), onchain.ID(terms), err
}

// hear lets the chain's word on the whole transaction stand above the rules, which are those of one version.
func (j *judge) hear() {
	said := j.s.Executed
	switch {
	case said == nil:
	case !said.IsReverted:
		if j.f.Refusal != nil {
			j.f.Warnings = append(j.f.Warnings, Warning{RulesDiffer, "the chain makes it, though " + j.f.Refusal.Why})
		}
		j.f.Refusal, j.f.Unknown = nil, nil
	case j.f.Refusal == nil:
		j.f.Refusal = &Refusal{By: j.To, Data: said.Data, Why: "the chain refuses it: " + said.reason()}
	case j.f.Refusal.Data == nil && !j.f.Refusal.By.IsAbsent():
		j.f.Refusal.Data = said.Data
	case !j.f.Refusal.By.IsAbsent() && len(said.Data)+len(j.f.Unknown) > 0 && !bytes.Equal(said.Data, j.f.Refusal.Data):
		j.f.Warnings = append(j.f.Warnings, Warning{RulesDiffer, "by the rules that are known " + j.f.Refusal.Why})
		j.f.Refusal = &Refusal{By: j.To, Data: said.Data, Why: "the chain refuses it: " + said.reason()}
	}
}

// Observed is the forecast of a transaction whose calldata is of another function, from an order that the chain says it
// makes: of a contract wallet, say. Parts found only in calldata, such as permits, are absent.
func Observed(t Transaction, id order.ID, made order.Created) Forecast {
	f := Forecast{
		Maker: made.Terms.Maker, FixedFee: &made.FixFee, Terms: &made.Terms, ID: &id,
		Split: &Split{Percent: made.PercentFee, Net: made.Terms.Give.Amount},
		Creation: Creation{
			GiveToken: made.Terms.Give.Token, Take: made.Terms.Take, Receiver: made.Terms.Receiver, Authorities: made.Terms.Authorities,
			ExternalCall: made.Terms.ExternalCall, Salt: &made.Terms.Nonce, ReferralCode: made.ReferralCode, Metadata: made.Metadata,
		},
	}
	if f.Affiliate = made.Affiliate; made.Affiliate != nil {
		f.Split.Affiliate = made.Affiliate.Amount
	}
	f.Creation.GiveAmount = f.Split.Net.Add(f.Split.Percent).Add(f.Split.Affiliate)
	j := judge{Transaction: t, caller: t.Sender, f: f}
	j.warn()
	return j.f
}

// Reconciled are forecasts or, where the chain says that the transaction makes other orders, those.
func Reconciled(t Transaction, all []Forecast, made []onchain.Found) []Forecast {
	isOther := func(f Forecast, found onchain.Found) bool { return f.ID == nil || *f.ID != found.Order }
	isEqual := len(made) == len(all)
	for i := 0; isEqual && i < len(all); i++ {
		isEqual = !isOther(all[i], made[i])
	}
	if isEqual || len(made) == 0 {
		return all
	}
	others := make([]Forecast, len(made))
	for i, found := range made {
		others[i] = Observed(t, found.Order, found.Fact.(order.Created))
		if len(all) == 0 {
			continue
		}
		others[i].Swap = all[0].Swap
		others[i].Warnings = append(others[i].Warnings, Warning{
			RulesDiffer, "the chain makes another order than the transaction says by the rules that are known",
		})
	}
	return others
}
