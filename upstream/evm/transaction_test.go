package evm_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/order"
)

// sent makes a node answer for one transaction: an unlock that it sent to DlnDestination.
func sent(n *node, c chain.Chain, tx chain.TxHash, members string) {
	const from, block = "0x0909090909090909090909090909090909090909", 500
	data := fmt.Sprintf("0x%x%064x%064x%064x", crypto.Keccak256([]byte("sendEvmUnlock(bytes32,address,uint256)"))[:4], 7, 8, 9)
	n.answers = map[string]string{
		"eth_getTransactionByHash": fmt.Sprintf(`"result":{"hash":%q,"blockHash":%q,"from":%q,"to":%q,"value":"0xde0b6b3a7640000","nonce":"0x2a","input":%q}`,
			tx, blockHash(block), from, c.Contracts.DlnDestination, data),
		"eth_getTransactionReceipt": fmt.Sprintf(`"result":{"transactionHash":%q,"blockHash":%q,"blockNumber":"0x1f4","from":%q,"status":"0x1","logs":[],`+
			`"gasUsed":"0x5208"%s}`, tx, blockHash(block), from, members),
	}
}

func TestTransactionIsReadInOneRoundTrip(t *testing.T) {
	tx, n := chain.NewTxHash(repeat(3, 32)), newNode(1000)
	ethereum, _ := chain.Documented().Chain(1)
	n.chainID = ethereum.Native
	sent(n, ethereum, tx, `,"effectiveGasPrice":"0x3b9aca00"`)
	c := n.serve(t, ethereum)
	if _, err := c.Head(t.Context()); err != nil { // proves the endpoint's identity
		t.Fatal(err)
	}
	n.trips()
	got, err := c.Transaction(t.Context(), tx)
	if err != nil || len(got.Calls) != 1 {
		t.Fatalf("Transaction() = %+v, %v", got, err)
	}
	if trips := n.trips(); trips != 1 {
		t.Errorf("it took %d round trips", trips)
	}
	call := got.Calls[0]
	if call.Role != "DlnDestination" || call.Function != "sendEvmUnlock" || len(call.Arguments) != 3 || call.Contract != ethereum.Contracts.DlnDestination {
		t.Errorf("it calls %+v", call)
	}
	if got.Chain != ethereum.ID || got.Hash != tx || got.Block != 500 || got.Sender != chain.NewAddress(repeat(9, 20)) ||
		got.Nonce == nil || *got.Nonce != 42 || got.GasUsed == nil || *got.GasUsed != 21_000 || got.Value.String() != "1000000000000000000" {
		t.Errorf("Transaction() = %+v", got)
	}
	if got.Fee == nil || got.Fee.String() != "21000000000000" {
		t.Errorf("fee %v, want 21000 of 1 gwei", got.Fee)
	}
	if len(got.By) != 1 || got.By[0] != "node-1" {
		t.Errorf("told by %q", got.By)
	}
}

func TestFeeThatIsNotToldWholeIsUnknown(t *testing.T) {
	for _, row := range []struct {
		chain         chain.ID
		members, want string
	}{
		{1, ``, ""},
		{1, `,"effectiveGasPrice":"cheap"`, ""},
		{1, `,"effectiveGasPrice":"0x1","l1Fee":"0x5"`, "21000"},
		{10, `,"effectiveGasPrice":"0x1"`, ""},
		{10, `,"effectiveGasPrice":"0x1","l1Fee":"0x5"`, "21005"},
		{10, `,"effectiveGasPrice":"0x1","l1Fee":"0x5","operatorFeeScalar":"0x0","operatorFeeConstant":"0x0"`, "21005"},
		{10, `,"effectiveGasPrice":"0x1","l1Fee":"0x5","operatorFeeConstant":"0x1"`, ""},
	} {
		c, _ := chain.Documented().Chain(row.chain)
		tx, n := chain.NewTxHash(repeat(3, 32)), newNode(1000)
		n.chainID = c.Native
		sent(n, c, tx, row.members)
		got, err := n.serve(t, c).Transaction(t.Context(), tx)
		if err != nil {
			t.Fatal(err)
		}
		fee := ""
		if got.Fee != nil {
			fee = got.Fee.String()
		}
		if fee != row.want {
			t.Errorf("chain %s, receipt with %s: fee %q, want %q", row.chain, row.members, fee, row.want)
		}
	}
}

func TestTransactionsThatAreNotThere(t *testing.T) {
	tx, n := chain.NewTxHash(repeat(3, 32)), newNode(1000)
	c := n.serve(t, testChain)
	n.answers = map[string]string{"eth_getTransactionByHash": `"result":null`}
	for _, each := range []chain.TxHash{tx, chain.NewTxHash(repeat(1, 64))} {
		if got, err := c.Transaction(t.Context(), each); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("Transaction() of one that nobody knows = %+v, %v", got, err)
		}
	}
	sent(n, testChain, tx, "")
	n.answers["eth_getTransactionReceipt"] = fmt.Sprintf(`"result":{"transactionHash":%q,"blockHash":%q,"blockNumber":"0x1f5","from":"0x0909090909090909090909090909090909090909","logs":[]}`,
		tx, blockHash(501))
	if got, err := c.Transaction(t.Context(), tx); err == nil {
		t.Errorf("Transaction() of one whose receipt is in another block = %+v", got)
	}
}
