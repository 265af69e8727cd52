package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

// Subject is an address or a token, with its orders.
type Subject struct {
	Title, Text string
	Explorer    string // its URL in an explorer; empty if there is none
	Swap        string // path of the page to swap a token on; empty if it is an address
	Parts       []SubjectPart
	Origin      string
	Now         time.Time
}

// SubjectPart lists the orders in which the subject has a certain role.
type SubjectPart struct {
	ID, Title string
	URL       string         // of the whole list
	Orders    *orders.Listed // the newest; nil if unavailable at the moment
	Rows      []listed
}

func (s *Pages) addressPage(c *gin.Context) {
	text := c.Param("address")
	if _, _, err := chain.ParseAnyAddress(text); err != nil || chain.ChecksumFails(text) {
		s.server.FailPage(c, proxy.MalformedAddress.Because("an address is 0x followed by 40 hex digits with a right EIP-55 checksum, or base58"))
		return
	}
	ctx := c.Request.Context()
	s.subjectPage(c, Subject{Title: "Address", Text: text, Parts: []SubjectPart{
		s.part(ctx, "maker", "As maker", url.Values{"maker": {text}}),
		s.part(ctx, "receiver", "As receiver", url.Values{"receiver": {text}}),
		s.part(ctx, "taker", "As taker", url.Values{"taker": {text}}),
		s.part(ctx, "sender", "As sender of swaps within a chain", url.Values{"maker": {text}, "mode": {swapsMode}}),
	}})
}

func (s *Pages) tokenPage(c *gin.Context) {
	id, err := chain.ParseID(c.Param("id"))
	known, isKnown := s.chains.Chain(id)
	address, malformed := chain.ParseAddress(c.Param("address"), known.Family)
	if err != nil || !isKnown || malformed != nil || chain.ChecksumFails(c.Param("address")) {
		s.server.TurnAway(c, proxy.UnknownPath.Because("unknown chain, or a malformed address; the page of a token is /token/{chainId}/{address}"))
		return
	}
	ctx, text, on := c.Request.Context(), s.pages.text(id, address), id.String()
	name := web.Short(text)
	if of, err := s.options().Tokens.Lookup(ctx, id, address); err == nil && of[0].Symbol != "" {
		name = of[0].Symbol
	}
	s.subjectPage(c, Subject{
		Title: name + " on " + s.pages.ChainName(id), Text: text, Explorer: s.pages.AddressURL(id, text),
		Swap: "/swap?" + url.Values{"chainId": {on}, "tokenOut": {text}}.Encode(),
		Parts: []SubjectPart{
			s.part(ctx, "given", "Given", url.Values{"from": {on}, "giveToken": {text}}),
			s.part(ctx, "received", "Received", url.Values{"to": {on}, "takeToken": {text}}),
		},
	})
}

// part returns the beginning of the list that a form leads to.
func (s *Pages) part(ctx context.Context, id, title string, form url.Values) SubjectPart {
	part, _, _ := s.partOf(ctx, form)
	part.Take = mostNewest
	found := s.newest(ctx, part)
	return SubjectPart{ID: id, Title: title, URL: withField(form, "skip", ""), Orders: found, Rows: s.pages.rows(found)}
}

func (s *Pages) subjectPage(c *gin.Context, shown Subject) {
	shown.Origin, shown.Now = OriginOf(c.Request), time.Now()
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error {
		return s.pages.Write(to, "subject", web.View{Title: shown.Title, At: "order", Root: shown.Origin, Now: shown.Now, Page: shown})
	})
}
