package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/price"
	"crossgate/upstream/solana"
	"crossgate/upstream/tron"
	"crossgate/upstream/venue"
)

// parts are what a configuration makes before anything is opened or called.
type parts struct {
	registry   chain.Registry
	sources    map[chain.ID]order.Source
	readers    map[chain.ID]token.Reader
	fees       map[chain.ID]quote.FeeSource
	routers    map[chain.ID]quote.Router
	simulators map[chain.ID]quote.Simulator
	venues     []quote.Venue
	tokens     *token.Directory
	callers    map[chain.ID]caller
	configured map[chain.ID]config.Chain
	shelf      tokenShelf // empty until the store is open
	endpoints  []*endpoint
	pools      []*upstream.Pool // of the same endpoints, in the sequence of the file
	chainPools map[chain.ID]*upstream.Pool
	health     config.Health
	shared     *shared.Cache // nil: replicas have no cache in common
}

// caller asks contracts of one chain; see venue.Options.
type caller func(ctx context.Context, to []chain.Address, data [][]byte) ([][]byte, error)

// builder collects the mistakes that making the parts brings to light.
type builder struct {
	config   config.Config
	log      *slog.Logger // nil: nobody is told
	before   *parts       // of the configuration before; nil: there was none
	parts    *parts
	mistakes config.Mistakes
}

// build makes the parts of c, of those before, which may be nil, as far as nothing about them has changed. log hears
// of endpoints that lie; nil when nothing is going to be asked.
func build(c config.Config, log *slog.Logger, before *parts) (*parts, error) {
	b := &builder{config: c, log: log, before: before, parts: &parts{
		registry:   c.Registry(),
		health:     c.Health,
		sources:    make(map[chain.ID]order.Source),
		readers:    make(map[chain.ID]token.Reader),
		fees:       make(map[chain.ID]quote.FeeSource),
		routers:    make(map[chain.ID]quote.Router),
		simulators: make(map[chain.ID]quote.Simulator),
		callers:    make(map[chain.ID]caller),
		configured: make(map[chain.ID]config.Chain),
		chainPools: make(map[chain.ID]*upstream.Pool),
	}}
	for i, each := range c.Chains {
		b.addChain(fmt.Sprintf("chains[%d]", i), each)
	}
	for i, each := range c.Venues {
		b.addVenue(fmt.Sprintf("venues[%d]", i), each)
	}
	b.addTokens()
	b.addShared()
	if len(b.mistakes) > 0 {
		b.parts.close()
		return nil, b.mistakes
	}
	return b.parts, nil
}

func (b *builder) mistake(path string, err error) {
	b.mistakes = append(b.mistakes, b.config.Mistake(path, err.Error()))
}

// pool makes the pool of those who serve of.
func (b *builder) pool(path, name, of string, configured []config.Endpoint, attributes ...attribute.KeyValue) *upstream.Pool {
	var endpoints []*upstream.Endpoint
	for i, each := range configured {
		e, err := b.endpoint(of, each, attributes...)
		if err != nil {
			b.mistake(fmt.Sprintf("%s.endpoints[%d].url", path, i), err)
			continue
		}
		endpoints = append(endpoints, e.Endpoint)
		b.parts.endpoints = append(b.parts.endpoints, e)
	}
	made := upstream.NewPool(name, endpoints...)
	b.parts.pools = append(b.parts.pools, made)
	return made
}

// addChain makes the adapter of a chain, which does as much of a chain's work as its family has so far.
func (b *builder) addChain(path string, c config.Chain) {
	known, _ := b.parts.registry.Chain(c.ID)
	b.parts.configured[c.ID] = c
	if b.keepChain(c) {
		return
	}
	pool := b.pool(path, known.Name, c.ID.String(), c.Endpoints, attribute.Int64("crossgate.chain.id", int64(c.ID)))
	b.parts.chainPools[c.ID] = pool
	rpc, lag := jsonrpc.New(pool), b.config.LagOf(c, known.BlockTime)
	switch known.Family {
	case chain.EVM:
		rpc.CompareHeads(lag, evm.HeadCall())
		made := evm.New(known, rpc)
		b.parts.callers[c.ID] = made.CallAll
		b.parts.sources[c.ID], b.parts.readers[c.ID], b.parts.fees[c.ID] = made, made, made
		b.parts.routers[c.ID], b.parts.simulators[c.ID] = evm.NewRouter(made), evm.NewSimulator(made)
	case chain.SVM:
		rpc.CompareHeads(lag, solana.HeadCall())
		made := solana.New(known, rpc)
		b.parts.sources[c.ID], b.parts.readers[c.ID] = made, made
		b.parts.fees[c.ID], b.parts.simulators[c.ID] = made, made
	case chain.TVM:
		rpc.CompareHeads(lag, evm.HeadCall())
		made := tron.New(known, rpc)
		b.parts.callers[c.ID] = made.CallAll
		b.parts.sources[c.ID], b.parts.readers[c.ID], b.parts.fees[c.ID] = made, made, made
		b.parts.simulators[c.ID] = tron.NewSimulator(made)
	}
}

// keepChain takes the adapter of a chain over from the configuration before when nothing about the chain has
// changed: it knows which endpoint is best, how much they take at once and who has proven itself.
func (b *builder) keepChain(c config.Chain) bool {
	before := b.before
	if before == nil || before.health != b.config.Health || !reflect.DeepEqual(before.configured[c.ID], c) {
		return false
	}
	for _, each := range before.endpoints {
		if each.of == c.ID.String() {
			each.holders.Add(1)
			b.parts.endpoints = append(b.parts.endpoints, each)
		}
	}
	keep(b.parts.chainPools, before.chainPools, c.ID)
	b.parts.pools = append(b.parts.pools, b.parts.chainPools[c.ID])
	keep(b.parts.callers, before.callers, c.ID)
	keep(b.parts.sources, before.sources, c.ID)
	keep(b.parts.readers, before.readers, c.ID)
	keep(b.parts.fees, before.fees, c.ID)
	keep(b.parts.routers, before.routers, c.ID)
	keep(b.parts.simulators, before.simulators, c.ID)
	return true
}

func keep[V any](now, before map[chain.ID]V, id chain.ID) {
	if value, found := before[id]; found {
		now[id] = value
	}
}

// addVenue makes the adapter of a venue for the chains that are read: elsewhere the tokens of a swap are
// not known.
func (b *builder) addVenue(path string, c config.Venue) {
	var pool *upstream.Pool // exchanges have none
	if len(c.Endpoints) > 0 {
		pool = b.pool(path, c.Name, c.Name, c.Endpoints, attribute.String("crossgate.venue", c.Name))
	}
	made, err := venue.New(c.Name, venue.Options{
		Pool: pool, Registry: b.readChains(), Key: c.Key.Reveal(), Settings: c.Settings, Contracts: b.contracts,
	})
	if err != nil {
		b.mistake(path, err)
		return
	}
	b.parts.venues = append(b.parts.venues, made)
}

// readChains are the chains that have endpoints.
func (b *builder) readChains() chain.Registry {
	var read []chain.Chain
	for _, each := range b.config.Chains {
		known, _ := b.parts.registry.Chain(each.ID)
		read = append(read, known)
	}
	return chain.NewRegistry(read...)
}

// contracts asks contracts of a chain that is read.
func (b *builder) contracts(ctx context.Context, id chain.ID, to []chain.Address, data [][]byte) ([][]byte, error) {
	call, read := b.parts.callers[id]
	if !read {
		return nil, fmt.Errorf("chain %d is not read", id)
	}
	return call(ctx, to, data)
}

func (b *builder) addTokens() {
	o := token.DirectoryOptions{
		Registry:    b.parts.registry,
		Readers:     b.parts.readers,
		Own:         make(map[token.Key]token.Token),
		LogoPattern: b.config.Tokens.Logo,
		Recall:      b.parts.shelf.recall,
		Remember:    b.parts.shelf.remember,
	}
	if service := b.config.Prices.DefiLlama; service != nil {
		o.Prices = append(o.Prices, price.DefiLlama(b.pool("prices.defillama", "defillama", "defillama", service.Endpoints), b.parts.registry))
	}
	if b.config.Prices.Feeds {
		o.Prices = append(o.Prices, price.Feeds(b.contracts, b.readChains()))
	}
	for _, own := range b.config.Tokens.Own {
		o.Own[token.Key{Chain: own.Chain, Address: own.Address}] = token.Token{
			Decimals: own.Decimals, Name: own.Name, Symbol: own.Symbol, LogoURI: own.Logo,
		}
	}
	b.parts.tokens = token.NewDirectory(o)
}

func (b *builder) addShared() {
	c := b.config.Cache
	address := c.Shared.Reveal()
	if address == "" {
		return
	}
	made, err := shared.New(shared.Options{
		URL:          address,
		Certificates: shared.Certificates{Authorities: c.SharedCAFile, Own: c.SharedCertFile, Key: c.SharedKeyFile},
		Timeout:      c.SharedTimeout,
		Logger:       b.log,
	})
	if err != nil {
		b.mistake("cache.shared", err)
		return
	}
	b.parts.shared = made
}
