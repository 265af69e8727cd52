package stories_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"github.com/mr-tron/base58"
)

// The encoding of the API's JSON, written from its description: this shares no code with the gateway.

const (
	solanaID = 7565164
	tronID   = 100000026
)

// compare requires every member of want in got. It ignores members that want does not have.
func compare(t interface {
	Helper()
	Errorf(format string, a ...any)
}, what string, got, want any,
) {
	t.Helper()
	if diff := cmp.Diff(want, within(got, want)); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}

// within reduces got to the members that want has, at every depth.
func within(got, want any) any {
	switch want := want.(type) {
	case map[string]any:
		if object, isObject := got.(map[string]any); isObject {
			part := map[string]any{}
			for name, value := range want {
				part[name] = within(object[name], value)
			}
			return part
		}
	case []any:
		if list, isList := got.([]any); isList && len(list) == len(want) {
			part := make([]any, len(list))
			for i := range list {
				part[i] = within(list[i], want[i])
			}
			return part
		}
	}
	return got
}

func arrayText(raw []byte) string {
	return strings.ReplaceAll(fmt.Sprint(slices.Clone(raw)), " ", ",")
}

func numberJSON(n *big.Int) map[string]any {
	raw := common.LeftPadBytes(n.Bytes(), 32)
	return map[string]any{
		"bytesValue": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"bigIntegerValue": json.Number(n.String()), "stringValue": n.String(),
	}
}

func hashJSON(raw []byte) map[string]any {
	if raw == nil {
		return map[string]any{"bytesValue": nil, "bytesArrayValue": nil, "stringValue": nil}
	}
	return map[string]any{
		"bytesValue": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"stringValue": "0x" + hex.EncodeToString(raw),
	}
}

func addressText(raw []byte, chainID uint64) string {
	switch chainID {
	case solanaID:
		return base58.Encode(raw)
	case tronID:
		body := append([]byte{0x41}, raw...)
		once := sha256.Sum256(body)
		twice := sha256.Sum256(once[:])
		return base58.Encode(append(body, twice[:4]...))
	}
	return "0x" + hex.EncodeToString(raw)
}

func addressJSON(raw []byte, chainID uint64) map[string]any {
	if len(raw) == 0 {
		return map[string]any{"Base64Value": nil, "bytesArrayValue": "", "stringValue": nil}
	}
	return map[string]any{
		"Base64Value": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"stringValue": addressText(raw, chainID),
	}
}

// metadataJSON decodes the members whose position in the bytes is known.
func metadataJSON(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	little := func(part []byte) string {
		part = slices.Clone(part)
		slices.Reverse(part)
		return new(big.Int).SetBytes(part).String()
	}
	out := map[string]any{"rawMetadataHex": "0x" + hex.EncodeToString(raw)}
	if raw[0] == 1 && len(raw) == 66 {
		out["version"] = json.Number("1")
		out["operatingExpensesAmount"] = little(raw[5:25])
		out["recommendedTakeAmount"] = little(raw[25:45])
	}
	return out
}

// unitsJSON formats an amount in whole tokens, without an exponent and without trailing zeros.
func unitsJSON(amount *big.Int, offer map[string]any) json.Number {
	decimals, err := offer["metadata"].(map[string]any)["decimals"].(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	units := new(big.Rat).SetFrac(amount, new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
	text := units.FloatString(int(decimals))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return json.Number(text)
}
