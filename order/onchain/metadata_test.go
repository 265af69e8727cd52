package onchain_test

import (
	"encoding/hex"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order/onchain"
)

// The first two are metadata of real orders, from deBridge's order API.
const (
	metadata65 = "010400000051940d000000000000000000000000000000000041a65dd47101" + "0000000000000000000000000000" +
		"0000000000000000000000000000000000000000"
	metadata66 = "010100000066d986c862e659010000000000000000000000009d8242d55f1474ac4c" + "0000000000000000000000" +
		"0000000000000000000000000000000000000000" + "00"
	metadata67 = "0101000a00a0bd070000000000000000000000000000000000a11e6bf22b690d" + "00000000000000000000000000" +
		"0102030405000000000000000000000000000000" + "0000"
)

func TestParseMetadata(t *testing.T) {
	tests := []struct {
		raw      string
		want     onchain.Metadata
		expenses string
		take     string
	}{
		{
			metadata65,
			onchain.Metadata{Version: 1, CreationProcessType: "BothAmountsSet", Origin: "Default"},
			"889937", "1588405839425",
		},
		{
			metadata66,
			onchain.Metadata{Version: 1, CreationProcessType: "SrcAmountSet", Origin: "Default", PromotionType: "None"},
			"97362178910640486", "1414379129275580318365",
		},
		{
			metadata67,
			onchain.Metadata{
				Version: 1, CreationProcessType: "SrcAmountSet", Origin: "Default", AdditionalTakerIncentiveBps: 10,
				Metadata: [20]byte{1, 2, 3, 4, 5}, PromotionType: "None", OrderTradeType: "Market",
			},
			"507296", "3774812168855201",
		},
		{
			"010201" + metadata66[6:],
			onchain.Metadata{Version: 1, CreationProcessType: "DstAmountSet", Origin: "App", PromotionType: "None"},
			"97362178910640486", "1414379129275580318365",
		},
	}
	for _, test := range tests {
		raw := must.Get(hex.DecodeString(test.raw))(t)
		test.want.OperatingExpenses = must.Get(chain.ParseAmount(test.expenses))(t)
		test.want.RecommendedTake = must.Get(chain.ParseAmount(test.take))(t)
		got, known := onchain.ParseMetadata(raw)
		if !known || got != test.want {
			t.Errorf("ParseMetadata of %d bytes = %+v, %v, want %+v", len(raw), got, known, test.want)
		}
	}
}

func TestParseMetadataLeavesForeignBytesAlone(t *testing.T) {
	foreign := map[string][]byte{
		"nothing":         nil,
		"short":           {1, 1, 0},
		"too long":        append([]byte{1}, make([]byte, 67)...),
		"another version": append([]byte{2}, make([]byte, 65)...),
	}
	for name, raw := range foreign {
		if got, known := onchain.ParseMetadata(raw); known {
			t.Errorf("%s: ParseMetadata = %+v, want unknown", name, got)
		}
	}
}

func TestMetadataIsWrittenAsItIsRead(t *testing.T) {
	want := onchain.Metadata{
		Version: 1, CreationProcessType: "BothAmountsSet", Origin: "App", AdditionalTakerIncentiveBps: 85,
		OperatingExpenses: chain.NewAmount(507296), RecommendedTake: must.Get(chain.ParseAmount("3774812168855201"))(t),
		Metadata: [20]byte{1, 2, 3, 4, 5}, PromotionType: "None", OrderTradeType: "Market",
	}
	raw := must.Get(want.Encode())(t)
	if got, known := onchain.ParseMetadata(raw); !known || got != want {
		t.Errorf("ParseMetadata(Encode(%+v)) = %+v, %v", want, got, known)
	}
	for name, spoiled := range map[string]func(*onchain.Metadata){
		"unknown origin": func(m *onchain.Metadata) { m.Origin = "Elsewhere" },
		"incentive":      func(m *onchain.Metadata) { m.AdditionalTakerIncentiveBps = 1 << 16 },
		"amount too wide": func(m *onchain.Metadata) {
			m.RecommendedTake = chain.AmountFromBytes(append([]byte{1}, make([]byte, 20)...))
		},
	} {
		m := want
		spoiled(&m)
		if raw, err := m.Encode(); err == nil {
			t.Errorf("%s: Encode() = %x, want an error", name, raw)
		}
	}
}
