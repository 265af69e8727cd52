package proxy

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/list"
	"crossgate/proxy/web"
)

// How many orders and swaps the start page asks for, and how many orders a search.
const (
	mostNewest = 12
	mostNamed  = 20
)

// newest is a part of a list for a page that has more to show: nil when it cannot be had at the moment.
func (s *Server) newest(ctx context.Context, part partOfList) []byte {
	return textOf(ctx, s, s.orderListRoute(), part)
}

// searchPage leads a text to the page of what it names, and where that may be several things shows all of them.
func (s *Server) searchPage(c *gin.Context) {
	text := strings.TrimSpace(c.Query("query"))
	if path, is := s.pageNamed(text); is {
		c.Redirect(http.StatusSeeOther, path)
		return
	}
	ctx := c.Request.Context()
	shown := web.Search{Query: text, Now: time.Now()}
	for _, each := range s.serving() {
		if strings.EqualFold(each.Name, text) {
			shown.Chains = append(shown.Chains, each)
		}
	}
	tokens, count, err := s.tokensNamed(ctx, text)
	if err != nil {
		s.failPage(c, err)
		return
	}
	shown.Tokens = tokens
	if _, _, err := chain.ParseAnyAddress(text); err == nil {
		shown.Address = true
		shown.Orders = s.newest(ctx, partOfList{Filter: list.Filter{Search: parseSearch(text)}, Take: mostNamed, Mode: crossChain})
		if count == 0 && web.CountFound(shown.Orders) == 0 {
			c.Redirect(http.StatusSeeOther, "/locked/"+url.PathEscape(text))
			return
		}
	}
	if len(shown.Chains) == 1 && count == 0 {
		c.Redirect(http.StatusSeeOther, "/swap?chainId="+shown.Chains[0].ID.String())
		return
	}
	s.writePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Search(to, shown) })
}

// pageNamed is the page of what a text names by its form alone: nothing, a hash, a swap in one line, the number of a
// chain, or an address whose checksum does not fit, of which the page says so.
func (s *Server) pageNamed(text string) (path string, is bool) {
	if text == "" {
		return "/", true
	}
	if _, err := chain.ParseTxHash(text); err == nil {
		return "/order/" + url.PathEscape(text), true
	}
	if _, is := parseSwapWords(text); is {
		return "/swap?words=" + url.QueryEscape(text), true
	}
	if id, err := chain.ParseID(text); err == nil && s.options.Swaps.Serves(id) {
		return "/swap?chainId=" + id.String(), true
	}
	return "/locked/" + url.PathEscape(text), chain.ChecksumFails(text)
}

// tokensNamed are the listed tokens that a text names, as JSON, and how many they are.
func (s *Server) tokensNamed(ctx context.Context, text string) ([]byte, int, error) {
	if len(text) > longestSearch {
		return nil, 0, nil
	}
	found, _, err := s.tokenSearchRoute().ask(ctx, s, tokenSearch{text: text})
	if err != nil {
		return nil, 0, err
	}
	return []byte(found.text), web.CountFound([]byte(found.text)), nil
}
