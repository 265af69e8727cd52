package quote

import (
	"context"
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
	// Routers are the contracts that its transactions call, which are also what the sender approves. A chain
	// without an entry is not served.
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
	// Read reads what its router enforces of a transaction, or says why that is not known. Nil: of none it is known, so
	// that no transaction may call it directly. On Solana it has no use.
	Read func(c chain.Chain, tx Tx) (Call, error)
	// Writes says that its calldata is written by the gateway itself, for contracts that stand in our own source.
	Writes bool
	// Wraps says that it wraps and unwraps the coin one for one, for the sender alone, and does nothing else.
	Wraps bool
	// Fallback says that it is asked only when fewer than two others have quoted.
	Fallback bool
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
