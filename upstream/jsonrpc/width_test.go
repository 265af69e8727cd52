package jsonrpc

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWidthIsFoundByHalving has an endpoint take 300 of 1,000: what it takes is found in two refusals, and more is
// tried once in a while only.
func TestWidthIsFoundByHalving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := width{most: 1000}
		refusals := 0
		ask := func(times int) {
			for range times {
				if now := w.now(); now > 300 {
					refusals++
					w.refused(now)
				} else {
					w.took(now)
				}
			}
		}
		ask(100)
		if w.now() != 250 || refusals != 3 {
			t.Errorf("%d are asked for after %d refusals, want 250 after 3: two to find it, one for trying more", w.now(), refusals)
		}
		w.refused(1000) // asked before the first refusal came
		w.took(3)       // less than the width says nothing of it
		if w.now() != 250 {
			t.Errorf("%d are asked for, want 250 still", w.now())
		}
		<-time.After(relearn)
		if ask(100); w.now() != 250 || refusals != 4 {
			t.Errorf("%d are asked for after %d refusals, want one more in ten minutes", w.now(), refusals)
		}
	})
}

// TestWidthGrowsBack has an endpoint refuse for other reasons than size: all is asked for again.
func TestWidthGrowsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := width{most: 1000}
		w.refused(1000)
		w.refused(100)
		for range 12 * enoughAccepted {
			w.took(w.now())
			<-time.After(relearn / enoughAccepted)
		}
		if w.now() != 1000 || w.limited() != 0 {
			t.Errorf("%d are asked for, limited to %d, want 1000 without a limit", w.now(), w.limited())
		}
	})
}
