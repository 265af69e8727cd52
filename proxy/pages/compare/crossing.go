package compare

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/proxy/pages"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// crossing is a swap between chains: an order that does not exist yet.
type crossing struct {
	Amount web.Amount // amount that the order takes
	USD    string     // empty if no price is known
	To     string     // name of the chain
	Facts  []pages.Fact
	Costs  []cost
	Short  []string // amounts that the sender lacks
}

// cost is a step or deduction on the way from the input to the output.
type cost struct {
	Name, On, Symbol string
	Amount           web.Amount // deducted, or the result of a swap
}

var costWords = map[string]string{
	crosschain.PreSwap: "Swapped into", crosschain.AfterSwap: "Swapped by the taker into",
	crosschain.PreSwapSlippage: "Slippage, refunded if unused", crosschain.AfterSwapSlippage: "Slippage",
	crosschain.ProtocolFee: "Protocol fee", crosschain.AffiliateFee: "Affiliate", crosschain.TakerMargin: "Taker's margin",
	crosschain.OperatingExpenses: "Taker's network fees",
}

var parameters = map[string]string{
	"chainId": "srcChainId", "dstChainId": "dstChainId", "tokenIn": "srcChainTokenIn", "tokenOut": "dstChainTokenOut",
	"tokenInAmount": "srcChainTokenInAmount", "tokenOutRecipient": "dstChainTokenOutRecipient", "senderAddress": "senderAddress",
}

// creation returns the form's query for create-tx; not ok if the form has faults. The recipient may cancel the order on
// the other chain, and the refund goes to the sender, who cannot cancel it.
func (f *swapForm) creation() (query url.Values, ok bool) {
	asked := f.query()
	if len(f.faults) > 0 || f.problem != nil {
		return nil, false
	}
	query = url.Values{"dstChainTokenOutAmount": {"auto"}}
	for field, name := range parameters {
		if value := asked.Get(field); value != "" {
			query.Set(name, value)
		}
	}
	recipient, sender := asked.Get("tokenOutRecipient"), asked.Get("senderAddress")
	switch {
	case recipient == "":
		return query, true
	case sender == "" && f.pay.chain.Family != f.get.chain.Family:
		f.fault("senderAddress", "Enter the sender on "+f.pay.chain.Name+": it cannot be the recipient on "+f.get.chain.Name+".")
		return nil, false
	case sender == "":
		sender = recipient
	}
	query.Set("senderAddress", sender)
	query.Set("srcChainOrderAuthorityAddress", sender)
	query.Set("dstChainOrderAuthorityAddress", recipient)
	return query, true
}

const createTx = "/v1.0/dln/order/create-tx?"

func (s *Pages) cross(ctx context.Context, shown *Swap, f *swapForm) error {
	query, ok := f.creation()
	if !ok {
		return f.problem
	}
	shown.Creation = createTx + query.Encode()
	made, text, err := s.creations.Ask(ctx, s.server, query)
	isUnapproved := err == nil && made.Made != nil && made.Made.IsUnapproved
	if isUnapproved || errors.Is(err, quote.ErrUnsimulated) && f.pay.chain.Family == chain.TVM { // nodes simulate only when approved
		for _, party := range []string{"tokenOutRecipient", "senderAddress"} {
			query.Del(parameters[party])
		}
		query.Del("srcChainOrderAuthorityAddress")
		query.Del("dstChainOrderAuthorityAddress")
		shown.Untried = true
		made, text, err = s.creations.Ask(ctx, s.server, query)
	}
	if err != nil {
		return err
	}
	shown.Crossed, shown.JSON, shown.Path = &made, text, createTx+query.Encode()
	shown.AmountIn = made.Course.In
	return nil
}

func crossingOf(e *crosschain.Estimate) *crossing {
	c := &crossing{Amount: pages.AmountOf(e.Amount, e.OutToken), To: e.TakeChain.Name, Costs: costsOf(e), Facts: crossingFacts(e)}
	price := e.Prices[token.Key{Chain: e.TakeChain.ID, Address: e.TokenOut}]
	if usd := quote.USD(price, e.Amount, e.OutToken.Decimals); usd != nil {
		c.USD = pages.UsdText(*usd)
	}
	if e.Made == nil {
		return c
	}
	for _, short := range e.Made.Short {
		lacks := e.InToken
		if short.Token != e.TokenIn {
			lacks = token.Token{Symbol: e.GiveChain.Coin.Symbol, Decimals: e.GiveChain.Coin.Decimals}
		}
		c.Short = append(c.Short, pages.AmountOf(short.Missing, lacks).Text+" "+lacks.Symbol)
	}
	return c
}

func crossingFacts(e *crosschain.Estimate) []pages.Fact {
	coin := e.GiveChain.Coin
	impact := "unknown: not both tokens have a price"
	if percent, known := e.PriceImpact(); known {
		impact = strings.Replace(strconv.FormatFloat(percent, 'f', 2, 64), "-", "−", 1) + " %"
	}
	facts := []pages.Fact{
		{Name: "Rate", Text: pages.Rate(e.Course.In.Units(e.InToken.Decimals), e.Amount.Units(e.OutToken.Decimals), e.InToken.Symbol, e.OutToken.Symbol)},
		{Name: "Value difference", Text: impact},
		{Name: "Delivery", Text: "about " + strconv.FormatUint(e.Delay(), 10) + " s after the order's block"},
		{Name: "Slippage", Text: percentText(e.SlippagePercent())},
		{Name: "Fixed fee", Text: web.AmountOf(e.Charges.Fixed.String(), int(coin.Decimals)).Text + " " + coin.Symbol},
	}
	if e.Made != nil {
		terms, id := e.Made.Terms, pages.Fact{Name: "Order", Text: e.Made.ID.String(), IsID: true}
		if warned := e.Made.Warnings; len(warned) > 0 { // the order will have another id
			id = pages.Fact{Name: id.Name, Text: warned[0].Text}
		}
		facts = append(facts, recipientOf(terms.Receiver.Format(e.TakeChain.Family), terms.Maker.Format(e.GiveChain.Family)),
			pages.Fact{Name: "Network fee", Text: gasOf(e.Made.Fee, e.GiveChain)},
			pages.Fact{Name: "If not delivered", Text: "the recipient can cancel on " + e.TakeChain.Name + "; the sender gets back all but network fees"},
			id)
	}
	return slices.DeleteFunc(facts, func(f pages.Fact) bool { return f.Text == "" })
}

func costsOf(e *crosschain.Estimate) []cost {
	of := map[token.Key]token.Token{
		{Chain: e.GiveChain.ID, Address: e.TokenIn}: e.InToken, e.Route.Give: e.GiveToken,
		{Chain: e.TakeChain.ID, Address: e.TokenOut}: e.OutToken, e.Route.Take: e.TakeToken,
	}
	names := map[chain.ID]string{e.GiveChain.ID: e.GiveChain.Name, e.TakeChain.ID: e.TakeChain.Name}
	var all []cost
	for _, line := range e.Costs(e.Route) {
		amount := line.Fee
		if line.TokenIn != line.TokenOut {
			amount = line.AmountOut
		}
		t := of[token.Key{Chain: line.Chain, Address: line.TokenOut}]
		all = append(all, cost{Name: costWords[line.Type], On: names[line.Chain], Symbol: t.Symbol, Amount: pages.AmountOf(amount, t)})
	}
	return all
}
