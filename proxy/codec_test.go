package proxy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// answersToShare are one of each kind.
func answersToShare() map[string]answer {
	life := cache.Life{Fresh: time.Second}
	began := madeToShare.Add(-time.Second)
	basis := order.Basis{At: began, Behind: time.Minute, Chains: []order.ChainBasis{
		{
			Chain: 1, Followed: true, Hash: chain.Hash{7}, Final: true, Unread: true,
			Lag: order.Lag{Head: 9, Indexed: 7, IndexedTime: 1_784_949_000, Level: began.Add(-3*time.Minute - 1)},
		},
		{Chain: 100000026},
	}}
	full := newAnswer([]Body{
		{
			Text: strings.Repeat("body ", 1000), Link: []string{`<?index=1>; rel="next"`}, Final: true,
			Orders: []order.ID{{1}, {2}}, Basis: basis,
			Quoted: time.UnixMilli(1_784_950_000_123).UTC(), Expires: time.UnixMilli(1_784_950_009_000).UTC(),
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

// madeToShare is when answersToShare were made.
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

// FuzzDecodeAnswer has anybody write to the shared cache. What can be read can be written again and says the same.
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
