package proxy

import (
	"net/http"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

func TestIndexBasisTellsWhatWasReadOfEachChain(t *testing.T) {
	now := time.Unix(1_784_950_000, 0)
	level := ofChain(1, order.Lag{Head: 90, Indexed: 90, IndexedTime: 1_784_949_990, Level: now.Add(-2 * time.Second)})
	level.Proven = 80
	late := ofChain(137, order.Lag{Head: 80, Indexed: 70, IndexedTime: 1_784_949_000})
	late.From, late.Quarantined = order.BlockTime{Number: 20, Time: 1_784_948_000}, order.QuarantinedBlocks{Count: 2, First: 31}
	old := ofChain(10, order.Lag{Head: 9, Indexed: 9, IndexedTime: 1_784_949_990, Level: now})
	old.Stale = 1_784_949_990
	partly := order.ChainBasis{Chain: 56, Unsearched: order.BlockRange{From: 3, To: 5}}
	const (
		ofLevel = "1;block=90;time=1784949990;lag=2;from=0;proven=80"
		ofLate  = "137;block=70;time=1784949000;lag=1000;from=20;since=1784948000;quarantined=2;first-quarantined=31;behind"
	)
	for _, test := range []struct {
		chains            []order.ChainBasis
		basis, unsearched string
	}{
		{[]order.ChainBasis{level, late, ofChain(8453, order.Lag{})}, ofLevel + ", " + ofLate + ", 8453;block=0;behind", ""},
		{[]order.ChainBasis{level, partly}, ofLevel, "56;first=3;last=5"},
		{[]order.ChainBasis{old}, "10;block=9;time=1784949990;lag=10;from=0;stale", ""},
		{[]order.ChainBasis{{Chain: 10}}, "", ""},
	} {
		header := http.Header{}
		freshnessOf(order.Basis{Chains: test.chains, Behind: time.Minute}, now).write(header)
		if got := header.Get(indexBasis); got != test.basis {
			t.Errorf("chains %v: %s: %q, want %q", test.chains, indexBasis, got, test.basis)
		}
		if got := header.Get(orderUnsearched); got != test.unsearched {
			t.Errorf("chains %v: %s: %q, want %q", test.chains, orderUnsearched, got, test.unsearched)
		}
	}
}

// followed is a chain that is followed.
func ofChain(id chain.ID, lag order.Lag) order.ChainBasis {
	return order.ChainBasis{Chain: id, Followed: true, Lag: lag, Epoch: new(order.Epoch)}
}
