package manage

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/proxy"
	"crossgate/proxy/creations"
	"crossgate/proxy/wire"
	"crossgate/quote"
)

// posed is a transaction on a chain to verify, and the request that it may be the answer to.
type posed struct {
	chain   chain.ID
	tx      creation.Transaction
	request proxy.Query
}

// verifyRoute answers with what a transaction would create. It asks the chain each time.
func (p *paths) verifyRoute() proxy.Route[posed] {
	return proxy.Route[posed]{
		Paths:   []string{"/v1.0/dln/order/verify"},
		Methods: []string{http.MethodPost},
		Dialect: proxy.Swapping,
		Cost:    proxy.SwapCost,
		Limit:   p.limit,
		Parse:   p.parse,
		Key:     func(path string, q posed) cache.Key { return proxy.KeyOf(path, q.chain, q.tx, q.request.Values) },
		Load:    p.verify,
	}
}

// parse reads the body. Its members are those of eth_sendTransaction, with amounts as digits or as 0x and hex; on
// Solana, data is the whole transaction.
func (p *paths) parse(c *gin.Context) (q posed, err error) {
	body, err := proxy.ReadBody(c)
	if err != nil {
		return q, err
	}
	m, err := proxy.ReadJSON(body)
	if err != nil {
		return q, err
	}
	q.chain = m.ChainID("chainId", p.chains)
	family := p.chains.Family(q.chain)
	if q.tx.Value, err = chain.ParseQuantity(cmp.Or(m.Optional("value"), "0")); err != nil {
		m.Mistake("value must be a whole number of the coin's smallest units, or 0x and hex digits")
	}
	if family != chain.SVM { // Solana transactions name their accounts
		q.tx.Sender = m.Address("from", m.Optional("from"), family)
		q.tx.To = m.Address("to", m.Optional("to"), family)
	}
	data, err := hex.DecodeString(strings.TrimPrefix(m.Optional("data"), "0x"))
	if err != nil && family == chain.SVM {
		data, err = base64.StdEncoding.DecodeString(m.Optional("data"))
	}
	if q.tx.Data = data; err != nil || len(data) == 0 {
		m.Mistake("data must be calldata: 0x followed by hex digits; of a transaction of Solana base64 too")
	}
	if request := m.Optional("request"); request != "" {
		if q.request, err = proxy.ReadJSON([]byte(request)); err != nil {
			m.Mistake("request must be a JSON object with parameters of /v1.0/dln/order/create-tx")
		}
	}
	return q, m.Problem(proxy.InvalidBody)
}

func (p *paths) verify(ctx context.Context, q posed) ([]proxy.Body, cache.Life, error) {
	forecaster, is := p.options().Forecasters[q.chain]
	if !is {
		return nil, proxy.NoLife, proxy.ChainNotServed.Because("")
	}
	all, err := forecaster.Forecast(ctx, q.tx)
	if errors.Is(err, creation.ErrMalformed) {
		err = proxy.InvalidBody.Because("data must be a whole transaction: " + err.Error())
	}
	if err != nil {
		return nil, proxy.NoLife, err
	}
	for i, f := range all {
		if f.Terms != nil {
			all[i].Warnings = append(f.Warnings, p.options().Appraiser.Appraise(ctx, *f.Terms)...)
		}
	}
	differences := compare(q, all, p.chains)
	return proxy.OneBody(p.encoder.AppendForecasts(nil, q.chain, all, differences)), proxy.NoLife, nil
}

// mustBeAsked are parameters that move money to others than the maker, and are compared even if they are not requested.
var mustBeAsked = []string{
	"affiliateFeeRecipient", "affiliateFeePercent", "externalCall", "srcAllowedCancelBeneficiary", "srcChainRefundAddress",
	"dstChainTokenOutRecipient", "dstChainOrderAuthorityAddress", "srcChainOrderAuthorityAddress",
}

// compare returns the differences of the first order from a request, and whether there are others. Parameters that
// leave no trace in an order, and amounts left to the market, are not compared.
func compare(q posed, all []creation.Forecast, chains chain.Registry) (differences []wire.Difference) {
	if len(all) == 0 || q.request.Values == nil {
		return nil
	}
	found := traces(all[0], q, chains)
	take, _ := chains.Chain(all[0].Creation.Take.Chain)
	if to := creation.CallReceiver(take, all[0].Creation.ExternalCall); !to.IsAbsent() && to == all[0].Creation.Receiver {
		delete(found, "dstChainTokenOutRecipient") // the call decides who gets the delivery
	}
	call := "" // in the form in which an order has it
	if q.request.First("dlnHook") != "" || q.request.First("externalCall") != "" {
		call = "0x" + hex.EncodeToString(creations.ExternalCall(q.request, take.Family))
	}
	maker := all[0].Maker.Format(chains.Family(q.chain))
	share := q.request.Affiliate(chains.Family(q.chain)) // nothing if it cannot be read
	switch isAsked := q.request.First("affiliateFeeRecipient") != ""; {
	case isAsked && all[0].Affiliate != nil:
		found["affiliateFeePercent"] = otherShare(share, all[0])
	case q.request.All("affiliateFeePercent") != nil && quote.Share(all[0].Creation.GiveAmount, share.Percent).IsZero():
		delete(found, "affiliateFeeRecipient") // gets less than a unit
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		wanted, trace := q.request.First(name), found[name]
		if name == "externalCall" {
			wanted = call
		}
		if trace == nil || wanted == "" && (*trace == maker || !slices.Contains(mustBeAsked, name)) || wanted == "auto" || wanted == "max" {
			continue
		}
		if *trace != wanted && !areOneAddress(*trace, wanted) {
			differences = append(differences, wire.Difference{Parameter: name, Requested: wanted, Found: *trace})
		}
	}
	if len(all) > 1 {
		differences = append(differences, wire.Difference{Parameter: "orders", Requested: "1", Found: strconv.Itoa(len(all))})
	}
	return differences
}

// areOneAddress reports whether two texts are one address, such as the two notations of TRON.
func areOneAddress(a, b string) bool {
	one, _, err := chain.ParseAnyAddress(a)
	other, _, _ := chain.ParseAnyAddress(b)
	return err == nil && one == other
}

// otherShare returns an affiliate's share in percent of the gross amount if another one was requested, whether of the
// gross amount or of the rest that the protocol leaves; otherwise nil.
func otherShare(asked quote.Affiliate, f creation.Forecast) *string {
	const whole = 10_000_000 // 100 %
	got, gross, least := f.Affiliate.Amount, f.Creation.GiveAmount, chain.Amount{}
	if f.Split != nil {
		least = quote.Share(gross.Sub(f.Split.Percent), asked.Percent)
	}
	most := quote.Share(gross, asked.Percent).Add(chain.NewAmount(1)) // some contracts round up
	if got.Cmp(least) >= 0 && got.Cmp(most) <= 0 {
		return nil
	}
	return new(strconv.FormatFloat(got.Over(gross).Round(chain.NewAmount(whole)).Float64()/(whole/100), 'f', -1, 64))
}

// traces returns the parameters of create-tx that can be read from an order, by name; nil if not known. Prepended
// expenses are those that the metadata names.
func traces(f creation.Forecast, q posed, chains chain.Registry) map[string]*string {
	c := f.Creation
	give, _ := chains.Chain(q.chain)
	giveFamily, takeFamily := give.Family, chains.Family(c.Take.Chain)
	inputs := []order.Offer{{Token: c.GiveToken, Amount: c.GiveAmount}}
	switch {
	case f.Swap != nil:
		inputs = []order.Offer{{Token: f.Swap.TokenIn, Amount: f.Swap.AmountIn}}
	case f.Spent != nil:
		inputs = f.Spent
	}
	if q.request.First("prependOperatingExpenses") == "true" && len(inputs) == 1 {
		metadata, _ := onchain.ParseMetadata(c.Metadata)
		inputs = []order.Offer{{Token: inputs[0].Token, Amount: inputs[0].Amount.Sub(metadata.OperatingExpenses)}}
	}
	isWrapped := f.Spent != nil && q.request.First("srcChainTokenIn") == give.WrappedCoin.Format(giveFamily)
	var tokensIn, amountsIn []string
	for _, input := range inputs {
		if isWrapped && input.Token.IsNative() {
			input.Token = give.WrappedCoin // spent as the coin
		}
		tokensIn, amountsIn = append(tokensIn, input.Token.Format(giveFamily)), append(amountsIn, input.Amount.String())
	}
	found := map[string]*string{
		"srcChainId":                    new(q.chain.String()),
		"srcChainTokenIn":               new(strings.Join(tokensIn, ", ")),
		"srcChainTokenInAmount":         new(strings.Join(amountsIn, ", ")),
		"dstChainId":                    new(c.Take.Chain.String()),
		"dstChainTokenOut":              new(c.Take.Token.Format(takeFamily)),
		"dstChainTokenOutAmount":        new(c.Take.Amount.String()),
		"dstChainTokenOutRecipient":     new(c.Receiver.Format(takeFamily)),
		"senderAddress":                 new(f.Maker.Format(giveFamily)),
		"srcChainOrderAuthorityAddress": new(c.Authorities.GivePatch.Format(giveFamily)),
		"dstChainOrderAuthorityAddress": new(c.Authorities.Order.Format(takeFamily)),
		"srcAllowedCancelBeneficiary":   new(c.Authorities.CancelBeneficiary.Format(giveFamily)),
		"allowedTaker":                  new(c.Authorities.AllowedTaker.Format(takeFamily)),
		"referralCode":                  new(fmt.Sprint(c.ReferralCode)),
		"affiliateFeeRecipient":         new(""),
		"externalCall":                  new(""),
	}
	if len(c.ExternalCall) > 0 {
		found["externalCall"] = new("0x" + hex.EncodeToString(c.ExternalCall))
	}
	if a := f.Affiliate; a != nil {
		found["affiliateFeeRecipient"] = new(a.Beneficiary.Format(giveFamily))
	}
	if f.Swap != nil {
		found["srcChainRefundAddress"] = new(f.Swap.RefundRecipient.Format(giveFamily))
	}
	if slices.Contains(f.Unknown, creation.UnknownInput) {
		found["srcChainTokenIn"], found["srcChainTokenInAmount"] = nil, nil
	}
	return found
}
