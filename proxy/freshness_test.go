package proxy

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/order/index"
)

func TestIndexBasisTellsWhatWasReadOfEachChain(t *testing.T) {
	now := time.Unix(1_784_950_000, 0)
	level := followed(1, index.Lag{Head: 90, Indexed: 90, IndexedTime: 1_784_949_990, Level: now.Add(-2 * time.Second)})
	level.Proven = 80
	late := followed(137, index.Lag{Head: 80, Indexed: 70, IndexedTime: 1_784_949_000})
	late.From, late.Quarantined = index.BlockTime{Number: 20, Time: 1_784_948_000}, index.QuarantinedBlocks{Count: 2, First: 31}
	old := followed(10, index.Lag{Head: 9, Indexed: 9, IndexedTime: 1_784_949_990, Level: now})
	old.Stale = 1_784_949_990
	partly := index.ChainBasis{Chain: 56, Unsearched: index.BlockRange{From: 3, To: 5}}
	const (
		ofLevel = "1;block=90;time=1784949990;lag=2;from=0;proven=80"
		ofLate  = "137;block=70;time=1784949000;lag=1000;from=20;since=1784948000;quarantined=2;first-quarantined=31;behind"
	)
	for _, test := range []struct {
		chains            []index.ChainBasis
		basis, unsearched string
	}{
		{[]index.ChainBasis{level, late, followed(8453, index.Lag{})}, ofLevel + ", " + ofLate + ", 8453;block=0;behind", ""},
		{[]index.ChainBasis{level, partly}, ofLevel, "56;first=3;last=5"},
		{[]index.ChainBasis{old}, "10;block=9;time=1784949990;lag=10;from=0;stale", ""},
		{[]index.ChainBasis{{Chain: 10}}, "", ""},
	} {
		header := http.Header{}
		freshnessOf(index.Basis{Chains: test.chains, Behind: time.Minute}, now).write(header)
		if got := header.Get(indexBasis); got != test.basis {
			t.Errorf("chains %v: %s: %q, want %q", test.chains, indexBasis, got, test.basis)
		}
		if got := header.Get(orderUnsearched); got != test.unsearched {
			t.Errorf("chains %v: %s: %q, want %q", test.chains, orderUnsearched, got, test.unsearched)
		}
	}
}

// TestAnswersFromTheIndexTellHowFreshTheyAre asks every path that the index answers, and one that it does not.
func TestAnswersFromTheIndexTellHowFreshTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.basis = []index.ChainBasis{
			followed(1, index.Lag{}),
			followed(137, index.Lag{Head: 9, Indexed: 8, IndexedTime: 946_600_000, Level: time.Now().Add(-time.Hour)}),
			followed(8453, index.Lag{Head: 9, Indexed: 9, IndexedTime: 946_600_000, Level: time.Now()}),
		}
		s := w.server(t)
		const both = "137;block=8;time=946600000;lag=3600;from=0;behind, 8453;block=9;time=946600000;lag=0;from=0"
		const every = "1;block=0;behind, " + both
		for path, want := range map[string]string{
			"/api/Satistics/" + taker + "/lockedAssets":    every,
			"/api/Orders/creationTxHash/" + severalTx:      both,
			"/api/Orders/creationTxHash/" + unknownIs:      every,
			"/api/Orders/" + idText(11):                    both,
			"/api/Orders/" + idText(99):                    every,
			"/v1.0/dln/order/" + idText(11) + "/status":    both,
			"/v1.0/dln/order/" + idText(99) + "/status":    every,
			"/api/Transaction/" + severalTx + "/orderIds":  both,
			"/api/Transaction/" + unknownIs + "/orderIds":  every,
			"/v1.0/dln/tx/" + severalTx + "/order-ids":     both,
			"/v1.0/chain/transaction?chainId=" + "nothing": "",
		} {
			for range 2 { // loaded, then kept
				response := get(s, path)
				if got := response.Header.Get(indexBasis); got != want {
					t.Errorf("GET %s: HTTP %d, basis %q, want %q", path, response.StatusCode, got, want)
				}
			}
		}
	})
}

// TestIndexThatCannotBeReadIsNoAnswer distinguishes nothing that is locked from nothing that is known.
func TestIndexThatCannotBeReadIsNoAnswer(t *testing.T) {
	if p := problemOf(index.ErrUnavailable); p.status != http.StatusServiceUnavailable || p.id != "INDEX_UNAVAILABLE" {
		t.Errorf("problem of a store that is away: %d %s", p.status, p.id)
	}
	if p := problemOf(index.ErrEmpty); p.status != http.StatusServiceUnavailable || p.id != "INDEX_EMPTY" {
		t.Errorf("problem of an index that has read nothing: %d %s", p.status, p.id)
	}
}
