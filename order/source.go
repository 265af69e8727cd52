package order

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"crossgate/chain"
)

// ErrNotFound says that a chain answered and has no such transaction or order.
var ErrNotFound = errors.New("not found")

// ErrNoOrder says that a transaction exists but created no order.
var ErrNoOrder = errors.New("transaction created no order")

// ErrNoSwap says that a transaction exists but made no swap within its chain.
var ErrNoSwap = errors.New("transaction made no swap within its chain")

// ErrOtherBranch says that an endpoint has a different block in place of one that is known to belong to the chain.
var ErrOtherBranch = errors.New("endpoint is on another branch")

// UnreadableError says that no endpoint returned valid contents of one block: a transaction lacked its receipt, or the
// contents contradicted each other. Other blocks may be readable.
type UnreadableError struct {
	Block uint64
	Err   error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("block %d is not readable: %s", e.Block, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// AsideError lists transactions that could not be decoded. It is returned together with the events of all others.
type AsideError struct{ Transactions []AsideTransaction }

// AsideTransaction is a transaction that could not be decoded.
type AsideTransaction struct {
	Tx    chain.TxHash
	Block uint64
	Err   error
}

func (e *AsideError) Error() string {
	texts := make([]string, len(e.Transactions))
	for i, t := range e.Transactions {
		texts[i] = fmt.Sprintf("transaction %s is skipped: %s", t.Tx, t.Err)
	}
	return strings.Join(texts, "; ")
}

// Source is a chain that order events are read from. Events of old and current contract generations look the same. They
// are verified: the order ID is recomputed from the terms of every event that carries them.
type Source interface {
	// Head returns the newest block, and the number of the newest block whose events will not change.
	Head(ctx context.Context) (Head, error)
	// Block returns the block that has a number on the canonical chain now: after a reorg it may differ from an earlier
	// answer. It returns ErrNotFound beyond the newest block. If the chain skipped the number (Solana's slots), it
	// returns the block before the gap, with that block's own number.
	Block(ctx context.Context, number uint64) (Block, error)
	// Events returns the events of blocks from to to, both included, in block and log order. *UnreadableError if one of
	// the blocks cannot be read; *AsideError with the events if transactions cannot be decoded.
	Events(ctx context.Context, from, to uint64) ([]Event, error)
	// EventsIn returns the events of orders and swaps in one transaction in log order: ErrNotFound if the chain does
	// not know the transaction, no events if it has none.
	EventsIn(ctx context.Context, tx chain.TxHash) (Evidence, error)
	// Verify reads blocks a second time. It returns the events of final blocks from to to, in block and log order, as
	// confirmed by another endpoint or proven by the blocks themselves. first are the events of the first reading.
	Verify(ctx context.Context, from, to uint64, first []Event) (Evidence, error)
	// Attest returns events of the chain with senders and times as proven by signatures and headers, or as reported by
	// two endpoints. The standing is that of the senders and times only.
	Attest(ctx context.Context, events []Event) (Evidence, error)
}

// LogSource is a Source that can read old blocks from their logs, which costs far less than reading their transactions.
type LogSource interface {
	// EventsOfLogs is like Events, but omits At.Initiator if logs have everything else; creations have it.
	EventsOfLogs(ctx context.Context, from, to uint64) ([]Event, error)
}

// TipRange is how many of the newest blocks a Source reads one by one, each with evidence that the endpoint that listed
// its events has that block. The listing of older blocks rests on a single endpoint.
const TipRange = 3

// AnchoredSource is a Source whose endpoints can be checked against blocks known to belong to the chain.
type AnchoredSource interface {
	// Testify asks endpoints, each separately, for Block(number), until it has the given number of answers. It returns
	// these by endpoint name, omitting endpoints that fail or do not have the block.
	Testify(ctx context.Context, number uint64, most int) map[string]Block
	// Anchor makes each endpoint prove now and then that it has a block, as it proves which chain it serves; one with a
	// different block is not used. With atOnce, each must do so before its next call. The zero Block ends this.
	Anchor(b Block, atOnce bool)
	// Suspend makes everything but Testify fail with an error while it is not known which endpoints serve the chain;
	// nil ends this.
	Suspend(error)
}

// Head describes how far a chain has come.
type Head struct {
	Latest    Block
	Finalized uint64 // number of the newest block that will not be dropped
}

// Block identifies one block.
type Block struct {
	Number uint64
	Hash   chain.Hash
	Parent chain.Hash
	Time   uint64 // UNIX seconds
}

// Side is one of the two chains of an order.
type Side uint8

// The sides of an order.
const (
	GiveSide Side = iota + 1
	TakeSide
)

// SideOf returns the side that a fact belongs to: an order from Solana to Solana has both sides on one chain.
func SideOf(fact Fact) Side {
	switch fact.(type) {
	case Created, GiveIncreased, Claimed:
		return GiveSide
	}
	return TakeSide
}

// TellerSource is a Source that remembers which endpoints transactions were read from.
type TellerSource interface {
	// Tellers returns the names of the endpoints, each once, that a transaction with events in the block with the given
	// hash was read from; none if that is not remembered, as after a restart.
	Tellers(tx chain.TxHash, block chain.Hash) []string
}

// Reader is a Source that can be asked about single orders, without an index.
type Reader interface {
	// History returns the events that one side of the order left on this chain. since is the UNIX time before which
	// nothing happened, zero if unknown; if it is known, the creation may be omitted. *PartialError is returned with
	// the events if not all blocks could be searched.
	History(ctx context.Context, id ID, side Side, since uint64) (Evidence, error)
	// Origin returns a block before any event of an order: the first with the protocol's contracts, or an earlier one
	// if that cannot be found.
	Origin(ctx context.Context) (uint64, error)
	// States returns what the give chain of orders stores about them now, in the sequence of ids.
	States(ctx context.Context, ids []ID) ([]StoredState, error)
	// TakeStates returns what the take chain of orders stores about them now, in the sequence of ids: None,
	// StateFulfilled, StateSentUnlock, StateOrderCancelled or StateSentOrderCancel.
	TakeStates(ctx context.Context, ids []ID) ([]StoredState, error)
}

// StoredState is what a chain stores about one side of an order.
type StoredState struct {
	State State // on a give chain None, StateCreated, StateClaimedUnlock or StateClaimedOrderCancel
	// Amount is, on a give chain, the give amount after patches, set only in StateCreated; on a take chain, by how much
	// the take amount was lowered, zero if that is not stored.
	Amount   chain.Amount
	IsSingle bool // reported by a single endpoint
	// Err is why nothing is known of this order, although the chain returned the others: a newer contract's state.
	Err error
}

// Gap is a range of a chain's blocks that may hold events of an order but could not be read.
type Gap struct {
	Chain    chain.ID
	From, To uint64 // both included
}

// PartialError says that the events returned with it may not be all events of one side of an order, since the blocks of
// a gap were not searched.
type PartialError struct {
	Gap
	Err error // why they were not searched
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("blocks %d to %d of chain %d were not searched: %s", e.From, e.To, e.Chain, e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }

// Standing is how well something read from a chain is established.
type Standing uint8

// Standings, weakest first.
const (
	Single       Standing = iota // reported by a single endpoint
	Corroborated                 // reported by endpoints of two providers
	Intrinsic                    // checked against a hash: a block's, a receipts root, or a signed transaction's
)

// Evidence is events with the standing of their weakest part, which includes the claim that no others exist.
type Evidence struct {
	Events   []Event
	Standing Standing
	Wrong    []string // endpoints that contradicted what a hash proves, as far as known

	// Confirm asks endpoints of other providers the same, if a single one answered. It returns what they agree on or
	// hashes prove, else the same events with standing Single. nil: there is nothing left to ask.
	Confirm func(context.Context) Evidence
}

// Attest verifies senders and times of events that were just read. If that fails, or source is nil as the chain is not
// followed, they rest on a single endpoint.
func Attest(ctx context.Context, source Source, events []Event) Evidence {
	if len(events) == 0 {
		return Evidence{Standing: Intrinsic}
	}
	if source != nil {
		if checked, err := source.Attest(ctx, events); err == nil {
			return checked
		}
	}
	return Evidence{Events: events}
}

// Agreed returns a transaction's events as agreed on by the endpoints of its chain, with senders and times verified.
func Agreed(ctx context.Context, source Source, read Evidence) Evidence {
	if read.Confirm == nil {
		return read
	}
	said := make(chan Evidence, 1)
	go func() { said <- read.Confirm(ctx) }()
	placed := Attest(ctx, source, read.Events)
	agreed := <-said
	if wrong := placed.Wrong; Say(agreed.Events) != Say(read.Events) {
		placed = Attest(ctx, source, agreed.Events)
		placed.Wrong = append(placed.Wrong, wrong...)
	}
	placed.Standing, placed.Wrong = min(placed.Standing, agreed.Standing), append(placed.Wrong, agreed.Wrong...)
	return placed
}
