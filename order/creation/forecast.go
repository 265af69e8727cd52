package creation

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Forecast is the expected outcome of a transaction.
type Forecast struct {
	Creation  Creation
	Affiliate *order.Affiliate // of the creation; nil if none
	Swap      *Swap            // before the creation, in the router's call; nil if none
	// Spent is what a whole transaction on Solana takes from the maker besides its fees and the deposits of accounts,
	// by token, with the wrapped coin as the coin. nil: the give amount, or unknown.
	Spent []order.Offer

	// Maker is the sender. For a contract wallet, that is the account which eventually sends the transaction.
	Maker    chain.Address
	Value    *chain.Amount // native coin that the transaction must carry; nil: not known
	FixedFee *chain.Amount
	Split    *Split
	Terms    *order.Terms // of the order that would be created, or is refused
	ID       *order.ID

	Refusal  *Refusal // first one in the contracts' order of checks; nil: none is known
	Unknown  []string // checks that could not be made
	Warnings []Warning
}

// UnknownInput is the unknown that other calls before a creation take from its maker.
const UnknownInput = "what the other programs take from the maker"

// Judge returns what the transaction would do in state s. It returns ErrOtherFunction for calldata of other functions
// or contracts.
func Judge(t Transaction, s State) (Forecast, error) {
	j := judge{Transaction: t, s: s}
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

// decide completes the forecast of a creation whose calldata was read, or failed to be.
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

// judge makes the checks of the contracts.
type judge struct {
	Transaction
	s State
	f Forecast

	router, early, late error // decoding the router's calldata; DlnSource's, before its checks and within
}

// describe computes fees, terms and ID as far as the state is known, for refused creations too.
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
	split, err := SplitOf(c.GiveAmount, j.f.Affiliate, *j.s.PercentBps)
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

// refusal returns the first refusal.
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

// known reports whether a check can be made, and records the check as unknown if not.
func (j *judge) known(check string, is bool) bool {
	if !is {
		j.f.Unknown = append(j.f.Unknown, check)
	}
	return is
}

// OfNothing requires that a lack of allowance is the forecast's only fault: apart from that, the known rules predict
// the promised order. It returns calldata for the same order with a give amount of zero, which needs no allowance, and
// its ID. Errors are ErrUnforeseen and ErrBroken.
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

// hear gives the chain's own simulation precedence over the rules, which are those of one version.
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

// Observed returns the forecast of a transaction that calls another function, such as a contract wallet's, from an
// order that the chain says it creates. Parts found only in calldata, such as permits, are absent.
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
	j := judge{Transaction: t, f: f}
	j.warn()
	return j.f
}

// Reconciled returns the forecasts, or new ones for the orders that the chain says the transaction creates instead.
func Reconciled(t Transaction, all []Forecast, made []onchain.Found) []Forecast {
	isMade := func(f Forecast, found onchain.Found) bool { return f.ID != nil && *f.ID == found.Order }
	if len(made) == 0 || slices.EqualFunc(all, made, isMade) {
		return all
	}
	others := make([]Forecast, len(made))
	for i, found := range made {
		others[i] = Observed(t, found.Order, found.Fact.(order.Created))
		if len(all) == 0 {
			others[i].Warnings = append(others[i].Warnings, Warning{
				CallsOthers, "another contract makes the order, and whatever else that does is not judged",
			})
			continue
		}
		others[i].Swap = all[0].Swap
		others[i].Warnings = append(others[i].Warnings, Warning{
			RulesDiffer, "the chain makes another order than the transaction says by the rules that are known",
		})
	}
	return others
}

// State is the part of a chain's state that decides about a creation. A nil field is unknown.
type State struct {
	Chain     chain.ID
	Contracts chain.Contracts // DlnSource, DlnDestination and Router

	Coins *chain.Amount // native coin of the sender
	Code  []byte        // of the sender

	// State of DlnSource.
	Version     string // empty: unknown
	Paused      *bool
	FixedFee    *chain.Amount  // globalFixedNativeFee
	PercentBps  *uint64        // globalTransferFeeBps
	Destination *chain.Address // DlnDestination of the take chain; absent: not set
	Nonce       *uint64        // masterNonce of the sender
	IsUsed      *bool          // an order with the ID exists

	CallsTarget, CallsVenue *bool // whether the router calls them

	Input Token // pulled from the caller by the first contract
	Give  Token // pulled from the router by DlnSource; unused without a swap

	// Executed is the result of a node's simulation of the whole transaction.
	Executed *CallResult
}

// CallResult is the result of a call.
type CallResult struct {
	IsReverted bool
	Data       []byte // return or revert data
	Text       string // error text of the node, if it sends no data
}

// reason returns why the call reverted.
func (r CallResult) reason() string {
	if r.Text != "" {
		return r.Text
	}
	return known.Read(r.Data).String()
}

// Token is a token's state before the transaction, for the contract that pulls it and the payer.
type Token struct {
	IsToken            *bool // it returns a balance
	Balance, Allowance *chain.Amount
	TakesPermit        *bool  // accepts the permit in the envelope
	Transfer           Return // of transfer, which pays claims
	TransferFrom       Return
	// Revert data for a payer who lacks the allowance or the balance.
	LacksAllowance, LacksBalance []byte
}

// Return is the kind of result of a token's function.
type Return uint8

// Results of transfer and transferFrom.
const (
	ReturnsUnknown Return = iota
	ReturnsTrue
	ReturnsNothing
	ReturnsFalse
)
