package bench

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// ledger is a chain of made-up orders, in the bytes of its contracts' logs: each block creates some on the give chain,
// and a few blocks later they are fulfilled, unlocked and claimed, depending on their numbers.
type ledger struct {
	order.Source // nil: no transaction is asked for

	id     chain.ID
	orders uint64 // in total
	apart  uint64 // blocks from one order to the next; zero: each block creates blockOrders of them
	stored [][]transaction
}

const (
	giveChain   chain.ID = 1
	takeChain   chain.ID = 137
	blockOrders          = 50
	blockTime            = 2 * time.Second

	// Blocks between the creation and an order's later steps.
	fulfilledAfter = 1
	unlockedAfter  = 2
	claimedAfter   = 4
)

// transaction is a transaction with its log.
type transaction struct {
	tx  chain.TxHash
	log onchain.Log
}

// Published first topics of the events (deBridge's reference of topics, checked on Ethereum).
var (
	createdOrder   = topic("0xfc8703fd57380f9dd234a89dce51333782d49c5902f307b02f03e014d18fe471")
	fulfilledOrder = topic("0xc164aca37b9805a1c9027b6f32260a069723a82926f6e9ece4926e4dd3ea8ecf")
	sentUnlock     = topic("0x37a01d7dc38e924008cf4f2fa3d2ec1f45e7ae3c8292eb3e7d9314b7ad10e2fc")
	claimedUnlock  = topic("0x33fff3d864e92b6e1ef9e830196fc019c946104ea621b833aaebd3c3e84b2f6f")
)

func topic(text string) []chain.Hash {
	h, err := chain.ParseHash(text)
	if err != nil {
		panic(err)
	}
	return []chain.Hash{h}
}

var contracts = chain.Contracts{DlnSource: numbered(20, 0xd1), DlnDestination: numbered(20, 0xd2), Gate: numbered(20, 0xd3)}

// busyTaker has fulfilled many orders of a dense ledger and waits for payment of all of them; many other takers
// fulfilled the rest, nine of ten of which were paid.
var busyTaker = numbered(20, 0xb5)

// isBusy reports whether an order is one of the busy taker's, of which there are waiting in total.
func (l *ledger) isBusy(number uint64) bool {
	each := max(l.orders/waiting, 1)
	return l.apart == 0 && number%each == 0 && number/each < waiting
}

const waiting = 5000

// size returns the size of a benchmark: a small one with -short, with which make test runs each benchmark once.
func size(whole, small uint64) uint64 {
	if testing.Short() {
		return small
	}
	return whole
}

func (l *ledger) isClaimed(number uint64) bool { return !l.isBusy(number) && number%10 != 9 }

func (l *ledger) takerOf(number uint64) chain.Address {
	if l.isBusy(number) {
		return busyTaker
	}
	return numbered(20, 1_000_000+number%997)
}

// termsOf returns an order's terms, with one of some pairs of tokens of 18 decimals.
func termsOf(number uint64) order.Terms {
	return order.Terms{
		Nonce: number, Maker: numbered(20, 2_000_000+number%100_003), Receiver: numbered(20, 3_000_000+number%100_003),
		Give: order.Offer{Chain: giveChain, Token: numbered(20, 10+number%5), Amount: chain.NewAmount(1_000_000_000_000_000_000 + number)},
		Take: order.Offer{Chain: takeChain, Token: numbered(20, 20+number%5), Amount: chain.NewAmount(990_000_000_000_000_000 + number)},
		Authorities: order.Authorities{
			GivePatch: numbered(20, 2_000_000+number%100_003), Order: numbered(20, 3_000_000+number%100_003),
		},
	}
}

// newest returns the last block of the ledger.
func (l *ledger) newest() uint64 {
	if l.apart > 0 {
		return l.orders*l.apart + claimedAfter
	}
	return (l.orders+blockOrders-1)/blockOrders + claimedAfter
}

// createdIn returns the first order that a block creates, and the one after the last.
func (l *ledger) createdIn(block uint64) (first, end uint64) {
	switch {
	case l.apart == 0:
		return block * blockOrders, min((block+1)*blockOrders, l.orders)
	case block%l.apart == 0:
		return block / l.apart, min(block/l.apart+1, l.orders)
	}
	return 0, 0
}

func (l *ledger) Head(context.Context) (order.Head, error) {
	return order.Head{Latest: l.block(l.newest()), Finalized: l.newest()}, nil
}

func (l *ledger) Block(_ context.Context, number uint64) (order.Block, error) {
	return l.block(number), nil
}

func (l *ledger) block(number uint64) order.Block {
	b := order.Block{Number: number, Hash: spread(uint64(l.id)<<32 | number), Time: 1_700_000_000 + number*uint64(blockTime/time.Second)}
	if number > 0 {
		b.Parent = spread(uint64(l.id)<<32 | (number - 1))
	}
	return b
}

// Events decodes the logs of blocks, as an adapter does with a node's answers.
func (l *ledger) Events(_ context.Context, from, to uint64) ([]order.Event, error) {
	var events []order.Event
	for number := from; number <= to; number++ {
		b := l.block(number)
		for _, t := range l.transactions(number) {
			found, err := onchain.Decode(contracts, []onchain.Log{t.log})
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				events = append(events, order.Event{Order: f.Order, Fact: f.Fact, At: order.At{
					Chain: l.id, Tx: t.tx, Block: number, BlockHash: b.Hash, Time: b.Time,
					Initiator: busyTaker, LogIndex: f.LogIndex,
				}})
			}
		}
	}
	return events, nil
}

func (l *ledger) Verify(_ context.Context, _, _ uint64, first []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: first, Standing: order.Intrinsic}, nil
}

func (l *ledger) Attest(_ context.Context, events []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: events, Standing: order.Intrinsic}, nil
}

// store keeps all logs in memory, so that a benchmark measures reading and not generating them.
func (l *ledger) store() (events int) {
	l.stored = nil
	for number := range l.newest() + 1 {
		l.stored = append(l.stored, l.make(number))
	}
	return l.count()
}

// count returns the number of events.
func (l *ledger) count() (events int) {
	for number := range l.newest() + 1 {
		events += len(l.transactions(number))
	}
	return events
}

func (l *ledger) transactions(number uint64) []transaction {
	if l.stored != nil {
		return l.stored[number]
	}
	return l.make(number)
}

// make writes the logs of a block.
func (l *ledger) make(block uint64) []transaction {
	var all []transaction
	add := func(delay uint64, happens func(number uint64) bool, write func(number uint64) onchain.Log) {
		if block < delay {
			return
		}
		first, end := l.createdIn(block - delay)
		for number := first; number < end; number++ {
			if happens(number) {
				log := write(number)
				log.Index = uint(len(all))
				all = append(all, transaction{l.transactionOf(number, delay), log})
			}
		}
	}
	always := func(uint64) bool { return true }
	if l.id == giveChain {
		add(0, always, l.created)
		add(claimedAfter, l.isClaimed, l.claimed)
		return all
	}
	add(fulfilledAfter, always, l.fulfilled)
	add(unlockedAfter, l.isClaimed, l.unlocked)
	return all
}

// transactionOf returns the transaction of an order's step, a number of blocks after its creation.
func (l *ledger) transactionOf(number, delay uint64) chain.TxHash {
	hash := spread(uint64(l.id)<<60 | delay<<50 | number)
	return chain.NewTxHash(hash[:])
}

func (l *ledger) created(number uint64) onchain.Log {
	terms := termsOf(number)
	return onchain.Log{Address: contracts.DlnSource, Topics: createdOrder, Data: words.Encode(
		tuple(terms), onchain.ID(terms), []byte(nil), uint64(1_000_000_000_000_000), uint64(400_000_000_000_000), uint64(31_805), make([]byte, 120),
	)} // no affiliate fee, both fees, the referral code, and metadata
}

func (l *ledger) fulfilled(number uint64) onchain.Log {
	terms, taker := termsOf(number), l.takerOf(number)
	return onchain.Log{Address: contracts.DlnDestination, Topics: fulfilledOrder, Data: words.Encode(
		tuple(terms), onchain.ID(terms), terms.Take.Amount, taker, taker,
	)}
}

func (l *ledger) unlocked(number uint64) onchain.Log {
	return onchain.Log{Address: contracts.DlnDestination, Topics: sentUnlock, Data: words.Encode(
		onchain.ID(termsOf(number)), l.takerOf(number).Bytes(), spread(number),
	)}
}

func (l *ledger) claimed(number uint64) onchain.Log {
	terms := termsOf(number)
	return onchain.Log{Address: contracts.DlnSource, Topics: claimedUnlock, Data: words.Encode(
		onchain.ID(terms), l.takerOf(number), terms.Give.Amount, terms.Give.Token,
	)}
}

func tuple(t order.Terms) words.Tuple {
	return words.Tuple{
		t.Nonce, t.Maker.Bytes(), uint64(t.Give.Chain), t.Give.Token.Bytes(), t.Give.Amount,
		uint64(t.Take.Chain), t.Take.Token.Bytes(), t.Take.Amount, t.Receiver.Bytes(), t.Authorities.GivePatch.Bytes(),
		t.Authorities.Order.Bytes(), t.Authorities.AllowedTaker.Bytes(), t.Authorities.CancelBeneficiary.Bytes(), t.ExternalCall,
	}
}

// numbered returns an address derived from a number.
func numbered(length int, n uint64) chain.Address {
	raw := make([]byte, length)
	h := spread(n)
	copy(raw, h[:])
	return chain.NewAddress(raw)
}

// spread derives a hash from a number, as evenly distributed as real ones (splitmix64).
func spread(n uint64) chain.Hash {
	var h chain.Hash
	for i := range 4 {
		n += 0x9e3779b97f4a7c15
		z := n
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		binary.BigEndian.PutUint64(h[8*i:], z^(z>>31))
	}
	return h
}
