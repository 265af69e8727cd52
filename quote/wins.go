package quote

import (
	"math/big"
	"sync"
	"time"
)

// VenueDay is what became of a venue in the comparisons of a UNIX day.
type VenueDay struct {
	Day       uint64
	Venue     string
	Quoted    uint64 // comparisons with a winner in which the venue quoted
	Won       uint64 // of these
	Contested uint64 // of those that it won, the ones in which another venue's quote could have been taken
	// Sum over the contested ones of what the winner paid out more than the best of the others, in millionths of that;
	// negative where it won for its cheaper gas.
	Gain int64
}

// Wins counts the winners of comparisons until Take. It outlives reloads of the configuration. The zero value is
// empty; safe for concurrent use.
type Wins struct {
	mu     sync.Mutex
	counts map[venueOfDay]VenueDay
}

type venueOfDay struct {
	day   uint64
	venue string
}

// Take returns the counts and begins anew.
func (w *Wins) Take() []VenueDay {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []VenueDay
	for _, each := range w.counts {
		all = append(all, each)
	}
	w.counts = nil
	return all
}

// Add adds counts, such as those that could not be kept.
func (w *Wins) Add(all ...VenueDay) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.counts == nil {
		w.counts = make(map[venueOfDay]VenueDay)
	}
	for _, each := range all {
		key := venueOfDay{each.Day, each.Venue}
		sum := w.counts[key]
		w.counts[key] = VenueDay{
			each.Day, each.Venue, sum.Quoted + each.Quoted, sum.Won + each.Won, sum.Contested + each.Contested, sum.Gain + each.Gain,
		}
	}
}

// note counts a comparison with a winner.
func (w *Wins) note(now time.Time, all []Asked) {
	const secondsOfDay = 86_400
	if len(all) == 0 || all[0].Verdict != Won {
		return
	}
	day, won := uint64(now.Unix())/secondsOfDay, &all[0]
	counts := map[string]VenueDay{won.Venue: {Day: day, Venue: won.Venue, Quoted: 1, Won: 1}}
	var next *Asked
	for i := range all[1:] {
		each := &all[1+i]
		if each.Verdict != Outbid || each.Venue == won.Venue {
			continue
		}
		counts[each.Venue] = VenueDay{Day: day, Venue: each.Venue, Quoted: 1}
		if each.Err == nil && !each.Net.IsZero() && (next == nil || each.Net.Cmp(next.Net) > 0) {
			next = each
		}
	}
	if next != nil {
		winner := counts[won.Venue]
		winner.Contested, winner.Gain = 1, gainOf(won, next)
		counts[won.Venue] = winner
	}
	for _, each := range counts {
		w.Add(each)
	}
}

// mostGain is the largest gain that is counted, in millionths: beyond it the other quote is absurd.
const mostGain = 1_000_000

// gainOf is how much more one venue paid out than another, in millionths of that, rounded towards zero.
func gainOf(won, next *Asked) int64 {
	more := new(big.Int).Sub(won.Net.Big(), next.Net.Big())
	more.Quo(more.Mul(more, big.NewInt(1_000_000)), next.Net.Big())
	if !more.IsInt64() || more.Int64() > mostGain {
		return mostGain
	}
	return more.Int64()
}
