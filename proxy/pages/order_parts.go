package pages

import (
	"context"
	"math"
	"math/big"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// pricePatience is how long a page waits for prices before it does without.
const pricePatience = 2 * time.Second

// pricesOf returns the current prices in USD of a whole token of each side, nil if unknown.
func (s *Pages) pricesOf(ctx context.Context, give, take token.Key) (ofGive, ofTake *big.Rat) {
	ctx, cancel := context.WithTimeout(ctx, pricePatience)
	defer cancel()
	prices := s.options().Tokens.USD(ctx, give, take)
	return prices[give], prices[take]
}

// worthThen returns what an order's amounts were worth at the time, nil if not looked up or unknown at the moment.
func (s *Pages) worthThen(ctx context.Context, ids []order.ID) *stats.Values {
	if len(ids) != 1 {
		return nil
	}
	v, counted, err := s.options().Details.Values(ctx, ids[0])
	if err != nil || !counted {
		return nil
	}
	return &v
}

// durations describes how long an order took from creation to delivery, and from there to the taker's payment.
func durations(o *order.Order) []string {
	var said []string
	between := func(what string, from, to *order.At) {
		if from != nil && to != nil && to.Time >= from.Time { // chains have clocks of their own
			said = append(said, what+" "+web.Took(time.Duration(to.Time-from.Time)*time.Second))
		}
	}
	between("delivered in", o.Created.Where(), o.Fulfilled.Where())
	between("paid after another", o.Fulfilled.Where(), o.ClaimedUnlock.Where())
	between("cancelled after", o.Created.Where(), o.CancelledAt())
	between("refunded after another", o.CancelledAt(), o.ClaimedCancel.Where())
	return said
}

func (p *Views) facts(shown Order) []Fact {
	o, r := shown.Record.Order, shown.Record
	give, take := o.Terms.Give.Chain, o.Terms.Take.Chain
	var fulfilled order.Fulfilled
	if o.Fulfilled != nil {
		fulfilled = o.Fulfilled.Fact
	}
	taker := p.account("Taker", take, fulfilled.Taker).with("/locked/", "assets locked for the taker")
	facts := []Fact{
		{Name: "Order id", Text: o.ID.String(), IsID: true},
		p.account("Maker", give, o.Terms.Maker).with("/address/", "its orders"),
		p.account("Receiver", take, o.Terms.Receiver).with("/address/", "its orders"), taker,
		p.account("Allowed taker", take, o.Terms.Authorities.AllowedTaker),
		{Name: "Rate", Text: Rate(o.GiveFinal.Units(r.Give.Decimals), o.TakeFinal.Units(r.Take.Decimals), r.Give.Symbol, r.Take.Symbol)},
	}
	facts = append(facts, p.fees(r)...)
	if o.Created != nil && shown.Then != nil {
		facts = append(facts, Fact{Name: "Total fees", Text: worthThen(shown.Then.Fee, "created")})
	}
	if o.Created != nil {
		facts = append(facts, Fact{Name: "Total paid", Text: p.totalPaid(shown)})
	}
	if fulfilled.ActualAmount != nil {
		facts = append(facts, Fact{Name: "Delivered", Text: AmountOf(*fulfilled.ActualAmount, r.Take).Exact + " " + r.Take.Symbol})
	}
	if o.Call != order.NoExtCall {
		facts = append(facts, Fact{Name: "External call", Text: o.Call.String()})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// fees returns the fees, each with the amount that it is a part of.
func (p *Views) fees(r *wire.Record) []Fact {
	var facts []Fact
	if fee := r.Order.FinalPercentFee; fee != nil {
		text := AmountOf(*fee, r.Give).Exact + " " + r.Give.Symbol
		if share := shareOf(*fee, r.Order.GiveFinal); share != "" {
			text += ", " + share + " % of the amount paid"
		}
		facts = append(facts, Fact{Name: "Percent fee", Text: text})
	}
	if r.Order.Created != nil {
		known, _ := p.Chains.Chain(r.Order.Terms.Give.Chain)
		fee := web.AmountOf(r.Order.Created.Fact.FixFee.String(), int(known.Coin.Decimals))
		facts = append(facts, Fact{Name: "Fixed fee", Text: fee.Exact + " " + known.Coin.Symbol + ", flat"})
	}
	return facts
}

// totalPaid formats the amount that the maker paid including all fees, and its value at the time.
func (p *Views) totalPaid(shown Order) string {
	o, give := shown.Record.Order, shown.Record.Give
	paid, fixed := o.GiveFinal, o.Created.Fact.FixFee
	if o.FinalPercentFee != nil {
		paid = paid.Add(*o.FinalPercentFee)
	}
	var affiliate int64 // millionths of USD
	isValued := shown.Then != nil && shown.Then.Given != nil && shown.Then.Fee != nil
	if a := o.Created.Fact.Affiliate; a != nil {
		paid = paid.Add(a.Amount)
		if isValued = isValued && shown.Then.Affiliate != nil; isValued {
			affiliate = *shown.Then.Affiliate
		}
	}
	text := ""
	if o.Terms.Give.Token.IsNative() {
		paid = paid.Add(fixed)
	} else if known, _ := p.Chains.Chain(o.Terms.Give.Chain); !fixed.IsZero() {
		text = " and " + web.AmountOf(fixed.String(), int(known.Coin.Decimals)).Exact + " " + known.Coin.Symbol
	}
	text = AmountOf(paid, give).Exact + " " + give.Symbol + text
	if isValued {
		return text + ", " + worthThen(new(*shown.Then.Given+*shown.Then.Fee+affiliate), "created")
	}
	return text + ", value at the time unknown"
}

// shareOf formats a fee as a percentage of itself plus the rest, empty without a fee.
func shareOf(fee, left chain.Amount) string {
	if fee.IsZero() {
		return ""
	}
	share, _ := new(big.Rat).Quo(RatOf(fee), new(big.Rat).Add(RatOf(fee), RatOf(left))).Float64()
	const places = 1e4 // of a percent
	return web.Significant(big.NewRat(int64(math.Round(100*places*share)), places))
}

// Rate describes what one whole token of each side is worth in the other, without fees; empty if a side is zero.
func Rate(give, take *big.Rat, giveSymbol, takeSymbol string) string {
	if give.Sign() == 0 || take.Sign() == 0 {
		return ""
	}
	return "1 " + giveSymbol + " for " + web.Significant(new(big.Rat).Quo(take, give)) + " " + takeSymbol +
		", 1 " + takeSymbol + " for " + web.Significant(new(big.Rat).Quo(give, take)) + " " + giveSymbol
}

// worth describes what the sides of an order were worth when it was created and delivered, and are worth now.
func (o Order) worth() (give, take string) {
	r := o.Record.Order
	given, taken := "value at the time unknown", "value at the time unknown"
	if o.Then != nil {
		given, taken = worthThen(o.Then.Given, "created"), worthThen(o.Then.Taken, "delivered")
	}
	give, take = worthNow(r.GiveFinal.Units(o.Record.Give.Decimals), o.Give), worthNow(r.TakeFinal.Units(o.Record.Take.Decimals), o.Take)
	if r.Created != nil {
		give = given + ", " + give
	}
	if r.Fulfilled != nil {
		take = taken + ", " + take
	}
	return give, take
}

// worthThen formats a past value in millionths of USD; nil means that no price was known.
func worthThen(micros *int64, when string) string {
	if micros == nil {
		return "no price at the time"
	}
	return UsdText(float64(*micros)/1_000_000) + " when " + when
}

func worthNow(amount, usd *big.Rat) string {
	if usd == nil {
		return "no price now"
	}
	value, _ := new(big.Rat).Mul(amount, usd).Float64()
	return UsdText(value) + " now"
}

// RatOf converts an amount of smallest units.
func RatOf(a chain.Amount) *big.Rat { return new(big.Rat).SetInt(a.Big()) }

type step struct {
	Title  string
	Says   string
	Chain  string
	OnGive bool // on the give chain
	Done   bool
	Next   bool   // the next expected one
	After  string // time since the previous step, with its title; empty if unknown
	transaction
}

// transaction is when and in which transaction something happened.
type transaction struct {
	Time   time.Time
	Block  uint64
	Tx     linked
	Sender linked // who sent it; zero if not shown
	Now    time.Time
}

// linked is a hash or an address with its URL in an explorer, if any.
type linked struct{ Text, URL string }

// stage is a step on one of an order's two paths: to delivery or to cancellation.
type stage struct {
	title, done, ahead string
	onGive             bool
	event              *order.At
}

// steps returns an order's past and expected events in sequence.
func (p *Views) steps(o *order.Order, now time.Time) []step {
	cancelled, sentCancel := o.CancelledAt(), o.SentCancel.Where()
	claimCancel := stage{
		"Refund claimed", "the maker was refunded", "the maker is refunded when the message arrives", true, o.ClaimedCancel.Where(),
	}
	stages := []stage{{"Created", "the maker locked the give amount", "the creation has not been seen", true, o.Created.Where()}}
	switch {
	case cancelled == nil && o.ClaimedCancel == nil:
		stages = append(stages,
			stage{"Fulfilled", "a taker delivered to the receiver", "a taker must deliver", false, o.Fulfilled.Where()},
			stage{"Unlock sent", "the unlock message was sent", "the taker must send the unlock message", false, o.SentUnlock.Where()},
			stage{"Unlock claimed", "the taker was paid", "the taker is paid when the message arrives", true, o.ClaimedUnlock.Where()},
		)
	case cancelled != nil && sentCancel != nil && cancelled.Tx == sentCancel.Tx:
		const both = "the order was cancelled and the refund message sent"
		stages = append(stages, stage{"Cancelled, refund sent", both, "", false, cancelled}, claimCancel)
	default:
		stages = append(stages,
			stage{"Cancelled", "the order can no longer be fulfilled", "", false, cancelled},
			stage{"Refund sent", "the refund message was sent", "the refund message must be sent", false, sentCancel},
			claimCancel,
		)
	}
	steps := make([]step, len(stages))
	var before step // the last step that happened
	for i, s := range stages {
		id := o.Terms.Take.Chain
		if s.onGive {
			id = o.Terms.Give.Chain
		}
		steps[i] = p.step(s, id, now)
		if !steps[i].Done {
			continue
		}
		if before.Done && !steps[i].Time.Before(before.Time) { // chains have clocks of their own
			steps[i].After = web.Took(steps[i].Time.Sub(before.Time)) + " after " + before.Title
		}
		before = steps[i]
	}
	if next := slices.IndexFunc(steps, func(s step) bool { return !s.Done }); next >= 0 {
		steps[next].Next = true
	}
	return steps
}

func (p *Views) step(s stage, id chain.ID, now time.Time) step {
	shown := step{Title: s.title, Says: s.ahead, Chain: p.ChainName(id), OnGive: s.onGive}
	if s.event == nil {
		return shown
	}
	shown.Says, shown.Done = s.done, true
	shown.transaction = p.transactionAt(id, s.event, now)
	if sender := p.account("", id, s.event.Initiator); sender.Text != "" {
		shown.Sender = linked{sender.Text, sender.URL}
	}
	return shown
}

func (p *Views) transactionAt(id chain.ID, at *order.At, now time.Time) transaction {
	return transaction{Time: timeOf(at.Time), Block: at.Block, Now: now, Tx: p.tx(id, at.Tx)}
}

func (p *Views) tx(id chain.ID, hash chain.TxHash) linked {
	text := hash.Format(p.Chains.Family(id))
	return linked{text, p.TxURL(id, text)}
}
