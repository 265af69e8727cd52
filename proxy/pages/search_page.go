package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/index"
	"crossgate/proxy/orders"
	"crossgate/proxy/swaps"
	"crossgate/token"
)

// How many orders and swaps the start page asks for, and how many orders a search.
const (
	mostNewest = 12
	mostNamed  = 20
)

// newest is a part of a list for a page that has more to show: nil when it cannot be had at the moment.
func (s *Pages) newest(ctx context.Context, part orders.Part) *orders.Listed {
	list, had := valueOf[orders.Listed](ctx, s, s.orders.OrderListRoute(), part)
	if !had {
		return nil
	}
	return &list
}

// searchPage leads a text to the page of what it names, and where that may be several things shows all of them.
func (s *Pages) searchPage(c *gin.Context) {
	text := strings.TrimSpace(c.Query("query"))
	if path, is := s.pageNamed(text); is {
		c.Redirect(http.StatusSeeOther, path)
		return
	}
	ctx := c.Request.Context()
	shown := Search{Query: text, Now: time.Now()}
	for _, each := range s.swaps.Serving() {
		if strings.EqualFold(each.Name, text) {
			shown.Chains = append(shown.Chains, each)
		}
	}
	tokens, err := s.tokensNamed(ctx, text)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	shown.Tokens = tokens
	if _, _, err := chain.ParseAnyAddress(text); err == nil {
		shown.Address = true
		shown.Orders = s.newest(ctx, orders.Part{Filter: index.Filter{Search: orders.ParseSearch(text)}, Take: mostNamed, Mode: orders.CrossChain})
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

// pageNamed is the page of what a text names by its form alone: nothing, a hash, a swap in one line, the number of a
// chain, or an address whose checksum does not fit, of which the page says so.
func (s *Pages) pageNamed(text string) (path string, is bool) {
	if text == "" {
		return "/", true
	}
	if _, err := chain.ParseTxHash(text); err == nil {
		return "/order/" + url.PathEscape(text), true
	}
	if _, is := parseSwapWords(text); is {
		return "/swap?words=" + url.QueryEscape(text), true
	}
	if id, err := chain.ParseID(text); err == nil && s.swaps.Options.Estimator.Serves(id) {
		return "/swap?chainId=" + id.String(), true
	}
	return "/locked/" + url.PathEscape(text), chain.ChecksumFails(text)
}

// tokensNamed are the listed tokens that a text names.
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
