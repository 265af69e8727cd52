package sandbox

import (
	"context"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/sandbox/solana"
)

// Solana is the world's Solana chain.
type Solana struct {
	Place
	Pools []solana.Pool

	ledger *solana.Chain
}

// newSolana returns the chain as the history begins: every account has coin and tokens there.
func newSolana(beginning time.Time, people cast) (*Solana, error) {
	facts, known := chain.Documented().Chain(chain.Solana)
	if !known {
		return nil, fmt.Errorf("chain %s is not documented", chain.Solana)
	}
	const lamports, tokens = 10_000_000_000_000, 5_000_000
	s := &Solana{Place: Place{Facts: facts, coinUSD: solanaUSD["SOL"]}, ledger: solana.New(beginning)}
	s.Facts.FirstBlock = s.ledger.Head()
	for _, t := range solana.Tokens {
		s.Tokens = append(s.Tokens, Token{
			Chain: chain.Solana, Mint: t.Mint, Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals, USD: solanaUSD[t.Symbol],
		})
	}
	for _, account := range people.all() {
		s.ledger.Fund(account.Wallet.Key, lamports, tokens)
	}
	s.stock()
	for _, spec := range specs {
		other, _ := chain.Documented().Chain(spec.id)
		source, destination, _ := peers(other)
		s.ledger.Connect(uint64(other.ID), source, destination)
	}
	return s, nil
}

// solanaUSD is what tokens of Solana were worth when the pools were filled; tokens without pools are missing.
var solanaUSD = map[string]float64{"SOL": 150, usdc: 1, "JitoSOL": 180, "PYUSD": 1}

// solanaTiers are the pools of every pair on Solana, like tiers elsewhere.
var solanaTiers = []struct {
	feeBps  uint64
	sideUSD float64
}{
	{25, 20_000_000},
	{5, 1_500_000},
}

// stock creates the pools of SOL, USDC, and a token close to each in value.
func (s *Solana) stock() {
	for _, pair := range [][2]string{{"SOL", usdc}, {"SOL", "JitoSOL"}, {usdc, "PYUSD"}} {
		a, b := s.token(pair[0]), s.token(pair[1])
		for _, tier := range solanaTiers {
			pool := solana.NewPool(givenOn(a), givenOn(b), tier.feeBps)
			s.Pools = append(s.Pools, pool)
			s.ledger.Stock(pool, worth(a, tier.sideUSD).Uint64(), worth(b, tier.sideUSD).Uint64())
		}
	}
}

// Head returns the newest slot.
func (s *Solana) Head() uint64 { return s.ledger.Head() }

// run makes a block every period until ctx ends, or none if the period is zero.
func (s *Solana) run(ctx context.Context, now func() time.Time, period time.Duration) {
	if period == 0 {
		return
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.ledger.Pass(now())
		}
	}
}

func (s *Solana) look() object { return s.lookAt(s.Head()) }
