package venues

import (
	"context"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/sandbox/solana"
)

// coin is the zero address, under which the market lists a chain's native coin; coinPlaceholder is the address that
// most venues use for it.
var (
	coin            = common.Address{}
	coinPlaceholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
)

// market is a Market indexed for lookups.
type market struct {
	chains map[uint64]*chainMarket
	now    func() time.Time
	ledger *solana.Chain // nil without Solana
	mints  map[solana.Key]Token
}

// chainMarket holds what trades on one chain.
type chainMarket struct {
	id       uint64
	wrapped  common.Address // what pools hold instead of the coin
	usdc     common.Address
	tokens   map[common.Address]token
	pools    []pool
	reserves func(ctx context.Context, chain uint64, pool string) (a, b *big.Int, err error)
	lead     func(chain uint64) time.Duration
}

// token is a listed token with its address parsed.
type token struct {
	Token
	address common.Address
}

type pool struct {
	address, a, b common.Address
	text          string // address as the market writes it: formatting one computes a hash
	feeBps        int64
}

func index(m Market) *market {
	indexed := &market{chains: map[uint64]*chainMarket{}, now: m.Now, ledger: m.Solana, mints: map[solana.Key]Token{}}
	if indexed.now == nil {
		indexed.now = time.Now
	}
	if m.Lead == nil {
		m.Lead = func(uint64) time.Duration { return 0 }
	}
	for id, wrapped := range m.Wrapped {
		indexed.chains[id] = &chainMarket{
			id: id, wrapped: common.HexToAddress(wrapped), tokens: map[common.Address]token{}, reserves: m.Reserves, lead: m.Lead,
		}
	}
	for _, t := range m.Tokens {
		if mint, err := solana.ParseKey(t.Address); err == nil && t.Chain == solanaID {
			indexed.mints[mint] = t
		}
		c, trades := indexed.chains[t.Chain]
		if !trades {
			continue
		}
		address := common.HexToAddress(t.Address)
		c.tokens[address] = token{t, address}
		if t.Symbol == "USDC" {
			c.usdc = address
		}
	}
	for _, p := range m.Pools {
		if c, trades := indexed.chains[p.Chain]; trades {
			c.pools = append(c.pools, pool{
				address: common.HexToAddress(p.Address), text: p.Address, feeBps: int64(p.FeeBps),
				a: common.HexToAddress(p.TokenA), b: common.HexToAddress(p.TokenB),
			})
		}
	}
	return indexed
}

// find returns a listed token by its address as a venue writes it.
func (c *chainMarket) find(text string) (t token, listed bool) {
	if !isAddress(text) {
		return t, false
	}
	address := common.HexToAddress(text)
	if address == coinPlaceholder {
		address = coin
	}
	t, listed = c.tokens[address]
	return t, listed
}

// pooled returns the token that pools hold for an address: the wrapped coin for the coin.
func (c *chainMarket) pooled(address common.Address) common.Address {
	if address == coin {
		return c.wrapped
	}
	return address
}

// lowerHex formats an address in lower case, with the placeholder for the coin.
func lowerHex(a common.Address) string {
	if a == coin {
		a = coinPlaceholder
	}
	return hexutil.Encode(a[:])
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "0x") && common.IsHexAddress(text)
}

// usd returns the USD value of amount at the price at which the pools were filled.
func (t Token) usd(amount *big.Int) float64 {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
	whole := new(big.Float).Quo(new(big.Float).SetInt(amount), new(big.Float).SetInt(scale))
	value, _ := whole.Mul(whole, big.NewFloat(t.USD)).Float64()
	return value
}

// usdText formats usd as most venues do.
func (t Token) usdText(amount *big.Int) string {
	return strconv.FormatFloat(t.usd(amount), 'f', 10, 64)
}

// price formats the USD price of a whole token.
func (t Token) price() string { return strconv.FormatFloat(t.USD, 'f', -1, 64) }
