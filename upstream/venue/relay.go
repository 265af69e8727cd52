package venue

// Relay API, POST /quote/v2: https://docs.relay.link/references/api/get-quote-v2

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// relay answers with price and transaction at once. It takes no affiliate share: its app fees are paid out
// later, by Relay, and not from the input.
var relay = service{
	// 50 requests per minute without a key.
	Service: Service{
		Name: "relay", URL: "https://api.relay.link", RequestsPerSecond: 0.8, Burst: 10,
		Source: "docs.relay.link, contract addresses and changelog; Robinhood: github shapeshift/web#12497, where the API was asked",
	},
	profile: quote.Profile{ImageURL: "https://relay.link/favicon.ico"},
	// Tokens are approved to a proxy that is called with them, the coin goes to
	// the router. Version 3.2, the first two, takes over from version 3 on 2026-10-26, and both are live.
	contracts: []deployment{
		{
			chains: []uint64{1, 10, 56, 100, 137, 143, 146, 999, 4326, 4663, 8453, 9745, 42161, 43114, 80094},
			routers: []string{
				"0x5567954cd026cebfe486062cb75848e0f1c12e58", "0x0729e2a4716d9f7dd17858d5d504426d228697f7",
				"0xccc88a9d1b4ed6b0eaba998850414b24f1c315be", "0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f",
			},
		},
		{
			chains: []uint64{25, 5000, 59144}, // with an older EVM
			routers: []string{
				"0xe4dfbd5e6784db1058124e2c87554c0591f0fb7b", "0x6328ea02d28131e58b28e55c6258258a30d90e05",
				"0x8754bc615047de01228a7527b712806a71a8dc9a", "0x9ef6d3c2f60d7b9008d74cab1fc0f899c957c819",
			},
		},
	},
}

// Calls of RelayRouter and of the proxy before it: tokens, amounts; target, allowFailure, value, callData of each call;
// refundTo, nftRecipient, metadata. Behind them stands the id of the request.
var (
	relayCoinCall  = readsCalls(function{signature: "multicall((address,bool,uint256,bytes)[],address,address,bytes)", tag: 32})
	relayTokenCall = readsCalls(function{
		signature: "transferAndMulticall(address[],uint256[],(address,bool,uint256,bytes)[],address,address,bytes)",
		tokenIn:   position{0, 0}, amountIn: position{1, 0}, tag: 32,
	})
	// Calls of the router itself with which it pays out: all that it has where an amount is zero.
	relayPayTokens = readsCalls(function{signature: "cleanupErc20s(address[],address[],uint256[],bytes)"})
	relayPayCoin   = readsCalls(function{
		signature: "cleanupNative(uint256,address,bytes)", tokenIn: coinItself, tokenOut: coinItself,
		amountIn: position{0}, minOut: position{0}, payee: position{1},
	})
)

// readRelayCall is relay's Profile.Read. The router enforces only payouts of a stated amount. Answers that leave the
// minimum to a swap on the way are not known to keep it.
func readRelayCall(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	call, calls := quote.Call{TokenIn: chain.NativeCoin(chain.EVM), AmountIn: tx.Value}, 0
	_, arguments, err := relayCoinCall.unpack(tx.Data)
	if err != nil {
		calls = 2
		if _, arguments, err = relayTokenCall.unpack(tx.Data); err != nil {
			return quote.Call{}, err
		}
	}
	r := argumentReader{arguments: arguments}
	if calls > 0 {
		if r.at(position{0, 1}) != nil {
			return quote.Call{}, errors.New("it takes more than one token")
		}
		call.TokenIn, call.AmountIn = r.token(position{0, 0}), r.amount(position{1, 0})
	}
	if refund := r.address(position{calls + 1}); refund != (common.Address{}) {
		call.Refund = chain.NewAddress(refund.Bytes())
	}
	router := chain.NewAddress(r.address(position{calls, -1, 0}).Bytes())
	if mayFail, is := r.at(position{calls, -1, 1}).(bool); !is || mayFail || !relay.on(chain.NewRegistry(c)).Calls(c.ID, router) {
		return quote.Call{}, errors.New("it does not end with a payment of its router")
	}
	payment, _ := r.at(position{calls, -1, 3}).([]byte)
	return relayPaid(c, call, payment)
}

// relayPaid is the call with what its last part pays.
func relayPaid(c chain.Chain, call quote.Call, payment []byte) (quote.Call, error) {
	if paid, err := relayPayCoin.read(c, quote.Tx{Data: payment}); err == nil {
		call.TokenOut, call.MinOut, call.Payee = paid.TokenOut, paid.MinOut, paid.Payee
		return call, nil
	}
	_, arguments, err := relayPayTokens.unpack(payment)
	if err != nil {
		return quote.Call{}, err
	}
	r := argumentReader{arguments: arguments}
	call.TokenOut, call.MinOut = r.token(position{0, 0}), r.amount(position{2, 0})
	call.Payee = chain.NewAddress(r.address(position{1, 0}).Bytes())
	recipients, _ := r.at(position{1}).([]common.Address)
	if slices.ContainsFunc(recipients, func(other common.Address) bool { return other != recipients[0] }) {
		return call, fmt.Errorf("%w: it pays more than one recipient", quote.ErrRefused)
	}
	if r.err == nil && call.MinOut.IsZero() {
		r.err = errors.New("it pays out no stated amount")
	}
	return call, r.err
}

func init() {
	relay.profile.Read = readRelayCall
	register(relay.Service, relay.oneCall(relayRequest, reader(readRelay).priceAndTx), excludedSources)
}

// Error codes of the API that mean: not this pair, not this amount.
var relayNoRoute = map[string]bool{
	"NO_SWAP_ROUTES_FOUND": true, "NO_INTERNAL_SWAP_ROUTES_FOUND": true, "NO_QUOTES": true, "AMOUNT_TOO_LOW": true,
	"SWAP_IMPACT_TOO_HIGH": true, "UNSUPPORTED_ROUTE": true,
}

// relayRequest asks for a swap on one chain, which the user's own transaction makes.
func relayRequest(o Options, s quote.Swap) (upstream.Request, error) {
	var excluded []string
	if sources := o.Settings[excludedSources]; sources != "" {
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
	return upstream.Request{Method: http.MethodPost, Path: "quote/v2", Header: header("X-Api-Key", o.Key), Body: body}, err
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
func readRelay(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		Steps   []relayStep `json:"steps"`
		Details struct {
			CurrencyIn  relayCurrency `json:"currencyIn"`
			CurrencyOut relayCurrency `json:"currencyOut"`
		} `json:"details"`
	}
	if err := decodeOr(relayFailure, relay.Name, resp, &answer); err != nil {
		return proposal{}, err
	}
	in, out := answer.Details.CurrencyIn, answer.Details.CurrencyOut
	if out.Amount.amount().IsZero() { // and there may be nothing to call
		return proposal{}, cmp.Or(checkIn(in.Amount, s), noSwapRoute("nothing comes out"))
	}
	step, err := relaySwap(answer.Steps, p, s)
	if err != nil {
		return proposal{}, err
	}
	data := step.Items[0].Data
	return proposal{in: &in.Amount, out: out.Amount, minimum: &out.MinimumAmount, gas: data.Gas, tx: data.transaction}, nil
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

func relayFailure(f failure) (message string, isRoute bool) {
	if relayNoRoute[f.text("errorCode")] {
		return f.text("errorCode"), true
	}
	return f.text("errorCode", "message"), false
}
