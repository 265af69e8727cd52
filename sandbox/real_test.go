package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/internal/must"
)

// readShared returns a file of the recorded material, and skips the test where that does not lie beside the
// repository's checkout.
func readShared(t *testing.T, path string) []byte {
	t.Helper()
	file := filepath.Join("..", "..", "shared", filepath.FromSlash(path))
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there: the recorded material lies in a folder named shared beside the checkout of this repository", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Calldata that was really sent creates here the order that it created there.
func TestRealCalldataCreatesTheRealOrder(t *testing.T) {
	var vectors struct {
		Items []struct {
			Name, Calldata, From, OrderID, TxHash, Value string
		}
	}
	must.Do(t, json.Unmarshal(readShared(t, "facts/dln/vectors/evm_calldata.json"), &vectors))
	c := untouched.Chains()[0]
	tried := 0
	for _, item := range vectors.Items {
		if item.TxHash == "" {
			continue // a quote that nobody sent
		}
		tried++
		var created string
		decode(t, askAt(t, c.RPC, "eth_call",
			map[string]any{"from": item.From, "to": c.dlnSource(), "data": item.Calldata, "value": "0x" + units(item.Value, 0).Text(16)},
			"latest", map[string]any{item.From: map[string]any{"balance": "0xde0b6b3a7640000"}}), &created)
		if common.HexToHash(created) != common.HexToHash(item.OrderID) {
			t.Errorf("%s: order %s, want %s", item.Name, created, item.OrderID)
		}
	}
	if tried == 0 {
		t.Error("no transaction among the vectors")
	}
}
