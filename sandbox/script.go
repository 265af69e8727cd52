package sandbox

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"crossgate/sandbox/solana"
)

// script is the history, in the language that its header explains.
//
//go:embed history.txt
var script string

// scriptReader turns the script into moves. A mistake in it is one in the sandbox's own source, so the reader panics
// with the line number.
type scriptReader struct {
	*history
	title  string
	batch  *[]*scriptOrder         // of the latest transaction
	orders map[string]*scriptOrder // by name; the latest also under the empty one
}

// scriptOrder is an order that later steps can refer to. Order is set once it is created.
type scriptOrder struct {
	Order
	proposal proposal
	take     Token
}

// scriptStep is an action on orders. Options are words such as name=value, or only a name.
type scriptStep struct {
	by      Account
	verb    string
	words   []string
	options map[string]string
	orders  []*scriptOrder
}

func (h *history) read(script string) {
	r, number := scriptReader{history: h, orders: map[string]*scriptOrder{}}, 0
	for line := range strings.Lines(script) {
		number++
		r.line(number, line)
	}
}

func (r *scriptReader) line(number int, line string) {
	defer func() {
		if mistake := recover(); mistake != nil {
			panic(fmt.Sprintf("history.txt, line %d: %v", number, mistake))
		}
	}()
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "#" {
		return
	}
	if line[0] != ' ' {
		r.title = strings.TrimSpace(line)
		return
	}
	minute, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		panic(err)
	}
	s := scriptStep{by: r.actor(words[1]), verb: words[2], words: words[3:], options: map[string]string{}}
	for _, word := range s.words {
		if o, isName := r.orders[word]; isName {
			s.orders = append(s.orders, o)
		}
		name, value, _ := strings.Cut(word, "=")
		s.options[name] = value
	}
	switch s.verb {
	case "gives":
		r.batch = r.open(minute, r.title)
		r.add(minute, s)
	case "adds":
		r.add(minute, s)
	default:
		if len(s.orders) == 0 {
			s.orders = append(s.orders, r.orders[""])
		}
		r.at(minute, func(ctx context.Context, at time.Time) error { return r.do(ctx, at, s) })
	}
}

// actor returns the account with a name, which is written without spaces in the script.
func (h *history) actor(name string) Account {
	for _, a := range h.world.cast.all() {
		if strings.ReplaceAll(a.Name, " ", "") == name {
			return a
		}
	}
	panic("no account is called " + name)
}

// open schedules a transaction that creates orders, which are added to the returned batch later.
func (h *history) open(minute float64, title string) *[]*scriptOrder {
	batch := new([]*scriptOrder)
	h.at(minute, func(ctx context.Context, at time.Time) error {
		var proposals []proposal
		for _, o := range *batch {
			proposals = append(proposals, o.proposal)
		}
		created, err := h.world.create(ctx, at, proposals...)
		for i, o := range created {
			(*batch)[i].Order, h.world.titles[o.ID] = o, title
			if len(created) > 1 {
				h.world.titles[o.ID] = fmt.Sprintf("%s: %d of %d", title, i+1, len(created))
			}
		}
		return err
	})
	return batch
}

func (r *scriptReader) add(minute float64, s scriptStep) {
	o := new(scriptOrder)
	o.proposal, o.take = r.proposal(minute, s.by, s.words)
	r.orders[""], r.orders[s.options["as"]] = o, o
	*r.batch = append(*r.batch, o)
}

func (h *history) do(ctx context.Context, at time.Time, s scriptStep) error {
	var orders []Order
	for _, o := range s.orders {
		orders = append(orders, o.Order)
	}
	w, o, first := h.world, orders[0], s.orders[0]
	has := func(option string) bool { _, found := s.options[option]; return found }
	switch s.verb {
	case "fulfils":
		f := fulfilment{runsCall: has("runsCall"), throughContract: has("throughContract")}
		if has("authority") {
			f.unlockAuthority = h.actor(s.options["authority"])
		}
		if has("extra") {
			f.extra = first.take.units(s.options["extra"])
		}
		return w.fulfil(ctx, at, o, s.by, f)
	case "unlocks":
		return w.sendUnlock(ctx, at, s.by, s.by.on(o.GiveChain()), orders...)
	case "claims":
		return w.claim(ctx, at, orders...)
	case "raises":
		return w.patchGive(ctx, at, o, s.by, first.proposal.giveToken.units(s.words[0]))
	case "lowers":
		return w.patchTake(ctx, at, o, s.by, first.take.units(s.words[0]))
	case "executes":
		return w.executeCall(ctx, at, o, s.by, !has("partly"))
	case "withdraws":
		return w.cancelCall(ctx, at, o, s.by, s.by.Address)
	case "cancels":
		if has("unsent") { // on Solana only, where sending is a step of its own
			return w.solana.ledger.Cancel(at, o.terms, s.by.Wallet)
		}
		refunded := s.by
		if has("refunding") {
			refunded = h.actor(s.options["refunding"])
		}
		return w.sendCancel(ctx, at, o, s.by, refunded.on(o.GiveChain()))
	}
	return fmt.Errorf("history.txt: nobody %s", s.verb)
}

// saltBase is a time in milliseconds, the unit in which makers' software salts orders. It is fixed, so that order IDs
// and transaction hashes are the same at every start.
const saltBase = 1_790_000_000_000

// proposal parses words such as "25 USDC on Base for 0.01 coin on Ethereum", followed by optional terms.
func (h *history) proposal(minute float64, maker Account, words []string) (p proposal, take Token) {
	h.count++
	give := h.token(words[1:4])
	take = h.token(words[6:9])
	salt := saltBase + uint64(minute*60_000) + h.count
	p = newProposal(maker, salt, give, give.units(words[0]), take, take.units(words[5]))
	for _, word := range words[9:] {
		name, value, _ := strings.Cut(word, "=")
		change, known := scriptTerms[name]
		if !known {
			panic("orders have no " + name)
		}
		change(h, &p, value)
	}
	return p, take
}

// token parses words such as "USDC on Base", or "coin on Base" for the chain's coin.
func (h *history) token(words []string) Token {
	for _, p := range h.world.places() {
		switch {
		case p.Facts.Name != words[2]:
		case words[0] == "coin":
			return p.coin()
		default:
			return p.token(words[0])
		}
	}
	panic("there is no " + strings.Join(words, " "))
}

// scriptTerms are an order's optional terms by name.
var scriptTerms = map[string]func(h *history, p *proposal, value string){
	"as":       func(*history, *proposal, string) {}, // its name, for later steps
	"referral": func(_ *history, p *proposal, value string) { p.referral = uint32(wholeNumber(value)) },
	"affiliate": func(h *history, p *proposal, value string) {
		p.affiliate = &affiliate{h.world.cast.affiliate.on(p.giveChain), p.giveToken.units(value)}
	},
	"receiver":     func(h *history, p *proposal, name string) { p.receiver = h.actor(name).on(p.takeChain) },
	"onlyTaker":    func(h *history, p *proposal, name string) { p.allowedTaker = h.actor(name).on(p.takeChain) },
	"refundOnlyTo": func(h *history, p *proposal, name string) { p.cancelBeneficiary = h.actor(name).on(p.giveChain) },
	// counted uses the maker's own counter; the order then carries no metadata.
	"counted": func(_ *history, p *proposal, _ string) { p.salt, p.metadata = 0, nil },
	// swapping is the amount to swap into the give token first, in coin, or in USDC if the order gives the wrapped
	// coin.
	"swapping": func(h *history, p *proposal, amount string) {
		c, _ := h.world.Chain(p.giveChain)
		in := c.coin()
		if p.giveToken.Address == c.Tokens[0].Address {
			in = c.token(usdc)
		}
		p.preswap = &preswap{in, in.units(amount)}
	},
	"deposits": func(_ *history, p *proposal, _ string) { p.externalCall = p.deposit() },
	"refuses":  func(_ *history, p *proposal, _ string) { p.externalCall = p.refusedCall("closed today") },
	// instructs adds instructions for the executor on Solana, which is the receiver then.
	"instructs": func(_ *history, p *proposal, _ string) {
		p.externalCall, p.receiver = []byte("instructions for "+p.maker.Wallet.Key.String()), solana.Executor[:]
	},
	"forwarded": func(_ *history, p *proposal, _ string) { p.way.Forwarded = true },
	"versioned": func(_ *history, p *proposal, _ string) { p.way.Versioned = true },
	"bidding":   func(_ *history, p *proposal, price string) { p.way.Priority = wholeNumber(price) },
	"payer":     func(h *history, p *proposal, name string) { p.payer = h.actor(name) },
}

func wholeNumber(text string) uint64 {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}
