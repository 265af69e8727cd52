package venue

// 0x Swap API v2, allowance holder: https://docs.0x.org/docs/0x-swap-api

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices again.
var zeroEx = register(service{
	// Five requests per second in the free plan.
	Service: Service{
		Name: "0x", URL: "https://api.0x.org", Keyed: true,
		Source:  "github 0xProject/0x-settler @f6b7303 (2026-08-21), chain_config.json",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{
		ImageURL: "https://0x.org/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(10), PaysTwo: true, Read: readZeroExCall,
	},
	prepare: func(v *aggregator) (quote.Venue, error) {
		return &zeroExVenue{aggregator: v}, nil
	},
	answers: answerTemplate{
		in: "sellAmount", out: "buyAmount", least: "minBuyAmount", gas: "gas", spender: "allowanceTarget",
		to: "transaction.to", value: "transaction.value", data: "transaction.data",
	},
	refuses: refusals{ // a pair without a route has the HTTP status 200
		state: "liquidityAvailable", fine: "true", words: "name message",
		unrouted: regexp.MustCompile(`^(liquidityAvailable false|SWAP_VALIDATION_FAILED)\b`),
	},
	header: "0x-Api-Key=$key 0x-Version=v2",
	asks: requestTemplate{
		path: "swap/allowance-holder/${price|quote}",
		query: "chainId=$chain sellToken=$in buyToken=$out sellAmount=$amount slippageBps=$bps gasPrice=$gasPrice " +
			"excludedSources=$excludedSources",
		builds: "taker=$sender recipient=$recipient",
		shares: "swapFeeBps=$eachBps swapFeeToken=$in swapFeeRecipient=$eachPayee", // of the input
	},
	// The AllowanceHolder is called and approved, never the Settler. Mantle lacks a newer opcode, and has another one.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 137, 143, 999, 4663, 8453, 9745, 42161, 43114, 59144, 80094},
			routers: []string{"0x0000000000001fF3684f28c67538d4D072C22734"},
		},
		{chains: []uint64{5000}, routers: []string{"0x0000000000005E88410CcDFaDe4a5EfaE4b49562"}},
	},
})

// zeroExVenue builds only for 0x's own Settlers: the AllowanceHolder lets any named contract take the input. They are
// contracts that swap, and 0x's registry has the current one and the previous one (github 0xProject/0x-settler).
type zeroExVenue struct {
	*aggregator
	settlers sync.Map // settlersAt by chain
}

// Build implements quote.Venue.
func (v *zeroExVenue) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	tx, err := v.aggregator.Build(ctx, s, q)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := v.checkCall(ctx, s.Chain.ID, tx); err != nil {
		return quote.Tx{}, fmt.Errorf("0x build on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

// Calls of the AllowanceHolder and, in its data, of the Settler.
var (
	zeroExHolder  = readsCalls(function{signature: "exec(address operator,address in,uint256 amount,address payee,bytes data)"})
	zeroExSettler = readsCalls(function{signature: "execute((address payee,address out,uint256 least),bytes[],bytes32)"})
)

// readZeroExCall is 0x's Profile.Read. A verified Settler sends the recipient all of the token, at least the minimum.
func readZeroExCall(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	d, err := zeroExHolder.decode(tx)
	if err != nil {
		return quote.Call{}, err
	}
	held, err := d.call()
	if err != nil || d.address("operator") != held.Payee {
		return quote.Call{}, errors.Join(err, errors.New("it lets another contract than the swapping one take the input"))
	}
	settled, err := zeroExSettler.read(c, quote.Tx{Data: d.argument("data").bytes()})
	settled.TokenIn, settled.AmountIn = held.TokenIn, held.AmountIn
	return settled, err
}

// settlersAt are a chain's Settlers, as read from the registry at a time.
type settlersAt struct {
	addresses []chain.Address
	at        time.Time
}

const (
	settlersLife = 5 * time.Minute
	// takerSubmitted is the registry's number of Settlers whose transactions users send themselves.
	takerSubmitted = 2
)

var (
	settlerRegistry = contract("0x00000000000004533Fe15556B1E086BB1A72cEae")
	settlerOwner    = newMethod(function{signature: "ownerOf(uint256)"}) // the current one
	settlerBefore   = newMethod(function{signature: "prev(uint128)"})
)

// checkCall refuses a call whose target is not in the registry.
func (v *zeroExVenue) checkCall(ctx context.Context, id chain.ID, tx quote.Tx) error {
	d, err := zeroExHolder.decode(tx)
	if err != nil {
		return fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	found, _ := v.settlers.Load(id)
	known, _ := found.(settlersAt)
	settler := d.address("payee")
	if !slices.Contains(known.addresses, settler) || v.Now().Sub(known.at) >= settlersLife {
		addresses, err := v.askSettlers(ctx, id)
		if err != nil {
			return fmt.Errorf("registry of Settlers: %w", err)
		}
		known = settlersAt{addresses, v.Now()}
		v.settlers.Store(id, known)
	}
	if !slices.Contains(known.addresses, settler) {
		return fmt.Errorf("%w: %s is not a Settler of 0x's", quote.ErrRefused, settler)
	}
	return nil
}

// askSettlers reads the registry. Empty answers, as for a paused feature, are left out.
func (v *zeroExVenue) askSettlers(ctx context.Context, id chain.ID) ([]chain.Address, error) {
	if v.Contracts == nil {
		return nil, errors.New("has no chain to read")
	}
	answers, err := v.Contracts(ctx, id, []chain.ContractCall{
		{To: settlerRegistry, Data: settlerOwner.Call(takerSubmitted)}, {To: settlerRegistry, Data: settlerBefore.Call(takerSubmitted)},
	})
	if err != nil {
		return nil, err
	}
	var addresses []chain.Address
	for _, answer := range answers {
		if len(answer) != common.HashLength {
			continue
		}
		if address := chain.NewAddress(answer[common.HashLength-common.AddressLength:]); !address.IsNative() {
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}
