package proxy

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// answersToShare returns one answer of each kind.
func answersToShare() map[string]answer {
	life := cache.Life{Fresh: time.Second}
	began := madeToShare.Add(-time.Second)
	basis := order.Basis{At: began, Behind: time.Minute, Chains: []order.ChainBasis{
		{
			Chain: 1, Followed: true, Final: true, Unread: true,
			Lag: order.Lag{Head: 9, Indexed: 7, IndexedTime: 1_784_949_000, Level: began.Add(-3*time.Minute - 1)},
		},
		{Chain: 100000026},
	}}
	full := newAnswer([]Body{
		{
			Text: strings.Repeat("body ", 1000), Link: []string{`<?index=1>; rel="next"`}, Final: true,
			Orders: []order.ID{{1}, {2}}, Basis: basis,
			Quoted: madeToShare.Add(-3 * time.Second), Expires: time.UnixMilli(1_784_950_009_000).UTC(),
		},
		{Text: "[]"},
	}, life, madeToShare)
	full.subject = cache.KeyOf("subject")
	basis.All = true
	return map[string]answer{
		"bodies": full,
		"problem": {
			problem: UnknownTx.Because("no chain"), Searched: basis, freshness: freshnessOf(basis, madeToShare),
			subject: cache.KeyOf("subject"), Made: madeToShare,
		},
	}
}

// madeToShare is when answersToShare were created.
var madeToShare = time.UnixMilli(1_784_950_000_000)

func TestAnswersSurviveTheirEncoding(t *testing.T) {
	for name, a := range answersToShare() {
		got, err := decodeAnswer(encodeAnswer(a), cache.Life{Fresh: time.Second}, madeToShare)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, a) {
			t.Errorf("%s: decoded %+v, want %+v", name, got, a)
		}
	}
	behind, err := decodeAnswer(encodeAnswer(answersToShare()["bodies"]), cache.Life{}, madeToShare.Add(time.Minute))
	if age := madeToShare.Add(time.Minute).Sub(behind.Bodies[0].Quoted); err != nil || age != 3*time.Second {
		t.Errorf("prices of a replica whose clock is behind are %v old, want 3s (%v)", age, err)
	}
}

func TestMalformedAnswersAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "p", "nothing": "{}", "a body without a length": `{"bodies":[{}]}` + "\nbody",
		"a length without a body": `{"lengths":[4]}` + "\nbody", "less text than announced": `{"bodies":[{}],"lengths":[5]}` + "\nbody",
		"more text than announced": `{"bodies":[{}],"lengths":[3]}` + "\nbody", "a length below zero": `{"bodies":[{}],"lengths":[-1]}` + "\nbody",
		"an unknown problem": `{"problem":"NEWER"}`, "a problem with a text": `{"problem":"` + UnknownTx.ID + `"}` + "\nbody",
	} {
		if a, err := decodeAnswer([]byte(text), cache.Life{}, madeToShare); err == nil {
			t.Errorf("%s: decoded %+v, want an error", name, a)
		}
	}
}

func TestWhatOneReplicaDoesNotKnowIsNotShared(t *testing.T) {
	for _, k := range []Kind{UnknownOrder, UnknownStatus} {
		if got := encodeAnswer(answer{problem: k.Because("")}); got != nil {
			t.Errorf("%s is encoded as %q, want nothing", k.ID, got)
		}
	}
}

// FuzzDecodeAnswer reads arbitrary data from the shared cache. What decodes must survive another encoding.
func FuzzDecodeAnswer(f *testing.F) {
	for _, a := range answersToShare() {
		f.Add(encodeAnswer(a))
	}
	f.Add([]byte("p"))
	life := cache.Life{Fresh: time.Second}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := decodeAnswer(text, life, madeToShare)
		if err != nil {
			return
		}
		second, err := decodeAnswer(encodeAnswer(first), life, madeToShare)
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("decoded %+v, encoded and decoded again %+v, %v", first, second, err)
		}
		if tags := first.tags(); len(tags) > len(text)+8 {
			t.Errorf("%d tags of %d bytes", len(tags), len(text))
		}
	})
}

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

// ofChain returns the basis of a followed chain.
func ofChain(id chain.ID, lag order.Lag) order.ChainBasis {
	return order.ChainBasis{Chain: id, Followed: true, Lag: lag, Epoch: new(order.Epoch)}
}
