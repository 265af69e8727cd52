package venues

import (
	"cmp"
	"maps"
	"net/http"
	"strconv"

	"crossgate/sandbox/solana"
)

// dflow is DFlow's Trade API on its production host, which requires a key.
var dflow = dialect{
	endpoints: endpoints{"GET /order": dflowOrder},
	refusals: []refusal{
		{errNoRoute, http.StatusBadRequest, "route_not_found", "Route not found"},
		{errUnauthorized, http.StatusUnauthorized, "unauthorized", "Invalid API key"},
		{nil, http.StatusBadRequest, "invalid_request", ""},
	},
	problem: func(_ *request, f refusal) any { return object{"msg": f.message, "code": f.code} },
	limited: object{"msg": "Rate limit exceeded", "code": "rate_limited"},
	routers: only(solanaID, solana.DFlow().String()),
	key:     dflowKey,
}

const (
	dflowKey          = "sandbox"
	dflowAutoSlippage = "50" // bps that "auto" means
	dflowLeastFeeBps  = 10   // minimum fee of pools to route through: DFlow ignores the shallow ones with a low fee
)

func dflowOrder(r *request) (any, error) {
	if r.Header.Get("X-Api-Key") != dflowKey {
		return nil, errUnauthorized
	}
	slippage := cmp.Or(r.get("slippageBps"), dflowAutoSlippage)
	if slippage == "auto" {
		slippage = dflowAutoSlippage
	}
	q, err := r.solanaQuote(slippage, func(p solana.Pool) bool { return p.FeeBps >= dflowLeastFeeBps })
	if err != nil {
		return nil, err
	}
	var steps []object
	for _, h := range q.exchange.Route.Hops {
		steps = append(steps, object{
			"venue": poolLabel, "marketKey": h.Pool.Address, "inputMint": h.In.Mint, "outputMint": h.Out.Mint,
			"inAmount": lamports(h.AmountIn), "outAmount": lamports(h.AmountOut),
			"inputMintDecimals": h.In.Decimals, "outputMintDecimals": h.Out.Decimals,
		})
	}
	body := q.answer()
	body["minOutAmount"], body["routePlan"], body["executionMode"] = body["otherAmountThreshold"], steps, "sync"
	if !r.query.Has("userPublicKey") {
		return body, nil
	}
	tx, err := dflowTransaction(r, q.exchange)
	maps.Copy(body, tx)
	return body, err
}

// dflowTransaction returns the transaction members of an answer, for clients that supply their wallet.
func dflowTransaction(r *request, x solana.Exchange) (tx object, err error) {
	if x.User, err = solana.ParseKey(r.get("userPublicKey")); err != nil {
		return nil, errWallet
	}
	most, err := strconv.ParseUint(cmp.Or(r.get("prioritizationFeeMaxLamports"), lamports(defaultPriority)), 10, 64)
	if err != nil {
		return nil, errPriority
	}
	level := r.get("prioritizationFeeLamports")
	if level == "disabled" {
		level = "0"
	}
	if err := prioritize(&x, r.get("computeUnitPriceMicroLamports"), level, most); err != nil {
		return nil, err
	}
	x.Wraps = r.get("wrapAndUnwrapSol") != "false"
	if text := r.get("destinationWallet"); text != "" {
		if x.Receiver, err = solana.ParseKey(text); err != nil {
			return nil, errWallet
		}
	}
	made, err := r.ledger.DFlowSwap(x)
	if err != nil {
		return nil, err
	}
	tx = built(made)
	tx["transaction"] = made.Wire
	return tx, nil
}
