package gateway

import (
	"log/slog"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/quote"
)

var executions = map[config.Execution]quote.Execution{
	config.ExecuteByRouter: quote.PreferRouter,
	config.ExecuteDirectly: quote.DirectOnly,
	config.ExecuteBest:     quote.BestWay,
}

// estimator is who answers swap requests.
func (p *parts) estimator(c config.Config, log *slog.Logger) *quote.Estimator {
	own := make(map[chain.ID]quote.Execution)
	for _, each := range c.Chains {
		if each.Execution != "" {
			own[each.ID] = executions[each.Execution]
		}
	}
	operators := make(map[chain.ID]quote.Affiliate)
	for id, fee := range c.Fees() {
		operators[id] = quote.NewAffiliate(fee.Bps, fee.Recipient)
	}
	return quote.New(quote.Options{
		Registry: p.registry, Venues: p.venues, Tokens: p.tokens, Fees: p.fees, Routers: p.routers, Simulators: p.simulators,
		Execution: executions[c.Swap.Execution], Executions: own, Operators: operators, Window: c.Swap.Window, Logger: log,
	})
}
