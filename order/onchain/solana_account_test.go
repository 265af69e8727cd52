package onchain_test

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"testing"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/onchain"
)

// TestOrderAccounts derives the accounts of recorded orders.
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

// TestSolanaCreationsAreWrittenAsRecorded parses the instructions of recorded creations and of a fulfilment, and
// encodes them again.
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

// TestSolanaCreationsAreReadAsWritten covers a creation with all optional parts, and one without any.
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
		got, err := onchain.ParseSolanaCreation(append(c.Data(), 1, 2, 3)) // the program ignores trailing bytes
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

// FuzzDecodeSolana decodes arbitrary instruction data and events of the protocol's programs, and arbitrary lines of
// logs. Decoded terms always hash to the ID that came with them.
func FuzzDecodeSolana(f *testing.F) {
	from, to := fromSolana(f), toSolana(f)
	claim := claim(f, "5951b44f8e9042fb", "c82da7fb31e85b0d", from.ID, hash("message"))
	seeds := []call{
		createWithNonce(f, from), fulfil(f, to), sendUnlock(f, to.ID, hash("message")), claim.calls[0],
		{data: tagged(f, "2c0d9c04eb26b7e9").bytes(key(1).Bytes()).u64(0), events: [][]byte{tagged(f, "505f1b66dda2b118")}},
		{data: tagged(f, "40bc81ff40818b66").raw(from.ID[:]).u64(7), events: [][]byte{tagged(f, "06bd714e8b328845").u64(107).u64(8)}},
		{data: tagged(f, "5f81edf00831df84").terms(to.Terms).raw(to.ID[:]), events: [][]byte{tagged(f, "6c388044a871a8ef")}},
		executed(f, to.ID, 1),
	}
	for i, seed := range seeds {
		f.Add(seed.data, seed.events[0], []byte("Program log: "), uint8(i))
	}
	f.Add([]byte(nil), []byte(nil), []byte("Log truncated"), uint8(1))
	f.Add([]byte(nil), []byte(nil), []byte("Program "+solanaContracts.DlnSource.Format(chain.SVM)+" invoke [1]"), uint8(1))
	f.Fuzz(func(t *testing.T, data, event, line []byte, place uint8) {
		for _, program := range []chain.Address{
			solanaContracts.DlnSource, solanaContracts.DlnDestination, solanaContracts.Gate, solanaContracts.ExternalCallAdapter,
		} {
			each := call{
				program: program, accounts: keys(1, 22), data: data,
				events: [][]byte{event, tagged(t, "bb291b490c3f0d54").raw(from.ID[:])},
			}
			tx := run(wrapper(each, sending(t, hash("message"))), claim)
			tx.Logs[int(place)%len(tx.Logs)] = string(line)
			found, err := onchain.DecodeSolana(solanaContracts, tx, of(to.ID))
			if err == nil {
				checkIDs(t, found)
			}
			for _, account := range onchain.UnnamedOrders(solanaContracts, tx) {
				if account.IsAbsent() {
					t.Error("UnnamedOrders names no account")
				}
			}
		}
	})
}

// TestDecodeCallAccount covers the variants of the executor's accounts, of which the id comes first.
func TestDecodeCallAccount(t *testing.T) {
	mark := sha256.Sum256([]byte("account:ExtcallMeta"))
	before := string(mark[:8]) + string(make([]byte, 32))
	for data, want := range map[string]order.ExternalCallState{
		"": order.AwaitingOrderFulfillment, before + "\x00": order.AwaitingExecution, before + "\x01": order.Executing,
		before + "\x02": order.Completed, before + "\x03": order.Failed, before + "\x04": order.CancelledCall,
	} {
		if got, err := onchain.DecodeCallAccount([]byte(data)); err != nil || got != want {
			t.Errorf("DecodeCallAccount(%x) = %s, %v, want %s", data, got, err, want)
		}
	}
	for _, data := range []string{before, before + "\x05", before[:20], "another" + before + "\x00"} {
		if got, err := onchain.DecodeCallAccount([]byte(data)); err == nil {
			t.Errorf("DecodeCallAccount(%x) = %s, want an error", data, got)
		}
	}
}
