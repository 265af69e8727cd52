package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// shared reads a file of facts from beside the repository, and skips the test where there is none.
func shared(t *testing.T, path string, out any) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; filepath.Dir(root) != root; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
	}
	file := filepath.Join(root, "..", "shared", path)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("facts not present: %v", err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Calldata that was really sent creates here the order that it created there.
func TestRealCalldataCreatesTheRealOrder(t *testing.T) {
	var vectors struct {
		Items []struct {
			Name, Calldata, From, OrderID, TxHash, Value string
		}
	}
	shared(t, "facts/dln/vectors/evm_calldata.json", &vectors)
	c := untouched.Chains()[0]
	tried := 0
	for _, item := range vectors.Items {
		if item.TxHash == "" {
			continue // a quote that nobody sent
		}
		tried++
		var created string
		rpcResult(t, c, &created, "eth_call",
			map[string]any{"from": item.From, "to": c.dlnSource(), "data": item.Calldata, "value": "0x" + units(item.Value, 0).Text(16)},
			"latest", map[string]any{item.From: map[string]any{"balance": "0xde0b6b3a7640000"}})
		if common.HexToHash(created) != common.HexToHash(item.OrderID) {
			t.Errorf("%s: order %s, want %s", item.Name, created, item.OrderID)
		}
	}
	if tried == 0 {
		t.Error("no transaction among the vectors")
	}
}
