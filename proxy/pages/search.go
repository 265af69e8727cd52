package pages

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Search is what a text may mean that does not mean one thing only.
type Search struct {
	Query   string
	Address bool          // Query is an address
	Chains  []chain.Chain // that it names
	Tokens  []byte        // JSON of the tokens that it names; nil: none
	Orders  []byte        // JSON of the orders that name it; nil: none
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

type foundTokensJSON struct {
	Tokens []struct {
		ChainID chain.ID
		Address string
		tokenJSON
	}
}

// Search writes everything that a text may mean, each with its page.
func (p *Views) Search(to io.Writer, s Search) error {
	v := searchView{Search: s}
	var err error
	if v.Orders, err = p.rows(s.Orders); err != nil {
		return err
	}
	if s.Tokens != nil {
		found, err := decode[foundTokensJSON](s.Tokens)
		if err != nil {
			return err
		}
		for _, t := range found.Tokens {
			query := url.Values{"chainId": {t.ChainID.String()}, "tokenOut": {t.Address}}
			v.Tokens = append(v.Tokens, foundToken{p.token(t.ChainID, t.Address, t.tokenJSON), p.ChainName(t.ChainID), "/swap?" + query.Encode()})
		}
	}
	return p.Write(to, "search", web.View{Title: strings.TrimSuffix("Search: "+s.Query, ": "), At: "home", Now: s.Now, Page: v})
}

// CountFound is how many tokens or orders the JSON of a search or a list has; 0 of nil.
func CountFound(answer []byte) int {
	found, err := decode[struct{ Tokens, Orders []json.RawMessage }](answer)
	if err != nil {
		return 0
	}
	return len(found.Tokens) + len(found.Orders)
}
