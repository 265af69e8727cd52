package web

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestEvidenceIsNoMoreThanWasSeen(t *testing.T) {
	followed := Read{Chain: 1, IsFollowed: true, From: 100, Block: 900, Proven: 800}
	for _, row := range []struct {
		read  Read
		block uint64
		want  string
	}{
		{followed, 800, "read twice; both readings agree"},
		{followed, 100, "read twice; both readings agree"},
		{followed, 801, "read once; the second reading comes when the block is final"},
		{followed, 900, "read once; the second reading comes when the block is final"},
		{followed, 901, "asked of the chain for this page"},
		{followed, 99, "from before the index begins: asked of the chain"},
		{Read{Chain: 1}, 0, "asked of the chain for this page"},
	} {
		if got := row.read.evidence(row.block); got != row.want {
			t.Errorf("block %d of %+v: %q, want %q", row.block, row.read, got, row.want)
		}
	}
}

func TestOrderPageSaysWhereItWasRead(t *testing.T) {
	raw := answer(t, "order_claimed")
	var r recordJSON
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	give, take := r.Give.ChainID.chain(), r.Take.ChainID.chain()
	pages := New(explored())
	page := text(render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: raw, Now: noon, Read: []Read{
			{Chain: give, IsFollowed: true, Block: r.Created.BlockNumber, Proven: r.Created.BlockNumber}, {Chain: take},
		}})
	}))
	for _, want := range []string{
		"fees " + pages.chainName(give) + " " + count(r.Created.BlockNumber) + " " + short(r.Created.TransactionHash.Text) + " read twice",
		"taker, delivered amount " + pages.chainName(take) + " " + count(r.Fulfilled.BlockNumber) + " " + short(r.Fulfilled.TransactionHash.Text) + " asked of the chain",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
