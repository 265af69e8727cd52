package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"crossgate/chain"
)

// control is one HTTP call that changes the world.
type control struct {
	path string
	body string // an example
	does string
	act  func(w *World, ctx context.Context, body []byte) (any, error)
}

// errBadCall marks mistakes in the call itself, in contrast to calls that the chain refused.
var errBadCall = errors.New("bad call")

var controls = []control{
	{
		"create", `{"chainId":1,"takeChainId":137,"giveToken":"USDC","giveAmount":"100","takeToken":"DAI",` +
			`"takeAmount":"99.5"}`,
		"creates an order of the first maker; amounts in whole tokens, no token means the coin",
		decoded((*World).controlCreate),
	},
	{
		"fulfil", `{"orderId":"0x…","taker":"0x…"}`, "fulfils an order for a taker (default: the first)",
		decoded((*World).controlFulfil),
	},
	{
		"unlock", `{"orderIds":["0x…"]}`, "sends the unlock by the taker, one message for all of the orders",
		decoded((*World).controlUnlock),
	},
	{
		"claim", `{"orderId":"0x…"}`, "claims the unlock that was sent for an order",
		decoded((*World).controlClaim),
	},
	{
		"cancel", `{"orderId":"0x…"}`, "cancels an order by its authority and sends the cancel to the give chain",
		decoded((*World).controlCancel),
	},
	{
		"claim-cancel", `{"orderId":"0x…"}`, "claims the cancel that was sent for an order",
		decoded((*World).controlClaim),
	},
	{
		"take", `{"batch":3}`,
		"has the taker look once at the orders made since the start: it fulfils those that pay its margin and expenses, " +
			"and unlocks and claims so many of the same chains and token at a time",
		decoded((*World).controlTake),
	},
	{
		"swap", `{"chainId":8453,"amount":"0.5","recipient":"0x…","affiliate":"0x…","affiliateBps":50}`,
		"swaps the coin for USDC through the public router, for the first maker unless another recipient is named",
		decoded((*World).controlSwap),
	},
	{"mine", `{"chainId":1,"blocks":3}`, "adds empty blocks", decoded((*World).controlMine)},
	{
		"reorg", `{"chainId":1,"depth":2,"again":false}`,
		"replaces the newest blocks by empty ones, or (again) by ones with the same transactions one block later",
		decoded((*World).controlReorg),
	},
	{
		"fault", `{"target":137,"kind":"slow","delayMs":3000}`,
		"makes a chain's RPC or a venue slow (delayMs), down, wrong (as: html, garbage, chain), limited " +
			"(retryAfter seconds) or unreliable (rules: lag:BLOCKS:P, split:BLOCKS:P, empty:P, drop:P, null:P), until further notice or for a number of requests; none ends it",
		decoded((*World).controlFault),
	},
}

const maxControlBytes = 1 << 20

func (w *World) openControl(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", listControls)
	mux.HandleFunc("GET /sandbox/world", func(out http.ResponseWriter, r *http.Request) {
		seen, err := w.look(r.Context())
		if err != nil {
			refuse(out, http.StatusInternalServerError, err)
			return
		}
		answer(out, http.StatusOK, seen)
	})
	for _, c := range controls {
		mux.HandleFunc("POST /sandbox/"+c.path, func(out http.ResponseWriter, r *http.Request) { w.control(out, r, c) })
	}
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		refuse(out, http.StatusNotFound, fmt.Errorf("no %s %s here: GET / lists the calls", r.Method, r.URL.Path))
	})
}

func listControls(out http.ResponseWriter, _ *http.Request) {
	calls := []map[string]string{{"call": "GET /sandbox/world", "does": "shows everything in the sandbox as it is now"}}
	for _, c := range controls {
		calls = append(calls, map[string]string{"call": "POST /sandbox/" + c.path, "body": c.body, "does": c.does})
	}
	answer(out, http.StatusOK, map[string]any{"calls": calls})
}

func (w *World) control(out http.ResponseWriter, r *http.Request, c control) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxControlBytes))
	if err != nil {
		refuse(out, http.StatusBadRequest, fmt.Errorf("read body: %w", err))
		return
	}
	result, err := c.act(w, r.Context(), body)
	switch {
	case errors.Is(err, ErrUnknownOrder):
		refuse(out, http.StatusNotFound, err)
	case errors.Is(err, errBadCall):
		refuse(out, http.StatusBadRequest, fmt.Errorf("%w; want %s", err, c.body))
	case err != nil:
		refuse(out, http.StatusConflict, err)
	default:
		answer(out, http.StatusOK, result)
	}
}

// decoded parses a call's body into B, rejecting unknown members.
func decoded[B any](
	act func(*World, context.Context, B) (any, error),
) func(*World, context.Context, []byte) (any, error) {
	return func(w *World, ctx context.Context, body []byte) (any, error) {
		var b B
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&b); err != nil {
			return nil, fmt.Errorf("%w: %w", errBadCall, err)
		}
		return act(w, ctx, b)
	}
}

func (w *World) controlMine(ctx context.Context, b struct {
	ChainID chain.ID `json:"chainId"`
	Blocks  int      `json:"blocks"`
},
) (any, error) {
	const most = 10_000
	if _, err := w.place(b.ChainID); err != nil || b.Blocks < 1 || b.Blocks > most {
		return nil, fmt.Errorf("%w: chain %s, %d blocks of at most %d", errBadCall, b.ChainID, b.Blocks, most)
	}
	if err := w.Mine(ctx, b.ChainID, b.Blocks); err != nil {
		return nil, err
	}
	return w.lookAtChain(b.ChainID), nil
}

func (w *World) controlReorg(ctx context.Context, b struct {
	ChainID chain.ID `json:"chainId"`
	Depth   uint64   `json:"depth"`
	Again   bool     `json:"again"`
},
) (any, error) {
	if err := w.reorg(ctx, b.ChainID, b.Depth, b.Again); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadCall, err)
	}
	return w.lookAtChain(b.ChainID), nil
}

func (w *World) lookAtChain(id chain.ID) object {
	if c, here := w.Chain(id); here {
		return c.look()
	}
	return w.solana.look()
}

func (w *World) controlFault(_ context.Context, b struct {
	Target     json.RawMessage `json:"target"`
	Kind       string          `json:"kind"`
	DelayMs    int64           `json:"delayMs"`
	As         string          `json:"as"`
	RetryAfter int64           `json:"retryAfter"`
	Requests   int             `json:"requests"`
	Rules      []string        `json:"rules"`
	Seed       uint64          `json:"seed"`
},
) (any, error) {
	target := strings.Trim(string(b.Target), `"`)
	err := w.Inject(target, Fault{
		Kind: b.Kind, Delay: time.Duration(b.DelayMs) * time.Millisecond, As: b.As,
		RetryAfter: time.Duration(b.RetryAfter) * time.Second, Requests: b.Requests, Rules: b.Rules, Seed: b.Seed,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadCall, err)
	}
	return map[string]string{"target": target, "kind": b.Kind}, nil
}

// Mine adds empty blocks to a chain.
func (w *World) Mine(ctx context.Context, id chain.ID, blocks int) error {
	if id == chain.Solana {
		w.solana.ledger.Mine(blocks)
		return nil
	}
	c, err := w.known(id)
	if err != nil {
		return err
	}
	for range blocks {
		if _, err := c.node.seal(ctx, w.now()); err != nil {
			return err
		}
	}
	return nil
}

// Reorg replaces the newest depth blocks of a chain, with everything in them, by depth+1 empty ones.
func (w *World) Reorg(ctx context.Context, id chain.ID, depth uint64) error {
	return w.reorg(ctx, id, depth, false)
}

// ReorgAgain replaces the newest depth blocks of a chain and includes their transactions again, each in a block one
// higher.
func (w *World) ReorgAgain(ctx context.Context, id chain.ID, depth uint64) error {
	return w.reorg(ctx, id, depth, true)
}

func (w *World) reorg(ctx context.Context, id chain.ID, depth uint64, again bool) error {
	if id == chain.Solana {
		if again {
			return errors.New("on Solana dropped transactions do not happen again")
		}
		return w.solana.ledger.Reorg(depth)
	}
	c, err := w.known(id)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.node.reorg(ctx, w.now(), depth, again)
}
