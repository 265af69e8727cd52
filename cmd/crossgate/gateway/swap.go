package gateway

import (
	"cmp"
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

// estimator answers swap requests on the chains that are read.
func (p *parts) estimator(c config.Config, log *slog.Logger, failures *quote.Failures, wins *quote.Wins) *quote.Estimator {
	chains, fees := make(map[chain.ID]quote.Chain, len(c.Chains)), c.Fees()
	for _, each := range c.Chains {
		swaps := p.chains[each.ID].swaps
		swaps.Execution = executions[cmp.Or(each.Execution, c.Swap.Execution)]
		swaps.AllowUnsimulated = c.Swap.Unsimulated == config.AllowUnsimulated
		if fee, charged := fees[each.ID]; charged {
			swaps.Operator = quote.NewAffiliate(fee.Bps, fee.Recipient)
		}
		chains[each.ID] = swaps
	}
	return quote.New(quote.Options{
		Registry: p.registry, Venues: p.venues, Tokens: p.tokens, Chains: chains, Window: c.Swap.Window,
		Failures: failures, Wins: wins, Logger: log,
	})
}
