package onchain_test

import (
	"crypto/sha256"
	"testing"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// TestOrderAccounts holds the accounts of recorded orders.
func TestOrderAccounts(t *testing.T) {
	from, to := fromSolana(t).ID, toSolana(t).ID
	for _, test := range []struct {
		name string
		got  chain.Address
		want string
	}{
		{"GiveOrderAccount", onchain.GiveOrderAccount(solanaContracts, from), "Ge2DTLgk687RBKhu7PewcHMXzgcs2chEgf7NtePqDePB"},
		{"TakeOrderAccount", onchain.TakeOrderAccount(solanaContracts, to), "DmzYfnAskQ3C2AwuZqTjaHnK52vFrb3wQKamuHWPd5cj"},
		{"state of dln_src", solana.ProgramAddress(solanaContracts.DlnSource, []byte("STATE")), "HJEPgYkbqjetrphNHG2W33SjG9mB4PrXorW358MzfggY"},
	} {
		if got := test.got.Format(chain.SVM); got != test.want {
			t.Errorf("%s = %s, want %s", test.name, got, test.want)
		}
	}
	if got := onchain.CallAccount(chain.Contracts{}, to); !got.IsAbsent() {
		t.Errorf("CallAccount without an executor = %s", got)
	}
}

func giveAccount(tb testing.TB, discriminator string) borshWriter {
	tb.Helper()
	created := append(tagged(tb, discriminator), 0).some().u64(100).some().u64(15_000_000).none()
	created = created.some().raw(key(7).Bytes()).u64(5).none().raw(key(8).Bytes()).amount(chain.NewAmount(137))
	return append(created, 255, 254)
}

func TestDecodeGiveAccount(t *testing.T) {
	for name, discriminator := range map[string]string{"as its type": "b90f91d5fcbedf96", "in camel case": "3ec86de4fe1b9394"} {
		got, err := onchain.DecodeGiveAccount(giveAccount(t, discriminator))
		if err != nil || got != (order.StoredState{State: order.StateCreated, Amount: chain.NewAmount(100)}) {
			t.Errorf("%s: DecodeGiveAccount = %+v, %v, want an order of 100", name, got, err)
		}
	}
	for data, want := range map[string]order.State{
		"": order.None, string(tagged(t, "b90f91d5fcbedf96")) + "\x01\x00": order.StateClaimedUnlock,
		string(tagged(t, "b90f91d5fcbedf96")) + "\x02\x00": order.StateClaimedOrderCancel,
	} {
		if got, err := onchain.DecodeGiveAccount([]byte(data)); err != nil || got.State != want {
			t.Errorf("DecodeGiveAccount(%x) = %+v, %v, want %s", data, got, err, want)
		}
	}
	neither := giveAccount(t, "b90f91d5fcbedf96")
	neither[9]++ // the tag of its first option
	for name, data := range map[string][]byte{
		"another kind": tagged(t, "2aa95a78469f6f77").none(), "a newer status": append(tagged(t, "b90f91d5fcbedf96"), 3),
		"an option neither there nor absent": neither, "a part": giveAccount(t, "b90f91d5fcbedf96")[:12], "no status": tagged(t, "b90f91d5fcbedf96"),
	} {
		if got, err := onchain.DecodeGiveAccount(data); err == nil {
			t.Errorf("DecodeGiveAccount of %s = %+v, want an error", name, got)
		}
	}
}

func TestDecodeTakeAccount(t *testing.T) {
	for variant, want := range []order.State{
		order.StateFulfilled, order.StateSentUnlock, order.StateOrderCancelled, order.StateSentOrderCancel, order.StateFulfilled,
	} {
		for _, name := range []string{"TakeOrderState", "takeOrderState"} {
			mark := sha256.Sum256([]byte("account:" + name))
			data := append(mark[:8:8], byte(variant), 1, 2, 3)
			if got, err := onchain.DecodeTakeAccount(data); err != nil || got.State != want {
				t.Errorf("DecodeTakeAccount of %s with variant %d = %v, %v, want %v", name, variant, got, err, want)
			}
		}
	}
	if got, err := onchain.DecodeTakeAccount(nil); err != nil || got.State != order.None {
		t.Errorf("DecodeTakeAccount of nothing = %v, %v, want none", got, err)
	}
	mark := sha256.Sum256([]byte("account:TakeOrderState"))
	for name, data := range map[string][]byte{
		"another kind": giveAccount(t, "b90f91d5fcbedf96"), "a newer status": append(mark[:8:8], 5), "no status": mark[:8],
	} {
		if got, err := onchain.DecodeTakeAccount(data); err == nil {
			t.Errorf("DecodeTakeAccount of %s = %v, want an error", name, got)
		}
	}
}
