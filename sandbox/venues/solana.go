package venues

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"crossgate/sandbox/solana"
)

// Possible mistakes in a request to a venue on Solana.
const (
	errMint     = invalid("mint cannot be parsed")
	errWallet   = invalid("wallet cannot be parsed")
	errPriority = invalid("prioritization fee cannot be parsed")
	errCircular = invalid("input and output mints are not allowed to be equal")
)

var errNoMarkets = fmt.Errorf("%w: no markets on Solana", errUnlisted)

// poolLabel is the venues' name for the sandbox's pools.
const poolLabel = "Token Swap"

// solanaQuote is a swap with a route from the ledger. Its exchange still lacks the user and the priority.
type solanaQuote struct {
	in, out  solana.Token
	exchange solana.Exchange
}

// solanaQuote decodes the parameters that both venues share, and routes the swap through the usable pools unless the
// request excludes them.
func (r *request) solanaQuote(slippage string, usable func(solana.Pool) bool) (q solanaQuote, err error) {
	if r.ledger == nil {
		return q, errNoMarkets
	}
	amount, err := strconv.ParseUint(r.get("amount"), 10, 64)
	if err != nil || amount == 0 {
		return q, errAmount
	}
	bps, err := strconv.ParseUint(slippage, 10, 16)
	if err != nil || bps > allBps {
		return q, invalid("slippageBps cannot be parsed")
	}
	if q.in, err = mintOf(r.get("inputMint")); err != nil {
		return q, err
	}
	if q.out, err = mintOf(r.get("outputMint")); err != nil {
		return q, err
	}
	switch {
	case q.in == q.out:
		return q, errCircular
	case r.get("platformFeeBps") != "" && r.get("platformFeeBps") != "0":
		return q, invalid("platform fees are not taken in the sandbox")
	case slices.Contains(strings.Split(r.get("excludeDexes"), ","), poolLabel):
		return q, errNoRoute
	}
	found, err := r.ledger.Best(q.in, q.out, amount, usable)
	if errors.Is(err, solana.ErrNoRoute) {
		return q, errNoRoute
	}
	if err == nil {
		q.exchange = solana.Exchange{Route: found, Quoted: found.AmountOut(), SlippageBps: uint16(bps)}
	}
	return q, err
}

func mintOf(text string) (solana.Token, error) {
	mint, err := solana.ParseKey(text)
	if err != nil {
		return solana.Token{}, errMint
	}
	t, err := solana.TokenAt(mint)
	if err != nil {
		return solana.Token{}, fmt.Errorf("%w: %s", errUnlisted, mint)
	}
	return t, nil
}

// answer returns the members that both venues' quotes share.
func (q solanaQuote) answer() object {
	x := q.exchange
	return object{
		"inputMint": q.in.Mint, "inAmount": lamports(x.Route.Hops[0].AmountIn),
		"outputMint": q.out.Mint, "outAmount": lamports(x.Quoted),
		"otherAmountThreshold": lamports(x.Least()), // rounded up
		"slippageBps":          x.SlippageBps, "platformFee": nil, "priceImpactPct": "0", "contextSlot": x.Route.Slot,
	}
}

// lamports formats an amount of 64 bits.
func lamports(amount uint64) string { return strconv.FormatUint(amount, 10) }

// built returns the members that both venues' transactions share.
func built(u solana.Unsigned) object {
	return object{
		"lastValidBlockHeight": u.LastValidBlockHeight, "computeUnitLimit": u.UnitLimit,
		"prioritizationFeeLamports": u.Priority(), "prioritizationType": object{
			"computeBudget": object{"microLamports": u.UnitPrice, "estimatedMicroLamports": u.UnitPrice},
		},
	}
}

// levels are the compute unit prices of each priority level, in micro-lamports.
var levels = map[string]uint64{"auto": 5_000, "medium": 5_000, "high": 20_000, "veryHigh": 100_000}

// The venues' default priority fee, and the highest accepted one, in lamports.
const (
	defaultPriority = 5_000_000
	maxPriority     = 10_000_000_000
)

// prioritize sets an exchange's priority fee: by a compute unit price in micro-lamports, or else by lamports in total,
// or else by a priority level, where none means auto. A price or level is capped at most lamports.
func prioritize(x *solana.Exchange, price, level string, most uint64) (err error) {
	if price != "" {
		x.MostFee = most
		if x.UnitPrice, err = strconv.ParseUint(price, 10, 64); err != nil || level != "" {
			return errPriority
		}
		return nil
	}
	if exact, err := strconv.ParseUint(level, 10, 64); err == nil {
		if exact > maxPriority {
			return errPriority
		}
		if exact > 0 {
			x.UnitPrice, x.MostFee = math.MaxUint64, exact
		}
		return nil
	}
	if level == "" {
		level = "auto"
	}
	known := false
	if x.UnitPrice, known = levels[level]; !known || most == 0 || most > maxPriority {
		return errPriority
	}
	x.MostFee = most
	return nil
}
