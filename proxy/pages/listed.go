package pages

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// listed is an order or a swap as a row of a table.
type listed struct {
	ID, URL    string
	IsSwap     bool   // within a chain
	State      string // in words
	Name       string // of the state in the protocol
	Tone       string // CSS class of the state
	Give, Take sideView
	Created    time.Time
}

// rows merges the orders and swaps of several lists, newest first. A nil list is unavailable.
func (p *Views) rows(lists ...*orders.Listed) (rows []listed) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, r := range list.Records {
			rows = append(rows, p.row(r))
		}
	}
	slices.SortStableFunc(rows, func(a, b listed) int { return cmp.Compare(b.Created.Unix(), a.Created.Unix()) })
	return rows
}

func (p *Views) row(r wire.Listed) listed {
	if r.Swap != nil {
		made := r.Swap.Swap
		return listed{
			ID: made.ID.String(), URL: "/swap/" + made.ID.String(), IsSwap: true, State: "swapped", Name: order.StateFulfilled.String(), Tone: "done",
			Give:    p.sideOf(made.At.Chain, made.Fact.TokenIn, made.Fact.AmountIn, r.Swap.In),
			Take:    p.sideOf(made.At.Chain, made.Fact.TokenOut, made.Fact.Received(), r.Swap.Out),
			Created: timeOf(made.At.Time),
		}
	}
	o := r.Order.Order
	words := stateWords[o.State.String()]
	return listed{
		ID: o.ID.String(), URL: "/order/" + o.ID.String(), State: words.brief, Name: o.State.String(), Tone: words.tone,
		Give: p.sideOf(o.Terms.Give.Chain, o.Terms.Give.Token, o.GiveFinal, r.Order.Give),
		Take: p.sideOf(o.Terms.Take.Chain, o.Terms.Take.Token, o.TakeFinal, r.Order.Take), Created: timeOf(o.Created.At.Time),
	}
}

func (p *Views) sideOf(id chain.ID, address chain.Address, amount chain.Amount, t token.Token) sideView {
	return sideView{Chain: p.ChainName(id), Amount: AmountOf(amount, t), Token: p.tokenOf(id, address, t)}
}

func AmountOf(a chain.Amount, t token.Token) web.Amount {
	return web.AmountOf(a.String(), int(t.Decimals))
}

func (p *Views) tokenOf(id chain.ID, a chain.Address, t token.Token) TokenView {
	address := a.Format(p.Chains.Family(id))
	shown := TokenView{Symbol: t.Symbol, Name: t.Name, Initial: web.Initial(t.Symbol), Address: address, URL: p.AddressURL(id, address), IsCoin: a.IsNative()}
	shown.Page = "/token/" + id.String() + "/" + url.PathEscape(address)
	if t.LogoURI != "" {
		// Visitors' addresses stay with the gateway.
		shown.Logo = "/logo/" + id.String() + "/" + url.PathEscape(address)
	}
	return shown
}

func timeOf(seconds uint64) time.Time { return time.Unix(int64(seconds), 0) }

type table struct {
	Rows  []listed
	Now   time.Time
	Label string // id of the table's heading
}

func tableOf(rows []listed, now time.Time, label string) table { return table{rows, now, label} }

// chosenChain is a chain field: its options and the id of the chosen one.
type chosenChain struct {
	Chains []chain.Chain
	Chosen string
}

func chosenOf(chains []chain.Chain, id string) chosenChain { return chosenChain{chains, id} }
