package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/swaps"
	"crossgate/quote"
	"crossgate/token"
)

// swapPage shows a comparison. Its query is that of the API, except that tokens can be named by symbol and name, the
// amount can be in whole tokens, and the recipient is optional. Or it is one line, words, which leads to such a query.
func (s *Pages) swapPage(c *gin.Context) {
	form, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		s.server.FailPage(c, proxy.InvalidParameters.Because("the query is not properly URL-encoded"))
		return
	}
	shown := Swap{Form: form, Chains: s.swaps.Serving(), Origin: originOf(c.Request), Now: time.Now()}
	if len(shown.Chains) > 0 && form.Get("chainId") == "" {
		form.Set("chainId", shown.Chains[0].ID.String())
	}
	if words := form.Get("words"); words != "" {
		path, message := s.swapSaid(words, form.Get("chainId"))
		if path != "" {
			c.Redirect(http.StatusSeeOther, path)
			return
		}
		shown.Faults = append(shown.Faults, Fault{Field: "words", Message: message})
	}
	if proxy.WantsStream(c.Request) {
		s.server.ServeStream(c, proxy.Tracking, func(_ context.Context, c *gin.Context) { s.streamComparison(c, shown) })
		return
	}
	ctx := c.Request.Context()
	status := s.compare(ctx, c, &shown, s.readSwapForm(ctx, form))
	s.server.WritePage(c, status, func(to io.Writer) error { return s.pages.Swap(to, shown) })
}

// swapSaid is the path of the page of a swap that is written in one line, on the chain that the form has unless the
// line names one; otherwise it is what is wrong with the line.
func (s *Pages) swapSaid(line, chainID string) (path, message string) {
	said, ok := parseSwapWords(line)
	if !ok {
		return "", "An amount, a token, “to” and another token are needed, such as: 0.1 ETH to USDC on Base."
	}
	if said.chain != "" {
		serving := s.swaps.Serving()
		at := slices.IndexFunc(serving, func(each chain.Chain) bool {
			return strings.EqualFold(each.Name, said.chain) || each.ID.String() == said.chain
		})
		if at < 0 {
			var names []string
			for _, each := range serving {
				names = append(names, each.Name)
			}
			return "", "There is no chain “" + said.chain + "” with swaps here, but " + strings.Join(names, ", ") + "."
		}
		chainID = serving[at].ID.String()
	}
	query := url.Values{"chainId": {chainID}, "amount": {said.amount}, "tokenIn": {said.in}, "tokenOut": {said.out}}
	if said.recipient != "" {
		query.Set("tokenOutRecipient", said.recipient)
	}
	return "/swap?" + query.Encode(), ""
}

// compare fills in the form and, where it asks for a swap, what the venues quote. It returns the status of the page.
func (s *Pages) compare(ctx context.Context, c *gin.Context, shown *Swap, f *swapForm) int {
	shown.Listed = f.offered()
	shown.In, shown.Out = f.in, f.out
	var r quote.Request
	var ok bool
	if shown.Form.Has("tokenIn") && len(shown.Faults) == 0 {
		var query url.Values
		if r, query, ok = f.request(); ok {
			shown.AmountIn, shown.Path = r.AmountIn, pathOf(query)
			f.problem = s.fillComparison(ctx, shown, r)
		}
	}
	f.fill(r)
	status := http.StatusOK
	if shown.Faults = append(shown.Faults, f.faults...); len(shown.Faults) > 0 {
		status = http.StatusBadRequest
	}
	if f.problem != nil {
		p := proxy.ProblemOf(f.problem)
		p.LogCause(c)
		problem := proxy.ShownProblem(c, p)
		status, shown.Problem = p.Status, &problem
	}
	return status
}

// pathOf is the path of the API that answers a query.
func pathOf(query url.Values) string {
	if query.Has("tokenOutRecipient") {
		return "/v1.0/chain/transaction?" + query.Encode()
	}
	return "/v1.0/chain/estimation?" + query.Encode()
}

// fillComparison asks the venues.
func (s *Pages) fillComparison(ctx context.Context, shown *Swap, r quote.Request) error {
	found, _, err := s.swaps.ComparisonRoute().Ask(ctx, s.server, r)
	if err != nil {
		return err
	}
	compared := found.Value.(swaps.Comparison)
	shown.Compared, shown.JSON, shown.HasTx = &compared, found.Text, !r.Recipient.IsAbsent()
	in, out := token.Key{Chain: r.Chain, Address: r.TokenIn}, token.Key{Chain: r.Chain, Address: r.TokenOut}
	prices := s.options.Tokens.USD(ctx, in, out)
	shown.Priced = prices[in] != nil && prices[out] != nil
	return nil
}

// mostOffered is how many tokens a form offers.
const mostOffered = 100

// offered are listed tokens to choose from, the prominent ones first.
func (f *swapForm) offered() []Listed {
	listed := slices.Clone(f.listed)
	slices.SortStableFunc(listed, func(a, b token.Listing) int {
		if a.IsProminent == b.IsProminent {
			return 0
		} else if a.IsProminent {
			return -1
		}
		return 1
	})
	all := make([]Listed, min(len(listed), mostOffered))
	for i := range all {
		all[i] = Listed{Text: f.text(listed[i]), Symbol: listed[i].Symbol, Name: listed[i].Name}
	}
	return all
}
