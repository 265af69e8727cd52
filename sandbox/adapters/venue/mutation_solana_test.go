package venue_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"crossgate/chain"
	messages "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
	"crossgate/upstream/jsonrpc"
	node "crossgate/upstream/solana"
	"crossgate/upstream/venue"
)

// TestNoMutationOnSolanaIsHandedOut alters the messages of every venue on Solana, for swaps of the coin and of tokens,
// to the sender and to another. What passes guard and simulation pays the recipient the minimum and a stranger nothing,
// and takes no more than the input from the sender, according to a node's simulation of the same message.
func TestNoMutationOnSolanaIsHandedOut(t *testing.T) {
	world := sandboxtest.Shared(t)
	for _, at := range world.Venues() {
		if !isOnSolana(at.Name) {
			continue
		}
		t.Run(at.Name, func(t *testing.T) {
			v := must.Get(venue.New(at.Name, venue.Options{Pool: pooltest.At(t, at.URL), Key: at.Key, Registry: chain.Documented()}))(t)
			client := jsonrpc.New(pooltest.At(t, world.Solana().RPC))
			made, passed := 0, 0
			other := chain.NewAddress(bytes.Repeat([]byte{0x5e}, messages.KeySize))
			for n, s := range solanaSwaps(world, other, []solanaKind{
				{"coin", "USDC", 1_000_000_000}, {"USDC", "coin", 250_000_000}, {"USDC", "PYUSD", 250_000_000}, {"USDC", "wrapped", 250_000_000},
			}) {
				m := solanaMutant{
					swap: s, venue: v, client: client, chain: node.New(world.Solana().Facts, client),
					thief: walletOf(world.Accounts()[1]), random: rand.New(rand.NewPCG(1, uint64(n))),
				}
				if m.build(t) {
					made++
					passed += m.mutate(t, mutations(t, fewMutations))
				}
			}
			if made == 0 {
				t.Error("the venue made no transaction")
			}
			t.Logf("%d changes of each of %d transactions, %d handed out", mutations(t, fewMutations), made, passed)
		})
	}
}

func walletOf(a sandbox.Account) chain.Address { return chain.NewAddress(a.Wallet.Key[:]) }

// solanaMutant is one transaction, with its message altered in favour of a thief, who has an account for every token.
type solanaMutant struct {
	swap   quote.Swap
	venue  quote.Venue
	client *jsonrpc.Client
	chain  *node.Chain
	thief  chain.Address
	random *rand.Rand
	quote  quote.Quote
	tx     quote.Tx
}

// build builds the transaction, which must be handed out; it reports whether the venue makes one.
func (m *solanaMutant) build(t *testing.T) bool {
	t.Helper()
	var err error
	m.quote, err = m.venue.Quote(t.Context(), m.swap)
	if errors.Is(err, quote.ErrNoRoute) && m.swap.Recipient != m.swap.Sender {
		return false
	}
	if err == nil {
		m.tx, err = m.venue.Build(t.Context(), m.swap, m.quote)
	}
	if err == nil {
		_, err = m.handedOut(t, m.tx.Data)
	}
	if err != nil {
		t.Fatalf("%s to %s: %v", m.swap.In.Address, m.swap.Out.Address, err)
	}
	return true
}

// handedOut returns the minimum of a message if it is handed out.
func (m *solanaMutant) handedOut(t *testing.T, data []byte) (chain.Amount, error) {
	tx, s := quote.Tx{Data: data}, m.swap
	if err := (node.Guard{}).Check(s, m.venue.Profile(), tx); err != nil {
		return chain.Amount{}, err
	}
	minimum, err := node.Guard{}.MinOut(s, m.venue.Profile(), tx, m.quote.AmountOut.MulDiv(9_950, 10_000))
	if err != nil {
		return minimum, err
	}
	got, err := m.chain.Simulate(t.Context(), quote.Simulation{
		Sender: s.Sender, Recipient: s.Recipient, In: s.In.Address, Out: s.Out.Address, AmountIn: s.In.Amount, Tx: tx,
	})
	if err == nil && (!got.Measured || got.Received.Cmp(minimum) < 0) {
		err = fmt.Errorf("%w: the recipient would get %s", quote.ErrRefused, got.Received)
	}
	return minimum, err
}

// mutate alters the message a number of times, checks what is handed out, and returns how often that was.
func (m *solanaMutant) mutate(t *testing.T, times int) (passed int) {
	t.Helper()
	for i := range times {
		data, what := m.change(t, i)
		if data == nil || bytes.Equal(data, m.tx.Data) {
			continue
		}
		minimum, err := m.handedOut(t, data)
		if err == nil {
			passed++
			m.look(t, data, minimum, what)
		}
	}
	return passed
}

// look runs a message that was handed out.
func (m *solanaMutant) look(t *testing.T, data []byte, minimum chain.Amount, what string) {
	t.Helper()
	s := m.swap
	out := accountFor(t, s.Recipient, s.Out.Address)
	watched := []chain.Address{s.Sender, s.Recipient, accountFor(t, s.Sender, s.In.Address), out, m.thief}
	for _, each := range solana.Tokens {
		watched = append(watched, accountFor(t, m.thief, chain.NewAddress(each.Mint[:])))
	}
	before, after, succeeds := runOnSolana(t, m.client, data, watched)
	if !succeeds {
		t.Errorf("%s: handed out, and fails", what)
		return
	}
	gained := func(i int, amount func(solanaAccount) uint64) int64 {
		return int64(amount(after[i])) - int64(amount(before[i]))
	}
	received := gained(3, tokensOf)
	if s.Out.Address.IsNative() {
		received = gained(1, lamportsOf)
		if s.Recipient == s.Sender {
			received += 2_500_000 // fees and tips, and rent on the way
		}
	}
	if least, _ := minimum.Uint64(); received < int64(least) {
		t.Errorf("%s: handed out, and the recipient gets %d of %d", what, received, least)
	}
	input, _ := s.In.Amount.Uint64()
	taken, lamports := -gained(2, tokensOf), -gained(0, lamportsOf)
	if s.In.Address.IsNative() {
		taken, lamports = 0, lamports-int64(input)
	}
	if taken > int64(input) || lamports > 8_500_000 {
		t.Errorf("%s: handed out, and takes %d of %d, and %d lamports", what, taken, input, lamports)
	}
	for i := 4; i < len(watched); i++ {
		if gained(i, lamportsOf) > 0 || i > 4 && gained(i, tokensOf) > 0 {
			t.Errorf("%s: handed out, and %s gains", what, watched[i].Format(chain.SVM))
		}
	}
}

// accountFor returns the account in which owner holds a token or the coin.
func accountFor(t *testing.T, owner, mint chain.Address) chain.Address {
	t.Helper()
	if mint.IsNative() {
		return owner
	}
	of := must.Get(solana.TokenAt(solana.Key(mint.Bytes())))(t)
	at := of.Wallet(solana.Key(owner.Bytes()))
	return chain.NewAddress(at[:])
}

// otherChanges is how many changes of a message's bytes there are besides those of its instructions.
const otherChanges = 3

// change returns an altered message, or nil if there is none.
func (m *solanaMutant) change(t *testing.T, i int) (changed []byte, what string) {
	t.Helper()
	parsed := must.Get(messages.ParseUnsigned(m.tx.Data))(t)
	one, other := parsed.Accounts[m.random.IntN(len(parsed.Accounts))], parsed.Accounts[m.random.IntN(len(parsed.Accounts))]
	data := bytes.Clone(m.tx.Data)
	switch kinds := len(messageChanges) + otherChanges; i % kinds {
	case 0:
		return bytes.Replace(data, one.Bytes(), m.thief.Bytes(), 1), "the thief for " + one.Format(chain.SVM)
	case 1:
		return bytes.Replace(data, one.Bytes(), other.Bytes(), 1), other.Format(chain.SVM) + " for " + one.Format(chain.SVM)
	case 2:
		data[66+m.random.IntN(len(data)-66)] ^= byte(1 << m.random.IntN(8))
		return data, "another bit"
	default:
		c := messageChanges[i%kinds-otherChanges]
		var lookedUp []chain.Address // others than in the tables, but different ones
		for n := range parsed.LookedUp {
			lookedUp = append(lookedUp, chain.NewAddress(bytes.Repeat([]byte{0xf0, byte(n)}, messages.KeySize/2)))
		}
		d := must.Get(parsed.Draft(lookedUp))(t)
		m.apply(c, &d)
		if m.random.IntN(4) == 0 { // two together
			second := messageChanges[m.random.IntN(len(messageChanges))]
			m.apply(second, &d)
			c.name += ", and " + second.name
		}
		changed, _ = d.Compile()
		return changed, c.name
	}
}

// apply changes a draft that still calls the venue's program.
func (m *solanaMutant) apply(c messageChange, d *messages.Draft) {
	at := slices.IndexFunc(d.Instructions, func(i messages.DraftInstruction) bool {
		return m.venue.Profile().Calls(m.swap.Chain.ID, i.Program)
	})
	if at >= 0 {
		c.make(m, d, &d.Instructions[at])
	}
}
