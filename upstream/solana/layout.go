package solana

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// layout locates the accounts and the terms in an instruction of an aggregator.
type layout struct {
	// Indices of accounts, unnamed if the instruction does not contain them: in DFlow's first instructions only the
	// pools of the route determine where they pay.
	user, source, destination int
	redirect                  int // of another destination; the program's own address if there is none
	read                      func(r *solana.Reader) swapTerms
}

// unnamed is the index of an account that an instruction does not have.
const unnamed = -1

type swapTerms struct {
	in          uint64 // the first part if a route divides the input
	quoted      uint64
	slippageBps uint16
	fees        []byte // of a platform, and shares of the output above the quote
}

// layouts are the allowed instructions of programs, by the first eight bytes of their data. Data after the terms is
// ignored, as it is by the programs.
var layouts = map[chain.Address]map[[8]byte]layout{
	// Jupiter's IDL (jupiter 6). The first versions, whose terms follow the route, are no longer used.
	solana.MustAccount("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"): {
		anchorName("route_v2"):                 {0, 1, 2, 7, jupiterTerms},
		anchorName("shared_accounts_route_v2"): {1, 2, 5, unnamed, sharedTerms},
	},
	// DFlow's IDL (swap_orchestrator 0.1.0).
	solana.MustAccount("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH"): {
		anchorName("swap"):                          {3, unnamed, unnamed, unnamed, dflowTerms(2)},
		anchorName("swap2"):                         {3, unnamed, unnamed, unnamed, dflowTerms(3)},
		anchorName("swap_with_destination"):         {3, unnamed, 4, unnamed, dflowTerms(2)},
		anchorName("swap2_with_destination"):        {3, unnamed, 4, unnamed, dflowTerms(3)},
		anchorName("swap_with_destination_native"):  {3, unnamed, 4, unnamed, dflowTerms(2)},
		anchorName("swap2_with_destination_native"): {3, unnamed, 4, unnamed, dflowTerms(3)},
	},
}

// anchorName returns Anchor's number of an instruction.
func anchorName(name string) [8]byte {
	hash := sha256.Sum256([]byte("global:" + name))
	return [8]byte(hash[:8])
}

func jupiterTerms(r *solana.Reader) swapTerms {
	return swapTerms{in: r.Uint64(), quoted: r.Uint64(), slippageBps: r.Uint16(), fees: r.Take(2 + 2)}
}

func sharedTerms(r *solana.Reader) swapTerms {
	r.Uint8() // which of the program's accounts
	return jupiterTerms(r)
}

// dflowTerms returns a reader of a route's actions and the terms after them, with feeBytes of fees at the end.
func dflowTerms(feeBytes uint64) func(*solana.Reader) swapTerms {
	return func(r *solana.Reader) (terms swapTerms) {
		for count := r.Uint32(); count > 0 && r.Err == nil; count-- {
			if in := readAction(r); terms.in == 0 {
				terms.in = in
			}
		}
		terms.quoted, terms.slippageBps, terms.fees = r.Uint64(), r.Uint16(), r.Take(feeBytes)
		return terms
	}
}

// dflowSwaps are the lengths in bytes, after their number, of DFlow's actions that swap: eight for the amount, and the
// rest depends on the pool.
var dflowSwaps = [...]uint64{
	10, 10, 9, 9, 10, 10, 10, 10, 9, 9, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 17, 10, 10, 9, 9, 9, 9, 9,
	32: 9, 33: 9, 34: 9, 39: 9, 40: 9, 41: 19, 42: 14, 44: 25, 46: 9, 47: 9, 53: 9, 54: 9, 55: 9, 56: 9, 58: 9, 59: 9,
	62: 9, 65: 9, 66: 9, 67: 9, 68: 9, 69: 10, 70: 9, 71: 9, 72: 13, 73: 13, 74: 9, 75: 82, 76: 10,
}

// dflowSteps are the lengths of those that do not swap: IDs, accounts that are named or opened, the coin wrapped and
// unwrapped, bounds. All others make payments or open orders.
var dflowSteps = map[uint8]uint64{37: 76, 38: 4, 45: 0, 51: 8, 52: 0, 60: 0, 61: 2}

// readAction reads an action of a route and returns its amount, zero if it does not swap.
func readAction(r *solana.Reader) (amount uint64) {
	const dynamicRoute, minimumOutputs, minimumPrices = 31, 48, 49
	kind := r.Uint8()
	step, isStep := dflowSteps[kind]
	switch {
	case isStep:
		r.Take(step)
	case kind == minimumOutputs:
		r.Take(8 * uint64(r.Uint32()))
	case kind == minimumPrices:
		r.Take(9 * uint64(r.Uint32()))
	case kind == dynamicRoute:
		for candidates := r.Uint32(); candidates > 0 && r.Err == nil; candidates-- {
			readCandidate(r)
		}
		amount = r.Uint64()
		r.Uint8()
	case int(kind) < len(dflowSwaps) && dflowSwaps[kind] > 0:
		amount = r.Uint64()
		r.Take(dflowSwaps[kind] - 8)
	default:
		r.Fail(fmt.Errorf("action %d of the route does not belong to a swap", kind))
	}
	return amount
}

// readCandidate reads one of the pools that DFlow's program chooses from.
func readCandidate(r *solana.Reader) {
	switch kind := r.Uint8(); {
	case kind == 3:
		r.Take(8)
	case kind == 10, kind == 12:
		r.Take(1)
	case kind > 12:
		r.Fail(fmt.Errorf("candidate %d of the route is unknown", kind))
	}
}

// readMinimum returns the minimum of an instruction that takes the swap's input from the sender's account, and pays
// into the recipient's.
func readMinimum(s quote.Swap, m solana.Message, i solana.CompiledInstruction) (minimum chain.Amount, err error) {
	if len(i.Data) < 8 {
		return minimum, errors.New("it does not call the venue's program")
	}
	l, known := layouts[m.Account(i.Program)][[8]byte(i.Data[:8])]
	if !known {
		return minimum, fmt.Errorf("it calls an unknown instruction of the venue's program, 0x%x: what that enforces cannot be read", i.Data[:8])
	}
	is := func(place int, among ...chain.Address) bool {
		return place == unnamed || place < len(i.Accounts) && slices.Contains(among, m.Account(int(i.Accounts[place])))
	}
	in := s.In.Address
	if in.IsNative() {
		in = s.Chain.WrappedCoin
	}
	switch {
	case !is(l.user, s.Sender):
		return minimum, errors.New("the sender is not the one who swaps")
	case !is(l.source, holdings(in, s.Sender)[1:]...):
		return minimum, errors.New("it takes the input from another account")
	case !is(l.destination, payable(s)...):
		return minimum, errors.New("it pays a stranger")
	case !is(l.redirect, append(payable(s), m.Account(i.Program))...):
		return minimum, errors.New("it redirects the output to a stranger")
	}
	r := &solana.Reader{Rest: i.Data[8:]}
	terms := l.read(r)
	if r.Err != nil {
		return minimum, fmt.Errorf("its terms cannot be read: %w", r.Err)
	}
	return terms.minimum(s.In.Amount)
}

func (t swapTerms) minimum(in chain.Amount) (minimum chain.Amount, err error) {
	const whole = 10_000
	switch {
	case chain.NewAmount(t.in).Cmp(in) > 0:
		return minimum, fmt.Errorf("it takes %d of the input instead of %s", t.in, in)
	case t.slippageBps > whole:
		return minimum, errors.New("its slippage exceeds 100 %")
	case slices.ContainsFunc(t.fees, func(b byte) bool { return b != 0 }):
		return minimum, errors.New("it takes a platform fee")
	}
	quoted := chain.NewAmount(t.quoted)
	return quoted.Sub(quoted.MulDiv(uint64(t.slippageBps), whole)), nil
}
