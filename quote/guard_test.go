package quote_test

import (
	"bytes"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
)

func TestGuardLetsNoLieWin(t *testing.T) {
	elsewhere := func(tx *quote.Tx) {
		tx.Data = bytes.ReplaceAll(tx.Data, recipient.Bytes(), sender.Bytes())
	}
	for name, lie := range map[string]func(*quote.Tx){
		"calls another contract":     func(tx *quote.Tx) { tx.To = usdc },
		"calls nothing":              func(tx *quote.Tx) { tx.To = chain.Address{} },
		"takes the coin for a token": func(tx *quote.Tx) { tx.Value = chain.NewAmount(1) },
		"has no calldata":            func(tx *quote.Tx) { tx.Data = nil },
		"has a selector alone":       func(tx *quote.Tx) { tx.Data = tx.Data[:4] },
		"pays somebody else":         elsewhere,
		"names the recipient behind a stranger": func(tx *quote.Tx) {
			elsewhere(tx)
			tx.Data = append(append(tx.Data, make([]byte, 12)...), recipient.Bytes()...)
		},
		"enforces less": func(tx *quote.Tx) {
			tx.Data = bytes.Replace(tx.Data, tx.Data[4:36], make([]byte, 32), 1)
		},
		"enforces it behind": func(tx *quote.Tx) {
			minimum := bytes.Clone(tx.Data[4:36])
			copy(tx.Data[4:36], append(make([]byte, 31), 1))
			tx.Data = append(tx.Data, minimum...)
		},
	} {
		liar := &fakeVenue{name: "liar", perInput: 9, lie: lie}
		got, err := estimator(liar, &fakeVenue{name: "honest", perInput: 1}).Estimate(t.Context(), usdcToDai())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		expect(t, name, names(got.Compared), []string{"honest"})
		if why := refused(got)["liar"]; !errors.Is(why, quote.ErrRefused) {
			t.Errorf("%s: refused = %v, want ErrRefused", name, why)
		}
	}
}

func TestGuardKnowsRoutersThatPayTheirCaller(t *testing.T) {
	caller := &fakeVenue{name: "caller", perInput: 9, omits: true}
	r := usdcToDai()
	if _, err := estimator(caller).Estimate(t.Context(), r); err != nil {
		t.Errorf("Estimate for the sender = %v, want an answer", err)
	}
	r.Sender = sender
	if _, err := estimator(caller).Estimate(t.Context(), r); err != nil {
		t.Errorf("Estimate for another recipient = %v, want an answer", err)
	}
	caller.lie = func(tx *quote.Tx) { tx.Data = tx.Data[:4+4*32] } // as if the sender were the recipient
	if _, err := estimator(caller).Estimate(t.Context(), r); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("Estimate that pays the sender instead = %v, want ErrRefused", err)
	}
}
