package venue

// Relay API, POST /quote/v2: https://docs.relay.link/references/api/get-quote-v2

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	relayName  = "relay"
	relayImage = "https://relay.link/favicon.ico"
)

// Relay's contracts, docs.relay.link contract addresses: tokens are approved to a proxy that is called with
// them, the coin goes to the router. Version 3.2 takes over from version 3 on 2026-10-26, and both are live.
const (
	relayProxy     = "0x5567954cd026cebfe486062cb75848e0f1c12e58"
	relayRouter    = "0x0729e2a4716d9f7dd17858d5d504426d228697f7"
	relayOldProxy  = "0xccc88a9d1b4ed6b0eaba998850414b24f1c315be"
	relayOldRouter = "0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f"

	// On chains with an older EVM.
	relayOtherProxy     = "0xe4dfbd5e6784db1058124e2c87554c0591f0fb7b"
	relayOtherRouter    = "0x6328ea02d28131e58b28e55c6258258a30d90e05"
	relayOtherOldProxy  = "0x8754bc615047de01228a7527b712806a71a8dc9a"
	relayOtherOldRouter = "0x9ef6d3c2f60d7b9008d74cab1fc0f899c957c819"
)

// relayChains are the chains by their EIP-155 ids, true where the EVM is an older one.
var relayChains = map[uint64]bool{
	1: false, 10: false, 56: false, 100: false, 137: false, 143: false, 146: false, 999: false, 8453: false, 9745: false,
	42161: false, 43114: false, 80094: false, 25: true, 5000: true, 59144: true,
}

// Error codes of the API that mean: not this pair, not this amount.
var relayNoRoute = map[string]bool{
	"NO_SWAP_ROUTES_FOUND": true, "NO_INTERNAL_SWAP_ROUTES_FOUND": true, "NO_QUOTES": true, "AMOUNT_TOO_LOW": true,
	"SWAP_IMPACT_TOO_HIGH": true, "UNSUPPORTED_ROUTE": true,
}

func init() {
	// 50 requests per minute without a key.
	register(Service{Name: relayName, URL: "https://api.relay.link", RequestsPerSecond: 0.8, Burst: 10}, openRelay, excludedSources)
}

// relay answers with price and transaction at once. It takes no affiliate share: its app fees are paid out
// later, by Relay, and not from the input.
type relay struct{ Options }

func openRelay(o Options) (quote.Venue, error) {
	p := quote.Profile{
		Name: relayName, ImageURL: relayImage, Routers: map[chain.ID]chain.Address{}, MoreRouters: map[chain.ID][]chain.Address{},
	}
	for _, c := range o.Registry.All() {
		older, served := relayChains[c.Native]
		switch {
		case c.Family != chain.EVM || !served:
		case older:
			p.Routers[c.ID] = contract(relayOtherProxy)
			p.MoreRouters[c.ID] = []chain.Address{contract(relayOtherRouter), contract(relayOtherOldProxy), contract(relayOtherOldRouter)}
		default:
			p.Routers[c.ID] = contract(relayProxy)
			p.MoreRouters[c.ID] = []chain.Address{contract(relayRouter), contract(relayOldProxy), contract(relayOldRouter)}
		}
	}
	return &oneCall{pricing[quote.Tx]{Options: o, profile: p, request: relay{o}.request, read: readRelay}}, nil
}

// request asks for a swap on one chain, which the user's own transaction makes.
func (v relay) request(s quote.Swap) (upstream.Request, error) {
	var excluded []string
	if sources := v.Settings[excludedSources]; sources != "" {
		excluded = strings.Split(sources, ",")
	}
	body, err := encode(struct {
		User                 string   `json:"user"`
		Recipient            string   `json:"recipient"`
		RefundTo             string   `json:"refundTo"`
		OriginChainID        uint64   `json:"originChainId"`
		DestinationChainID   uint64   `json:"destinationChainId"`
		OriginCurrency       string   `json:"originCurrency"` // the coin is the zero address
		DestinationCurrency  string   `json:"destinationCurrency"`
		Amount               string   `json:"amount"`
		TradeType            string   `json:"tradeType"`
		SlippageTolerance    string   `json:"slippageTolerance"` // bps
		ExcludedSwapSources  []string `json:"excludedSwapSources,omitempty"`
		ForceSolverExecution bool     `json:"forceSolverExecution"`
	}{
		User: s.Sender.String(), Recipient: s.Recipient.String(), RefundTo: s.Sender.String(),
		OriginChainID: s.Chain.Native, DestinationChainID: s.Chain.Native,
		OriginCurrency: s.In.Address.String(), DestinationCurrency: s.Out.Address.String(),
		Amount: s.In.Amount.String(), TradeType: "EXACT_INPUT", SlippageTolerance: strconv.Itoa(bps(s.SlippagePercent)),
		ExcludedSwapSources: excluded,
	})
	return upstream.Request{Method: http.MethodPost, Path: "quote/v2", Header: header("X-Api-Key", v.Key), Body: body}, err
}

// relayStep is a transaction of the answer.
type relayStep struct {
	ID    string `json:"id"`
	Items []struct {
		Data struct {
			transaction
			Gas digits `json:"gas"`
		} `json:"data"`
	} `json:"items"`
}

// readRelay reads the answer: a step to approve, where that is needed, and the step to swap.
func readRelay(resp upstream.Response, p quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		Steps   []relayStep `json:"steps"`
		Details struct {
			CurrencyIn  relayCurrency `json:"currencyIn"`
			CurrencyOut relayCurrency `json:"currencyOut"`
		} `json:"details"`
	}
	if err := decodeOr(relayRefusal, resp, &answer); err != nil {
		return found, err
	}
	in, out := answer.Details.CurrencyIn, answer.Details.CurrencyOut
	if err := errors.Join(checkIn(in.Amount, s), checkMinimum(out.MinimumAmount, s, out.Amount.amount())); err != nil {
		return found, err
	}
	if found.amountOut = out.Amount.amount(); found.amountOut.IsZero() {
		return found, noSwapRoute("nothing comes out") // and there may be nothing to call
	}
	step, err := relaySwap(answer.Steps, p, s)
	if err != nil {
		return found, err
	}
	data := step.Items[0].Data
	found.gas = data.Gas.gas()
	found.route, err = data.transaction.check(p, s)
	return found, err
}

type relayCurrency struct {
	Amount        digits `json:"amount"`
	MinimumAmount digits `json:"minimumAmount"`
}

// relaySwap finds the one transaction that swaps. A step to approve must be about the contract that the swap
// calls, since that is what the sender will approve.
func relaySwap(steps []relayStep, p quote.Profile, s quote.Swap) (relayStep, error) {
	var swap, approval *relayStep
	for i, step := range steps {
		switch {
		case len(step.Items) != 1:
			return relayStep{}, fmt.Errorf("step %q of %d transactions", clean(step.ID), len(step.Items))
		case step.ID == "approve":
			approval = &steps[i]
		case swap != nil:
			return relayStep{}, errors.New("more than one transaction")
		default:
			swap = &steps[i]
		}
	}
	if swap == nil {
		return relayStep{}, errors.New("no transaction")
	}
	router, err := parseRouter(swap.Items[0].Data.To, p, s)
	if err != nil {
		return relayStep{}, err
	}
	if approval != nil && !strings.Contains(strings.ToLower(approval.Items[0].Data.Data), router.String()[2:]) {
		return relayStep{}, errors.New("answer wants another contract than the router approved")
	}
	return *swap, nil
}

func relayRefusal(resp upstream.Response) error {
	return refusal(relayName, resp, func(f failure) (string, bool) {
		if relayNoRoute[f.text("errorCode")] {
			return f.text("errorCode"), true
		}
		return strings.TrimSpace(f.text("errorCode") + " " + f.text("message")), false
	})
}
