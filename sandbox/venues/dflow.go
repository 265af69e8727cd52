package venues

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"crossgate/sandbox/solana"
)

// dflowAutoSlippage is what "auto" is taken for, in bps.
const dflowAutoSlippage = "50"

// dflow is DFlow's Trade API on its host for development, which wants no key.
type dflow struct{ floor *floor }

func newDFlow(f *floor) http.Handler {
	d := &dflow{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /order", d.order)
	return mux
}

// knows leaves the cheap and shallow pools to others.
func (d *dflow) knows(p solana.Pool) bool { return p.FeeBps >= dflowLeastFee }

const dflowLeastFee = 10 // bps

type dflowFailure struct {
	Message string `json:"msg"`
	Code    string `json:"code"`
}

type dflowAnswer struct {
	InputMint            solana.Key  `json:"inputMint"`
	InAmount             string      `json:"inAmount"`
	OutputMint           solana.Key  `json:"outputMint"`
	OutAmount            string      `json:"outAmount"`
	OtherAmountThreshold string      `json:"otherAmountThreshold"`
	MinOutAmount         string      `json:"minOutAmount"`
	SlippageBps          uint16      `json:"slippageBps"`
	PlatformFee          *struct{}   `json:"platformFee"`
	PriceImpactPct       string      `json:"priceImpactPct"`
	RoutePlan            []dflowStep `json:"routePlan"`
	ContextSlot          uint64      `json:"contextSlot"`
	ExecutionMode        string      `json:"executionMode"`
	*dflowTransaction                // for those who name their wallet
}

type dflowStep struct {
	Venue              string     `json:"venue"`
	MarketKey          solana.Key `json:"marketKey"`
	InputMint          solana.Key `json:"inputMint"`
	OutputMint         solana.Key `json:"outputMint"`
	InAmount           string     `json:"inAmount"`
	OutAmount          string     `json:"outAmount"`
	InputMintDecimals  int        `json:"inputMintDecimals"`
	OutputMintDecimals int        `json:"outputMintDecimals"`
}

type dflowTransaction struct {
	Transaction               []byte         `json:"transaction"`
	LastValidBlockHeight      uint64         `json:"lastValidBlockHeight"`
	PrioritizationFeeLamports uint64         `json:"prioritizationFeeLamports"`
	ComputeUnitLimit          uint64         `json:"computeUnitLimit"`
	PrioritizationType        prioritization `json:"prioritizationType"`
}

func (d *dflow) order(w http.ResponseWriter, r *http.Request) {
	slippage := r.URL.Query().Get("slippageBps")
	if slippage == "" || slippage == "auto" {
		slippage = dflowAutoSlippage
	}
	q, err := d.floor.solanaQuestion(r, slippage)
	var found solana.Route
	if err == nil {
		found, err = d.floor.route(r, q, d.knows)
	}
	if err != nil {
		dflowFail(w, err)
		return
	}
	body := newDFlowAnswer(q, found)
	if r.URL.Query().Has("userPublicKey") {
		if body.dflowTransaction, err = d.build(r.URL.Query(), q, found); err != nil {
			dflowFail(w, err)
			return
		}
	}
	answer(w, http.StatusOK, body)
}

func newDFlowAnswer(q solanaQuestion, found solana.Route) dflowAnswer {
	least := strconv.FormatUint(q.exchange(found, solana.Key{}, bid{}).Least(), 10)
	body := dflowAnswer{
		InputMint: q.in.Mint, InAmount: strconv.FormatUint(q.amount, 10),
		OutputMint: q.out.Mint, OutAmount: strconv.FormatUint(found.AmountOut(), 10),
		OtherAmountThreshold: least, MinOutAmount: least, SlippageBps: q.slippageBps, PriceImpactPct: "0",
		ContextSlot: found.Slot, ExecutionMode: "sync",
	}
	for _, h := range found.Hops {
		body.RoutePlan = append(body.RoutePlan, dflowStep{
			Venue: poolLabel, MarketKey: h.Pool.Address, InputMint: h.In.Mint, OutputMint: h.Out.Mint,
			InAmount: strconv.FormatUint(h.AmountIn, 10), OutAmount: strconv.FormatUint(h.AmountOut, 10),
			InputMintDecimals: h.In.Decimals, OutputMintDecimals: h.Out.Decimals,
		})
	}
	return body
}

func (d *dflow) build(query url.Values, q solanaQuestion, found solana.Route) (*dflowTransaction, error) {
	user, err := solana.ParseKey(query.Get("userPublicKey"))
	if err != nil {
		return nil, errWallet
	}
	b, err := dflowBid(query)
	if err != nil {
		return nil, err
	}
	x := q.exchange(found, user, b)
	x.Wraps = query.Get("wrapAndUnwrapSol") != "false"
	if text := query.Get("destinationWallet"); text != "" {
		if x.Receiver, err = solana.ParseKey(text); err != nil {
			return nil, errWallet
		}
	}
	made, err := d.floor.ledger.DFlowSwap(x)
	if err != nil {
		return nil, err
	}
	return &dflowTransaction{
		Transaction: made.Wire, LastValidBlockHeight: made.LastValidBlockHeight, PrioritizationFeeLamports: made.Priority(),
		ComputeUnitLimit: made.UnitLimit, PrioritizationType: newPrioritization(made),
	}, nil
}

// dflowBid reads what the query says about priority.
func dflowBid(query url.Values) (bid, error) {
	most := uint64(usualPriority)
	if text := query.Get("prioritizationFeeMaxLamports"); text != "" {
		var err error
		if most, err = strconv.ParseUint(text, 10, 64); err != nil {
			return bid{}, errFeeBid
		}
	}
	price, level := query.Get("computeUnitPriceMicroLamports"), query.Get("prioritizationFeeLamports")
	switch {
	case price != "" && level != "":
		return bid{}, errFeeBid
	case price != "":
		exact, err := strconv.ParseUint(price, 10, 64)
		if err != nil {
			return bid{}, errFeeBid
		}
		return bid{unitPrice: exact, most: most}, nil
	case level == "":
		return levelBid("auto", most)
	case level == "disabled":
		return bid{}, nil
	}
	if lamports, err := strconv.ParseUint(level, 10, 32); err == nil {
		return exactBid(lamports)
	}
	return levelBid(level, most)
}

func dflowFail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted), errors.Is(err, errNoMarkets):
		answer(w, http.StatusBadRequest, dflowFailure{"Route not found", "route_not_found"})
	default:
		answer(w, http.StatusBadRequest, dflowFailure{err.Error(), "invalid_request"})
	}
}
