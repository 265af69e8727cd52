package pages

import (
	"testing"

	"crossgate/chain"
	"crossgate/order/index"
)

func TestHistoryBeginsWhereTheOldestDoes(t *testing.T) {
	chainFrom := func(block, at uint64) index.ChainBasis {
		c := readChain(1, index.Lag{Head: 9, Indexed: 9, IndexedTime: at + 9})
		c.From = index.BlockTime{Number: block, Time: at}
		return c
	}
	for name, row := range map[string]struct {
		chains []index.ChainBasis
		want   int64
	}{
		"no chain":               {nil, 0},
		"nothing read":           {[]index.ChainBasis{readChain(1, index.Lag{})}, 0},
		"two beginnings":         {[]index.ChainBasis{chainFrom(7, 700), chainFrom(5, 500), readChain(2, index.Lag{})}, 500},
		"one without":            {[]index.ChainBasis{chainFrom(7, 700), chainFrom(0, 0)}, 0},
		"one that was not begun": {[]index.ChainBasis{readChain(2, index.Lag{}), chainFrom(7, 700)}, 700},
	} {
		got := begunAt(index.Basis{Chains: row.chains})
		if got.IsZero() != (row.want == 0) || row.want != 0 && got.Unix() != row.want {
			t.Errorf("%s: %v, want %d", name, got, row.want)
		}
	}
}

func readChain(id chain.ID, lag index.Lag) index.ChainBasis {
	return index.ChainBasis{Chain: id, Followed: true, Lag: lag}
}
