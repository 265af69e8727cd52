package proxy

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/order/index"
)

func TestFreshnessPointsOutChainsThatAreBehind(t *testing.T) {
	now := time.Unix(1_784_950_000, 0)
	level := followed(1, index.Lag{Head: 90, Indexed: 90, IndexedTime: 1_784_949_990, Level: now.Add(-2 * time.Second)})
	late := followed(137, index.Lag{Head: 80, Indexed: 70, IndexedTime: 1_784_949_000})
	unread, other := followed(8453, index.Lag{}), index.ChainBasis{Chain: 10}
	for _, test := range []struct {
		chains            []index.ChainBasis
		head, lag, behind string
	}{
		{[]index.ChainBasis{level, late, unread}, "1;block=90;time=1784949990;lag=2, 137;block=70;time=1784949000;lag=1000, 8453;block=0", "", "137, 8453"},
		{[]index.ChainBasis{level}, "1;block=90;time=1784949990;lag=2", "2", ""},
		{[]index.ChainBasis{level, other, unread}, "1;block=90;time=1784949990;lag=2, 8453;block=0", "", "8453"},
		{[]index.ChainBasis{level, late}, "1;block=90;time=1784949990;lag=2, 137;block=70;time=1784949000;lag=1000", "1000", "137"},
		{[]index.ChainBasis{other}, "", "", ""},
	} {
		header := http.Header{}
		freshnessOf(index.Basis{Chains: test.chains, Behind: time.Minute}, now).write(header)
		for name, want := range map[string]string{indexHead: test.head, indexLag: test.lag, indexBehind: test.behind} {
			if got := header.Get(name); got != want {
				t.Errorf("chains %v: %s: %q, want %q", test.chains, name, got, want)
			}
		}
	}
}

func TestAnswersTellWhatTheyCover(t *testing.T) {
	now := time.Unix(1_784_950_000, 0)
	level := index.Lag{Head: 90, Indexed: 90, IndexedTime: 1_784_949_990, Level: now}
	whole, later, unread := followed(1, level), followed(137, level), followed(8453, index.Lag{})
	whole.From, whole.Proven = index.BlockTime{Time: 1_438_269_988}, 80
	later.From, later.Quarantined = index.BlockTime{Number: 20, Time: 1_784_949_000}, index.QuarantinedBlocks{Count: 2, First: 31}
	for _, test := range []struct {
		chains                    []index.ChainBasis
		from, proven, quarantined string
	}{
		{[]index.ChainBasis{whole, later, unread}, "1;block=0, 137;block=20;time=1784949000", "1;block=80", "137;blocks=2;first=31"},
		{[]index.ChainBasis{whole}, "1;block=0", "1;block=80", ""},
		{[]index.ChainBasis{unread}, "", "", ""},
		{[]index.ChainBasis{{Chain: 10}}, "", "", ""},
	} {
		header := http.Header{}
		freshnessOf(index.Basis{Chains: test.chains, Behind: time.Minute}, now).write(header)
		for name, want := range map[string]string{indexFrom: test.from, indexProven: test.proven, indexQuarantined: test.quarantined} {
			if got := header.Get(name); got != want {
				t.Errorf("chains %v: %s: %q, want %q", test.chains, name, got, want)
			}
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
		const both = "137;block=8;time=946600000;lag=3600, 8453;block=9;time=946600000;lag=0"
		every := [2]string{"1;block=0, " + both, ""}
		for path, want := range map[string][2]string{
			"/api/Satistics/" + taker + "/lockedAssets":    every,
			"/api/Orders/creationTxHash/" + severalTx:      {both, "3600"},
			"/api/Orders/creationTxHash/" + unknownIs:      every,
			"/api/Orders/" + idText(11):                    {both, "3600"},
			"/api/Orders/" + idText(99):                    every,
			"/v1.0/dln/order/" + idText(11) + "/status":    {both, "3600"},
			"/v1.0/dln/order/" + idText(99) + "/status":    every,
			"/api/Transaction/" + severalTx + "/orderIds":  {both, "3600"},
			"/api/Transaction/" + unknownIs + "/orderIds":  every,
			"/v1.0/dln/tx/" + severalTx + "/order-ids":     {both, "3600"},
			"/v1.0/chain/transaction?chainId=" + "nothing": {"", ""},
		} {
			for range 2 { // loaded, then kept
				response := get(s, path)
				if got := [2]string{response.Header.Get(indexHead), response.Header.Get(indexLag)}; got != want {
					t.Errorf("GET %s: HTTP %d, head and lag %q, want %q", path, response.StatusCode, got, want)
				}
			}
		}
		if got := get(s, "/api/Satistics/"+taker+"/lockedAssets").Header.Get(indexBehind); got != "1, 137" {
			t.Errorf("%s = %q, want 1, 137", indexBehind, got)
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
