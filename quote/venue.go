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
	// Quote prices a swap: ErrNoRoute when the venue has no way from In to Out at this amount.
	Quote(ctx context.Context, s Swap) (Quote, error)
	// Build makes the transaction for a quote that this venue gave for this swap.
	Build(ctx context.Context, s Swap, q Quote) (Tx, error)
}

// Profile is what a venue declares about itself.
type Profile struct {
	Name string // stable and lower case: configuration, metrics and explanations carry it
	// AnswerName is how comparedAggregators spells it where the hosted service was recorded to spell it otherwise.
	AnswerName string
	ImageURL   string
	// Routers are called by its transactions and approved by the sender. A chain without an entry is not served.
	Routers map[chain.ID]chain.Address
	// MoreRouters are further contracts that its transactions may call: for the coin, or of another version.
	MoreRouters map[chain.ID][]chain.Address
	// Approves are the contracts that the sender approves where it is not the one that is called.
	Approves map[chain.ID]chain.Address
	// MaxAffiliatePercent is the largest share of the input amount that it can give an affiliate; zero when it cannot.
	MaxAffiliatePercent decimal.Decimal
	// FineAffiliate says that it takes that share in thousandths of a percent. Others take basis points.
	FineAffiliate bool
	// SharesOfCoin says that it gives shares of the coin alone.
	SharesOfCoin bool
	// PaysTwo says that it can divide that share between two recipients.
	PaysTwo bool
	// Read reads what its router enforces of a transaction. Nil: unknown, so none may call it directly but on Solana.
	Read func(c chain.Chain, tx Tx) (Call, error)
	// Writes says that its calldata is written by the gateway itself, for contracts that stand in our own source.
	Writes bool
	// Wraps says that it wraps and unwraps the coin one for one, for the sender alone, and does nothing else.
	Wraps bool
	// Fallback says that it is asked only when fewer than two others have quoted.
	Fallback bool
}

// Suits returns why the venue cannot make a swap by itself, if so. Shares of the input are given whole or not at all.
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
		return fmt.Errorf("%s pays shares of the coin alone: %w", p.Name, ErrNoAffiliate)
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
	AmountIn          chain.Amount  // that is taken from the sender
	MinOut            chain.Amount  // that the payee gets at least; otherwise it reverts
	Payee             chain.Address // absent: its caller
	Refund            chain.Address // receives the rest; absent: its caller
	Affiliate, Second Affiliate     // receive a share of the input, as far as it is known
}

// Calls reports whether the venue's transactions on a chain may call a contract.
func (p Profile) Calls(id chain.ID, contract chain.Address) bool {
	router, served := p.Routers[id]
	return served && (contract == router || slices.Contains(p.MoreRouters[id], contract))
}

// Spender returns what the sender approves for a transaction that calls router.
func (p Profile) Spender(id chain.ID, router chain.Address) chain.Address {
	if spender, differs := p.Approves[id]; differs {
		return spender
	}
	return router
}
