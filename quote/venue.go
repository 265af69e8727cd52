package quote

import (
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// Venue is a place where swaps happen: an aggregator or an AMM.
type Venue interface {
	Profile() Profile
	// Quote prices a swap. ErrNoRoute means that the venue has no route from In to Out at this amount.
	Quote(ctx context.Context, s Swap) (Quote, error)
	// Build returns the transaction for a quote that this venue returned for this swap.
	Build(ctx context.Context, s Swap, q Quote) (Tx, error)
}

// Profile is what a venue declares about itself.
type Profile struct {
	Name string // stable and lower case: used in configuration, metrics and explanations
	// AnswerName is its name in comparedAggregators, if the hosted service was recorded with a different spelling.
	AnswerName string
	ImageURL   string
	// Routers are called by its transactions and approved by the sender. A chain without an entry is not served.
	Routers map[chain.ID]chain.Address
	// MoreRouters are further contracts that its transactions may call: for the coin, or of another version.
	MoreRouters map[chain.ID][]chain.Address
	// Approves are the contracts that the sender approves, if not the ones that are called.
	Approves map[chain.ID]chain.Address
	// MaxAffiliatePercent is the largest share of the input amount that it can pay an affiliate; zero if it cannot.
	MaxAffiliatePercent decimal.Decimal
	// FineAffiliate means that it accepts that share in thousandths of a percent. Others accept basis points.
	FineAffiliate bool
	// SharesOfCoin means that it pays shares only of the coin.
	SharesOfCoin bool
	// PaysTwo means that it can split that share between two recipients.
	PaysTwo bool
	// Read decodes what its router enforces of a transaction. Nil: unknown, so it is called directly only on Solana.
	Read func(c chain.Chain, tx Tx) (Call, error)
	// Writes means that the gateway itself writes its calldata, for contracts whose addresses are in our own source.
	Writes bool
	// Wraps means that it only wraps and unwraps the coin, one for one and only for the sender.
	Wraps bool
	// Fallback means that it is asked only if fewer than two others have quoted.
	Fallback bool
}

// Suits returns why the venue cannot make a swap by itself, nil if it can. Shares are paid in full or not at all.
func (p Profile) Suits(s Swap) error {
	share := s.Affiliate.Percent
	if s.Second.Percent.IsPositive() {
		share = share.Add(s.Second.Percent)
	}
	_, isServed := p.Routers[s.Chain.ID]
	_, fits := s.In.Amount.Uint64()
	isFine := !s.Affiliate.Percent.Shift(2).IsInteger() && !p.FineAffiliate || !s.Second.Percent.Shift(2).IsInteger()
	switch {
	case !isServed:
		return fmt.Errorf("%s on chain %d: %w", p.Name, s.Chain.ID, ErrUnsupportedChain)
	case share.GreaterThan(p.MaxAffiliatePercent):
		return fmt.Errorf("%s does not pay %s %% of the input to others: %w", p.Name, share, ErrNoAffiliate)
	case isFine:
		return fmt.Errorf("%s pays no share finer than a basis point: %w", p.Name, ErrNoAffiliate)
	case share.IsPositive() && p.SharesOfCoin && !s.In.Address.IsNative():
		return fmt.Errorf("%s pays shares only of the coin: %w", p.Name, ErrNoAffiliate)
	case s.Second.Percent.IsPositive() && !p.PaysTwo:
		return fmt.Errorf("%s pays a share to one recipient, not to affiliate and operator: %w", p.Name, ErrNoAffiliate)
	case s.Chain.Family == chain.SVM && !fits:
		return fmt.Errorf("%s: %w for more than 64 bits", p.Name, ErrNoRoute)
	}
	return nil
}

// Call is the part of a swap that the called contract enforces by itself.
type Call struct {
	TokenIn, TokenOut chain.Address // the zero address is the native coin
	AmountIn          chain.Amount  // taken from the sender
	MinOut            chain.Amount  // the least that the payee gets; otherwise the call reverts
	Payee             chain.Address // absent: its caller
	Affiliate, Second Affiliate     // receive a share of the input, as far as known
}

// Calls reports whether the venue's transactions on a chain may call a contract.
func (p Profile) Calls(id chain.ID, contract chain.Address) bool {
	router, served := p.Routers[id]
	return served && (contract == router || slices.Contains(p.MoreRouters[id], contract))
}

// Spender returns the contract that the sender approves for a transaction that calls router.
func (p Profile) Spender(id chain.ID, router chain.Address) chain.Address {
	if spender, differs := p.Approves[id]; differs {
		return spender
	}
	return router
}
