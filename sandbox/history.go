package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
)

// historyLength is how long before the present the world's history began.
const historyLength = 2 * time.Hour

// history is what happened before the sandbox was opened, written down as moves and then played.
type history struct {
	world *World
	moves []move
	count uint64 // of orders, for their salts
}

// move is one thing that happens, at a time after the history's beginning.
type move struct {
	at time.Duration
	do func(ctx context.Context, at time.Time) error
}

// lot is an amount of a token of a chain, in whole tokens; the symbol "" means the chain's coin.
type lot struct {
	chain  chain.ID
	symbol string
	amount string
}

// term changes one thing about an ordinary proposal.
type term func(h *history, p *proposal)

// play writes the whole history down and carries it out in the sequence of time.
func (w *World) play(ctx context.Context, beginning time.Time) error {
	h := &history{world: w}
	h.writeUpgrades()
	h.writeLives()
	h.writeCancels()
	h.writeOffers()
	h.writePreswaps()
	h.writePatches()
	h.writeCalls()
	h.writeLocked()
	h.writeOthers()
	h.writeTron()
	h.writeSolana()
	slices.SortStableFunc(h.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	for _, m := range h.moves {
		if err := m.do(ctx, beginning.Add(m.at)); err != nil {
			return fmt.Errorf("history at %s: %w", m.at, err)
		}
	}
	return nil
}

// at writes a move down, minutes after the beginning.
func (h *history) at(minute float64, do func(ctx context.Context, at time.Time) error) {
	h.moves = append(h.moves, move{time.Duration(minute * float64(time.Minute)), do})
}

// open has a maker create an order, which the returned pointer holds once it has happened.
func (h *history) open(minute float64, title string, maker int, give, take lot, terms ...term) *Order {
	o, p := new(Order), h.proposal(minute, maker, give, take, terms)
	h.at(minute, func(ctx context.Context, at time.Time) (err error) {
		*o, err = h.world.create(ctx, at, p)
		h.world.titles[o.ID] = title
		return err
	})
	return o
}

// openTogether has a maker create several orders in one transaction.
func (h *history) openTogether(minute float64, title string, proposals ...proposal) []*Order {
	orders := make([]*Order, len(proposals))
	for i := range orders {
		orders[i] = new(Order)
	}
	h.at(minute, func(ctx context.Context, at time.Time) error {
		created, err := h.world.createTogether(ctx, at, proposals...)
		for i, o := range created {
			*orders[i] = o
			h.world.titles[o.ID] = fmt.Sprintf("%s: %d of %d", title, i+1, len(created))
		}
		return err
	})
	return orders
}

func (h *history) fulfil(minute float64, o *Order, taker int, how ...func(*fulfilment)) {
	h.fulfilBy(minute, o, h.world.cast.takers[taker], how...)
}

func (h *history) fulfilBy(minute float64, o *Order, taker Account, how ...func(*fulfilment)) {
	h.at(minute, func(ctx context.Context, at time.Time) error {
		var f fulfilment
		for _, change := range how {
			change(&f)
		}
		return h.world.fulfil(ctx, at, *o, taker, f)
	})
}

// sendUnlock sends one message for all of the orders, to be paid out to the taker itself.
func (h *history) sendUnlock(minute float64, taker int, orders ...*Order) {
	h.sendUnlockBy(minute, h.world.cast.takers[taker], orders...)
}

func (h *history) sendUnlockBy(minute float64, taker Account, orders ...*Order) {
	h.at(minute, func(ctx context.Context, at time.Time) error {
		unlocked := make([]Order, len(orders))
		for i, o := range orders {
			unlocked[i] = *o
		}
		return h.world.sendUnlock(ctx, at, taker, taker.on(unlocked[0].GiveChain()), unlocked...)
	})
}

// claim carries out, in one transaction, the messages about the given orders.
func (h *history) claim(minute float64, orders ...*Order) {
	h.at(minute, func(ctx context.Context, at time.Time) error {
		var messages []message
		for _, o := range orders {
			m, err := h.world.message(ctx, *o)
			if err != nil {
				return err
			}
			messages = append(messages, m)
		}
		return h.world.claim(ctx, at, messages...)
	})
}

// cancel has the maker cancel the order for a refund to beneficiary.
func (h *history) cancel(minute float64, o *Order, maker int, beneficiary Account) {
	h.at(minute, func(ctx context.Context, at time.Time) error {
		return h.world.sendCancel(ctx, at, *o, h.world.cast.makers[maker], beneficiary.on(o.GiveChain()))
	})
}

// saltBase is a moment in milliseconds, as makers' software salts orders. It is fixed, so that order
// ids and transaction hashes are the same at every start.
const saltBase = 1_790_000_000_000

func (h *history) proposal(minute float64, maker int, give, take lot, terms []term) proposal {
	h.count++
	m := h.world.cast.makers[maker]
	giveToken, takeToken := h.token(give), h.token(take)
	p := proposal{
		maker:     m,
		giveChain: give.chain, giveToken: giveToken, giveAmount: giveToken.units(give.amount),
		takeChain: take.chain, takeToken: takeToken.raw(), takeAmount: takeToken.units(take.amount),
		receiver: m.on(take.chain), authority: m.on(take.chain),
		salt: saltBase + uint64(minute*60_000) + h.count,
	}
	p.metadata = orderMetadata(p.takeAmount)
	for _, change := range terms {
		change(h, &p)
	}
	return p
}

func (h *history) token(l lot) Token {
	if l.chain == chain.Solana {
		return h.world.solana.token(l.symbol)
	}
	c, here := h.world.Chain(l.chain)
	if !here {
		panic(fmt.Sprintf("chain %s is not in the sandbox", l.chain))
	}
	if l.symbol == "" {
		return c.coin()
	}
	return c.token(l.symbol)
}

func referral(code uint32) term { return func(_ *history, p *proposal) { p.referral = code } }

// counted uses the maker's own counter, which carries no metadata.
func counted() term { return func(_ *history, p *proposal) { p.salt, p.metadata = 0, nil } }

// affiliated lets the affiliate have an amount of the give token, in whole tokens.
func affiliated(amount string) term {
	return func(h *history, p *proposal) {
		p.affiliate = &affiliate{h.world.cast.affiliate.on(p.giveChain), p.giveToken.units(amount)}
	}
}

func onlyTaker(taker int) term {
	return func(h *history, p *proposal) { p.allowedTaker = h.world.cast.takers[taker].on(p.takeChain) }
}

func refundOnlyTo(maker int) term {
	return func(h *history, p *proposal) { p.cancelBeneficiary = h.world.cast.makers[maker].on(p.giveChain) }
}

func receivedBy(maker int) term {
	return func(h *history, p *proposal) { p.receiver = h.world.cast.makers[maker].on(p.takeChain) }
}

// orderMetadata is what the protocol's own software writes into an order: version 1, source amount
// set, operating expenses and recommended take amount as 20 little-endian bytes each, 66 bytes in all.
func orderMetadata(takeAmount *big.Int) []byte {
	const length, expensesAt, recommendedAt, fieldLength = 66, 5, 25, 20
	metadata := make([]byte, length)
	metadata[0], metadata[1] = 1, 1
	expenses := new(big.Int).Div(takeAmount, big.NewInt(2500))
	for at, amount := range map[int]*big.Int{expensesAt: expenses, recommendedAt: takeAmount} {
		field := metadata[at : at+fieldLength]
		amount.FillBytes(field)
		slices.Reverse(field)
	}
	return metadata
}

// switchEvents has the owner move a contract to its newer generation of events.
func (h *history) switchEvents(minute float64, id chain.ID, contract *contracts.Contract, at func(*Chain) common.Address) {
	h.at(minute, func(ctx context.Context, now time.Time) error {
		c, err := h.world.known(id)
		if err != nil {
			return err
		}
		_, err = c.execute(ctx, now, call{h.world.cast.owner, at(c), nil, contract.Pack("setLegacyEvents", false)})
		return err
	})
}
