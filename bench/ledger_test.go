package bench

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// ledger is a chain of made-up orders in the bytes of its contracts' logs: so many in each block are created
// on the give chain, and delivered, unlocked and claimed a few blocks later, as their numbers say.
type ledger struct {
	id     chain.ID
	orders uint64 // in all
	apart  uint64 // blocks from one order to the next; zero: each block creates blockOrders of them
	stored [][]transaction
}

const (
	giveChain   chain.ID = 1
	takeChain   chain.ID = 137
	blockOrders          = 50
	blockTime            = 2 * time.Second

	// Blocks after the creation at which orders go on.
	fulfilledAfter = 1
	unlockedAfter  = 2
	claimedAfter   = 4
)

// transaction is one with its log.
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

// busyTaker has delivered many orders of a dense ledger and waits for all of them; the others were delivered by many
// takers, and nine of ten were paid.
var busyTaker = numbered(20, 0xb5)

// isBusy tells orders of the busy taker, of which there are waiting in all.
func (l *ledger) isBusy(number uint64) bool {
	each := max(l.orders/waiting, 1)
	return l.apart == 0 && number%each == 0 && number/each < waiting
}

const waiting = 5000

// size is how much of something a benchmark has: with -short, by which make test runs each once, little of it.
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

// termsOf are an order's: some pairs of tokens, 18 decimals.
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

// newest is the last block of the ledger.
func (l *ledger) newest() uint64 {
	if l.apart > 0 {
		return l.orders*l.apart + claimedAfter
	}
	return (l.orders+blockOrders-1)/blockOrders + claimedAfter
}

// createdIn returns the first of the orders that a block creates, and the one after the last.
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

// Events decodes the logs of blocks, as an adapter does with what a node sends.
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

func (l *ledger) EventsIn(context.Context, chain.TxHash) (order.Evidence, error) {
	return order.Evidence{}, order.ErrNotFound
}

// store keeps all logs in memory, so that a benchmark measures reading them and not making them up.
func (l *ledger) store() (events int) {
	l.stored = nil
	for number := range l.newest() + 1 {
		l.stored = append(l.stored, l.make(number))
	}
	return l.count()
}

// count is the number of events.
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

// transactionOf is the one in which an order goes on so many blocks after its creation.
func (l *ledger) transactionOf(number, delay uint64) chain.TxHash {
	hash := spread(uint64(l.id)<<60 | delay<<50 | number)
	return chain.NewTxHash(hash[:])
}

func (l *ledger) created(number uint64) onchain.Log {
	terms := termsOf(number)
	var a abi
	a.bytes(tuple(terms).encode()) // the tuple stands where byte strings do, without their length
	a.parts[0].bare = true
	a.word(onchain.ID(terms))
	a.bytes(nil) // affiliate fee
	a.number(1_000_000_000_000_000)
	a.number(400_000_000_000_000)
	a.number(31_805)
	a.bytes(make([]byte, 120)) // metadata
	return onchain.Log{Address: contracts.DlnSource, Topics: createdOrder, Data: a.encode()}
}

func (l *ledger) fulfilled(number uint64) onchain.Log {
	terms := termsOf(number)
	var a abi
	a.bytes(tuple(terms).encode())
	a.parts[0].bare = true
	a.word(onchain.ID(terms))
	a.word(terms.Take.Amount.Bytes32())
	a.address(l.takerOf(number))
	a.address(l.takerOf(number))
	return onchain.Log{Address: contracts.DlnDestination, Topics: fulfilledOrder, Data: a.encode()}
}

func (l *ledger) unlocked(number uint64) onchain.Log {
	var a abi
	a.word(onchain.ID(termsOf(number)))
	a.bytes(l.takerOf(number).Bytes())
	a.word(spread(number))
	return onchain.Log{Address: contracts.DlnDestination, Topics: sentUnlock, Data: a.encode()}
}

func (l *ledger) claimed(number uint64) onchain.Log {
	terms := termsOf(number)
	var a abi
	a.word(onchain.ID(terms))
	a.address(l.takerOf(number))
	a.word(terms.Give.Amount.Bytes32())
	a.address(terms.Give.Token)
	return onchain.Log{Address: contracts.DlnSource, Topics: claimedUnlock, Data: a.encode()}
}

func tuple(t order.Terms) *abi {
	var a abi
	a.number(t.Nonce)
	a.bytes(t.Maker.Bytes())
	a.number(uint64(t.Give.Chain))
	a.bytes(t.Give.Token.Bytes())
	a.word(t.Give.Amount.Bytes32())
	a.number(uint64(t.Take.Chain))
	a.bytes(t.Take.Token.Bytes())
	a.word(t.Take.Amount.Bytes32())
	for _, party := range []chain.Address{
		t.Receiver, t.Authorities.GivePatch, t.Authorities.Order, t.Authorities.AllowedTaker, t.Authorities.CancelBeneficiary,
	} {
		a.bytes(party.Bytes())
	}
	a.bytes(t.ExternalCall)
	return &a
}

// abi writes the contract ABI's encoding of parameters: a word each, byte strings behind all words.
type abi struct{ parts []part }

type part struct {
	word    [32]byte
	dynamic bool
	bare    bool // without its length: a tuple
	tail    []byte
}

func (a *abi) word(w [32]byte) { a.parts = append(a.parts, part{word: w}) }

func (a *abi) number(n uint64) {
	var w [32]byte
	binary.BigEndian.PutUint64(w[24:], n)
	a.word(w)
}

func (a *abi) address(address chain.Address) {
	var w [32]byte
	copy(w[12:], address.Bytes())
	a.word(w)
}

func (a *abi) bytes(raw []byte) { a.parts = append(a.parts, part{dynamic: true, tail: raw}) }

func (a *abi) encode() []byte {
	const size = 32
	head := make([]byte, 0, size*len(a.parts))
	var tail []byte
	for _, p := range a.parts {
		if !p.dynamic {
			head = append(head, p.word[:]...)
			continue
		}
		head = appendNumber(head, uint64(size*len(a.parts)+len(tail)))
		if !p.bare {
			tail = appendNumber(tail, uint64(len(p.tail)))
		}
		tail = append(tail, p.tail...)
		tail = append(tail, make([]byte, (size-len(p.tail)%size)%size)...)
	}
	return slices.Concat(head, tail)
}

func appendNumber(to []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(to, make([]byte, 24)...), n)
}

// numbered is an address made of a number.
func numbered(length int, n uint64) chain.Address {
	raw := make([]byte, length)
	h := spread(n)
	copy(raw, h[:])
	return chain.NewAddress(raw)
}

// spread makes a hash of a number, all over the place as real ones are (splitmix64).
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
