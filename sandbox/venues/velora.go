package venues

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

const (
	veloraRouter = "0x6A000F20005980200259B80c5102003040001068"
	veloraFeeBps = 1 // what it keeps of the outcome

	veloraVersion = "6.2"
	veloraLife    = 20 * 60 // seconds, of a transaction whose request names no deadline

	// veloraMaxImpact is the share of the input's USD value that may be lost without a word.
	veloraMaxImpact = 0.15
)

// veloraSeal signs price routes. It keeps nobody out: it finds changed ones.
var veloraSeal = []byte("crossgate sandbox")

// velora is the Velora Market API v6.2.
type velora struct{ floor *floor }

func newVelora(f *floor) http.Handler {
	v := &velora{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /prices", v.prices)
	mux.HandleFunc("GET /swap", v.swap)
	mux.HandleFunc("POST /transactions/{network}", v.transactions)
	return mux
}

// veloraFailure is the whole body of every error.
type veloraFailure struct {
	Error string `json:"error"`
}

// veloraRefusal is a request that the API declines, in its words.
type veloraRefusal string

func (r veloraRefusal) Error() string { return string(r) }

// Words of the API for pairs and amounts that it has no price for.
const (
	veloraNoRoutes = veloraRefusal("No routes found with enough liquidity")
	veloraImpact   = veloraRefusal("ESTIMATED_LOSS_GREATER_THAN_MAX_IMPACT")
)

// veloraPrice goes to the client and comes back with the order to build.
type veloraPrice struct {
	Network            uint64        `json:"network"`
	SrcToken           string        `json:"srcToken"`
	SrcDecimals        int           `json:"srcDecimals"`
	SrcAmount          string        `json:"srcAmount"`
	DestToken          string        `json:"destToken"`
	DestDecimals       int           `json:"destDecimals"`
	DestAmount         string        `json:"destAmount"` // before the venue's fee
	BestRoute          []veloraRoute `json:"bestRoute"`
	GasCostUSD         string        `json:"gasCostUSD"`
	GasCost            string        `json:"gasCost"`
	Side               string        `json:"side"`
	Version            string        `json:"version"`
	ContractAddress    string        `json:"contractAddress"`
	TokenTransferProxy string        `json:"tokenTransferProxy"`
	ContractMethod     string        `json:"contractMethod"`
	PartnerFee         float64       `json:"partnerFee"` // percent
	SrcUSD             string        `json:"srcUSD"`
	DestUSD            string        `json:"destUSD"`
	Partner            string        `json:"partner"`
	MaxImpactReached   bool          `json:"maxImpactReached"`
	HMAC               string        `json:"hmac"`
}

type veloraRoute struct {
	Percent int          `json:"percent"`
	Swaps   []veloraSwap `json:"swaps"`
}

type veloraSwap struct {
	SrcToken      string           `json:"srcToken"`
	SrcDecimals   int              `json:"srcDecimals"`
	DestToken     string           `json:"destToken"`
	DestDecimals  int              `json:"destDecimals"`
	SwapExchanges []veloraExchange `json:"swapExchanges"`
}

type veloraExchange struct {
	Exchange      string   `json:"exchange"`
	SrcAmount     string   `json:"srcAmount"`
	DestAmount    string   `json:"destAmount"`
	Percent       int      `json:"percent"`
	PoolAddresses []string `json:"poolAddresses"`
}

// veloraTransaction has no gas figure: the checks that would give one are off.
type veloraTransaction struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Value    string `json:"value"`
	Data     string `json:"data"`
	GasPrice string `json:"gasPrice"`
	ChainID  uint64 `json:"chainId"`
}

func (v *velora) prices(w http.ResponseWriter, r *http.Request) {
	price, err := v.price(r)
	if err != nil {
		veloraFail(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"priceRoute": price})
}

// swap prices and builds in one call, for a known user.
func (v *velora) swap(w http.ResponseWriter, r *http.Request) {
	price, err := v.price(r)
	if err != nil {
		veloraFail(w, err)
		return
	}
	query := r.URL.Query()
	slippage, err := strconv.Atoi(query.Get("slippage"))
	if err != nil {
		veloraFail(w, veloraRefusal("slippage is required"))
		return
	}
	deadline, _ := strconv.ParseInt(query.Get("deadline"), 10, 64)
	tx, err := v.transaction(veloraOrder{
		PriceRoute: price, SrcAmount: price.SrcAmount, Slippage: &slippage,
		UserAddress: query.Get("userAddress"), Receiver: query.Get("receiver"), Deadline: deadline,
	})
	if err != nil {
		veloraFail(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"priceRoute": price, "txParams": tx})
}

// veloraQuestion is what a price is asked for.
type veloraQuestion struct {
	listing *listing
	in, out common.Address
	amount  *big.Int
}

func (v *velora) question(query url.Values) (q veloraQuestion, err error) {
	network, _ := strconv.ParseUint(query.Get("network"), 10, 64)
	l, served := v.floor.chains[network]
	amount, valid := parseAmount(query.Get("amount"))
	switch {
	case query.Get("version") != veloraVersion:
		return q, veloraRefusal("version " + veloraVersion + " is required")
	case !served:
		return q, veloraRefusal("unsupported network")
	case !valid:
		return q, veloraRefusal("invalid amount")
	case query.Get("side") != "" && query.Get("side") != "SELL":
		return q, veloraRefusal("unsupported side")
	}
	in, tokenIn, inListed := l.find(query.Get("srcToken"))
	out, tokenOut, outListed := l.find(query.Get("destToken"))
	switch {
	case !isAddress(query.Get("srcToken")) || !isAddress(query.Get("destToken")):
		return q, veloraRefusal("invalid tokens")
	case !inListed || !outListed || amount.Cmp(maxAmount) > 0:
		return q, veloraNoRoutes
	case query.Get("srcDecimals") != strconv.Itoa(tokenIn.Decimals) || query.Get("destDecimals") != strconv.Itoa(tokenOut.Decimals):
		return q, veloraRefusal("invalid decimals")
	}
	return veloraQuestion{l, in, out, amount}, nil
}

func (v *velora) price(r *http.Request) (veloraPrice, error) {
	query := r.URL.Query()
	q, err := v.question(query)
	if err != nil {
		return veloraPrice{}, err
	}
	found, err := v.floor.best(r.Context(), q.listing, q.in, q.out, q.amount)
	if errors.Is(err, errNoPath) {
		return veloraPrice{}, veloraNoRoutes
	}
	if err != nil {
		return veloraPrice{}, err
	}
	in, out := q.listing.tokens[q.in], q.listing.tokens[q.out]
	if out.worth(found.amountOut) < in.worth(q.amount)*(1-veloraMaxImpact) {
		return veloraPrice{}, veloraImpact
	}
	partner := query.Get("partner")
	if partner == "" {
		partner = "anon"
	}
	gas := big.NewInt(found.gas())
	p := veloraPrice{
		Network:  q.listing.chain,
		SrcToken: spell(q.in), SrcDecimals: in.Decimals, SrcAmount: q.amount.String(),
		DestToken: spell(q.out), DestDecimals: out.Decimals, DestAmount: found.amountOut.String(),
		BestRoute: []veloraRoute{{Percent: 100, Swaps: veloraSwaps(found)}},
		GasCost:   gas.String(), GasCostUSD: usd(q.listing.tokens[coin].worth(gas.Mul(gas, big.NewInt(gasPrice)))),
		Side: "SELL", Version: veloraVersion, ContractMethod: "swapExactAmountIn",
		ContractAddress: strings.ToLower(veloraRouter), TokenTransferProxy: strings.ToLower(veloraRouter),
		PartnerFee: float64(veloraFeeBps) / 100, Partner: partner,
		SrcUSD: usd(in.worth(q.amount)), DestUSD: usd(out.worth(found.amountOut)),
	}
	p.HMAC = p.seal()
	return p, nil
}

func veloraSwaps(t trade) []veloraSwap {
	swaps := make([]veloraSwap, 0, len(t.hops))
	for _, step := range t.hops {
		swaps = append(swaps, veloraSwap{
			SrcToken: spell(step.in), SrcDecimals: t.listing.tokens[step.in].Decimals,
			DestToken: spell(step.out), DestDecimals: t.listing.tokens[step.out].Decimals,
			SwapExchanges: []veloraExchange{{
				Exchange: "SandboxV2", SrcAmount: step.amountIn.String(), DestAmount: step.amountOut.String(), Percent: 100,
				PoolAddresses: []string{spell(step.pool.address)},
			}},
		})
	}
	return swaps
}

func (p veloraPrice) seal() string {
	p.HMAC = ""
	text, _ := json.Marshal(p) // texts and numbers alone
	sealed := hmac.New(sha256.New, veloraSeal)
	sealed.Write(text)
	return hex.EncodeToString(sealed.Sum(nil)[:20])
}

// veloraOrder is the body of a transaction request: the least acceptable outcome is an amount or a slippage.
type veloraOrder struct {
	PriceRoute  veloraPrice `json:"priceRoute"`
	SrcToken    string      `json:"srcToken"`
	DestToken   string      `json:"destToken"`
	SrcAmount   string      `json:"srcAmount"`
	DestAmount  string      `json:"destAmount"`
	Slippage    *int        `json:"slippage"` // bps
	UserAddress string      `json:"userAddress"`
	Receiver    string      `json:"receiver"` // the user by default
	Deadline    int64       `json:"deadline"`
}

func (v *velora) transactions(w http.ResponseWriter, r *http.Request) {
	var order veloraOrder
	if err := readBody(w, r, &order); err != nil {
		veloraFail(w, veloraRefusal("invalid body"))
		return
	}
	if r.PathValue("network") != strconv.FormatUint(order.PriceRoute.Network, 10) {
		veloraFail(w, veloraRefusal("network mismatch"))
		return
	}
	if !strings.EqualFold(order.SrcToken, order.PriceRoute.SrcToken) || !strings.EqualFold(order.DestToken, order.PriceRoute.DestToken) {
		veloraFail(w, veloraRefusal("source or destination token mismatch"))
		return
	}
	tx, err := v.transaction(order)
	if err != nil {
		veloraFail(w, err)
		return
	}
	answer(w, http.StatusOK, tx)
}

func (v *velora) transaction(order veloraOrder) (veloraTransaction, error) {
	price := order.PriceRoute
	minimum, err := order.minimum()
	switch {
	case price.HMAC != price.seal():
		return veloraTransaction{}, veloraRefusal("invalid price route")
	case err != nil:
		return veloraTransaction{}, err
	case order.SrcAmount != price.SrcAmount:
		return veloraTransaction{}, veloraRefusal("source amount mismatch")
	case !isAddress(order.UserAddress):
		return veloraTransaction{}, veloraRefusal("invalid userAddress")
	case order.Receiver == "":
		order.Receiver = order.UserAddress
	case !isAddress(order.Receiver):
		return veloraTransaction{}, veloraRefusal("invalid receiver")
	}
	if order.Deadline == 0 {
		order.Deadline = v.floor.now().Unix() + veloraLife
	}
	l := v.floor.chains[price.Network]
	amountIn, _ := parseAmount(price.SrcAmount)
	in, _, _ := l.find(price.SrcToken)
	out, _, _ := l.find(price.DestToken)
	c := call{
		TokenIn: in, TokenOut: out, AmountIn: amountIn,
		MinAmountOut: less(minimum, veloraFeeBps), // the request's minimum is before the fee, the router's after it
		Recipient:    common.HexToAddress(order.Receiver), OutputFeeBps: veloraFeeBps, Deadline: big.NewInt(order.Deadline),
	}
	for _, swap := range price.BestRoute[0].Swaps {
		c.Pools = append(c.Pools, common.HexToAddress(swap.SwapExchanges[0].PoolAddresses[0]))
	}
	data, err := c.encode()
	return veloraTransaction{
		From: strings.ToLower(order.UserAddress), To: strings.ToLower(veloraRouter), Value: c.value(), Data: data,
		GasPrice: strconv.Itoa(gasPrice), ChainID: price.Network,
	}, err
}

// minimum is the least acceptable outcome, before the venue's fee.
func (o veloraOrder) minimum() (*big.Int, error) {
	quoted, valid := parseAmount(o.PriceRoute.DestAmount)
	if !valid {
		return nil, veloraRefusal("invalid price route")
	}
	switch {
	case o.Slippage != nil && o.DestAmount != "":
		return nil, veloraRefusal("cannot specify both slippage and destAmount")
	case o.Slippage != nil && (*o.Slippage < 0 || *o.Slippage > allBps):
		return nil, veloraRefusal("invalid slippage")
	case o.Slippage != nil:
		return new(big.Int).Sub(quoted, slippageOf(quoted, float64(*o.Slippage))), nil
	}
	least, valid := parseAmount(o.DestAmount)
	if !valid {
		return nil, veloraRefusal("slippage or destAmount is required")
	}
	return least, nil
}

func veloraFail(w http.ResponseWriter, err error) {
	var refusal veloraRefusal
	if errors.As(err, &refusal) {
		answer(w, http.StatusBadRequest, veloraFailure{string(refusal)})
		return
	}
	answer(w, http.StatusInternalServerError, veloraFailure{"Internal server error"})
}
