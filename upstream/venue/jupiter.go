package venue

// Jupiter Swap API v2 on Solana, GET /swap/v2/build: https://developers.jup.ag/docs/api-reference/swap/build

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// Jupiter returns price and instructions. It pays only the sender: another's token account would have to exist.
var _ = register(service{
	// 30 requests a minute without a key, 60 with a free one.
	Service: Service{Name: "jupiter", URL: "https://api.jup.ag", Source: "developers.jup.ag", Accepts: []string{excludedSources}},
	profile: quote.Profile{ImageURL: "https://jup.ag/favicon.ico"},
	header:  "X-Api-Key=$key",
	asks: requestTemplate{
		path: "swap/v2/build", query: mintQuery + "taker=$sender computeUnitPricePercentile=$priority",
		fits: func(s quote.Swap) error {
			if s.Sender != s.Recipient {
				return fmt.Errorf("%w to another recipient", quote.ErrNoRoute)
			}
			return wrapsOrNot(s)
		},
	},
	program: "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
	// The threshold is rounded up, so it is never looser than requested.
	answers: answerTemplate{in: "inAmount", out: "outAmount", least: "otherAmountThreshold"},
	// Messages of version 2, the first one recorded, and codes of version 1. A wrong key is refused in another form.
	refuses: refusals{
		words: "errorCode error message",
		unrouted: regexp.MustCompile(`^(No routes found|NO_ROUTES_FOUND|COULD_NOT_FIND_ANY_ROUTE|TOKEN_NOT_TRADABLE|` +
			`ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT|CIRCULAR_ARBITRAGE_IS_DISABLED)\b`),
	},
	finish: func(a reply, _ quote.Profile, s quote.Swap, o proposal) (proposal, error) {
		if err := checkMints(a, s); err != nil {
			return o, err
		}
		var build jupiterBuild
		if err := notDocumented("answer", json.Unmarshal(a, &build)); err != nil {
			return o, err
		}
		draft, err := build.draft(s.Sender)
		if err == nil {
			o.tx.Data, err = draft.Compile()
		}
		return o, err
	},
})

// jupiterBuild is the part of an answer that becomes the transaction.
type jupiterBuild struct {
	Budget  []jupiterInstruction              `json:"computeBudgetInstructions"` // a price for compute units, and no limit
	Setup   []jupiterInstruction              `json:"setupInstructions"`
	Swap    *jupiterInstruction               `json:"swapInstruction"`
	Cleanup *jupiterInstruction               `json:"cleanupInstruction"`
	Other   []jupiterInstruction              `json:"otherInstructions"`
	Tip     *jupiterInstruction               `json:"tipInstruction"`
	Tables  map[solana.Base58][]solana.Base58 `json:"addressesByLookupTableAddress"`

	Blockhash struct {
		Bytes []byte `json:"blockhash"` // a list of numbers
	} `json:"blockhashWithMetadata"`
}

type jupiterInstruction struct {
	Program  solana.Base58 `json:"programId"`
	Accounts []struct {
		Address    solana.Base58 `json:"pubkey"`
		IsSigner   bool          `json:"isSigner"`
		IsWritable bool          `json:"isWritable"`
	} `json:"accounts"`
	Data []byte `json:"data"` // base64
}

// draft puts the instructions into the documented sequence, with the most compute units at an acceptable price.
func (b jupiterBuild) draft(sender chain.Address) (d solana.Draft, err error) {
	switch {
	case b.Swap == nil:
		return d, errors.New("answer without a swap instruction")
	case b.Tip != nil:
		return d, errors.New("answer with an unrequested tip")
	case len(b.Blockhash.Bytes) != len(d.Blockhash):
		return d, fmt.Errorf("blockhash of %d bytes", len(b.Blockhash.Bytes))
	}
	copy(d.Blockhash[:], b.Blockhash.Bytes)
	budget := solana.Budget{}
	for _, i := range b.Budget {
		budget.Read(i.Data)
	}
	budget.Units = solana.MaxComputeUnits
	budget.Price = min(budget.Price, mostPriority*1_000_000/solana.MaxComputeUnits) // millionths of a lamport
	d.FeePayer, d.Instructions = sender, budget.Instructions()
	calls := append(slices.Clone(b.Setup), *b.Swap)
	if b.Cleanup != nil {
		calls = append(calls, *b.Cleanup)
	}
	for _, each := range append(calls, b.Other...) {
		made := solana.DraftInstruction{Program: each.Program.Address, Data: each.Data}
		for _, a := range each.Accounts {
			made.Accounts = append(made.Accounts, solana.DraftAccount{Address: a.Address.Address, Signer: a.IsSigner, Writable: a.IsWritable})
		}
		d.Instructions = append(d.Instructions, made)
	}
	for at, held := range b.Tables {
		table := solana.LookupTable{Address: at.Address}
		for _, a := range held {
			table.Holds = append(table.Holds, a.Address)
		}
		d.Tables = append(d.Tables, table)
	}
	slices.SortFunc(d.Tables, func(a, b solana.LookupTable) int { return a.Address.Compare(b.Address) }) // JSON is unordered
	return d, nil
}
