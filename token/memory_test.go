package token

import (
	"context"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
)

func TestMemoryIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	const limit = 100
	m := newMemory(limit, time.Second, func(int) bool { return true })
	loads := map[Key]int{}
	load := func(_ context.Context, keys []Key) (map[Key]int, error) {
		values := map[Key]int{}
		for _, key := range keys {
			loads[key]++
			values[key] = loads[key]
		}
		return values, nil
	}
	popular := Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}
	for i := range chain.ID(10 * limit) {
		must.Get(m.get(t.Context(), []Key{popular, {Chain: i + 2}}, load))(t)
		if held := len(m.young) + len(m.old); held > 2*limit {
			t.Fatalf("%d values are held, want at most %d", held, 2*limit)
		}
	}
	if loads[popular] != 1 {
		t.Errorf("the popular token was loaded %d times, want once", loads[popular])
	}
	if len(m.loading) != 0 {
		t.Errorf("%d loads never ended", len(m.loading))
	}
}
