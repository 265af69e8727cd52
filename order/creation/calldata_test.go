package creation_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
)

// parse parses calldata for DlnSource or for the router.
func parse(data []byte) (creation.Creation, *creation.Swap, error) {
	swap, err := creation.ParseSwap(data)
	if errors.Is(err, creation.ErrOtherFunction) {
		c, err := creation.Parse(data)
		return c, nil, err
	}
	if err != nil {
		return creation.Creation{}, nil, err
	}
	c, err := creation.Parse(swap.TargetData)
	return c, &swap, err
}

// TestCreationsBecomeTheOrdersThatTheContractsMade parses calldata of every layout that was executed, and compares the
// bytes whose hash is the ID; calldata of the usual layout must also encode to the same bytes.
func TestCreationsBecomeTheOrdersThatTheContractsMade(t *testing.T) {
	parsed, written := 0, 0
	for _, file := range files {
		for _, v := range readVectors(t, file) {
			c, swap, err := parse(v.Tx.Data)
			if err != nil || len(v.Result.Created) != 1 {
				continue
			}
			parsed++
			made := v.Result.Created[0]
			nonce := uint64(0)
			if c.Salt != nil {
				nonce = *c.Salt
			} else {
				nonce = nonceOf(made.Packed)
			}
			terms := c.Terms(v.Chain, v.Tx.From, nonce, made.GiveAmountNet)
			if got := onchain.PackTerms(terms); !bytes.Equal(got, made.Packed) {
				t.Errorf("%s: packed %x, want %x", v.ID, got, made.Packed)
			}
			data := c.Data()
			if swap != nil {
				swap.TargetData, data = data, swap.Data()
			}
			if bytes.Equal(data, v.Tx.Data) {
				written++
			} else if v.Kind != "encoding" && v.Kind != "recorded" {
				t.Errorf("%s: Data() is not the calldata that was read", v.ID)
			}
		}
	}
	if parsed < 200 || written < parsed-20 {
		t.Errorf("%d creations were read and %d written again, want nearly all of 240", parsed, written)
	}
}

func nonceOf(packed []byte) (nonce uint64) {
	nonce, _ = chain.AmountFromBytes(packed[:8]).Uint64()
	return nonce
}

func TestSplit(t *testing.T) {
	affiliate := func(amount uint64) []byte {
		return creation.AffiliateFee(order.Affiliate{Beneficiary: chain.NewAddress(make([]byte, 20)), Amount: chain.NewAmount(amount)})
	}
	largest := must.Get(chain.ParseAmount("115792089237316195423570985008687907853269984665640564039457584007913129639935"))(t)
	tests := []struct {
		gross        chain.Amount
		bps          uint64
		fee          []byte
		want         creation.Split
		doesOverflow bool
	}{
		{chain.NewAmount(2499), 4, nil, creation.Split{Net: chain.NewAmount(2499)}, false},
		{chain.NewAmount(2500), 4, nil, creation.Split{Percent: chain.NewAmount(1), Net: chain.NewAmount(2499)}, false},
		{chain.NewAmount(0), 4, nil, creation.Split{}, false},
		{chain.NewAmount(10_000), 4, affiliate(9_996), creation.Split{Percent: chain.NewAmount(4), Affiliate: chain.NewAmount(9_996)}, false},
		{chain.NewAmount(10_000), 4, affiliate(9_997), creation.Split{}, true},
		{chain.NewAmount(10_000), 10_001, nil, creation.Split{}, true},
		{chain.NewAmount(10_000), 4, affiliate(9_997)[:51], creation.Split{Percent: chain.NewAmount(4), Net: chain.NewAmount(9_996)}, false},
		{largest, 0, nil, creation.Split{Net: largest}, false},
		{largest, 1, nil, creation.Split{Percent: largest.MulDiv(1, 10_000), Net: largest.Sub(largest.MulDiv(1, 10_000))}, false},
		{largest, 2, nil, creation.Split{}, true},
		{largest, 1, creation.AffiliateFee(order.Affiliate{Beneficiary: chain.NativeCoin(chain.EVM), Amount: largest}), creation.Split{}, true},
	}
	for _, test := range tests {
		got, err := creation.SplitOf(test.gross, creation.Creation{AffiliateFee: test.fee}.Affiliate(), test.bps)
		if got != test.want || errors.Is(err, creation.ErrOverflow) != test.doesOverflow {
			t.Errorf("Split of %s at %d bps with %x = %+v, %v, want %+v", test.gross, test.bps, test.fee, got, err, test.want)
		}
	}
}

func TestPermitIsReadAsItIsWritten(t *testing.T) {
	want := creation.Permit{Amount: chain.NewAmount(7), Deadline: chain.NewAmount(9), Signature: [65]byte{1, 64: 1}}
	amount, deadline := want.Amount.Bytes32(), want.Deadline.Bytes32()
	envelope := slices.Concat(amount[:], deadline[:], want.Signature[:], []byte{0xff})
	got, complete := creation.ParsePermit(envelope)
	if got != want || !complete || got.V() != 28 {
		t.Errorf("ParsePermit of %+v = %+v, %v, v %d", want, got, complete, got.V())
	}
	if got, complete := creation.ParsePermit(envelope[:128]); complete || got.V() != 27 {
		t.Errorf("a permit without v = %+v, complete %v", got, complete)
	}
	for _, permit := range [][]byte{nil, envelope} {
		for _, data := range [][]byte{creation.Creation{Permit: permit}.Data(), creation.Swap{Permit: permit}.Data()} {
			if _, _, isPermitted, err := creation.Payment(data); err != nil || isPermitted != (permit != nil) {
				t.Errorf("with permit %x: permitted %v, %v", permit, isPermitted, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	salt := uint64(1790869263225)
	c := creation.Creation{Salt: &salt, Permit: make([]byte, 129), Metadata: []byte{1}, AffiliateFee: make([]byte, 52)}
	f.Add(c.Data())
	f.Add(creation.Swap{TargetData: c.Data()}.Data())
	f.Add(must.Get(hex.DecodeString("b9303701"))(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, swap, err := parse(data)
		if err != nil || c.Take.Chain == 0 {
			return
		}
		again, err := creation.Parse(c.Data())
		if err != nil || !bytes.Equal(again.Data(), c.Data()) {
			t.Errorf("Parse(Data()) = %+v, %v, want %+v", again, err, c)
		}
		if swap != nil {
			if read, err := creation.ParseSwap(swap.Data()); err != nil || !bytes.Equal(read.Data(), swap.Data()) {
				t.Errorf("ParseSwap(Data()) = %+v, %v, want %+v", read, err, *swap)
			}
		}
	})
}

// hexBytes is a byte string that JSON represents as 0x hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*b = raw
	return err
}

// vector is a transaction that was executed on the protocol's real contracts. TestForecastsOfAnyLayout in
// sandbox/contracts compares forecasts with its outcome.
type vector struct {
	ID, Kind string
	Chain    chain.ID
	Tx       struct {
		From chain.Address
		Data hexBytes
	}
	Call struct {
		Function string
		Args     map[string]json.RawMessage
	}
	Result struct {
		Status  string
		Created []struct {
			Packed        hexBytes
			GiveAmountNet chain.Amount
		}
	}
}

// readVectors reads the transactions of a file.
func readVectors(t *testing.T, file string) []vector {
	t.Helper()
	var recording struct{ Cases []vector }
	recorded.JSON(t, "golden/create/"+file, &recording)
	return recording.Cases
}

// files hold the creations: direct ones, and those through the router.
var files = []string{"create-vectors-A.json", "router-create-vectors-A.json"}
