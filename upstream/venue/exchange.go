package venue

// Exchanges are asked on their own chain, by reading their contracts: no service stands between.

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// exchangeLife is how long the price of a block is good for.
const exchangeLife = 30 * time.Second

// listing is where an exchange's contracts stand on one chain.
type listing struct {
	Venue   string         `json:"venue"`
	Chain   chain.ID       `json:"chain"`
	Kind    string         `json:"kind"` // pairs, fees or routes: whose interface the contracts have
	Router  common.Address `json:"router"`
	Factory common.Address `json:"factory"`
	Quoter  common.Address `json:"quoter"` // of kind fees
	Fees    []uint32       `json:"fees"`   // of kind fees: hundredths of a basis point
	Source  string         `json:"source"` // of the addresses
}

// directory is the exchanges that are known, and for each chain the tokens through which most pairs have a way.
type directory struct {
	Hubs      map[chain.ID][]common.Address `json:"hubs"`
	Exchanges []listing                     `json:"exchanges"`
}

var listings = readListings()

func readListings() (d directory) {
	if err := json.Unmarshal(exchangesText, &d); err != nil {
		panic("venue: exchanges.json: " + err.Error())
	}
	return d
}

//go:embed exchanges.json
var exchangesText []byte

// speech is how the contracts of a kind of exchange are spoken to.
type speech struct {
	// ways lead from stop to stop, through one pool each.
	ways func(at listing, stops []common.Address) []way
	// ask prices a way, and read understands the answer.
	ask  func(at listing, w way, amount chain.Amount) question
	read func(answer []byte) (priced, error)
	// call is the calldata that swaps; nothing else of the swap than its ends is the exchange's business.
	call func(at listing, w way, o order) []byte
	// proofs are questions whose answers tell the contracts of at from others.
	proofs func(at listing, wrapped common.Address) []proof
}

var speeches = map[string]speech{"pairs": pairsSpeech, "fees": feesSpeech, "routes": routesSpeech}

// way is a list of tokens with a pool between each two.
type way struct {
	stops  []common.Address
	fees   []uint32 // of kind fees
	stable []bool   // of kind routes
}

// question is calldata for a contract.
type question struct {
	to   common.Address
	data []byte
}

// proof is a question and the address that answers it.
type proof struct {
	question
	want common.Address
}

// priced is what a way gives, and the gas that it takes.
type priced struct {
	out chain.Amount
	gas uint64
}

// order is a swap in the words of the contracts.
type order struct {
	amount, least    chain.Amount
	recipient        common.Address
	deadline         time.Time
	fromCoin, toCoin bool
}

// exchange is a venue that consists of contracts. It takes no affiliate share: routers have no place for one.
type exchange struct {
	profile   quote.Profile
	contracts func(ctx context.Context, id chain.ID, to []chain.Address, data [][]byte) ([][]byte, error)
	at        map[chain.ID]listing
	now       func() time.Time

	mu     sync.Mutex
	proven map[chain.ID]bool // where the contracts are the exchange's
}

var _ quote.Venue = (*exchange)(nil)

func init() {
	for _, at := range listings.Exchanges {
		if _, again := registered[at.Venue]; !again {
			register(Service{Name: at.Venue}, openExchange(at.Venue))
		}
	}
}

func openExchange(name string) func(Options) (quote.Venue, error) {
	return func(o Options) (quote.Venue, error) {
		if o.Contracts == nil {
			return nil, errors.New("has no chain to read")
		}
		e := &exchange{
			contracts: o.Contracts, now: o.Now, at: map[chain.ID]listing{}, proven: map[chain.ID]bool{},
			profile: quote.Profile{Name: name, ImageURL: exchangeImage(name), Routers: map[chain.ID]chain.Address{}},
		}
		for _, at := range listings.Exchanges {
			if c, known := o.Registry.Chain(at.Chain); at.Venue == name && known && !c.WrappedCoin.IsAbsent() {
				e.at[at.Chain] = at
				e.profile.Routers[at.Chain] = chain.NewAddress(at.Router.Bytes())
			}
		}
		return e, nil
	}
}

// exchangeImage is the picture of the protocol in DefiLlama's collection, which versions share.
func exchangeImage(name string) string {
	brand, _, _ := strings.Cut(name, "-v")
	return "https://icons.llamao.fi/icons/protocols/" + brand
}

// Profile implements quote.Venue.
func (e *exchange) Profile() quote.Profile { return e.profile }

// exchangeRoute is a quoted way.
type exchangeRoute struct {
	venue string
	way   way
}

// Quote implements quote.Venue. The first one on a chain proves the contracts in the same round trip.
func (e *exchange) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(e.profile, s); err != nil {
		return quote.Quote{}, err
	}
	at := e.at[s.Chain.ID]
	speak := speeches[at.Kind]
	ways := waysBetween(s, at, speak)
	if len(ways) == 0 {
		return quote.Quote{}, noRoute("both ends are the same token")
	}
	var proofs []proof
	if !e.isProven(s.Chain.ID) {
		proofs = speak.proofs(at, common.BytesToAddress(s.Chain.WrappedCoin.Bytes()))
	}
	asked := e.now()
	questions := make([]question, 0, len(proofs)+len(ways))
	for _, p := range proofs {
		questions = append(questions, p.question)
	}
	for _, w := range ways {
		questions = append(questions, speak.ask(at, w, s.In.Amount))
	}
	answers, err := e.ask(ctx, s.Chain.ID, questions)
	if err != nil {
		return quote.Quote{}, fmt.Errorf("%s contracts on chain %d: %w", e.profile.Name, s.Chain.ID, err)
	}
	if err := e.prove(s.Chain.ID, proofs, answers); err != nil {
		return quote.Quote{}, fmt.Errorf("%s on chain %d: %w", e.profile.Name, s.Chain.ID, err)
	}
	best, price := bestWay(ways, answers[len(proofs):], speak)
	if price.out.IsZero() {
		return quote.Quote{}, fmt.Errorf("%s on chain %d: %w", e.profile.Name, s.Chain.ID, noRoute("no pools"))
	}
	return quote.Quote{
		Venue: e.profile.Name, AmountOut: price.out, Gas: price.gas, Expires: asked.Add(exchangeLife),
		Route: exchangeRoute{e.profile.Name, best},
	}, nil
}

// Build implements quote.Venue. It asks nobody: the calldata holds the minimum.
func (e *exchange) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	route, ours := q.Route.(exchangeRoute)
	if !ours || route.venue != e.profile.Name {
		return quote.Tx{}, fmt.Errorf("%s build of a quote that is not its own", e.profile.Name)
	}
	slippage, err := percentOf(q.AmountOut, s.SlippagePercent)
	if err != nil {
		return quote.Tx{}, fmt.Errorf("%s minimum: %w", e.profile.Name, err)
	}
	at := e.at[s.Chain.ID]
	tx := quote.Tx{To: e.profile.Routers[s.Chain.ID], Data: speeches[at.Kind].call(at, route.way, order{
		amount: s.In.Amount, least: q.AmountOut.Sub(slippage), recipient: common.BytesToAddress(s.Recipient.Bytes()),
		deadline: e.now().Add(signTime), fromCoin: s.In.Address.IsNative(), toCoin: s.Out.Address.IsNative(),
	})}
	if s.In.Address.IsNative() {
		tx.Value = s.In.Amount
	}
	return tx, nil
}

// waysBetween are the ways of a swap straight and over one of the chain's hubs.
func waysBetween(s quote.Swap, at listing, speak speech) []way {
	wrapped := common.BytesToAddress(s.Chain.WrappedCoin.Bytes())
	pooled := func(a chain.Address) common.Address {
		if a.IsNative() {
			return wrapped
		}
		return common.BytesToAddress(a.Bytes())
	}
	from, to := pooled(s.In.Address), pooled(s.Out.Address)
	if from == to {
		return nil
	}
	ways := speak.ways(at, []common.Address{from, to})
	for _, hub := range append([]common.Address{wrapped}, listings.Hubs[at.Chain]...) {
		if hub != from && hub != to {
			ways = append(ways, speak.ways(at, []common.Address{from, hub, to})...)
		}
	}
	return ways
}

// ask puts the questions in one round trip. The answer to one that is refused is empty.
func (e *exchange) ask(ctx context.Context, id chain.ID, questions []question) ([][]byte, error) {
	to, data := make([]chain.Address, len(questions)), make([][]byte, len(questions))
	for i, q := range questions {
		to[i], data[i] = chain.NewAddress(q.to.Bytes()), q.data
	}
	answers, err := e.contracts(ctx, id, to, data)
	if err == nil && len(answers) != len(questions) {
		err = fmt.Errorf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers, err
}

func bestWay(ways []way, answers [][]byte, speak speech) (best way, price priced) {
	for i, answer := range answers {
		if len(answer) == 0 {
			continue
		}
		if p, err := speak.read(answer); err == nil && p.out.Cmp(price.out) > 0 {
			best, price = ways[i], p
		}
	}
	return best, price
}

// ErrStrangers means that other contracts, or none, stand where the exchange's should: it does not serve
// the chain after all.
var ErrStrangers = fmt.Errorf("%w: the contracts are not the exchange's", quote.ErrUnsupportedChain)

func (e *exchange) isProven(id chain.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.proven[id]
}

// prove remembers that the first of the answers are those that the proofs want. Where they are not, the next
// quote proves again.
func (e *exchange) prove(id chain.ID, proofs []proof, answers [][]byte) error {
	for i, p := range proofs {
		if len(answers[i]) != common.HashLength || common.BytesToAddress(answers[i]) != p.want {
			return ErrStrangers
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.proven[id] = true
	return nil
}

// pack encodes a call of one of our own ABIs, with arguments that fit them.
func pack(contract abi.ABI, method string, arguments ...any) []byte {
	data, err := contract.Pack(method, arguments...)
	if err != nil {
		panic("venue: call of " + method + ": " + err.Error())
	}
	return data
}

func parseABI(text string) abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic("venue: ABI: " + err.Error())
	}
	return parsed
}
