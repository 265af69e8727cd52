package wire

import (
	"strings"
	"testing"
)

func TestOrderMetadataLeavesOutWhatHasNoName(t *testing.T) {
	named := metadataV1(t)
	withCode := func(at int, code byte) []byte {
		raw := append([]byte(nil), named...)
		raw[at] = code
		return raw
	}
	const members = `"version":1,"creationProcessType":"SrcAmountSet","origin":"Default","additionalTakerIncentiveBps":0,` +
		`"operatingExpensesAmount":"706052","recommendedTakeAmount":"17279551","metadata":"0x0000000000000000000000000000000000000000",` +
		`"promotionType":"None","orderTradeType":"Market","partnerFeeBps":null,"srcProtocolChainId":null,"dstProtocolChainId":null}`
	without := func(name, word string) string {
		return strings.Replace(members, `"`+name+`":"`+word+`",`, "", 1)
	}
	for name, test := range map[string]struct {
		raw  []byte
		want string // after the raw bytes, where they are told
	}{
		"everything has a name":    {named, members},
		"a process of another way": {withCode(1, 3), without("creationProcessType", "SrcAmountSet")},
		"another origin":           {withCode(2, 9), without("origin", "Default")},
		"another promotion":        {withCode(65, 1), without("promotionType", "None")},
		"another kind of trade":    {withCode(66, 1), without("orderTradeType", "Market")},
		"another version": {
			append([]byte{2}, named[1:]...), `"partnerFeeBps":null,"srcProtocolChainId":null,"dstProtocolChainId":null}`,
		},
		"before trades had kinds": {named[:66], without("orderTradeType", "Market")},
	} {
		want := "{" + test.want
		if test.want != members {
			raw := &writer{}
			raw.hex(test.raw)
			want = `{"rawMetadataHex":` + string(raw.json) + "," + test.want
		}
		w := &writer{}
		w.orderMetadata(test.raw, false)
		if got := string(w.json); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
