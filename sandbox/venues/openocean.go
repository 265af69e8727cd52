package venues

import (
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// openOceanChains are the chains by the API's other names for them; their ids are names too.
var openOceanChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146}

const (
	openOceanRouter = "0x6352a56caadC4F1E25CD6c75970Fa768A3304e64"
	openOceanFeeBps = 5 // what it keeps of the outcome

	openOceanSlippage      = 1.0 // percent, by default
	openOceanLeastSlippage = 0.05
	openOceanMostSlippage  = 50.0
	openOceanLife          = 20 * 60 // seconds, of every transaction
)

// openOcean is the OpenOcean API v4.
type openOcean struct{ floor *floor }

func newOpenOcean(f *floor) http.Handler {
	o := &openOcean{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v4/{chain}/quote", o.quote)
	mux.HandleFunc("GET /v4/{chain}/swap", o.swap)
	return mux
}

// openOceanAnswer is the envelope of every answer; code 200 with null for data is a pair without a route.
type openOceanAnswer struct {
	Code  int    `json:"code"`
	Data  any    `json:"data"`
	Error string `json:"error,omitempty"`
}

type openOceanToken struct {
	Address  string  `json:"address"`
	Decimals int     `json:"decimals"`
	Symbol   string  `json:"symbol"`
	Name     string  `json:"name"`
	USD      string  `json:"usd"`
	Volume   float64 `json:"volume"`
}

type openOceanQuote struct {
	InToken      openOceanToken `json:"inToken"`
	OutToken     openOceanToken `json:"outToken"`
	InAmount     string         `json:"inAmount"`
	OutAmount    string         `json:"outAmount"`
	EstimatedGas int64          `json:"estimatedGas"`
	PriceImpact  string         `json:"price_impact"`
}

// openOceanSwap has calldata only when the request names an account to pay.
type openOceanSwap struct {
	openOceanQuote
	MinOutAmount string `json:"minOutAmount"`
	From         string `json:"from,omitempty"`
	To           string `json:"to,omitempty"`
	Value        string `json:"value,omitempty"`
	GasPrice     string `json:"gasPrice"`
	Data         string `json:"data,omitempty"`
	ChainID      uint64 `json:"chainId"`
}

// openOceanRefusal is a request that the API declines: its code, and its words.
type openOceanRefusal struct {
	code    int
	message string
}

func (r openOceanRefusal) Error() string { return r.message }

func (o *openOcean) quote(w http.ResponseWriter, r *http.Request) {
	found, _, err := o.priced(r)
	if err != nil {
		openOceanFail(w, err)
		return
	}
	answer(w, http.StatusOK, openOceanAnswer{Code: http.StatusOK, Data: o.quoted(found)})
}

func (o *openOcean) swap(w http.ResponseWriter, r *http.Request) {
	found, slippage, err := o.priced(r)
	if err != nil {
		openOceanFail(w, err)
		return
	}
	query := r.URL.Query()
	amountOut := less(found.amountOut, openOceanFeeBps)
	minimum := new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage*100))
	swap := openOceanSwap{
		openOceanQuote: o.quoted(found), MinOutAmount: minimum.String(), GasPrice: query.Get("gasPriceDecimals"), ChainID: found.listing.chain,
	}
	if account := query.Get("account"); account != "" {
		sender := query.Get("sender")
		if sender == "" {
			sender = account
		}
		if !isAddress(account) || !isAddress(sender) {
			openOceanFail(w, openOceanRefusal{http.StatusBadRequest, "account or sender is not an address"})
			return
		}
		c := call{
			TokenIn: found.in, TokenOut: found.out, AmountIn: found.amountIn, MinAmountOut: minimum,
			Recipient: common.HexToAddress(account), Pools: found.pools(), OutputFeeBps: openOceanFeeBps,
			Deadline: big.NewInt(o.floor.now().Unix() + openOceanLife),
		}
		if swap.Data, err = c.encode(); err != nil {
			openOceanFail(w, err)
			return
		}
		swap.From, swap.To, swap.Value = sender, openOceanRouter, c.value()
	}
	answer(w, http.StatusOK, openOceanAnswer{Code: http.StatusOK, Data: swap})
}

// priced reads what quote and swap have in common and prices it. The slippage is in percent.
func (o *openOcean) priced(r *http.Request) (found trade, slippage float64, err error) {
	refuse := func(message string) (trade, float64, error) {
		return trade{}, 0, openOceanRefusal{http.StatusBadRequest, message}
	}
	l, served := o.listing(r.PathValue("chain"))
	if !served {
		return refuse("chain is not supported")
	}
	query := r.URL.Query()
	amount, valid := parseAmount(query.Get("amountDecimals"))
	if !valid || amount.Cmp(maxAmount) > 0 {
		return refuse("amountDecimals is invalid")
	}
	if _, valid := parseAmount(query.Get("gasPriceDecimals")); !valid {
		return refuse("gasPriceDecimals is required")
	}
	slippage = openOceanSlippage
	if text := query.Get("slippage"); text != "" {
		slippage, err = strconv.ParseFloat(text, 64)
		if err != nil || slippage < openOceanLeastSlippage || slippage > openOceanMostSlippage {
			return refuse("slippage is out of range")
		}
	}
	in, _, inListed := l.find(query.Get("inTokenAddress"))
	out, _, outListed := l.find(query.Get("outTokenAddress"))
	if !inListed || !outListed {
		return refuse("token is not supported")
	}
	found, err = o.floor.best(r.Context(), l, in, out, amount)
	return found, slippage, err
}

func (o *openOcean) listing(name string) (*listing, bool) {
	id, named := openOceanChains[strings.ToLower(name)]
	if !named {
		id, _ = strconv.ParseUint(name, 10, 64)
	}
	l, served := o.floor.chains[id]
	return l, served
}

func (o *openOcean) quoted(t trade) openOceanQuote {
	in, out := t.listing.tokens[t.in], t.listing.tokens[t.out]
	amountOut := less(t.amountOut, openOceanFeeBps)
	lost := in.worth(t.amountIn) - out.worth(amountOut)
	return openOceanQuote{
		InToken: openOceanSide(t.in, in, t.amountIn), OutToken: openOceanSide(t.out, out, amountOut),
		InAmount: t.amountIn.String(), OutAmount: amountOut.String(), EstimatedGas: t.gas(),
		PriceImpact: strconv.FormatFloat(100*lost/in.worth(t.amountIn), 'f', 2, 64) + "%",
	}
}

func openOceanSide(address common.Address, t Token, amount *big.Int) openOceanToken {
	return openOceanToken{
		Address: spell(address), Decimals: t.Decimals, Symbol: t.Symbol, Name: t.Name,
		USD: strconv.FormatFloat(t.USD, 'f', -1, 64), Volume: t.worth(amount),
	}
}

// openOceanFail says most things with the HTTP status 200 and another code, as the API does.
func openOceanFail(w http.ResponseWriter, err error) {
	var refusal openOceanRefusal
	switch {
	case errors.Is(err, errNoPath):
		answer(w, http.StatusOK, openOceanAnswer{Code: http.StatusOK})
	case errors.As(err, &refusal):
		answer(w, http.StatusOK, openOceanAnswer{Code: refusal.code, Error: refusal.message})
	default:
		answer(w, http.StatusInternalServerError, openOceanAnswer{Code: http.StatusInternalServerError, Error: "internal error"})
	}
}
