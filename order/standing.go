package order

import "context"

// Standing is how something that was read from a chain is known.
type Standing uint8

// Standings, the weakest first.
const (
	Single       Standing = iota // one endpoint's word
	Corroborated                 // endpoints of two providers reported the same
	Intrinsic                    // checked against a hash: a block's, a receipts root, a transaction's with its signature
)

// Evidence is events with the standing of the weakest part of what they say, the absence of others included.
type Evidence struct {
	Events   []Event
	Standing Standing
	Wrong    []string // endpoints that said something else than a hash proves, as far as known

	// Confirm has endpoints of other providers asked for the same, where one gave it: it returns what they agree on, or
	// hashes prove, else the same events as one endpoint's word. nil: there is nothing to ask about.
	Confirm func(context.Context) Evidence
}

// Attester is a Source that can check what it read before.
type Attester interface {
	// Attest returns events of the chain with the senders and times that signatures and headers prove, or that two
	// endpoints report. The standing is that of senders and times alone.
	Attest(ctx context.Context, events []Event) (Evidence, error)
}

// Attest has a source check senders and times of events that were read just now; where it cannot they are one
// endpoint's word.
func Attest(ctx context.Context, source Source, events []Event) Evidence {
	if len(events) == 0 {
		return Evidence{Standing: Intrinsic}
	}
	if attester, is := source.(Attester); is {
		if checked, err := attester.Attest(ctx, events); err == nil {
			return checked
		}
	}
	return Evidence{Events: events}
}

// Agreed is a reading of a transaction as the endpoints of its chain agree on it, with senders and times checked.
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
