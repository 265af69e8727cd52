package proxy

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/proxy/web"
	"crossgate/token"
)

// swapPage shows a comparison. Its query is that of the API, except that the amount can be in whole tokens and the
// recipient is optional.
func (s *Server) swapPage(c *gin.Context) {
	form, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		s.failPage(c, invalidParameters.because("the query is not properly URL-encoded"))
		return
	}
	ctx := c.Request.Context()
	shown := web.Swap{Form: form, Chains: s.serving(), Origin: originOf(c.Request), Now: time.Now()}
	if len(shown.Chains) > 0 && form.Get("chainId") == "" {
		form.Set("chainId", shown.Chains[0].ID.String())
	}
	if id, err := chain.ParseID(form.Get("chainId")); err == nil {
		shown.Listed = s.offered(ctx, id)
	}
	status := http.StatusOK
	if form.Has("tokenIn") {
		if err := s.compare(ctx, &shown); err != nil {
			p := problemOf(err)
			p.logCause(c)
			problem := shownProblem(c, p)
			status, shown.Problem = p.status, &problem
		}
	}
	s.writePage(c, status, func(to io.Writer) error { return s.pages.Swap(to, shown) })
}

// compare fills in the quotes.
func (s *Server) compare(ctx context.Context, shown *web.Swap) error {
	query, err := s.queryOf(ctx, shown.Form)
	if err != nil {
		return err
	}
	named := query.Has("tokenOutRecipient")
	shown.Path = "/v1.0/chain/estimation?" + query.Encode()
	if named {
		shown.Path = "/v1.0/chain/transaction?" + query.Encode()
	}
	p := &parameters{values: query}
	r, err := parseSwap(p, s.options.Chains, named)
	if err == nil && named && p.isUnsigned() { // the page is for signing
		err = invalidParameters.because("senderAddress is required on Solana, where a transaction names its fee payer")
	}
	if err != nil {
		return err
	}
	tokens, err := s.options.Tokens.Lookup(ctx, r.Chain, r.TokenIn, r.TokenOut)
	if err != nil {
		return err
	}
	shown.In, shown.Out, shown.AmountIn = tokens[0], tokens[1], r.AmountIn
	if !r.MaxBalance {
		shown.Form.Set("amount", decimal.NewFromBigInt(r.AmountIn.Big(), -int32(tokens[0].Decimals)).String())
	}
	found, _, err := s.explanationRoute().ask(ctx, s, r)
	if err != nil {
		return err
	}
	shown.Explanation = []byte(found.text)
	return nil
}

// queryOf turns a form into a query of the API: without empty fields, and with whole tokens converted to smallest
// units.
func (s *Server) queryOf(ctx context.Context, form url.Values) (url.Values, error) {
	query := url.Values{}
	for name, values := range form {
		if name != "amount" && len(values) > 0 && values[0] != "" {
			query[name] = values
		}
	}
	whole := form.Get("amount")
	if whole == "" || whole == "max" {
		if whole != "" {
			query.Set("tokenInAmount", whole)
		}
		return query, nil
	}
	p := &parameters{values: query}
	id := p.chainID("chainId", s.options.Chains)
	p.family = s.options.Chains.Family(id)
	in := p.token("tokenIn")
	if len(p.wrong) > 0 {
		return nil, invalidParameters.because(p.wrong[0])
	}
	tokens, err := s.options.Tokens.Lookup(ctx, id, in)
	if err != nil {
		return nil, err
	}
	amount, err := web.UnitsOf(whole, tokens[0].Decimals)
	if err != nil {
		return nil, invalidParameters.because(err.Error())
	}
	query.Set("tokenInAmount", amount.String())
	return query, nil
}

// serving are the chains on which swaps are supported.
func (s *Server) serving() []chain.Chain {
	var serving []chain.Chain
	for _, c := range s.options.Chains.All() {
		if s.options.Swaps.Serves(c.ID) {
			serving = append(serving, c)
		}
	}
	return serving
}

// mostOffered is how many tokens a form offers.
const mostOffered = 300

// offered are listed tokens to choose from, the prominent ones first.
func (s *Server) offered(ctx context.Context, id chain.ID) []web.Listed {
	listed := s.options.Tokens.Listed(ctx, id)
	slices.SortStableFunc(listed, func(a, b token.Listing) int {
		if a.IsProminent == b.IsProminent {
			return 0
		} else if a.IsProminent {
			return -1
		}
		return 1
	})
	family := s.options.Chains.Family(id)
	all := make([]web.Listed, min(len(listed), mostOffered))
	for i := range all {
		all[i] = web.Listed{Address: listed[i].Address.Format(family), Symbol: listed[i].Symbol}
	}
	return all
}
