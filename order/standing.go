package order

import "context"

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
