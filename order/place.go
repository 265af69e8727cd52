package order

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"crossgate/chain"
)

// Place is the position of an event and a text of its content; readings of a chain are compared by their places.
type Place struct {
	Block     uint64
	BlockHash chain.Hash
	LogIndex  uint
	Said      string
}

// PlacesOf returns the places of events; say returns the text of one.
func PlacesOf(events []Event, say func(Event) string) []Place {
	places := make([]Place, len(events))
	for i, e := range events {
		places[i] = Place{e.At.Block, e.At.BlockHash, e.At.LogIndex, say(e)}
	}
	return places
}

// Compare compares places of events by chain, block and log index.
func (a *At) Compare(b *At) int {
	switch {
	case a.Chain != b.Chain:
		return cmp.Compare(a.Chain, b.Chain)
	case a.Block != b.Block:
		return cmp.Compare(a.Block, b.Block)
	}
	return cmp.Compare(a.LogIndex, b.LogIndex)
}

// Sorted sorts events by chain, block and log index, in place.
func Sorted(events []Event) []Event {
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(&b.At) })
	return events
}

// Statement returns a fact about an order as text.
func Statement(id ID, fact Fact) string {
	text, err := json.Marshal(fact)
	if err != nil {
		panic("order: a fact that JSON cannot hold: " + err.Error())
	}
	return fmt.Sprintf("%s %T %s", id, fact, text)
}

// LogStatement is Statement without the parts of a fact that come from other logs of its transaction on an EVM chain.
func LogStatement(id ID, fact Fact) string {
	switch f := fact.(type) {
	case Created:
		f.Preswap = nil
		fact = f
	case Claimed:
		f.Submission = chain.Hash{}
		fact = f
	case Swapped:
		if f.Affiliate != nil {
			f.Affiliate = &Affiliate{Amount: f.Affiliate.Amount}
		}
		if f.Affiliate != nil && f.Affiliate.Amount.IsZero() {
			f.Affiliate = nil
		}
		id, fact = ID{}, f // its place identifies it
	}
	return Statement(id, fact)
}

// Say returns the content of events as text, without senders and times.
func Say(events []Event) string {
	return fmt.Sprint(PlacesOf(events, func(e Event) string { return Statement(e.Order, e.Fact) }))
}

// DifferingBlocks returns the blocks in which two readings differ, ascending.
func DifferingBlocks(a, b []Place) []uint64 {
	counts := make(map[Place]int, len(a))
	for _, p := range a {
		counts[p]++
	}
	for _, p := range b {
		counts[p]--
	}
	var blocks []uint64
	for p, count := range counts {
		if count != 0 {
			blocks = append(blocks, p.Block)
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}
