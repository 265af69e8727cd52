package creation_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
)

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
