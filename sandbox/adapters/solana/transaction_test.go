package solana_test

import (
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	sandbox "crossgate/sandbox/solana"
)

func TestTransactionNamesInstructionsAndAccounts(t *testing.T) {
	for name, way := range map[string]sandbox.Way{
		"legacy": {}, "by another program": {Forwarded: true}, "with lookup tables": {Versioned: true, Forwarded: true, Priority: 1000},
	} {
		w := newWorld(t)
		made := w.create(way)
		c := w.chain()
		if _, err := c.Head(t.Context()); err != nil { // proves the endpoint's identity
			t.Fatal(err)
		}
		var got order.Transaction
		var err error
		trips := w.tripsOf(func() { got, err = c.Transaction(t.Context(), txOf(made.Creation)) })
		if err != nil || trips != 1 {
			t.Errorf("%s: Transaction = %+v, %v in %d round trips", name, got, err, trips)
			continue
		}
		payer := chain.NewAddress(maker.Key[:])
		at := slices.IndexFunc(got.Calls, func(call order.ContractCall) bool { return call.Function == "create_order_with_nonce" })
		if at < 0 || got.Sender != payer || got.Nonce != nil || got.Fee == nil || got.Fee.IsZero() || got.GasUsed == nil || len(got.By) != 1 || got.Block != w.Head() {
			t.Errorf("%s: Transaction = %+v", name, got)
			continue
		}
		accounts := got.Calls[at].Arguments
		if got.Calls[at].Role != "dln_src" || len(accounts) < 12 || accounts[0].Name != "maker" || accounts[0].Address != payer || accounts[11].Name != "associated_spl_token_program" {
			t.Errorf("%s: the creation wants %+v", name, accounts)
		}
	}
}

func TestTransactionsThatAreNotThere(t *testing.T) {
	c := newWorld(t).chain()
	for _, length := range []int{64, 32} {
		if got, err := c.Transaction(t.Context(), chain.NewTxHash(slices.Repeat([]byte{9}, length))); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("Transaction of one that nobody knows = %+v, %v", got, err)
		}
	}
}
