package venue

// 0x Swap API v2, allowance holder: https://docs.0x.org/docs/0x-swap-api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices again.
var zeroEx = service{
	// Five requests per second in the free plan.
	Service: Service{
		Name: "0x", URL: "https://api.0x.org", Keyed: true, RequestsPerSecond: 4, Burst: 5,
		Source: "github 0xProject/0x-settler @f6b7303 (2026-08-21), chain_config.json",
	},
	profile: quote.Profile{
		ImageURL: "https://0x.org/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(10), PaysTwo: true,
	},
	// The AllowanceHolder is called and approved; never the Settler behind it. Mantle, without a newer
	// opcode, has another one.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 137, 143, 999, 4663, 8453, 9745, 42161, 43114, 59144, 80094},
			routers: []string{"0x0000000000001fF3684f28c67538d4D072C22734"},
		},
		{chains: []uint64{5000}, routers: []string{"0x0000000000005E88410CcDFaDe4a5EfaE4b49562"}},
	},
}

func init() {
	zeroEx.profile.Read = readZeroExCall
	register(zeroEx.Service, openZeroEx, excludedSources)
}

// zeroExVenue builds nothing for a Settler that is not 0x's own: the AllowanceHolder gives the input to any named
// contract.
type zeroExVenue struct {
	quote.Venue
	settlers settlers
}

func openZeroEx(o Options) (quote.Venue, error) {
	v, err := zeroEx.pricesAgain(zeroExRequest, readZeroEx)(o)
	return &zeroExVenue{Venue: v, settlers: settlers{contracts: o.Contracts, now: o.Now}}, err
}

// Build implements quote.Venue.
func (v *zeroExVenue) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	tx, err := v.Venue.Build(ctx, s, q)
	if err != nil {
		return quote.Tx{}, err
	}
	_, arguments, err := zeroExHolder.unpack(tx.Data)
	if err != nil {
		return quote.Tx{}, fmt.Errorf("0x build on chain %d: %w: %w", s.Chain.ID, quote.ErrRefused, err)
	}
	r := argumentReader{arguments: arguments}
	settler := r.address(zeroExTarget)
	if err := v.settlers.check(ctx, s.Chain.ID, settler); err != nil {
		return quote.Tx{}, fmt.Errorf("0x build on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

// Calls of the AllowanceHolder: operator, token, amount, target, data; and of the Settler behind it: recipient,
// buyToken, minAmountOut; actions; and a tag.
var (
	zeroExHolder = readsCalls(function{
		signature: "exec(address,address,uint256,address,bytes)",
		tokenIn:   position{1}, amountIn: position{2}, tokenOut: coinItself, minOut: position{2}, payee: zeroExTarget,
	})
	zeroExSettler = readsCalls(function{
		signature: "execute((address,address,uint256),bytes[],bytes32)",
		payee:     position{0, 0}, tokenOut: position{0, 1}, minOut: position{0, 2}, tokenIn: coinItself, amountIn: position{0, 2},
	})
	zeroExTarget = position{3}
)

// readZeroExCall is 0x's Profile.Read. The Settler, which has been found to be one, sends the recipient all that it has
// of the token, and the minimum at least.
func readZeroExCall(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	_, arguments, err := zeroExHolder.unpack(tx.Data)
	if err != nil {
		return quote.Call{}, err
	}
	held, err := zeroExHolder.read(c, tx)
	if err != nil {
		return quote.Call{}, err
	}
	r := argumentReader{arguments: arguments}
	inner, _ := r.at(position{4}).([]byte)
	if r.address(position{0}) != r.address(zeroExTarget) {
		return quote.Call{}, errors.New("it lets another contract than the one that swaps take the input")
	}
	settled, err := zeroExSettler.read(c, quote.Tx{Data: inner})
	settled.TokenIn, settled.AmountIn = held.TokenIn, held.AmountIn
	return settled, err
}

// settlers are the contracts of 0x that swap, which it replaces now and then: 0x's registry knows today's and the one
// before (https://github.com/0xProject/0x-settler, README).
type settlers struct {
	contracts func(ctx context.Context, id chain.ID, to []chain.Address, data [][]byte) ([][]byte, error)
	now       func() time.Time

	mu    sync.Mutex
	known map[chain.ID]settlersAt
}

// settlersAt are the contracts of a chain, when the registry said so.
type settlersAt struct {
	addresses []common.Address
	at        time.Time
}

const (
	settlersLife = 5 * time.Minute
	// takerSubmitted is the registry's number of Settlers whose transactions users send themselves.
	takerSubmitted = 2
)

var (
	settlerRegistry    = contract("0x00000000000004533Fe15556B1E086BB1A72cEae")
	settlerRegistryABI = parseABI(`[
		{"type":"function","name":"ownerOf","inputs":[{"name":"tokenId","type":"uint256"}],"outputs":[{"type":"address"}]},
		{"type":"function","name":"prev","inputs":[{"name":"feature","type":"uint128"}],"outputs":[{"type":"address"}]}
	]`)
)

// check refuses a contract that the registry does not name.
func (r *settlers) check(ctx context.Context, id chain.ID, settler common.Address) error {
	r.mu.Lock()
	known := r.known[id]
	r.mu.Unlock()
	if !slices.Contains(known.addresses, settler) || r.now().Sub(known.at) >= settlersLife {
		addresses, err := r.ask(ctx, id)
		if err != nil {
			return fmt.Errorf("registry of Settlers: %w", err)
		}
		known = settlersAt{addresses, r.now()}
		r.mu.Lock()
		if r.known == nil {
			r.known = map[chain.ID]settlersAt{}
		}
		r.known[id] = known
		r.mu.Unlock()
	}
	if !slices.Contains(known.addresses, settler) {
		return fmt.Errorf("%w: %s is no Settler of 0x's", quote.ErrRefused, settler)
	}
	return nil
}

// ask reads the registry. What it answers with nothing, as for a feature that is paused, is left out.
func (r *settlers) ask(ctx context.Context, id chain.ID) ([]common.Address, error) {
	if r.contracts == nil {
		return nil, errors.New("has no chain to read")
	}
	feature := big.NewInt(takerSubmitted)
	answers, err := r.contracts(ctx, id, []chain.Address{settlerRegistry, settlerRegistry}, [][]byte{
		pack(settlerRegistryABI, "ownerOf", feature), pack(settlerRegistryABI, "prev", feature),
	})
	if err != nil {
		return nil, err
	}
	var addresses []common.Address
	for _, answer := range answers {
		address := common.BytesToAddress(answer)
		if len(answer) == common.HashLength && address != (common.Address{}) {
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}

func zeroExRequest(o Options, s quote.Swap, builds bool) (upstream.Request, error) {
	query := url.Values{
		"chainId":     {chainText(s)},
		"sellToken":   {tokenText(s.In.Address)},
		"buyToken":    {tokenText(s.Out.Address)},
		"sellAmount":  {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
	}
	set(query, "gasPrice", gasPriceText(s))
	set(query, "excludedSources", o.Settings[excludedSources])
	if shares, recipients := payees(s); shares != "" {
		query.Set("swapFeeBps", shares)
		query.Set("swapFeeToken", tokenText(s.In.Address)) // the shares are of the input
		query.Set("swapFeeRecipient", recipients)
	}
	resource := "price"
	if builds {
		resource = "quote"
		query.Set("taker", s.Sender.String())
		query.Set("recipient", s.Recipient.String())
	}
	return upstream.Request{
		Path: "swap/allowance-holder/" + resource, Query: query,
		Header: http.Header{"0x-Api-Key": {o.Key}, "0x-Version": {"v2"}},
	}, nil
}

// readZeroEx reads an answer. A pair without a route has the HTTP status 200.
func readZeroEx(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		LiquidityAvailable *bool       `json:"liquidityAvailable"`
		SellAmount         digits      `json:"sellAmount"`
		BuyAmount          digits      `json:"buyAmount"` // after every fee
		MinBuyAmount       digits      `json:"minBuyAmount"`
		Gas                digits      `json:"gas"`
		AllowanceTarget    string      `json:"allowanceTarget"` // null for the coin
		Transaction        transaction `json:"transaction"`
	}
	err := decodeOr(zeroExFailure, zeroEx.Name, resp, &answer)
	switch {
	case err != nil:
	case answer.LiquidityAvailable == nil:
		err = errors.New("answer does not say whether there is liquidity")
	case !*answer.LiquidityAvailable:
		err = noSwapRoute("no liquidity")
	case answer.AllowanceTarget != "":
		err = checkRouter(answer.AllowanceTarget, p, s)
	}
	answer.Transaction.Value = cmp.Or(answer.Transaction.Value, "0")
	return proposal{
		in: &answer.SellAmount, out: answer.BuyAmount, minimum: &answer.MinBuyAmount, gas: answer.Gas, tx: answer.Transaction,
	}, err
}

func zeroExFailure(f failure) (message string, isRoute bool) {
	if f.text("name") == "SWAP_VALIDATION_FAILED" {
		return f.text("message"), true
	}
	return f.text("name", "message"), false
}
