package venue

// Jupiter Swap API v2 on Solana, GET /swap/v2/build: https://developers.jup.ag/docs/api-reference/swap/build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/upstream"
)

// jupiter answers with a price and instructions, which become a transaction here. It pays the sender alone: another
// recipient's token account would have to exist already. Affiliates are paid beside it.
var jupiter = service{
	// 30 requests a minute without a key, 60 with a free one.
	Service: Service{Name: "jupiter", URL: "https://api.jup.ag", RequestsPerSecond: 0.5, Burst: 5, Source: "developers.jup.ag"},
	profile: quote.Profile{ImageURL: "https://jup.ag/favicon.ico"},
	program: "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
}

func init() {
	register(jupiter.Service, jupiter.oneCall(jupiterRequest, readJupiter), excludedSources)
}

// jupiterNoRoute are the API's refusals of a pair or amount: messages of its second version, the first of them
// recorded, and documented codes of the first version.
var jupiterNoRoute = map[string]bool{
	"No routes found": true, "NO_ROUTES_FOUND": true, "COULD_NOT_FIND_ANY_ROUTE": true, "TOKEN_NOT_TRADABLE": true,
	"ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT": true, "CIRCULAR_ARBITRAGE_IS_DISABLED": true,
}

func jupiterRequest(o Options, s quote.Swap) (upstream.Request, error) {
	if s.Sender != s.Recipient {
		return upstream.Request{}, fmt.Errorf("%w to another recipient", quote.ErrNoRoute)
	}
	wraps, err := wrapsCoin(s)
	if err != nil {
		return upstream.Request{}, err
	}
	query := swapQuery(s)
	query.Set("taker", s.Sender.Format(chain.SVM))
	query.Set("wrapAndUnwrapSol", strconv.FormatBool(wraps))
	query.Set("computeUnitPricePercentile", priorityLevel(s.Priority))
	set(query, "excludeDexes", o.Settings[excludedSources])
	return upstream.Request{Path: "swap/v2/build", Query: query, Header: header("X-Api-Key", o.Key)}, nil
}

// jupiterBuild is the part of an answer that becomes the transaction.
type jupiterBuild struct {
	Budget  []jupiterInstruction `json:"computeBudgetInstructions"` // a price for compute units, and no limit
	Setup   []jupiterInstruction `json:"setupInstructions"`
	Swap    *jupiterInstruction  `json:"swapInstruction"`
	Cleanup *jupiterInstruction  `json:"cleanupInstruction"`
	Other   []jupiterInstruction `json:"otherInstructions"`
	Tip     *jupiterInstruction  `json:"tipInstruction"`
	Tables  map[string][]string  `json:"addressesByLookupTableAddress"`

	Blockhash struct {
		Bytes []uint16 `json:"blockhash"` // a list of numbers, which Go has for no list of bytes
	} `json:"blockhashWithMetadata"`
}

type jupiterInstruction struct {
	Program  string `json:"programId"`
	Accounts []struct {
		Address    string `json:"pubkey"`
		IsSigner   bool   `json:"isSigner"`
		IsWritable bool   `json:"isWritable"`
	} `json:"accounts"`
	Data []byte `json:"data"` // base64
}

// readJupiter reads an answer. Its threshold is rounded up, so it is never looser than asked.
func readJupiter(resp upstream.Response, _ quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		mintAmounts
		jupiterBuild
		OtherAmountThreshold digits `json:"otherAmountThreshold"`
	}
	if err := decodeOr(jupiterFailure, jupiter.Name, resp, &answer); err != nil {
		return found, err
	}
	if err := answer.check(s); err != nil {
		return found, err
	}
	found.amountOut = answer.OutAmount.amount()
	if err := checkMinimum(answer.OtherAmountThreshold, s, found.amountOut); err != nil {
		return found, err
	}
	draft, err := answer.draft(s.Sender)
	if err != nil {
		return found, err
	}
	found.route.Data, err = draft.Compile()
	return found, err
}

// draft puts the instructions into the sequence that the API's documents want. Its limit is all that there are of
// compute units, as the API cannot know what they will be; the price is lowered to what may be spent on them then.
func (b jupiterBuild) draft(sender chain.Address) (d solana.Draft, err error) {
	switch {
	case b.Swap == nil:
		return d, errors.New("answer without a swap instruction")
	case b.Tip != nil:
		return d, errors.New("answer with an unrequested tip")
	case len(b.Blockhash.Bytes) != len(d.Blockhash):
		return d, fmt.Errorf("blockhash of %d bytes", len(b.Blockhash.Bytes))
	}
	for i, each := range b.Blockhash.Bytes {
		d.Blockhash[i] = byte(each)
	}
	budget := solana.Budget{}
	for _, i := range b.Budget {
		budget.Read(i.Data)
	}
	budget.Units = solana.MaxComputeUnits
	budget.Price = min(budget.Price, solana.PriceWithin(mostPriority, budget.Units))
	d.FeePayer, d.Instructions = sender, budget.Instructions()
	calls := append(slices.Clone(b.Setup), *b.Swap)
	if b.Cleanup != nil {
		calls = append(calls, *b.Cleanup)
	}
	for _, each := range append(calls, b.Other...) {
		i, err := each.draft()
		if err != nil {
			return d, err
		}
		d.Instructions = append(d.Instructions, i)
	}
	d.Tables, err = b.tables()
	return d, err
}

func (i jupiterInstruction) draft() (d solana.DraftInstruction, err error) {
	d.Data = i.Data
	if d.Program, err = parseAccount(i.Program); err != nil {
		return d, err
	}
	for _, each := range i.Accounts {
		at, err := parseAccount(each.Address)
		if err != nil {
			return d, err
		}
		d.Accounts = append(d.Accounts, solana.DraftAccount{Address: at, Signer: each.IsSigner, Writable: each.IsWritable})
	}
	return d, nil
}

// tables are in alphabetical order: JSON's objects have none.
func (b jupiterBuild) tables() (tables []solana.LookupTable, err error) {
	for _, text := range slices.Sorted(maps.Keys(b.Tables)) {
		var table solana.LookupTable
		if table.Address, err = parseAccount(text); err != nil {
			return nil, err
		}
		for _, held := range b.Tables[text] {
			at, err := parseAccount(held)
			if err != nil {
				return nil, err
			}
			table.Holds = append(table.Holds, at)
		}
		tables = append(tables, table)
	}
	return tables, nil
}

// jupiterFailure explains an error. A wrong key's has another form than the others.
func jupiterFailure(f failure) (message string, isRoute bool) {
	if jupiterNoRoute[f.text("errorCode")] || jupiterNoRoute[f.text("error")] {
		return f.text("error"), true
	}
	return cmp.Or(f.text("errorCode", "error"), f.text("message")), false
}
