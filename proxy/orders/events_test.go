package orders

import (
	"runtime"
	"testing"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
)

// TestQuestionsForEventsAreAlikeByTheirMembers asks twice for the same, and for something else.
func TestQuestionsForEventsAreAlikeByTheirMembers(t *testing.T) {
	keyOf := func(query string) cache.Key {
		return new(Orders).EventsRoute().Key("", events{most: 1, filter: must.Get(ParseFeedFilter(query))(t)})
	}
	const asked = "referralCode=5&maker=" + taker
	key := keyOf(asked)
	if again := keyOf(asked); key != again {
		t.Error("the same question has two keys")
	}
	for _, other := range []string{"referralCode=6&maker=" + taker, "referralCode=5&maker=" + nobody, "referralCode=5"} {
		if key == keyOf(other) {
			t.Errorf("%s has the key of another question", other)
		}
	}
}

// TestAFilterThatIsMisspeltIsRefused: it would match everything.
func TestAFilterThatIsMisspeltIsRefused(t *testing.T) {
	for query, isGood := range map[string]bool{"": true, "MAKER=" + taker: true, "makers=" + taker: false, "delivery=final&state=Created": false} {
		if _, err := ParseFeedFilter(query); (err == nil) != isGood {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestAnAmountOfUSDCostsLittleToRefuse has one with an exponent, which would be a number of millions of digits.
func TestAnAmountOfUSDCostsLittleToRefuse(t *testing.T) {
	m := must.Get(ParseMembers([]byte(`{"usdFrom":"1e1000000"}`)))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m.usd("usdFrom"); len(m.Wrong) != 1 {
		t.Errorf("wrong: %q", m.Wrong)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100_000 {
		t.Errorf("%d bytes to refuse it", after.TotalAlloc-before.TotalAlloc)
	}
}

func TestCreationsForgetTheOldest(t *testing.T) {
	var c creations[chain.TxHash]
	id := func(n int) order.ID { return order.ID{byte(n >> 16), byte(n >> 8), byte(n)} }
	for n := range 3 * creationsKept {
		c.remember(chain.NewTxHash([]byte{1}), id(n))
	}
	if _, remembered := c.of(id(0)); remembered {
		t.Error("the first creation is remembered for ever")
	}
	for _, n := range []int{2 * creationsKept, 3*creationsKept - 1} {
		if _, remembered := c.of(id(n)); !remembered {
			t.Errorf("creation %d of %d is forgotten", n, 3*creationsKept)
		}
	}
}
