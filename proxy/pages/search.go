package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/list"
	"crossgate/proxy/orders"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/token"
)

// How many orders and how many swaps the start page asks for, to show so many of both, and how many orders a search.
const (
	mostNewest = 12
	mostNamed  = 20
)

// newest returns a part of a list for a page that also shows other things, nil if it is unavailable at the moment.
func (s *Pages) newest(ctx context.Context, part orders.Part) *orders.Listed {
	list, had := valueOf[orders.Listed](ctx, s, s.orders.OrderListRoute(), part)
	if !had {
		return nil
	}
	return &list
}

// searchPage redirects to the page of the thing that a text names, or shows all candidates if there are several.
func (s *Pages) searchPage(c *gin.Context) {
	text := strings.TrimSpace(c.Query("query"))
	if path, is := s.pageNamed(text); is {
		c.Redirect(http.StatusSeeOther, path)
		return
	}
	ctx := c.Request.Context()
	shown := Search{Query: text, Chains: s.chainsNamed(text), Now: time.Now()}
	tokens, err := s.tokensNamed(ctx, text)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	shown.Tokens = tokens
	if _, _, err := chain.ParseAnyAddress(text); err == nil {
		shown.Address = true
		shown.Orders = s.newest(ctx, orders.Part{Filter: list.Filter{Search: orders.ParseSearch(text)}, Take: mostNamed, Mode: orders.CrossChain})
		if len(tokens) == 0 && (shown.Orders == nil || len(shown.Orders.Records) == 0) {
			c.Redirect(http.StatusSeeOther, "/locked/"+url.PathEscape(text))
			return
		}
	}
	if len(shown.Chains) == 1 && len(tokens) == 0 {
		c.Redirect(http.StatusSeeOther, "/swap?chainId="+shown.Chains[0].ID.String())
		return
	}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Search(to, shown) })
}

// swapLine matches a swap in one line, such as 0.1 ETH to USDC on Base, or 0.1 ETH on Base to USDC on Polygon: an
// amount and two tokens, each optionally with its chain.
var swapLine = regexp.MustCompile(`^(?i:swap\s+)?([\d.,]+|(?i:max)\s)\s*(\S.*?)(?:\s+(?i:on|from)\s+(\S.*?))?\s+(?i:to|into|for)\s+(\S.*?)(?:\s+(?i:on)\s+(.+))?$`)

// pageNamed returns the page of a text that is recognized by its form: an empty text, a hash, a swap in one line, a
// chain id, or an address with a wrong checksum, which that page reports.
func (s *Pages) pageNamed(text string) (path string, is bool) {
	if text == "" {
		return "/", true
	}
	if _, err := chain.ParseTxHash(text); err == nil {
		return "/order/" + url.PathEscape(text), true
	}
	if parts := swapLine.FindStringSubmatch(text); parts != nil {
		query := url.Values{"amount": {strings.TrimSpace(parts[1])}, "tokenIn": {parts[2]}, "tokenOut": {parts[4]}}
		on := []string{parts[3], parts[5]}
		if parts[3] == "" {
			on = on[1:]
		}
		for i, field := range []string{"chainId", "dstChainId"}[:len(on)] {
			if named := s.chainsNamed(on[i]); len(named) > 0 {
				query.Set(field, named[0].ID.String())
			} else if on[i] != "" {
				query.Set(field, on[i]) // an unknown chain, which the form reports
			}
		}
		return "/swap?" + query.Encode(), true
	}
	if id, err := chain.ParseID(text); err == nil && s.swaps.Options().Estimator.Serves(id) {
		return "/swap?chainId=" + id.String(), true
	}
	return "/locked/" + url.PathEscape(text), chain.ChecksumFails(text)
}

func (s *Pages) chainsNamed(text string) (named []chain.Chain) {
	for _, each := range s.swaps.Serving() {
		if strings.EqualFold(each.Name, text) {
			named = append(named, each)
		}
	}
	return named
}

func (s *Pages) tokensNamed(ctx context.Context, text string) ([]token.Listing, error) {
	if len(text) > swaps.LongestSearch {
		return nil, nil
	}
	found, _, err := s.swaps.TokenSearchRoute().Ask(ctx, s.server, swaps.TokenSearch{Text: text})
	if err != nil {
		return nil, err
	}
	return found.Value.([]token.Listing), nil
}

// Search is everything that an ambiguous text may mean.
type Search struct {
	Query   string
	Address bool            // Query is an address
	Chains  []chain.Chain   // named by Query
	Tokens  []token.Listing // named by Query
	Orders  *orders.Listed  // orders that involve the address; nil if none
	Now     time.Time
}

type searchView struct {
	Search
	Tokens []FoundToken
	Orders []listed
}

// FoundToken is a listed token with the page on which to buy it, or that of a form with it.
type FoundToken struct {
	Token      TokenView
	Chain, URL string
}

// Search writes the page of everything that a text may mean.
func (p *Views) Search(to io.Writer, s Search) error {
	v := searchView{Search: s, Orders: p.rows(s.Orders)}
	for _, t := range s.Tokens {
		found := FoundToken{Token: p.tokenOf(t.Chain, t.Address, t.Token), Chain: p.ChainName(t.Chain)}
		found.URL = "/swap?" + url.Values{"chainId": {t.Chain.String()}, "tokenOut": {found.Token.Address}}.Encode()
		v.Tokens = append(v.Tokens, found)
	}
	return p.Write(to, "search", web.View{Title: strings.TrimSuffix("Search: "+s.Query, ": "), At: "home", Now: s.Now, Page: v})
}
