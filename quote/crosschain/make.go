package crosschain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// Reasons not to hand out a transaction, besides the errors of package quote.
var (
	ErrNoCreation   = errors.New("orders from this chain are not made here")
	ErrNotClaimable = errors.New("no taker could be paid for the order")
	ErrCallsNothing = errors.New("the external call calls an address without code")
	ErrCallNeverRun = errors.New("the external call cannot be run")
	ErrLongCall     = errors.New("the external call leaves no room for the rest of its transaction")
	ErrTooLarge     = errors.New("an amount has more bits than the metadata of orders")
	ErrBelowRent    = errors.New("the recipient has no account on Solana, and the amount is too small to open one")
	ErrRefusesCoin  = errors.New("the recipient's contract refuses the coin, so that nothing can be delivered to it")
	// ErrNotDelivered: DlnDestination requires that the whole amount arrives (golden/create, rule 20).
	ErrNotDelivered = errors.New("the take token would not reach the recipient in full, so that no taker could fill the order")
	// ErrNotRefundable: a refund includes the fixed fee, in the coin, and fails with that (golden/create, rule 23).
	ErrNotRefundable = errors.New("the cancel beneficiary's contract refuses the coin, so that nothing can be refunded")
)

// ErrKeyless says that an order could not be cancelled, or its refund not be used.
var ErrKeyless = errors.New("neither a key nor a program can sign for an authority or cancel beneficiary")

// Making holds what a transaction needs besides the amounts.
type Making struct {
	Sender       chain.Address // signs and pays; the order's maker
	Refund       chain.Address // gets what a swap pays beyond the expected outcome; the sender if absent
	Recipient    chain.Address
	Authorities  order.Authorities
	ReferralCode uint32
	Metadata     [20]byte // the client's own
	Permit       []byte   // an envelope (creation.Permit), or none
	Bundle       bool     // Made.Calls are wanted
}

// Runner runs creations on the newest block, with the balances and allowances that they need.
type Runner interface {
	// Creation returns the gas of a transaction that creates the promised order. Errors: creation.ErrBroken if it
	// creates another one, and those of quote.Simulator. creation.ErrUnapproved comes with the gas: everything but
	// pulling the input was checked.
	Creation(context.Context, creation.Transaction, creation.Promise) (gas uint64, err error)
}

// Made is an order's simulated transaction and the order that it creates.
type Made struct {
	quote.Tx
	Salt     uint64
	ID       order.ID
	Terms    order.Terms
	Metadata []byte
	Fee      *quote.Fee
	Short    []Short
	Calls    []quote.Tx // of a wallet: the approvals that the input needs, and Tx; nil unless wanted, and where unknown
	Warnings []creation.Warning
	// IsUnapproved means that the sender must approve the input first. Only a part of the transaction was simulated.
	IsUnapproved bool
	Venue        *quote.Estimate // of the swap into the reserve token; nil without one
}

// Short is an amount of a token that the sender lacks.
type Short struct {
	Token   chain.Address
	Missing chain.Amount
}

// process returns how the order's amounts were set, in the metadata's terms.
func (r Request) process() string {
	switch {
	case r.AmountOut.IsZero():
		return "SrcAmountSet"
	case r.AmountIn.IsZero() && !r.MaxBalance:
		return "DstAmountSet"
	}
	return "BothAmountsSet"
}

// make writes the transaction of an estimate, simulates it, and compares the outcome with the promise.
func (j *journey) make(ctx context.Context, e *Estimate) (*Made, error) {
	if at := j.Chains[j.give.ID]; at.Runner == nil || j.give.Family == chain.SVM && at.Writer == nil {
		return nil, fmt.Errorf("chain %d: %w", j.give.ID, ErrNoCreation)
	}
	c, err := j.creation(e)
	if err != nil {
		return nil, err
	}
	promise := creation.Promise{Created: order.Created{
		Terms:  c.Terms(j.give.ID, j.request.Making.Sender, *c.Salt, e.Net),
		FixFee: e.Charges.Fixed, PercentFee: e.ProtocolFee, Affiliate: j.affiliate(e),
		ReferralCode: c.ReferralCode, Metadata: c.Metadata,
	}}
	promise.ID = onchain.ID(promise.Created.Terms)
	m := &Made{Salt: *c.Salt, ID: promise.ID, Terms: promise.Created.Terms, Metadata: c.Metadata}
	var reading sync.WaitGroup
	var undeliverable, uncontrolled error
	reading.Go(func() { undeliverable = j.deliverable(ctx, e) })
	reading.Go(func() { uncontrolled = j.controlled(ctx) })
	reading.Go(func() { m.Short = j.short(ctx, e) })
	if code := j.Chains[j.give.ID].Code; code != nil {
		reading.Go(func() {
			if sender, err := code(ctx, j.request.Making.Sender); err == nil { // only a hint
				m.Warnings = creation.OfSender(sender)
			}
		})
	}
	switch {
	case j.give.Family == chain.SVM:
		err = j.onSolana(ctx, e, c, promise, m)
	case e.SwapsBefore():
		err = j.routed(ctx, e, c, promise, m)
	default:
		err = j.direct(ctx, e, c, promise, m)
	}
	reading.Wait()
	if err = cmp.Or(undeliverable, uncontrolled, err); err == nil {
		err = j.claimable(ctx, e, m.Tx)
	}
	if err == nil {
		m.Calls, err = j.calls(ctx, e, m.Tx)
	}
	switch {
	case err != nil || j.kept == nil:
	case m.Fee == nil: // the transaction may take more than was kept for it
		err = fmt.Errorf("%w: the fee of the transaction is not known", ErrUnknownCosts)
	default:
		err = j.kept.Covers(m.Fee.GasLimit, m.Fee.Beside.Add(m.Fee.Priority))
	}
	return m, err
}

// calls returns the calls by which a wallet makes the order.
func (j *journey) calls(ctx context.Context, e *Estimate, tx quote.Tx) (all []quote.Tx, err error) {
	approvals, making := j.Chains[j.give.ID].Approvals, j.request.Making
	if approvals == nil || !making.Bundle {
		return nil, nil
	}
	if !e.TokenIn.IsNative() && len(making.Permit) == 0 {
		all, err = approvals(ctx, making.Sender, e.TokenIn, tx.To, e.Course.In)
	}
	return append(all, tx), err
}

// claimable refuses an order whose affiliate would keep any taker from being paid, as the give token and the version of
// the contract have it.
func (j *journey) claimable(ctx context.Context, e *Estimate, tx quote.Tx) error {
	forecast := j.Chains[j.give.ID].Forecast
	if forecast == nil || j.affiliate(e) == nil || e.Route.Give.Address.IsNative() {
		return nil
	}
	all, err := forecast(ctx, creation.Transaction{Sender: j.request.Making.Sender, To: tx.To, Value: tx.Value, Data: tx.Data})
	if err != nil {
		return fmt.Errorf("whether the order could be claimed: %w", err)
	}
	for _, one := range all {
		for _, warning := range one.Warnings {
			if warning.Code == creation.NotClaimable {
				return fmt.Errorf("%w: %s", ErrNotClaimable, warning.Text)
			}
		}
	}
	return nil
}

var lastSalt struct {
	sync.Mutex
	salt uint64
}

// nextSalt returns the time in milliseconds, or the last salt plus one if that is larger, so that salts never repeat.
func nextSalt() uint64 {
	lastSalt.Lock()
	defer lastSalt.Unlock()
	lastSalt.salt = max(lastSalt.salt+1, uint64(time.Now().UnixMilli()))
	return lastSalt.salt
}

// creation returns the arguments for creating the order by DlnSource.
func (j *journey) creation(e *Estimate) (creation.Creation, error) {
	r, m := j.request, j.request.Making
	metadata, err := onchain.Metadata{
		CreationProcessType: r.process(), AdditionalTakerIncentiveBps: r.IncentiveBps,
		OperatingExpenses: e.OperatingExpense, RecommendedTake: e.Recommended, Metadata: m.Metadata,
	}.Encode()
	if err != nil {
		return creation.Creation{}, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	salt := nextSalt()
	c := creation.Creation{
		GiveToken: e.Route.Give.Address, GiveAmount: e.Gross,
		Take:     order.Offer{Chain: r.Take, Token: r.TokenOut, Amount: e.Amount},
		Receiver: m.Recipient, Authorities: m.Authorities, ExternalCall: r.ExternalCall,
		Salt: &salt, ReferralCode: m.ReferralCode, Metadata: metadata,
	}
	if executor := creation.CallReceiver(j.take, c.ExternalCall); !executor.IsAbsent() {
		c.Receiver = executor
	}
	if share := j.affiliate(e); share != nil {
		c.AffiliateFee = creation.AffiliateFee(*share)
	}
	return c, nil
}

// affiliate returns the integrator's share, nil if there is none.
func (j *journey) affiliate(e *Estimate) *order.Affiliate {
	if e.AffiliateFee.IsZero() {
		return nil
	}
	return &order.Affiliate{Beneficiary: j.request.Affiliate.Recipient, Amount: e.AffiliateFee}
}

// direct makes a transaction that calls DlnSource.
func (j *journey) direct(ctx context.Context, e *Estimate, c creation.Creation, promise creation.Promise, m *Made) error {
	c.Permit = j.request.Making.Permit
	m.Tx = quote.Tx{To: j.give.Contracts.DlnSource, Data: c.Data(), Value: j.value(e)}
	gas, err := j.check(ctx, promise, m.Tx)
	if m.IsUnapproved = errors.Is(err, creation.ErrUnapproved); err != nil && !m.IsUnapproved {
		return err
	}
	m.Fee = j.fee(ctx, m.Tx, gas)
	return nil
}

// routed makes a transaction that calls the public router with the swap of a compared venue that pays enough.
func (j *journey) routed(ctx context.Context, e *Estimate, c creation.Creation, promise creation.Promise, m *Made) error {
	making := j.request.Making
	refund := making.Refund
	if refund.IsAbsent() {
		refund = making.Sender
	}
	made, err := j.Swaps.Estimate(ctx, quote.Request{
		Chain: j.give.ID, TokenIn: e.TokenIn, TokenOut: e.Route.Give.Address, AmountIn: e.Course.In, SlippagePercent: &venueSlippage,
		Sender: making.Sender, Recipient: making.Sender, Priority: j.request.Priority, Since: j.request.Since,
		Onward: &quote.Onward{
			Target: j.give.Contracts.DlnSource, Expected: e.Gross,
			Make: func(venue quote.Tx) quote.Tx {
				return quote.Tx{To: j.give.Contracts.Router, Value: j.value(e), Data: creation.Swap{
					TokenIn: e.TokenIn, AmountIn: e.Course.In, Permit: making.Permit, Venue: venue.To, VenueData: venue.Data,
					TokenOut: e.Route.Give.Address, ExpectedOut: e.Gross, RefundRecipient: refund,
					Target: j.give.Contracts.DlnSource, TargetData: c.Data(),
				}.Data()}
			},
			Check: func(ctx context.Context, tx quote.Tx) (uint64, error) { return j.check(ctx, promise, tx) },
		},
	})
	if err != nil {
		return legError("source", err, quote.ErrUnsupportedTokenOut)
	}
	m.Tx, m.Venue, m.Fee = made.Tx, &made, made.Fee
	return nil
}

// value returns the exact coin to send: the fixed fee, plus the input if that is the coin.
func (j *journey) value(e *Estimate) chain.Amount {
	if e.TokenIn.IsNative() {
		return e.Charges.Fixed.Add(e.Course.In)
	}
	return e.Charges.Fixed
}

// check simulates a transaction and compares the order that it makes with the promised one.
func (j *journey) check(ctx context.Context, promise creation.Promise, tx quote.Tx) (gas uint64, err error) {
	gas, err = j.Chains[j.give.ID].Runner.Creation(ctx, creation.Transaction{
		Sender: j.request.Making.Sender, To: tx.To, Value: tx.Value, Data: tx.Data,
	}, promise)
	switch {
	case errors.Is(err, creation.ErrBroken):
		err = fmt.Errorf("%w: %w", quote.ErrRefused, err)
	case errors.Is(err, creation.ErrUnapproved):
	case errors.Is(err, quote.ErrNotSimulated):
		err = fmt.Errorf("%w: %w", quote.ErrUnsimulated, err)
	}
	return gas, err
}

// fee returns the fee of a direct creation, nil if the chain's fees are unknown.
func (j *journey) fee(ctx context.Context, tx quote.Tx, gas uint64) *quote.Fee {
	fees := j.Chains[j.give.ID].Fees
	price, err := fees.GasPrice(ctx, j.request.Priority)
	if err != nil {
		return nil
	}
	limit := quote.WithMargin(gas)
	beside, err := fees.DataFee(ctx, tx, limit)
	if err != nil {
		return nil
	}
	f := &quote.Fee{Total: price.Expected.MulDiv(limit, 1).Add(beside), GasLimit: limit, Price: price, Beside: beside}
	f.USD = quote.USD(j.usd()[coinOf(j.give)], f.Total, j.give.Coin.Decimals)
	return f
}

// short returns what the sender lacks, as far as balances can be read.
func (j *journey) short(ctx context.Context, e *Estimate) (all []Short) {
	needs := []Short{{chain.NativeCoin(j.give.Family), j.value(e)}}
	if !e.TokenIn.IsNative() {
		needs = append(needs, Short{e.TokenIn, e.Course.In})
	}
	for _, need := range needs {
		has, err := j.Swaps.Balance(ctx, j.give.ID, need.Token, j.request.Making.Sender)
		if missing := need.Missing.Sub(has); err == nil && !missing.IsZero() {
			all = append(all, Short{need.Token, missing})
		}
	}
	return all
}

// controlled refuses an order whose authority or cancel beneficiary cannot sign, as accounts of tokens on Solana.
func (j *journey) controlled(ctx context.Context) error {
	a := j.request.Making.Authorities
	for at, accounts := range map[chain.ID][]chain.Address{j.give.ID: {a.GivePatch, a.CancelBeneficiary}, j.take.ID: {a.Order}} {
		signable := j.Chains[at].Signable
		accounts = slices.DeleteFunc(accounts, func(account chain.Address) bool { return account.IsAbsent() || account == j.request.Making.Sender })
		if signable == nil || len(accounts) == 0 {
			continue
		}
		if err := signable(ctx, accounts...); err != nil {
			return err
		}
	}
	return nil
}

// deliverable refuses an order that no taker could fill: a call of nothing, or that cannot be run, a coin to a contract
// that does not take it, or too little of it for a new account, and a token that does not arrive in full; and an order
// that could not be refunded.
func (j *journey) deliverable(ctx context.Context, e *Estimate) error {
	r, to := j.request, j.Chains[j.take.ID]
	switch isSolana := j.take.Family == chain.SVM; {
	case len(r.ExternalCall) == 0:
	case isSolana && j.take.Contracts.ExternalCallAdapter.IsAbsent():
		return fmt.Errorf("%w: the executor on chain %d is not known", ErrCallNeverRun, j.take.ID)
	case !isSolana:
		if _, fault := creation.ReadCall(r.ExternalCall, e.Amount); fault != "" {
			return fmt.Errorf("%w: it %s", ErrCallNeverRun, fault)
		}
	}
	if to.Code != nil && !r.CallTarget.IsAbsent() {
		code, err := to.Code(ctx, r.CallTarget)
		if err != nil {
			return fmt.Errorf("code of the external call: %w", err)
		}
		if len(code) == 0 {
			return fmt.Errorf("%w: %s", ErrCallsNothing, r.CallTarget)
		}
	}
	if r.TokenOut.IsNative() && len(r.ExternalCall) == 0 && j.take.Family == chain.SVM {
		has, err := j.Swaps.Balance(ctx, j.take.ID, r.TokenOut, r.Making.Recipient)
		if err != nil {
			return fmt.Errorf("balance of the recipient: %w", err)
		}
		if has.Add(e.Amount).Cmp(chain.NewAmount(solana.WalletRent)) < 0 {
			return fmt.Errorf("%w: %s of %d lamports", ErrBelowRent, e.Amount, solana.WalletRent)
		}
	}
	undelivered, unrefunded := j.refusals(ctx, order.Terms{
		Give: order.Offer{Chain: r.Give}, Take: order.Offer{Chain: r.Take, Token: r.TokenOut, Amount: e.Amount},
		Receiver: r.Making.Recipient, Authorities: r.Making.Authorities, ExternalCall: r.ExternalCall,
	})
	return cmp.Or(undelivered, unrefunded)
}
