package pages

import (
	"io"
	"net/url"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/token"
)

// Search is what a text may mean that does not mean one thing only.
type Search struct {
	Query   string
	Address bool            // Query is an address
	Chains  []chain.Chain   // that it names
	Tokens  []token.Listing // that it names
	Orders  *orders.Listed  // that name it; nil: none
	Now     time.Time
}

type searchView struct {
	Search
	Tokens []foundToken
	Orders []listed
}

// foundToken is a token of a chain's list with the page on which it can be bought.
type foundToken struct {
	Token      tokenView
	Chain, URL string
}

// Search writes everything that a text may mean, each with its page.
func (p *Views) Search(to io.Writer, s Search) error {
	v := searchView{Search: s, Orders: p.rows(s.Orders)}
	for _, t := range s.Tokens {
		found := foundToken{Token: p.tokenOf(t.Chain, t.Address, t.Token), Chain: p.ChainName(t.Chain)}
		found.URL = "/swap?" + url.Values{"chainId": {t.Chain.String()}, "tokenOut": {found.Token.Address}}.Encode()
		v.Tokens = append(v.Tokens, found)
	}
	return p.Write(to, "search", web.View{Title: strings.TrimSuffix("Search: "+s.Query, ": "), At: "home", Now: s.Now, Page: v})
}
