package pages

import (
	"context"
	"html/template"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/reference"
	"crossgate/proxy/web"
	"crossgate/token"
)

// apiReference is what openapi.yaml says.
var apiReference = sync.OnceValue(func() reference.Reference {
	read, err := reference.Read(proxy.OpenAPI)
	if err != nil {
		panic("proxy: " + err.Error())
	}
	return read
})

// referencePage shows the API with examples of orders and swaps of this gateway.
func (s *Pages) referencePage(c *gin.Context) {
	ctx := c.Request.Context()
	values := s.pages.exampleValues(
		s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.CrossChain}), s.newest(ctx, orders.Part{Take: mostNewest, Mode: orders.SameChain}),
	)
	s.addExemplarySwap(ctx, values)
	shown := Docs{Reference: apiReference(), Origin: OriginOf(c.Request), Values: values}
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Docs(to, shown) })
}

// addExemplarySwap adds a swap of a tenth of a chain's coin for USDC, if there is such a chain.
func (s *Pages) addExemplarySwap(ctx context.Context, values reference.Values) {
	for _, c := range s.swaps.Serving() {
		listed := s.options.Tokens.Listed(ctx, c.ID)
		at := slices.IndexFunc(listed, func(t token.Listing) bool { return t.IsProminent && t.Symbol == "USDC" })
		if c.Family != chain.EVM || at < 0 {
			continue
		}
		values["chainId"], values["tokenIn"] = c.ID.String(), chain.NativeCoin(c.Family).Format(c.Family)
		values["tokenInAmount"] = "1" + strings.Repeat("0", max(int(c.Coin.Decimals)-1, 0))
		values["tokenOut"] = listed[at].Address.Format(c.Family)
		break
	}
	for _, g := range apiReference().Groups {
		for _, o := range g.Operations {
			if by := o.ID + "ByPost"; slices.ContainsFunc(g.Operations, func(other reference.Operation) bool { return other.ID == by }) {
				values.SetBody(by, o.Query(values)) // which takes the parameters in its body
			}
		}
	}
}

// exampleValues are the newest order, the newest one with a taker, and the newest swap. Missing ones are left out.
func (p *Views) exampleValues(newest, swaps *orders.Listed) reference.Values {
	values := reference.Values{}
	if newest != nil {
		for _, r := range newest.Records {
			o := r.Order.Order
			taker := chain.Address{}
			if o.Fulfilled != nil {
				taker = o.Fulfilled.Fact.UnlockAuthority
			}
			if values["orderId"] != "" && (taker.IsAbsent() || values["takerAddress"] != "") {
				continue
			}
			creation := o.Created.At.Tx.Format(p.Chains.Family(o.Terms.Give.Chain))
			values["orderId"], values["creationTxHash"] = o.ID.String(), creation
			values["orderIds.hash"], values["orderIdTexts.hash"] = creation, creation
			if !taker.IsAbsent() {
				values["takerAddress"] = taker.Format(p.Chains.Family(o.Terms.Take.Chain))
				values.SetBody("unlockList", map[string]any{"unlockAuthorities": values["takerAddress"], "take": 5})
			}
			values.SetBody("orderList", map[string]any{"giveChainIds": []chain.ID{o.Terms.Give.Chain}, "take": 5})
		}
	}
	if swaps != nil && len(swaps.Records) > 0 {
		made := swaps.Records[0].Swap.Swap
		values["swapById.id"], values["swapByTransaction.id"] = made.ID.String(), made.At.Chain.String()
		values["swapByTransaction.hash"] = made.At.Tx.Format(p.Chains.Family(made.At.Chain))
	}
	return values
}

// Docs is the content of the reference of the API.
type Docs struct {
	reference.Reference
	Origin string           // by which the visitor reached the server
	Values reference.Values // that examples ask for
}

// shownOperation is an operation with an example of a request.
type shownOperation struct {
	reference.Operation
	Command string // that sends the example
	Link    string // the example as a link; empty: it is not a GET, or names something unknown
}

// Docs writes the reference of the API.
func (p *Views) Docs(to io.Writer, d Docs) error {
	return p.Write(to, "docs", web.View{Title: "API reference", At: "docs", Says: d.Info.Summary, Root: d.Origin, Page: d})
}

// Shown is an operation as the page shows it.
func (d Docs) Shown(o reference.Operation) shownOperation {
	example := o.Example(d.Values)
	shown := shownOperation{Operation: o, Command: commandOf(d.Origin, example)}
	if example.Method == "GET" && example.IsKnown {
		shown.Link = example.Target
	}
	return shown
}

// commandOf is a command for a shell that sends a request.
func commandOf(origin string, r reference.Request) string {
	command := "curl " + quoted(origin+r.Target)
	if r.Body != "" {
		command += " \\\n  -H " + quoted("Content-Type: "+r.Type) + " \\\n  -d " + quoted(r.Body)
	}
	return command
}

// quoted is a text that a shell takes as it is.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

var (
	codeMark   = regexp.MustCompile("`([^`]+)`")
	strongMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	paragraphs = regexp.MustCompile(`\n\s*\n`)
)

// marked is a text of the API's document as HTML: paragraphs, `code` and **strong** words, which is all that it has.
func marked(text string) template.HTML {
	var html strings.Builder
	for _, paragraph := range paragraphs.Split(strings.TrimSpace(text), -1) {
		if paragraph != "" {
			html.WriteString("<p>" + string(markedWords(paragraph)) + "</p>\n")
		}
	}
	return template.HTML(html.String()) // which markedWords has escaped
}

// markedWords is the same of a text without paragraphs.
func markedWords(text string) template.HTML {
	html := template.HTMLEscapeString(text)
	html = codeMark.ReplaceAllString(html, "<code>$1</code>")
	return template.HTML(strongMark.ReplaceAllString(html, "<strong>$1</strong>")) // escaped above
}

// idOf is a name as the id of an element.
func idOf(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
