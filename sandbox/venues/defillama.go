package venues

import (
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/solana"
)

// llamaChains are the chains, and llamaCoins their coins, by DefiLlama's and CoinGecko's names for them.
var (
	llamaChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146, "tron": tronNative}
	llamaCoins  = map[string]uint64{"ethereum": 1, "polygon-ecosystem-token": 137, "sonic-3": 146, "tron": tronNative}
)

const llamaConfidence = 0.99

// defiLlama is the price API of DefiLlama.
type defiLlama struct{ floor *floor }

func newDefiLlama(f *floor) http.Handler {
	d := &defiLlama{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /prices/current/{coins}", d.current)
	return mux
}

type llamaPrice struct {
	Decimals   *int    `json:"decimals,omitempty"` // not told of coins asked for by name
	Symbol     string  `json:"symbol"`
	Price      float64 `json:"price"`
	Timestamp  int64   `json:"timestamp"`
	Confidence float64 `json:"confidence"`
}

// current answers for those of the coins asked for that it knows, under the spelling of the request.
func (d *defiLlama) current(w http.ResponseWriter, r *http.Request) {
	prices := map[string]llamaPrice{}
	for key := range strings.SplitSeq(r.PathValue("coins"), ",") {
		if price, known := d.price(key); known {
			prices[key] = price
		}
	}
	answer(w, http.StatusOK, map[string]any{"coins": prices})
}

func (d *defiLlama) price(key string) (price llamaPrice, known bool) {
	space, name, _ := strings.Cut(key, ":")
	price = llamaPrice{Timestamp: d.floor.now().Unix(), Confidence: llamaConfidence}
	var t Token
	switch mint, err := solana.ParseKey(name); {
	case key == "coingecko:solana":
		t = d.floor.mints[solana.Native.Mint]
	case space == "solana" && err == nil:
		t = d.floor.mints[mint]
		price.Decimals = &t.Decimals
	case space == "coingecko":
		l, served := d.floor.chains[llamaCoins[name]]
		if !served {
			return price, false
		}
		t = l.tokens[coin]
	default:
		l, served := d.floor.chains[llamaChains[space]]
		if space == "tron" {
			name = tronHex(name)
		}
		if !served || !common.IsHexAddress(name) {
			return price, false
		}
		var listed bool
		if _, t, listed = l.find(name); !listed {
			return price, false
		}
		price.Decimals = &t.Decimals
	}
	price.Symbol, price.Price = t.Symbol, t.USD
	return price, t.USD > 0
}
