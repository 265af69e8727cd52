package compare

import (
	"cmp"
	"context"
	"embed"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/creations"
	"crossgate/proxy/pages"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

//go:embed templates/swap.html
var templates embed.FS

// Views renders the comparison page.
type Views struct{ *pages.Views }

// Pages serves the comparison of what venues pay for a swap.
type Pages struct {
	server    *proxy.Server
	swaps     *swaps.Swaps
	creations *creations.Creations
	options   func() pages.Options // returns the current ones
	chains    chain.Registry
	pages     *Views
}

// Mount adds the comparison page to a server.
func Mount(server *proxy.Server, swaps *swaps.Swaps, creations *creations.Creations, options func() pages.Options) {
	views := pages.NewViews(server.Options.Chains)
	views.Add(templates, nil, "swap")
	s := &Pages{server: server, swaps: swaps, creations: creations, options: options, chains: server.Options.Chains, pages: &Views{views}}
	server.MountPage("/swap", proxy.SwapCost, s.swapPage)
	server.MountPage("/swap/balance", proxy.EstimateCost, s.balance)
}

// balance answers with an account's balance of the token that a form pays with, for the page's script.
func (s *Pages) balance(c *gin.Context) {
	ctx := c.Request.Context()
	f := s.readSwapForm(ctx, c.Request.URL.Query())
	holder, err := chain.ParseAddress(c.Query("owner"), f.pay.chain.Family)
	if f.problem == nil && (f.pay.token == nil || err != nil) {
		f.problem = proxy.InvalidParameters.Because("chainId, tokenIn and owner must name a chain, a token and an account on it")
	}
	var has chain.Amount
	if f.problem == nil {
		has, f.problem = s.swaps.Options().Estimator.Balance(ctx, f.pay.chain.ID, f.pay.token.Address, holder)
	}
	if f.problem != nil {
		s.server.TurnAway(c, proxy.ProblemOf(f.problem))
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, map[string]string{"units": has.String(), "text": pages.AmountOf(has, f.pay.token.Token).Text + " " + f.pay.token.Symbol})
}

// swapPage shows a comparison. Its query is the API's, except that tokens may be given by symbol or name, the amount
// may be in whole tokens, and the recipient is optional.
func (s *Pages) swapPage(c *gin.Context) {
	form := proxy.ReadForm(c.Request.URL.RawQuery)
	shown := Swap{Form: form, Chains: s.swaps.Serving(), Origin: pages.OriginOf(c.Request), Now: time.Now()}
	if len(shown.Chains) > 0 && form.Get("chainId") == "" {
		form.Set("chainId", shown.Chains[0].ID.String())
	}
	for _, name := range []string{"chainId", "dstChainId"} { // a choice without the named chain would show another
		id, _ := chain.ParseID(form.Get(name))
		named, known := s.chains.Chain(id)
		if known && !slices.ContainsFunc(shown.Chains, func(c chain.Chain) bool { return c.ID == id }) {
			shown.Chains = append(shown.Chains, named)
		}
	}
	if proxy.WantsStream(c.Request) {
		s.server.ServeStream(c, proxy.Tracking, func(_ context.Context, c *gin.Context) { s.streamComparison(c, shown) })
		return
	}
	ctx := c.Request.Context()
	status := s.compare(ctx, c, &shown, s.readSwapForm(ctx, form))
	s.server.WritePage(c, status, func(to io.Writer) error { return s.pages.Swap(to, shown) })
}

// compare fills in the form and, if it is complete, the venues' quotes. It returns the status of the page.
func (s *Pages) compare(ctx context.Context, c *gin.Context, shown *Swap, f *swapForm) int {
	shown.Listed, shown.TakeListed = f.pay.offered(), f.get.offered()
	shown.In, shown.Out = f.pay.token, f.get.token
	switch {
	case !shown.Form.Has("tokenIn"):
	case takeField(shown.Form) != "":
		f.problem = s.cross(ctx, shown, f)
	default:
		if r, query, ok := f.request(); ok {
			shown.AmountIn, shown.Path = r.AmountIn, pathOf(query)
			f.problem = s.fillComparison(ctx, shown, r)
		}
	}
	f.fill(shown.AmountIn)
	status := http.StatusOK
	if shown.Faults = f.faults; len(shown.Faults) > 0 {
		status = http.StatusBadRequest
	}
	if f.problem != nil {
		problem := proxy.ShownProblem(c, f.problem)
		status, shown.Problem = problem.Status, &problem
	}
	return status
}

func pathOf(query url.Values) string {
	if query.Has("tokenOutRecipient") {
		return "/v1.0/chain/transaction?" + query.Encode()
	}
	return "/v1.0/chain/estimation?" + query.Encode()
}

func (s *Pages) fillComparison(ctx context.Context, shown *Swap, r quote.Request) error {
	found, _, err := s.swaps.ComparisonRoute().Ask(ctx, s.server, r)
	if err != nil {
		return err
	}
	compared := found.Value.(swaps.Comparison)
	shown.Compared, shown.JSON, shown.HasTx = &compared, found.Text, !r.Recipient.IsAbsent()
	in, out := token.Key{Chain: r.Chain, Address: r.TokenIn}, token.Key{Chain: r.Chain, Address: r.TokenOut}
	prices := s.options().Tokens.USD(ctx, in, out)
	shown.Priced = prices[in] != nil && prices[out] != nil
	return nil
}

// Swap is the content of the comparison page.
type Swap struct {
	Form       url.Values // as the visitor filled it in
	Chains     []chain.Chain
	Listed     []Listed       // tokens to choose from on the chain to pay on
	TakeListed []Listed       // and on the chain to receive on
	In, Out    *token.Listing // the tokens that the form names; nil if none or ambiguous
	Faults     []pages.Fault  // of the form
	Problem    *web.Problem
	Compared   *swaps.Comparison    // nil if the form is incomplete or the comparison failed
	Crossed    *crosschain.Estimate // an order between chains; nil likewise
	Untried    bool                 // no transaction until the sender has approved the input
	JSON       string               // of Compared or Crossed
	HasTx      bool                 // a transaction was requested; Error says why it is missing
	AmountIn   chain.Amount
	Priced     bool   // both tokens have prices, so that their values can be compared
	Path       string // path and query of the quote in the API
	Creation   string // API path of the order's transaction with its parties; empty on one chain
	Origin     string
	Now        time.Time
}

// Listed is a listed token. Text identifies it in a form.
type Listed struct{ Text, Symbol, Name string }

type swapView struct {
	Swap
	Wrong     map[string]*pages.Fault // by field
	TokenIn   tokenField
	TokenOut  tokenField
	AmountIn  web.Amount
	Amount    web.Amount
	USD       string // value of Amount; empty if no price is known
	MinAmount web.Amount
	Quoted    time.Time
	On        chain.Chain // the chain to pay on
	Explorer  string      // URL of a transaction on that chain, without its hash; empty if there is none
	Sender    string      // who signs
	Spender   string      // the contract to approve before there is a transaction; empty if none
	Record    string      // path of the swap's page once made, without its hash; empty if it will have none
	Error     string      // why the transaction is missing; empty if it is not
	Loss      string      // percentage of the input's value that is lost by market prices; empty unless it is great
	Facts     []pages.Fact
	Rows      []compared
	Refusals  []refusal
	Tx        string    // the transaction as JSON; empty if not requested
	Crossing  *crossing // nil for a swap on one chain
}

// Verb labels the button that signs.
func (v swapView) Verb() string {
	verb := "Swap"
	if v.Crossing != nil {
		verb = "Create the order"
	}
	if v.Loss != "" {
		verb += " at a loss of " + v.Loss
	}
	return verb
}

// tokenField is a form field for one of the two tokens.
type tokenField struct {
	Name, Label, Value string
	Chain              string           // name of its chain's field
	Listed             []Listed         // to choose from
	Chosen             *pages.TokenView // nil if none yet
	IsCoin             bool             // Chosen is the chain's coin, which has no address
	Fault              *pages.Fault     // nil if valid
}

// Swap writes the comparison page, or the form that leads to one.
func (p *Views) Swap(to io.Writer, s Swap) error {
	v := swapView{Swap: s, Wrong: pages.Faults(s.Faults)}
	v.JSON = pages.Indented([]byte(s.JSON))
	v.TokenIn, v.TokenOut = p.tokenField(&v, "tokenIn", "You pay with", s.In), p.tokenField(&v, "tokenOut", "You get", s.Out)
	v.TokenIn.Chain, v.TokenIn.Listed = "chainId", s.Listed
	v.TokenOut.Chain, v.TokenOut.Listed = "dstChainId", s.TakeListed
	if id, err := chain.ParseID(s.Form.Get("chainId")); err == nil {
		v.On, _ = p.Chains.Chain(id)
		v.Explorer = strings.TrimSuffix(p.TxURL(id, "hash"), "hash")
	}
	isAnswered := s.In != nil && s.Out != nil
	title, says := "Swap", ""
	switch {
	case isAnswered && s.Crossed != nil:
		v.cross()
		title = v.AmountIn.Text + " " + v.In.Symbol + " on " + v.On.Name + " to " + v.Out.Symbol + " on " + v.Crossing.To
		says = title + ": " + v.Crossing.Amount.Text + " " + v.Out.Symbol
	case isAnswered && s.Compared != nil:
		v.compare()
		title = v.AmountIn.Text + " " + v.In.Symbol + " to " + v.Out.Symbol + " on " + v.On.Name
		if v.Amount.Text != "" {
			says = title + ": " + v.Amount.Text + " " + v.Out.Symbol
		}
	}
	return p.Write(to, "swap", web.View{Title: title, At: "swap", Says: says, Root: s.Origin, Now: s.Now, Page: v})
}

func (v *swapView) cross() {
	e := v.Crossed
	v.AmountIn, v.Quoted = pages.AmountOf(e.Course.In, e.InToken), e.At
	if percent, known := e.PriceImpact(); known {
		v.Loss = lossOf(-percent)
	}
	if v.Crossing = crossingOf(e); e.Made != nil {
		v.Tx, v.Sender = txJSON(e.Made.Tx), e.Made.Terms.Maker.Format(e.GiveChain.Family)
	} else if v.Untried {
		v.Sender, v.Spender = cmp.Or(v.Form.Get("senderAddress"), v.Form.Get("tokenOutRecipient")), v.On.Contracts.DlnSource.Format(v.On.Family)
	}
}

func (p *Views) tokenField(v *swapView, name, label string, chosen *token.Listing) tokenField {
	f := tokenField{Name: name, Label: label, Value: v.Form.Get(name), Fault: v.Wrong[name]}
	if chosen != nil {
		shown := p.Listing(*chosen)
		f.Chosen, f.IsCoin = &shown, chosen.Address.IsNative()
	}
	return f
}

func (v *swapView) compare() {
	e := v.Compared.Estimate
	v.AmountIn = pages.AmountOf(v.Swap.AmountIn, v.In.Token)
	v.Rows, v.Refusals = rowsOf(v.Compared), refusalsOf(e.Asked)
	if v.Compared.Err != nil {
		v.Error = headOf(v.Compared.Err.Error())
		return
	}
	v.Quoted = e.QuotedAt
	if v.Swap.AmountIn.IsZero() { // the input was searched for, or is the whole balance
		v.AmountIn = pages.AmountOf(e.In.Amount, v.In.Token)
	}
	v.Amount, v.MinAmount = pages.AmountOf(e.Out.Amount, v.Out.Token), pages.AmountOf(e.MinOut, v.Out.Token)
	worth := worthOf(e.Compared)
	for i := range v.Rows {
		v.Rows[i].USD = worth(v.Rows[i].units)
	}
	v.USD = worth(pages.RatOf(e.Out.Amount))
	v.Sender = cmp.Or(v.Form.Get("senderAddress"), v.Form.Get("tokenOutRecipient"))
	v.Facts = v.terms(e)
	if v.HasTx {
		v.Tx = txJSON(e.Tx)
		if e.Way == quote.Routed {
			v.Record = "/swap/" + v.On.ID.String() + "/tx/"
		}
	}
}

// worthOf returns a function that values amounts of the output token by the answer's only price, or as "" without one.
func worthOf(all []quote.Compared) func(units *big.Rat) string {
	for _, each := range all {
		if each.USD == nil || each.Amount.IsZero() {
			continue
		}
		return func(units *big.Rat) string { return pages.UsdText(*each.USD * ratio(units, pages.RatOf(each.Amount))) }
	}
	return func(*big.Rat) string { return "" }
}

// terms returns facts about the swap's costs and limits, and fills in its loss.
func (v *swapView) terms(e quote.Estimate) []pages.Fact {
	in := v.Swap.AmountIn
	if in.IsZero() {
		in = e.In.Amount
	}
	impact, loss := impactOf(v.Priced, e.In.USD, e.Out.USD)
	v.Loss = loss
	facts := []pages.Fact{
		{Name: "Rate", Text: cmp.Or(pages.Rate(in.Units(v.In.Decimals), e.Out.Amount.Units(v.Out.Decimals), v.In.Symbol, v.Out.Symbol), "not known")},
		{Name: "Price impact", Text: impact},
		{Name: "Gross value", Text: valuesOf(v.Priced, e.In.USD, e.Out.USD)},
		{Name: "Minimum received", Text: v.MinAmount.Text + " " + v.Out.Symbol},
		recipientOf(v.Form.Get("tokenOutRecipient"), v.Sender),
		{Name: "Slippage", Text: slippageOf(e)},
		{Name: "Route", Text: routeOf(e)},
		{Name: "Protocol fee", Text: feeOf(e, v.Out.Token)},
		{Name: "Affiliate fee", Text: affiliateOf(v.Form)},
		{Name: "Network fee", Text: gasOf(e.Fee, v.On)},
	}
	return slices.DeleteFunc(facts, func(f pages.Fact) bool { return f.Text == "" })
}
