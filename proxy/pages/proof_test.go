package pages

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/proxy/web"
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
	pages := NewViews(explored())
	page := text(render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: raw, Now: noon, Read: []Read{
			{Chain: give, IsFollowed: true, Block: r.Created.BlockNumber, Proven: r.Created.BlockNumber}, {Chain: take},
		}, Transactions: []Transaction{
			{TransactionKey: TransactionKey{Chain: give, Hash: r.Created.TransactionHash.Text}, Tellers: []string{"first", "second"}, Unread: true},
			{TransactionKey: TransactionKey{Chain: give, Hash: r.Fulfilled.TransactionHash.Text}, Tellers: []string{"third"}, Unread: true},
			{TransactionKey: TransactionKey{Chain: take, Hash: r.Fulfilled.TransactionHash.Text}, Unread: true},
		}})
	}))
	at := func(fields string, on chain.ID, e *eventJSON) string {
		return fields + " " + pages.ChainName(on) + " " + web.Count(e.BlockNumber) + " " + web.Short(e.TransactionHash.Text) + " "
	}
	for _, want := range []string{
		at("fees", give, r.Created) + "read twice; both readings agree (told by 2 endpoints: first, second)",
		at("taker, delivered amount", take, r.Fulfilled) + "asked of the chain for this page (by which endpoints was not recorded)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
