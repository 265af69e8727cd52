package venues

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"crossgate/sandbox/solana"
)

// jupiter is Jupiter's Swap API, version 1. It answers without a key; the sandbox knows none.
type jupiter struct{ floor *floor }

func newJupiter(f *floor) http.Handler {
	j := &jupiter{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /swap/v1/quote", j.quote)
	mux.HandleFunc("POST /swap/v1/swap", j.swap)
	return mux
}

type jupiterFailure struct {
	Error     string `json:"error"`
	ErrorCode string `json:"errorCode,omitempty"`
}

type jupiterQuote struct {
	InputMint            solana.Key    `json:"inputMint"`
	InAmount             string        `json:"inAmount"`
	OutputMint           solana.Key    `json:"outputMint"`
	OutAmount            string        `json:"outAmount"`
	OtherAmountThreshold string        `json:"otherAmountThreshold"` // rounded up
	SwapMode             string        `json:"swapMode"`
	SlippageBps          uint16        `json:"slippageBps"`
	PlatformFee          *struct{}     `json:"platformFee"`
	PriceImpactPct       string        `json:"priceImpactPct"`
	RoutePlan            []jupiterStep `json:"routePlan"`
	ContextSlot          uint64        `json:"contextSlot"`
	TimeTaken            float64       `json:"timeTaken"`
	SwapUSDValue         string        `json:"swapUsdValue"`
	MostReliable         struct {
		Info map[string]string `json:"info"`
	} `json:"mostReliableAmmsQuoteReport"`
	Longtail           *struct{} `json:"longtailMarketQuoteReport"`
	IncurredSlippage   *bool     `json:"useIncurredSlippageForQuoting"`
	UseRewards         *bool     `json:"useRewards"`
	OtherRoutePlans    *struct{} `json:"otherRoutePlans"`
	LoadedLongtail     bool      `json:"loadedLongtailToken"`
	InstructionVersion *string   `json:"instructionVersion"`
	TransactionVersion int       `json:"transactionVersion"`
}

type jupiterStep struct {
	SwapInfo jupiterPool `json:"swapInfo"`
	Percent  int         `json:"percent"`
	Bps      *int        `json:"bps"`
}

type jupiterPool struct {
	AmmKey            solana.Key `json:"ammKey"`
	Label             string     `json:"label"`
	InputMint         solana.Key `json:"inputMint"`
	OutputMint        solana.Key `json:"outputMint"`
	InAmount          string     `json:"inAmount"`
	OutAmount         string     `json:"outAmount"`
	UpdateContextSlot string     `json:"updateContextSlot"`
}

func (j *jupiter) quote(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	slippage := query.Get("slippageBps")
	if slippage == "" {
		slippage = "50"
	}
	q, err := j.floor.solanaQuestion(r, slippage)
	var found solana.Route
	switch {
	case r.Header.Get("X-Api-Key") != "":
		err = errJupiterKey
	case query.Get("swapMode") == "ExactOut":
		err = errExactOut
	case err == nil:
		found, err = j.floor.route(r, q, func(solana.Pool) bool { return true })
	}
	if err != nil {
		jupiterFail(w, err)
		return
	}
	answer(w, http.StatusOK, j.answer(q, found))
}

func (j *jupiter) answer(q solanaQuestion, found solana.Route) jupiterQuote {
	body := jupiterQuote{
		InputMint: q.in.Mint, InAmount: strconv.FormatUint(q.amount, 10),
		OutputMint: q.out.Mint, OutAmount: strconv.FormatUint(found.AmountOut(), 10),
		OtherAmountThreshold: strconv.FormatUint(q.exchange(found, solana.Key{}, bid{}).Least(), 10),
		SwapMode:             "ExactIn", SlippageBps: q.slippageBps, PriceImpactPct: "0", ContextSlot: found.Slot, TimeTaken: 0.001,
		SwapUSDValue: usd(j.floor.mints[q.in.Mint].worthOf(q.amount)),
	}
	for _, h := range found.Hops {
		const whole = 100
		body.RoutePlan = append(body.RoutePlan, jupiterStep{Percent: whole, SwapInfo: jupiterPool{
			AmmKey: h.Pool.Address, Label: poolLabel, InputMint: h.In.Mint, OutputMint: h.Out.Mint,
			InAmount: strconv.FormatUint(h.AmountIn, 10), OutAmount: strconv.FormatUint(h.AmountOut, 10),
			UpdateContextSlot: strconv.FormatUint(found.Slot, 10),
		}})
	}
	body.MostReliable.Info = map[string]string{found.Hops[0].Pool.Address.String(): body.OutAmount}
	return body
}

type jupiterOrder struct {
	UserPublicKey       string          `json:"userPublicKey"`
	QuoteResponse       *jupiterQuote   `json:"quoteResponse"`
	WrapAndUnwrapSOL    *bool           `json:"wrapAndUnwrapSol"`
	PrioritizationFee   json.RawMessage `json:"prioritizationFeeLamports"`
	ComputeUnitPrice    *uint64         `json:"computeUnitPriceMicroLamports"`
	FeeAccount          string          `json:"feeAccount"`
	DestinationAccount  string          `json:"destinationTokenAccount"`
	NativeDestination   string          `json:"nativeDestinationAccount"`
	AsLegacyTransaction bool            `json:"asLegacyTransaction"`
}

type jupiterTransaction struct {
	SwapTransaction           []byte          `json:"swapTransaction"`
	LastValidBlockHeight      uint64          `json:"lastValidBlockHeight"`
	PrioritizationFeeLamports uint64          `json:"prioritizationFeeLamports"`
	ComputeUnitLimit          uint64          `json:"computeUnitLimit"`
	PrioritizationType        prioritization  `json:"prioritizationType"`
	SimulationError           *jupiterWouldBe `json:"simulationError"`
}

// jupiterWouldBe is why a transaction that was built would fail.
type jupiterWouldBe struct {
	ErrorCode string `json:"errorCode"`
	Error     string `json:"error"`
}

func (j *jupiter) swap(w http.ResponseWriter, r *http.Request) {
	var order jupiterOrder
	if err := readBody(w, r, &order); err != nil {
		jupiterFail(w, errJupiterOrder)
		return
	}
	made, err := j.build(r, order)
	if err != nil {
		jupiterFail(w, err)
		return
	}
	body := jupiterTransaction{
		SwapTransaction: made.Wire, LastValidBlockHeight: made.LastValidBlockHeight, PrioritizationFeeLamports: made.Priority(),
		ComputeUnitLimit: made.UnitLimit, PrioritizationType: newPrioritization(made),
	}
	if made.Failure != nil {
		body.SimulationError = &jupiterWouldBe{"TRANSACTION_ERROR", fmt.Sprint(made.Failure)}
	}
	answer(w, http.StatusOK, body)
}

// build makes the transaction of the quote that comes with the order, whatever became of the price.
func (j *jupiter) build(r *http.Request, order jupiterOrder) (solana.Unsigned, error) {
	quote := order.QuoteResponse
	switch {
	case r.Header.Get("X-Api-Key") != "":
		return solana.Unsigned{}, errJupiterKey
	case j.floor.ledger == nil:
		return solana.Unsigned{}, errNoMarkets
	case quote == nil || order.FeeAccount != "" || order.DestinationAccount != "" || order.NativeDestination != "" || order.AsLegacyTransaction:
		return solana.Unsigned{}, errJupiterOrder
	}
	user, err := solana.ParseKey(order.UserPublicKey)
	if err != nil {
		return solana.Unsigned{}, errWallet
	}
	b, err := order.bid()
	if err != nil {
		return solana.Unsigned{}, err
	}
	in, err := solana.TokenAt(quote.InputMint)
	if err != nil {
		return solana.Unsigned{}, errUnlisted
	}
	amount, err := strconv.ParseUint(quote.InAmount, 10, 64)
	if err != nil {
		return solana.Unsigned{}, errAmount
	}
	quoted, err := strconv.ParseUint(quote.OutAmount, 10, 64)
	if err != nil {
		return solana.Unsigned{}, errAmount
	}
	var pools []solana.Key
	for _, step := range quote.RoutePlan {
		pools = append(pools, step.SwapInfo.AmmKey)
	}
	found, err := j.floor.ledger.Along(in, amount, pools...)
	if err != nil {
		return solana.Unsigned{}, errJupiterOrder
	}
	return j.floor.ledger.JupiterSwap(solana.Exchange{
		Route: found, User: user, Wraps: order.WrapAndUnwrapSOL == nil || *order.WrapAndUnwrapSOL,
		Quoted: quoted, SlippageBps: quote.SlippageBps, UnitPrice: b.unitPrice, MostFee: b.most,
	})
}

// bid reads what the order says about priority, in one of the ways that there are.
func (o jupiterOrder) bid() (bid, error) {
	if o.ComputeUnitPrice != nil {
		if !isNone(o.PrioritizationFee) {
			return bid{}, errFeeBid
		}
		return bid{unitPrice: *o.ComputeUnitPrice, most: absurdPriority}, nil
	}
	if isNone(o.PrioritizationFee) {
		return levelBid("auto", usualPriority)
	}
	var lamports uint64
	if json.Unmarshal(o.PrioritizationFee, &lamports) == nil {
		return exactBid(lamports)
	}
	var word string
	if json.Unmarshal(o.PrioritizationFee, &word) == nil && word == "auto" {
		return levelBid(word, usualPriority)
	}
	var within struct {
		Level struct {
			PriorityLevel string `json:"priorityLevel"`
			MaxLamports   uint64 `json:"maxLamports"`
		} `json:"priorityLevelWithMaxLamports"`
	}
	if err := json.Unmarshal(o.PrioritizationFee, &within); err != nil {
		return bid{}, errFeeBid
	}
	return levelBid(within.Level.PriorityLevel, within.Level.MaxLamports)
}

var (
	errJupiterKey   = errors.New("unknown key")
	errJupiterOrder = errors.New("order cannot be built")
)

func jupiterFail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errJupiterKey):
		answer(w, http.StatusUnauthorized, jupiterFailure{Error: "Unauthorized"})
	case errors.Is(err, errNoPath):
		answer(w, http.StatusBadRequest, jupiterFailure{"Could not find any route", "COULD_NOT_FIND_ANY_ROUTE"})
	case errors.Is(err, errUnlisted), errors.Is(err, errNoMarkets):
		answer(w, http.StatusBadRequest, jupiterFailure{"The token is not tradable: " + err.Error(), "TOKEN_NOT_TRADABLE"})
	case errors.Is(err, errCircular):
		answer(w, http.StatusBadRequest, jupiterFailure{err.Error(), "CIRCULAR_ARBITRAGE_IS_DISABLED"})
	default:
		answer(w, http.StatusBadRequest, jupiterFailure{Error: err.Error()})
	}
}
