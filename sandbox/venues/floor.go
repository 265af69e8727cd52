package venues

import (
	"context"
	"maps"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/sandbox/solana"
)

// coin is the zero address, under which the market lists a chain's native coin; spelledCoin is what venues
// write for it.
var (
	coin        = common.Address{}
	spelledCoin = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
)

// floor is the market arranged for trading.
type floor struct {
	chains   map[uint64]*listing
	reserves func(ctx context.Context, chain uint64, pool string) (a, b *big.Int, err error)
	now      func() time.Time
	ledger   *solana.Chain // nil without Solana
	mints    map[solana.Key]Token
}

// listing is what trades on one chain.
type listing struct {
	chain   uint64
	wrapped common.Address // what pools hold in place of the coin
	usdc    common.Address
	tokens  map[common.Address]Token
	pools   []pool
}

type pool struct {
	address, a, b common.Address
	text          string // of address, as the market has it: to write one is a hash
	feeBps        int64
}

func newFloor(m Market) *floor {
	f := &floor{chains: map[uint64]*listing{}, reserves: m.Reserves, now: m.Now, ledger: m.Solana, mints: map[solana.Key]Token{}}
	if f.now == nil {
		f.now = time.Now
	}
	for id, wrapped := range m.Wrapped {
		f.chains[id] = &listing{chain: id, wrapped: common.HexToAddress(wrapped), tokens: map[common.Address]Token{}}
	}
	for _, t := range m.Tokens {
		if mint, err := solana.ParseKey(t.Address); err == nil && t.Chain == solanaID {
			f.mints[mint] = t
		}
		l, trades := f.chains[t.Chain]
		if !trades {
			continue
		}
		address := common.HexToAddress(t.Address)
		l.tokens[address] = t
		if t.Symbol == "USDC" {
			l.usdc = address
		}
	}
	for _, p := range m.Pools {
		if l, trades := f.chains[p.Chain]; trades {
			l.pools = append(l.pools, pool{
				address: common.HexToAddress(p.Address), a: common.HexToAddress(p.TokenA), b: common.HexToAddress(p.TokenB),
				text: p.Address, feeBps: int64(p.FeeBps),
			})
		}
	}
	return f
}

// serving is the part of the floor on the chains that a venue serves.
func (f *floor) serving(venue string) *floor {
	part := *f
	part.chains = maps.Clone(f.chains)
	maps.DeleteFunc(part.chains, func(chain uint64, _ *listing) bool { return len(Routers(venue, chain)) == 0 })
	return &part
}

// find returns a listed token by its address in a venue's spelling.
func (l *listing) find(text string) (address common.Address, t Token, listed bool) {
	if !isAddress(text) {
		return address, t, false
	}
	if address = common.HexToAddress(text); address == spelledCoin {
		address = coin
	}
	t, listed = l.tokens[address]
	return address, t, listed
}

// pooled is the token that pools hold in place of token.
func (l *listing) pooled(token common.Address) common.Address {
	if token == coin {
		return l.wrapped
	}
	return token
}

// spell writes an address in lower case, the coin as venues do.
func spell(a common.Address) string {
	if a == coin {
		a = spelledCoin
	}
	return hexutil.Encode(a[:])
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "0x") && common.IsHexAddress(text)
}

// worth is the USD value of amount at the price at which the pools were seeded.
func (t Token) worth(amount *big.Int) float64 {
	value, _ := new(big.Float).Mul(t.units(amount), big.NewFloat(t.USD)).Float64()
	return value
}

// worthOf is worth for an amount of 64 bits.
func (t Token) worthOf(amount uint64) float64 { return t.worth(new(big.Int).SetUint64(amount)) }

// units is amount in whole tokens.
func (t Token) units(amount *big.Int) *big.Float {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
	return new(big.Float).Quo(new(big.Float).SetInt(amount), new(big.Float).SetInt(scale))
}
