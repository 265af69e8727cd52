package venue_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/venue"
)

// thief is paid by altered calldata.
var thief = chain.NewAddress(bytes.Repeat([]byte{0xba}, 20))

// fewMutations is the number of mutations of a venue's transactions in make test.
const fewMutations = 200

// mutations returns how many changes to make to a venue's transactions: CROSSGATE_MUTATIONS, or few.
func mutations(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("CROSSGATE_MUTATIONS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CROSSGATE_MUTATIONS: %v", err)
	}
	return n
}

// TestNoMutationIsHandedOut alters the calldata of every venue's transactions, for each kind of swap. What the guard
// lets pass runs on the chain: unless it reverts, the recipient, who is the sender or another account, gets the minimum
// that the guard read, a stranger gets nothing, and no more than the input is taken. The guard alone ensures that:
// there is no simulation.
func TestNoMutationIsHandedOut(t *testing.T) {
	eachInWorld(t, mutateAll) // on Solana: TestNoMutationOnSolanaIsHandedOut
}

// mutateAll alters a venue's transactions on the first chain where it makes any.
func mutateAll(t *testing.T, world *sandbox.World, v quote.Venue) {
	t.Helper()
	for _, c := range world.Chains() {
		if _, served := v.Profile().Routers[c.Facts.ID]; !served || len(c.Pools) == 0 {
			continue
		}
		made := 0
		swaps := toSenderAndOther(executedSwaps(t, c, world.Accounts()[0]))
		for _, s := range swaps {
			if s.Recipient != s.Sender && v.Profile().Wraps {
				continue
			}
			if s.Recipient != s.Sender && v.Profile().SharesOfCoin && s.In.Address.IsNative() {
				s.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString("0.3"), Recipient: address(t, affiliate)}
			}
			m := mutant{venue: v, swap: s, node: jsonrpc.New(pooltest.At(t, c.EVMRPC)), random: rand.New(rand.NewPCG(1, uint64(made)))}
			if v.Profile().Read == nil {
				m.isRefusedAsItIs(t)
				return
			}
			if m.build(t) {
				made++
				m.mutate(t, mutations(t, fewMutations)/len(swaps)+1)
			}
		}
		if made > 0 {
			return
		}
	}
	t.Error("the venue made no transaction")
}

// toSenderAndOther returns each swap twice.
func toSenderAndOther(swaps []quote.Swap) []quote.Swap {
	for _, s := range swaps {
		s.Recipient = s.Sender
		swaps = append(swaps, s)
	}
	return swaps
}

// isRefusedAsItIs requires that no transaction of a venue passes if it is unknown what its router enforces.
func (m mutant) isRefusedAsItIs(t *testing.T) {
	t.Helper()
	q := must.Get(m.venue.Quote(t.Context(), m.swap))(t)
	tx := must.Get(m.venue.Build(t.Context(), m.swap, q))(t)
	least := q.AmountOut.MulDiv(9_000, 10_000)
	if got, err := (swap.Guard{}).MinOut(m.swap, m.venue.Profile(), tx, least); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("the guard lets it pay %s directly: %v, want ErrRefused", got, err)
	}
}

// mutant is one transaction whose calldata is altered.
type mutant struct {
	venue   quote.Venue
	swap    quote.Swap
	spender chain.Address // who takes the input
	node    *jsonrpc.Client
	random  *rand.Rand
	quote   quote.Quote
	tx      quote.Tx
	minimum chain.Amount // after the swap's slippage
}

// build builds the transaction, which the guard must pass; it reports whether the venue makes one.
func (m *mutant) build(t *testing.T) bool {
	t.Helper()
	var err error
	m.quote, err = m.venue.Quote(t.Context(), m.swap)
	if errors.Is(err, quote.ErrNoRoute) || errors.Is(err, venue.ErrUnverifiedContracts) {
		return false
	}
	if err == nil {
		m.tx, err = m.venue.Build(t.Context(), m.swap, m.quote)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.minimum = m.quote.AmountOut.MulDiv(9_950, 10_000)
	m.spender = m.venue.Profile().Spender(m.swap.Chain.ID, m.tx.To)
	if _, err := m.check(m.tx.Data); err != nil {
		t.Fatalf("%s to %s: the guard refuses the venue's own transaction: %v", m.swap.In.Token.Symbol, m.swap.Out.Token.Symbol, err)
	}
	return true
}

// check returns the minimum that the guard reads from calldata.
func (m *mutant) check(data []byte) (chain.Amount, error) {
	tx := quote.Tx{To: m.tx.To, Value: m.tx.Value, Data: data}
	if err := (swap.Guard{}).Check(m.swap, m.venue.Profile(), tx); err != nil {
		return chain.Amount{}, err
	}
	return swap.Guard{}.MinOut(m.swap, m.venue.Profile(), tx, m.minimum)
}

// billion is a share of the amount of which venues may lose one part to rounding.
const billion = 1_000_000_000

// mutate alters the calldata a number of times and runs what the guard lets pass.
func (m *mutant) mutate(t *testing.T, times int) {
	t.Helper()
	if len(m.tx.Data) < 36 {
		return // deposit() has nothing to alter
	}
	for i := range times {
		data, what := m.change(i)
		if bytes.Equal(data, m.tx.Data) {
			continue
		}
		minimum, err := m.check(data)
		if err != nil {
			if !errors.Is(err, quote.ErrRefused) {
				t.Errorf("%s: %v, want ErrRefused", what, err)
			}
			continue
		}
		if minimum.Cmp(m.minimum.MulDiv(billion-1, billion).Sub(chain.NewAmount(2))) < 0 {
			t.Errorf("%s: handed out with a minimum of %s in place of %s", what, minimum, m.minimum)
		}
		m.run(t, data, minimum, what)
	}
}

// change returns altered calldata: each of its words in turn, nested ones at every offset, and bytes appended to it.
func (m *mutant) change(i int) (data []byte, what string) {
	data = bytes.Clone(m.tx.Data)
	places := m.places()
	switch at := places[m.random.IntN(len(places))]; i % 12 {
	case 0: // all occurrences of the recipient, with the true one appended
		data = bytes.ReplaceAll(data, m.swap.Recipient.Bytes(), thief.Bytes())
		return append(append(data, make([]byte, 12)...), m.swap.Recipient.Bytes()...), "the payee replaced and appended"
	case 1:
		one := chain.NewAmount(1).Bytes32()
		return bytes.ReplaceAll(m.taking(m.swap.In.Amount.MulDiv(1, 2)), m.minimumWord(), one[:]), "half of the input, and no minimum"
	case 2: // whose outcome is within the slippage
		return m.taking(m.swap.In.Amount.MulDiv(998, 1000)), "a little less of the input"
	case 3:
		copy(data[at:], append(make([]byte, 12), thief.Bytes()...))
		return data, fmt.Sprintf("a stranger at %d", at)
	case 4:
		copy(data[at:], make([]byte, 32))
		return data, fmt.Sprintf("zero at %d", at)
	case 5:
		data[at+31]++
		return data, fmt.Sprintf("one more at %d", at)
	case 6:
		from := places[m.random.IntN(len(places))]
		copy(data[at:at+32], m.tx.Data[from:from+32])
		return data, fmt.Sprintf("the word of %d at %d", from, at)
	case 7:
		data[4+m.random.IntN(len(data)-4)] ^= byte(1 << m.random.IntN(8))
		return data, "a bit"
	case 8:
		word := m.minimum.MulDiv(uint64(m.random.IntN(9_990)), 10_000).Bytes32()
		return bytes.ReplaceAll(data, m.minimumWord(), word[:]), "a lower minimum"
	case 9:
		return data[:4+m.random.IntN(len(data)-4)], "the end cut off"
	case 10:
		return append(data, m.shares()...), "shares of the input or of the output behind"
	default:
		behind := make([]byte, 1+m.random.IntN(128))
		for i := range behind {
			behind[i] = byte(m.random.IntN(256))
		}
		copy(behind[max(0, len(behind)-20):], thief.Bytes())
		return append(data, behind...), "a stranger behind"
	}
}

// shares returns words as OKX's router reads them after the arguments: for one side of the swap, one or two strangers.
func (m *mutant) shares() []byte {
	asset, flag := m.swap.In.Address, []byte{0x3c, 0xa2, 0x0a, 0xfc, 0x2a, 0xaa}
	if m.random.IntN(2) > 0 {
		asset, flag = m.swap.Out.Address, []byte{0x3c, 0xa2, 0x0a, 0xfc, 0x2b, 0xbb}
	}
	token := append(make([]byte, 12), common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE").Bytes()...)
	if !asset.IsNative() {
		copy(token[12:], asset.Bytes())
	}
	isTwo := m.random.IntN(2) > 0
	if isTwo {
		flag[0], flag[1] = 0x22, 0x22
	}
	rate := binary.BigEndian.AppendUint64(nil, uint64(m.random.IntN(15_000_000)))[2:]
	share := slices.Concat(flag, rate, thief.Bytes())
	if isTwo {
		return slices.Concat(share, token, share)
	}
	return append(token, share...)
}

// taking returns the calldata with another input amount.
func (m *mutant) taking(amount chain.Amount) []byte {
	was, is := m.swap.In.Amount.Bytes32(), amount.Bytes32()
	return bytes.ReplaceAll(m.tx.Data, was[:], is[:])
}

// places returns the offsets of possible words: nested calldata is shifted by 4 bytes.
func (m *mutant) places() []int {
	var places []int
	for at := 4; at+32 <= len(m.tx.Data); at += 4 {
		if at%32 == 4 || at%32 == 8 {
			places = append(places, at)
		}
	}
	return places
}

// minimumWord returns the minimum as encoded in the calldata.
func (m *mutant) minimumWord() []byte {
	enforced, _ := m.check(m.tx.Data)
	word := enforced.Bytes32()
	return word[:]
}

// run executes what was handed out: it reverts, or the recipient gets the minimum, a stranger nothing, and the sender
// gives only the input.
func (m *mutant) run(t *testing.T, data []byte, minimum chain.Amount, what string) {
	t.Helper()
	got := m.outcome(t, data)
	if !got.succeeds {
		return
	}
	if got.received.Cmp(minimum) < 0 {
		t.Errorf("%s: handed out, and the recipient gets %s of %s", what, got.received, minimum)
	}
	if got.taken.Cmp(m.swap.In.Amount) > 0 {
		t.Errorf("%s: handed out, and takes %s of %s", what, got.taken, m.swap.In.Amount)
	}
	if got.robs(m.swap.In.Amount, minimum) {
		t.Errorf("%s: handed out, and a stranger gets %s and %s", what, got.stolenIn, got.stolenOut)
	}
}

// robs reports whether a stranger gets more than a millionth of what goes in or comes out.
func (o outcome) robs(in, minimum chain.Amount) bool {
	return o.stolenIn.Cmp(in.MulDiv(1, 1_000_000)) > 0 || o.stolenOut.Cmp(minimum.MulDiv(1, 1_000_000)) > 0
}

// outcome is how much the recipient gained of the output, how much the sender lost of the input, how much of that the
// spender kept, and how much a stranger gained of both.
type outcome struct {
	received, taken, left, stolenIn, stolenOut chain.Amount

	succeeds bool
}

// outcome executes calldata.
func (m *mutant) outcome(t *testing.T, data []byte) outcome {
	t.Helper()
	s := m.swap
	balances := []simulatedCall{
		balanceOf(s.Chain, s.Out.Address, s.Recipient), balanceOf(s.Chain, s.In.Address, s.Sender), balanceOf(s.Chain, s.In.Address, m.spender),
		balanceOf(s.Chain, s.In.Address, thief), balanceOf(s.Chain, s.Out.Address, thief),
	}
	var calls []simulatedCall
	if !s.In.Address.IsNative() {
		allowed := s
		allowed.In.Amount = s.In.Amount.MulDiv(10, 1)
		calls = append(calls, approve(allowed, m.spender))
	}
	calls = append(calls, balances...)
	calls = append(calls, simulatedCall{
		From: s.Sender.String(), To: m.tx.To.String(), Input: "0x" + hex.EncodeToString(data), Value: fmt.Sprintf("0x%x", m.tx.Value.Big()),
	})
	calls = append(calls, balances...)
	answers, failed := simulate(t, m.node, calls)
	switch failed {
	case -1:
	case len(calls) - len(balances) - 1:
		return outcome{}
	default:
		t.Fatalf("call %d reverts", failed)
	}
	answers = answers[len(calls)-2*len(balances)-1:]
	after := len(balances) + 1
	gained := func(at int) chain.Amount { return answers[after+at].Sub(answers[at]) }
	return outcome{
		received: gained(0), taken: answers[1].Sub(answers[after+1]), left: gained(2), stolenIn: gained(3), stolenOut: gained(4), succeeds: true,
	}
}
