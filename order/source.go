package order

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"crossgate/chain"
)

// ErrNotFound says that a chain that was reached holds no such transaction or order.
var ErrNotFound = errors.New("not found")

// ErrNoOrder says that a transaction exists and created no order.
var ErrNoOrder = errors.New("transaction created no order")

// ErrNoSwap says that a transaction exists and made no swap within its chain.
var ErrNoSwap = errors.New("transaction made no swap within its chain")

// ErrOtherBranch says that an endpoint has another block in the place of one that is known to be the chain's.
var ErrOtherBranch = errors.New("endpoint is of another branch")

// UnreadableError says that no endpoint gave what one block holds as it must be: a transaction without its receipt, or
// contents that contradict each other. Other blocks may well be readable.
type UnreadableError struct {
	Block uint64
	Err   error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("block %d is not readable: %s", e.Block, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// AsideError names transactions that could not be decoded. It comes with the events of all others.
type AsideError struct{ Transactions []AsideTransaction }

// AsideTransaction is a transaction that is put aside.
type AsideTransaction struct {
	Tx    chain.TxHash
	Block uint64
	Err   error
}

func (e *AsideError) Error() string {
	texts := make([]string, len(e.Transactions))
	for i, t := range e.Transactions {
		texts[i] = fmt.Sprintf("transaction %s is put aside: %s", t.Tx, t.Err)
	}
	return strings.Join(texts, "; ")
}

// Source is a chain that order events are read from. Events of a legacy or current contract generation
// come out alike, verified: the order id is recomputed from the terms wherever an event carries them.
type Source interface {
	// Head returns the newest block, and the newest block whose events will not change.
	Head(ctx context.Context) (Head, error)
	// Block returns the block that is number on the canonical chain now: another than was read before when
	// a reorg replaced it, ErrNotFound beyond the newest. Where a chain leaves numbers out (Solana's slots),
	// it is the block before the gap, under its own number.
	Block(ctx context.Context, number uint64) (Block, error)
	// Events returns the events of blocks from to to, both included, in block and log order; *UnreadableError when
	// one of the blocks keeps it from doing so, *AsideError beside the events when transactions are not understood.
	Events(ctx context.Context, from, to uint64) ([]Event, error)
	// EventsIn returns the events of orders and swaps of one transaction in log order: ErrNotFound when the chain does
	// not know the transaction, none when it has none.
	EventsIn(ctx context.Context, tx chain.TxHash) (Evidence, error)
}

// LogSource is a Source that reads old blocks from their logs, for much less than their transactions cost.
type LogSource interface {
	// EventsOfLogs is Events, but without At.Initiator where logs have everything else; creations have it.
	EventsOfLogs(ctx context.Context, from, to uint64) ([]Event, error)
}

// TipRange is how many of the newest blocks a Source reads one by one, each with evidence that the endpoint which
// listed its events has that block. The listing of older blocks is as good as one endpoint's word.
const TipRange = 3

// Verifier is a Source that can read blocks a second time, to prove a first reading.
type Verifier interface {
	// Verify returns the events of final blocks from to to, given those of a first reading: as another endpoint
	// confirms them, or as the blocks themselves prove.
	Verify(ctx context.Context, from, to uint64, first []Event) (Proof, error)
}

// Proof is what a second reading came to.
type Proof struct {
	Events   []Event // in block and log order
	Standing Standing
	Wrong    []string // endpoints that returned something else, as far as remembered
}

// AnchoredSource is a Source whose endpoints can be held to blocks that are known to be the chain's.
type AnchoredSource interface {
	// Testify asks endpoints, each by itself, for Block(number), until so many have answered. It returns what they said
	// by their names, without those that do not answer, or do not have the block.
	Testify(ctx context.Context, number uint64, most int) map[string]Block
	// Anchor has each endpoint prove once in a while that it has a block, as it proves which chain it serves: one that
	// has another block of that number is not used. With atOnce they do before anything else. The zero Block ends that.
	Anchor(b Block, atOnce bool)
	// Suspend has everything but Testify fail with an error, while it is not known which endpoints serve the chain; nil
	// ends that.
	Suspend(error)
}

// Head is how far a chain has come.
type Head struct {
	Latest    Block
	Finalized uint64 // number of the newest block that will not be dropped
}

// Block names one block.
type Block struct {
	Number uint64
	Hash   chain.Hash
	Parent chain.Hash
	Time   uint64 // UNIX seconds
}

// HistorySource is a Source that finds one order's events without an index.
type HistorySource interface {
	// History returns the events that one side of the order left on this chain. since is the UNIX time of
	// the creation where that is known: nothing happened before, and the creation itself may be left out.
	// Zero: nothing is known. *PartialError beside the events where not all blocks could be searched.
	History(ctx context.Context, id ID, side Side, since uint64) (Evidence, error)
}

// Side is one of the two chains of an order.
type Side uint8

// The sides of an order.
const (
	GiveSide Side = iota + 1
	TakeSide
)

// SideOf is the side that a fact belongs to: an order from Solana to Solana has both on one chain.
func SideOf(fact Fact) Side {
	switch fact.(type) {
	case Created, GiveIncreased, Claimed:
		return GiveSide
	}
	return TakeSide
}
