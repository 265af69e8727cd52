package gateway

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
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
	shelf      tokenShelf // empty until the store is open
	endpoints  []*upstream.Endpoint
	pools      []*upstream.Pool // of the same endpoints, in the sequence of the file
	shared     *cache.Shared    // nil: replicas have no cache in common
}

// caller asks contracts of one chain; see venue.Options.
type caller func(ctx context.Context, to []chain.Address, data [][]byte) ([][]byte, error)

// builder collects the mistakes that making the parts brings to light.
type builder struct {
	config   config.Config
	log      *slog.Logger // nil: nobody is told
	parts    *parts
	callers  map[chain.ID]caller
	mistakes config.Mistakes
}

// build makes the parts of c. log hears of endpoints that lie; nil when nothing is going to be asked.
func build(c config.Config, log *slog.Logger) (*parts, error) {
	b := &builder{config: c, log: log, callers: make(map[chain.ID]caller), parts: &parts{
		registry:   c.Registry(),
		sources:    make(map[chain.ID]order.Source),
		readers:    make(map[chain.ID]token.Reader),
		fees:       make(map[chain.ID]quote.FeeSource),
		routers:    make(map[chain.ID]quote.Router),
		simulators: make(map[chain.ID]quote.Simulator),
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
		return nil, b.mistakes
	}
	return b.parts, nil
}

func (b *builder) mistake(path string, err error) {
	b.mistakes = append(b.mistakes, b.config.Mistake(path, err.Error()))
}

func (b *builder) pool(path, name string, configured []config.Endpoint, attributes ...attribute.KeyValue) *upstream.Pool {
	var endpoints []*upstream.Endpoint
	for i, each := range configured {
		endpoint, err := newEndpoint(each, b.log, attributes...)
		if err != nil {
			b.mistake(fmt.Sprintf("%s.endpoints[%d].url", path, i), err)
			continue
		}
		endpoints = append(endpoints, endpoint)
	}
	b.parts.endpoints = append(b.parts.endpoints, endpoints...)
	made := upstream.NewPool(name, endpoints...)
	b.parts.pools = append(b.parts.pools, made)
	return made
}

func newEndpoint(c config.Endpoint, log *slog.Logger, attributes ...attribute.KeyValue) (*upstream.Endpoint, error) {
	return upstream.NewEndpoint(upstream.EndpointOptions{
		Name: c.Name, URL: c.URL.Reveal(), Header: c.Header(), Timeout: c.Timeout,
		RequestsPerSecond: c.RequestsPerSecond, Burst: c.Burst, Costs: c.Costs, Monthly: c.Monthly, Attributes: attributes, Logger: log,
	})
}

// addChain makes the adapter of a chain, which does as much of a chain's work as its family has so far.
func (b *builder) addChain(path string, c config.Chain) {
	known, _ := b.parts.registry.Chain(c.ID)
	pool := b.pool(path, known.Name, c.Endpoints, attribute.Int64("crossgate.chain.id", int64(c.ID)))
	switch known.Family {
	case chain.EVM:
		made := evm.New(known, upstream.NewRPC(pool))
		b.callers[c.ID] = made.CallAll
		b.parts.sources[c.ID], b.parts.readers[c.ID], b.parts.fees[c.ID] = made, made, made
		b.parts.routers[c.ID], b.parts.simulators[c.ID] = evm.NewRouter(made), evm.NewSimulator(made)
	case chain.SVM:
		made := solana.New(known, upstream.NewRPC(pool))
		b.parts.sources[c.ID], b.parts.readers[c.ID] = made, made
		b.parts.fees[c.ID], b.parts.simulators[c.ID] = made, made
	case chain.TVM:
		made := tron.New(known, upstream.NewRPC(pool))
		b.callers[c.ID] = made.CallAll
		b.parts.sources[c.ID], b.parts.readers[c.ID], b.parts.fees[c.ID] = made, made, made
		b.parts.simulators[c.ID] = tron.NewSimulator(made)
	}
}

// addVenue makes the adapter of a venue for the chains that are read: elsewhere the tokens of a swap are
// not known.
func (b *builder) addVenue(path string, c config.Venue) {
	var pool *upstream.Pool // exchanges have none
	if len(c.Endpoints) > 0 {
		pool = b.pool(path, c.Name, c.Endpoints, attribute.String("crossgate.venue", c.Name))
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
	call, read := b.callers[id]
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
		o.Prices = append(o.Prices, price.DefiLlama(b.pool("prices.defillama", "defillama", service.Endpoints), b.parts.registry))
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
	address := b.config.Cache.Shared.Reveal()
	if address == "" {
		return
	}
	made, err := cache.NewShared(cache.SharedOptions{URL: address, Patience: b.config.Cache.SharedTimeout, Logger: b.log})
	if err != nil {
		b.mistake("cache.shared", err)
		return
	}
	b.parts.shared = made
}

func (p *parts) close() {
	for _, endpoint := range p.endpoints {
		endpoint.Close()
	}
}
