package venues

import (
	"cmp"
	"math/big"
	"net/http"
	"strings"
	"time"

	"crossgate/sandbox/solana"
)

// jupiter is Jupiter's Swap API, version 2. It works without a key; the sandbox has none.
var jupiter = dialect{
	endpoints: endpoints{"GET /swap/v2/build": jupiterBuild},
	refusals: []refusal{
		{errUnauthorized, http.StatusUnauthorized, nil, "Unauthorized"},
		{errUnlisted, http.StatusBadRequest, nil, "No routes found"},
		{errNoRoute, http.StatusBadRequest, nil, "No routes found"},
		{nil, http.StatusBadRequest, nil, ""},
	},
	problem: jupiterProblem,
	limited: object{"error": "Too many requests"},
	routers: only(solanaID, solana.Jupiter().String()),
}

func jupiterBuild(r *request) (any, error) {
	for _, unused := range []string{"feeAccount", "payer", "destinationTokenAccount", "nativeDestinationAccount", "tipAmount"} {
		if r.query.Has(unused) {
			return nil, invalid(unused + " is not served in the sandbox")
		}
	}
	if r.Header.Get("X-Api-Key") != "" {
		return nil, errUnauthorized
	}
	q, err := r.solanaQuote(cmp.Or(r.get("slippageBps"), "50"), func(solana.Pool) bool { return true })
	if err != nil {
		return nil, err
	}
	x := q.exchange
	x.Wraps = r.get("wrapAndUnwrapSol") != "false"
	if x.User, err = solana.ParseKey(r.get("taker")); err != nil {
		return nil, errWallet
	}
	price, known := levels[cmp.Or(r.get("computeUnitPricePercentile"), "auto")]
	if !known {
		return nil, errPriority
	}
	body := q.answer()
	body["swapMode"], body["routePlan"], body["tipInstruction"] = "ExactIn", jupiterSteps(r, x.Route), nil
	for _, first := range []string{"platformFee", "contextSlot"} { // members of version 1 only
		delete(body, first)
	}
	x.UnitPrice = price
	describe(body, r.ledger.JupiterBuild(x))
	return body, nil
}

func jupiterSteps(r *request, found solana.Route) (steps []object) {
	for _, h := range found.Hops {
		worth := r.mints[h.In.Mint].usd(new(big.Int).SetUint64(h.AmountIn))
		steps = append(steps, object{"percent": 100, "bps": allBps, "usdValue": worth, "swapInfo": object{
			"ammKey": h.Pool.Address, "label": poolLabel, "inputMint": h.In.Mint, "outputMint": h.Out.Mint,
			"inAmount": lamports(h.AmountIn), "outAmount": lamports(h.AmountOut),
		}})
	}
	return steps
}

// describe adds the instructions to an answer, with the rest that their transaction needs.
func describe(body object, b solana.JupiterBuild) {
	body["computeBudgetInstructions"] = []object{instruction(b.Budget)}
	body["setupInstructions"], body["otherInstructions"] = instructions(b.Setup), []object{}
	body["swapInstruction"], body["cleanupInstruction"] = instruction(b.Swap), nil
	if len(b.Cleanup) > 0 {
		body["cleanupInstruction"] = instruction(b.Cleanup[0])
	}
	now := time.Now()
	body["addressesByLookupTableAddress"] = map[string][]solana.Key{b.Table.String(): b.Holds}
	body["blockhashWithMetadata"] = object{
		"blockhash": b.Blockhash, "lastValidBlockHeight": b.LastValidBlockHeight,
		"fetchedAt": object{"secs_since_epoch": now.Unix(), "nanos_since_epoch": now.Nanosecond()},
	}
}

func instructions(all []solana.Instruction) []object {
	texts := []object{}
	for _, i := range all {
		texts = append(texts, instruction(i))
	}
	return texts
}

func instruction(i solana.Instruction) object {
	accounts := []object{}
	for _, a := range i.Accounts {
		accounts = append(accounts, object{"pubkey": a.Key, "isSigner": a.Signer, "isWritable": a.Writable})
	}
	return object{"programId": i.Program, "accounts": accounts, "data": i.Data}
}

// jupiterProblem returns an error in the API's own form, or in that of its key check.
func jupiterProblem(_ *request, f refusal) any {
	if f.cause == errUnauthorized {
		return object{"code": http.StatusUnauthorized, "message": f.message}
	}
	return object{"error": strings.ToUpper(f.message[:1]) + f.message[1:]}
}
