package venues

import (
	"strconv"
	"strings"

	"crossgate/sandbox/solana"
)

// defiLlama is the price API of DefiLlama. It never declines a request, and omits unknown coins.
var defiLlama = dialect{
	endpoints: endpoints{"GET /prices/current/{coins}": llamaCurrent, "GET /prices/historical/{at}/{coins}": llamaPast},
}

// llamaChains and llamaCoins map DefiLlama's chain names and CoinGecko's coin names to chain IDs.
var (
	llamaChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146, "tron": tronID}
	llamaCoins  = map[string]uint64{"ethereum": 1, "polygon-ecosystem-token": 137, "sonic-3": 146, "tron": tronID}
)

// llamaCurrent returns the prices of the requested coins that it knows, with the keys of the request.
func llamaCurrent(r *request) (any, error) { return llamaPrices(r, r.now().Unix()), nil }

// llamaPast is llamaCurrent for a past time: prices in this world never change.
func llamaPast(r *request) (any, error) {
	at, err := strconv.ParseInt(r.get("at"), 10, 64)
	if err != nil {
		return nil, err
	}
	return llamaPrices(r, at), nil
}

func llamaPrices(r *request, at int64) object {
	prices := object{}
	for key := range strings.SplitSeq(r.get("coins"), ",") {
		t := r.llamaToken(key)
		if t.USD == 0 {
			continue
		}
		price := object{"symbol": t.Symbol, "price": t.USD, "timestamp": at, "confidence": 0.99}
		if !strings.HasPrefix(key, "coingecko:") {
			price["decimals"] = t.Decimals // absent for coins requested by name
		}
		prices[key] = price
	}
	return object{"coins": prices}
}

// llamaToken returns the token of a key, zero if unknown.
func (m *market) llamaToken(key string) Token {
	space, name, _ := strings.Cut(key, ":")
	if key == "coingecko:solana" {
		return m.mints[solana.Native.Mint]
	}
	if mint, err := solana.ParseKey(name); space == "solana" && err == nil {
		return m.mints[mint]
	}
	if c, served := m.chains[llamaCoins[name]]; space == "coingecko" && served {
		return c.tokens[coin].Token
	}
	if space == "tron" {
		name = tronHex(name)
	}
	if c, served := m.chains[llamaChains[space]]; served {
		t, _ := c.find(name)
		return t.Token
	}
	return Token{}
}
