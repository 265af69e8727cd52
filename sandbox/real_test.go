package sandbox

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/internal/recorded"
)

// Calldata that was really sent creates here the order that it created there.
func TestRealCalldataCreatesTheRealOrder(t *testing.T) {
	var vectors struct {
		Items []struct {
			Name, Calldata, From, OrderID, TxHash, Value string
		}
	}
	recorded.JSON(t, "facts/dln/vectors/evm_calldata.json", &vectors)
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
