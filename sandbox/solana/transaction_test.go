package solana

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

func (t *transaction) bytes(tb *testing.T) []byte {
	tb.Helper()
	return must.Get(t.wire())(tb)
}

func TestTransactionsAreReadAsTheyWereWritten(t *testing.T) {
	c := open(t)
	paid := offer(t, 1)
	paid.Payer = keeper
	must.Get(c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true}, paid))(t)
	must.Get(c.Create(began.Add(time.Minute), Way{Priority: 3}, offer(t, 2)))(t)
	for _, tx := range c.transactions {
		again := must.Get(readTransaction(tx.bytes(t)))(t)
		if rejected := again.resolve(c.tables); rejected != nil || again.VerifySignatures() != nil {
			t.Errorf("read again: %v, %v", rejected, again.VerifySignatures())
		}
		if !bytes.Equal(again.bytes(t), tx.bytes(t)) || !slices.Equal(again.keys(), tx.keys()) {
			t.Error("the transaction has changed")
		}
	}
	if payer := c.transactions[0].Message.AccountKeys[0]; payer != keeper.Key {
		t.Errorf("payer %s, want the keeper", payer)
	}
	var known struct{ SwapTransaction []byte }
	recorded.JSON(t, "recorded/chains/jupiter-swap-v6-transaction-2024.json", &known)
	tx := must.Get(readTransaction(known.SwapTransaction))(t)
	if !bytes.Equal(tx.bytes(t), known.SwapTransaction) || len(tx.Message.AddressTableLookups) != 4 || len(tx.Message.AccountKeys) != 20 {
		t.Errorf("Jupiter's real transaction is read as %+v", tx.Message)
	}
	route := tx.Message.Instructions[3]
	if tx.Message.AccountKeys[route.ProgramIDIndex] != jupiterProgram || !bytes.HasPrefix(route.Data, anchor("global", "shared_accounts_route")) || route.Data[8] != jupiterID {
		t.Errorf("its route begins with %x", route.Data[:9])
	}
}
