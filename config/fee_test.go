package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/config"
)

const feeChains = `
chains:
  - {id: 1, endpoints: [{url: "https://one.example"}]}
  - {id: 10, fee: {bps: 0}, endpoints: [{url: "https://ten.example"}]}
  - {id: 8453, fee: {bps: 35, recipient: "0x4444444444444444444444444444444444444444"}, endpoints: [{url: "https://base.example"}]}
`

func TestFeesAreThoseOfTheChainBeforeThoseOfAll(t *testing.T) {
	c, err := config.Parse([]byte(feeChains + `swap: {fee: {bps: 20, recipient: "0x3333333333333333333333333333333333333333"}}`))
	if err != nil {
		t.Fatal(err)
	}
	fees := c.Fees()
	usual := config.Fee{Bps: 20, Recipient: address(t, "0x3333333333333333333333333333333333333333")}
	want := map[chain.ID]config.Fee{
		1: usual, 56: usual, 10: {}, 8453: {Bps: 35, Recipient: address(t, "0x4444444444444444444444444444444444444444")},
		chain.Solana: {}, 100000026: {}, // of other families than the recipient
	}
	got := map[chain.ID]config.Fee{}
	for id := range want {
		got[id] = fees[id]
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Address) bool { return a == b })); diff != "" {
		t.Errorf("Fees (-want +got):\n%s", diff)
	}
	if c, err := config.Parse([]byte(minimal)); err != nil || len(c.Fees()) > 0 {
		t.Errorf("Fees of a file without any = %v, %v, want none", c.Fees(), err)
	}
}
