package pages

import (
	"io"
	"strings"
	"testing"

	"crossgate/order"
	"crossgate/proxy/web"
)

func TestEvidenceIsNoMoreThanWasSeen(t *testing.T) {
	followed := order.ChainBasis{Chain: 1, Followed: true, From: order.BlockTime{Number: 100}, Lag: order.Lag{Indexed: 900}, Proven: 800}
	for _, row := range []struct {
		read  order.ChainBasis
		block uint64
		want  string
	}{
		{followed, 800, "read twice; both readings agree"},
		{followed, 100, "read twice; both readings agree"},
		{followed, 801, "read once; the second reading comes when the block is final"},
		{followed, 900, "read once; the second reading comes when the block is final"},
		{followed, 901, "asked of the chain for this page"},
		{followed, 99, "from before the index begins: asked of the chain"},
		{order.ChainBasis{Chain: 1}, 0, "asked of the chain for this page"},
	} {
		if got := evidence(row.read, row.block); got != row.want {
			t.Errorf("block %d of %+v: %q, want %q", row.block, row.read, got, row.want)
		}
	}
}

func TestOrderPageSaysWhereItWasRead(t *testing.T) {
	raw := Answer(t, "order_claimed")
	r := recordIn(t, raw)
	created, fulfilled := r.Order.Created.At, r.Order.Fulfilled.At
	give, take := created.Chain, fulfilled.Chain
	elsewhere := fulfilled
	elsewhere.Chain = give
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.Order(to, Order{Record: r, JSON: string(raw), Now: Noon, Read: []order.ChainBasis{
			{Chain: give, Followed: true, Lag: order.Lag{Indexed: created.Block}, Proven: created.Block}, {Chain: take},
		}, Transactions: []Transaction{
			{At: created, Tellers: []string{"first", "second"}}, {At: elsewhere, Tellers: []string{"third"}}, {At: fulfilled},
		}})
	}))
	at := func(fields string, at order.At) string {
		return fields + " " + pages.ChainName(at.Chain) + " " + web.Count(at.Block) + " " + web.Short(at.Tx.String()) + " "
	}
	for _, want := range []string{
		at("fees", created) + "read twice; both readings agree (told by 2 endpoints: first, second)",
		at("taker, delivered amount", fulfilled) + "asked of the chain for this page (by which endpoints was not recorded)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
