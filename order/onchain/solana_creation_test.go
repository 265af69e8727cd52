package onchain_test

import (
	"bytes"
	"reflect"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/onchain"
)

// TestSolanaCreationsAreWrittenAsRecorded reads the instructions of recorded creations and of a fulfilment, and writes
// them again.
func TestSolanaCreationsAreWrittenAsRecorded(t *testing.T) {
	var encoded struct {
		Items []struct {
			Name    string
			OrderID order.ID
			Data    hexBytes
		}
	}
	recorded.JSON(t, "facts/dln/vectors/solana_synthetic.json", &encoded)
	created := 0
	for _, item := range encoded.Items {
		c, err := onchain.ParseSolanaCreation(item.Data)
		if err != nil {
			continue
		}
		created++
		if got := c.Data(); !bytes.Equal(got, item.Data) {
			t.Errorf("%s is written as %x, want %x", item.Name, got, item.Data)
		}
		if c.Nonce == nil || len(c.Metadata) != 66 || c.GiveAmount.IsZero() {
			t.Errorf("%s is read as %+v", item.Name, c)
		}
	}
	if created != 2 {
		t.Errorf("%d creations were read, want 2", created)
	}
}

// TestSolanaCreationsAreReadAsWritten has each optional part, and none.
func TestSolanaCreationsAreReadAsWritten(t *testing.T) {
	nonce := uint64(1_790_000_000_000)
	whole := onchain.SolanaCreation{
		GiveAmount: chain.NewAmount(1_000_000), Take: order.Offer{Chain: 137, Token: key(1), Amount: chain.NewAmount(7)},
		Receiver: key(2), ExternalCall: []byte("call"), Authorities: order.Authorities{
			GivePatch: key(3), Order: key(4), AllowedTaker: key(5), CancelBeneficiary: key(6),
		},
		Affiliate: &order.Affiliate{Beneficiary: key(7), Amount: chain.NewAmount(9)}, ReferralCode: 31805,
		Nonce: &nonce, Metadata: []byte{1, 2},
	}
	bare := onchain.SolanaCreation{
		GiveAmount: chain.NewAmount(1), Take: whole.Take, Receiver: key(2),
		Authorities: order.Authorities{GivePatch: key(3), Order: key(4)},
	}
	for name, c := range map[string]onchain.SolanaCreation{"whole": whole, "bare": bare} {
		got, err := onchain.ParseSolanaCreation(append(c.Data(), 1, 2, 3)) // the program reads no further
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: ParseSolanaCreation = %+v, %v, want %+v", name, got, err, c)
		}
		for length := range c.Data() {
			if got, err := onchain.ParseSolanaCreation(c.Data()[:length]); err == nil {
				t.Fatalf("%s: the first %d bytes are read as %+v", name, length, got)
			}
		}
	}
}

func FuzzParseSolanaCreation(f *testing.F) {
	nonce := uint64(5)
	f.Add(onchain.SolanaCreation{
		Take: order.Offer{Chain: 1, Token: key(1)}, Receiver: key(2), Nonce: &nonce, Metadata: []byte{1},
		Authorities: order.Authorities{GivePatch: key(3), Order: key(4), AllowedTaker: key(5)},
	}.Data())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := onchain.ParseSolanaCreation(data)
		if err != nil {
			return
		}
		again, err := onchain.ParseSolanaCreation(c.Data())
		if err != nil || again.GiveAmount != c.GiveAmount || again.Take != c.Take || again.Authorities != c.Authorities {
			t.Errorf("%x is read as %+v, and what is written of that as %+v, %v", data, c, again, err)
		}
	})
}
