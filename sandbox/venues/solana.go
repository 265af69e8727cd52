package venues

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/sandbox/solana"
)

// solanaID stands for Solana where others have an EIP-155 id.
const solanaID = uint64(chain.Solana)

func onSolana(program solana.Key) func(uint64) []string {
	return func(chain uint64) []string {
		if chain != solanaID {
			return nil
		}
		return []string{program.String()}
	}
}

// errMint means that a mint is not spelt as one, errFeeBid that what is bid for a place in a block cannot be read.
var (
	errMint      = errors.New("mint cannot be parsed")
	errSlippage  = errors.New("slippageBps cannot be parsed")
	errWallet    = errors.New("wallet cannot be parsed")
	errFeeBid    = errors.New("prioritization fee cannot be parsed")
	errCircular  = errors.New("input and output mints are not allowed to be equal")
	errPlatform  = errors.New("platform fees are not taken in the sandbox")
	errExactOut  = errors.New("swapMode ExactOut is not served in the sandbox")
	errNoMarkets = errors.New("no markets on Solana")
)

// solanaQuestion is a swap that a venue on Solana is asked for.
type solanaQuestion struct {
	in, out     solana.Token
	amount      uint64
	slippageBps uint16
}

// poolLabel is what the venues call the pools of the sandbox.
const poolLabel = "Token Swap"

// solanaQuestion reads what both venues are told in the same words.
func (f *floor) solanaQuestion(r *http.Request, slippage string) (q solanaQuestion, err error) {
	query := r.URL.Query()
	if f.ledger == nil {
		return q, errNoMarkets
	}
	if q.amount, err = strconv.ParseUint(query.Get("amount"), 10, 64); err != nil || q.amount == 0 {
		return q, errAmount
	}
	bps, err := strconv.ParseUint(slippage, 10, 16)
	if err != nil || bps > allBps {
		return q, errSlippage
	}
	q.slippageBps = uint16(bps)
	if q.in, err = mintOf(query.Get("inputMint")); err != nil {
		return q, err
	}
	if q.out, err = mintOf(query.Get("outputMint")); err != nil {
		return q, err
	}
	switch {
	case q.in == q.out:
		return q, errCircular
	case query.Get("platformFeeBps") != "" && query.Get("platformFeeBps") != "0":
		return q, errPlatform
	}
	return q, nil
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

// route is the best one through the pools that a venue knows, unless the caller does not want them.
func (f *floor) route(r *http.Request, q solanaQuestion, knows func(solana.Pool) bool) (solana.Route, error) {
	for label := range strings.SplitSeq(r.URL.Query().Get("excludeDexes"), ",") {
		if label == poolLabel {
			return solana.Route{}, errNoPath
		}
	}
	found, err := f.ledger.Best(q.in, q.out, q.amount, knows)
	if errors.Is(err, solana.ErrNoRoute) {
		return solana.Route{}, errNoPath
	}
	return found, err
}

// bids are what the venues say that a compute unit is worth at each level of priority, in micro-lamports.
var bids = map[string]uint64{"medium": 5_000, "high": 20_000, "veryHigh": 100_000}

// Bounds of what is spent on priority, in lamports: the venues' own when they are told none, and what nobody means.
const (
	usualPriority   = 5_000_000
	absurdPriority  = 10_000_000_000
	whateverItCosts = math.MaxUint64
)

// bid is what to bid for a compute unit, and the most that all units may cost together; zero is no bound.
type bid struct{ unitPrice, most uint64 }

// levelBid is the bid of a level, within a number of lamports.
func levelBid(level string, most uint64) (bid, error) {
	if level == "auto" {
		level = "medium"
	}
	price, known := bids[level]
	if !known || most == 0 || most > absurdPriority {
		return bid{}, errFeeBid
	}
	return bid{price, most}, nil
}

// exactBid spends a number of lamports, however many units there are.
func exactBid(lamports uint64) (bid, error) {
	switch {
	case lamports > absurdPriority:
		return bid{}, errFeeBid
	case lamports == 0:
		return bid{}, nil
	}
	return bid{whateverItCosts, lamports}, nil
}

// exchange is the swap of a route for somebody.
func (q solanaQuestion) exchange(route solana.Route, user solana.Key, b bid) solana.Exchange {
	return solana.Exchange{
		Route: route, User: user, Quoted: route.AmountOut(), SlippageBps: q.slippageBps, UnitPrice: b.unitPrice, MostFee: b.most,
	}
}

// prioritization is how the venues tell what a transaction bids.
type prioritization struct {
	ComputeBudget struct {
		MicroLamports          uint64 `json:"microLamports"`
		EstimatedMicroLamports uint64 `json:"estimatedMicroLamports"`
	} `json:"computeBudget"`
}

func newPrioritization(u solana.Unsigned) (p prioritization) {
	p.ComputeBudget.MicroLamports, p.ComputeBudget.EstimatedMicroLamports = u.UnitPrice, u.UnitPrice
	return p
}

// isNone reports whether a member of JSON is not there, or null.
func isNone(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
