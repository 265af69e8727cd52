package pages

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

func TestHistoryBeginsWhereTheOldestDoes(t *testing.T) {
	chainFrom := func(block, at uint64) order.ChainBasis {
		c := readChain(1, order.Lag{Head: 9, Indexed: 9, IndexedTime: at + 9})
		c.From = order.BlockTime{Number: block, Time: at}
		return c
	}
	for name, row := range map[string]struct {
		chains []order.ChainBasis
		want   int64
	}{
		"no chain":               {nil, 0},
		"nothing read":           {[]order.ChainBasis{readChain(1, order.Lag{})}, 0},
		"two beginnings":         {[]order.ChainBasis{chainFrom(7, 700), chainFrom(5, 500), readChain(2, order.Lag{})}, 500},
		"one without":            {[]order.ChainBasis{chainFrom(7, 700), chainFrom(0, 0)}, 0},
		"one that was not begun": {[]order.ChainBasis{readChain(2, order.Lag{}), chainFrom(7, 700)}, 700},
	} {
		got := begunAt(order.Basis{Chains: row.chains})
		if got.IsZero() != (row.want == 0) || row.want != 0 && got.Unix() != row.want {
			t.Errorf("%s: %v, want %d", name, got, row.want)
		}
	}
}

func readChain(id chain.ID, lag order.Lag) order.ChainBasis {
	return order.ChainBasis{Chain: id, Followed: true, Lag: lag}
}
