package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/proxy/manage"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/price"
	"crossgate/upstream/solana"
	"crossgate/upstream/tron"
	"crossgate/upstream/venue"
)

// parts are built from a configuration before anything is opened or called.
type parts struct {
	registry  chain.Registry
	chains    map[chain.ID]*chainParts // chains with endpoints
	venues    []quote.Venue
	tokens    *token.Directory
	lists     []publicList
	past      token.PastPriceSource // nil: past prices are unknown
	shelf     tokenShelf            // empty until the store is open
	endpoints []*endpoint
	services  []*service                // of the same endpoints, in the order of the file
	origins   map[string]*upstream.Pool // of passthrough, by the host's name
	shared    *shared.Cache             // nil: replicas share no cache
	stream    *shared.Stream            // Redis stream for the feed, not connected yet; nil: none
}

// service is the pool of endpoints configured for one chain, venue, origin or other service.
type service struct {
	*upstream.Pool
	of  string          // as in endpoint
	rpc *jsonrpc.Client // nil unless the service is a chain
}

type chainParts struct {
	*service
	config     config.Chain
	orders     order.Source
	tokens     token.Reader
	call       caller           // nil: its contracts are not called
	newest     func() time.Time // time of the newest known block; nil if call is
	announcers []follow.Announcer
	swaps      quote.Chain
	manage     interface { // nil: the chain's orders are not managed
		manage.Forecaster
		manage.Settler
	}
	makes crosschain.Chain                                                   // for new orders
	relay func(ctx context.Context, asked []byte) (answer []byte, err error) // nil except on TRON
}

// caller calls contracts of one chain; see venue.Options.
type caller func(context.Context, []chain.ContractCall) ([][]byte, error)

// builder builds the parts of a configuration and collects its mistakes.
type builder struct {
	config   config.Config
	log      *slog.Logger // nil: nothing is logged
	before   *parts       // of the previous configuration; nil: none
	parts    *parts
	mistakes config.Mistakes
}

// build builds the parts of c. It reuses those parts of before, which may be nil, whose configuration is unchanged.
// Bad answers of endpoints go to log, which may be nil if no endpoint will be called.
func build(c config.Config, log *slog.Logger, before *parts) (*parts, error) {
	b := &builder{config: c, log: log, before: before, parts: &parts{
		registry: c.Registry(),
		chains:   make(map[chain.ID]*chainParts),
	}}
	for i, each := range c.Chains {
		b.addChain(fmt.Sprintf("chains[%d]", i), each)
	}
	for i, each := range c.Venues {
		b.addVenue(fmt.Sprintf("venues[%d]", i), each)
	}
	b.addTokens()
	b.parts.origins = make(map[string]*upstream.Pool, len(b.config.Passthrough.Hosts))
	for i, each := range b.config.Passthrough.Hosts {
		path := fmt.Sprintf("passthrough.hosts[%d]", i)
		b.parts.origins[each.Name] = b.service(path+".endpoints", each.Name, originPrefix+each.Name, each.Endpoints,
			attribute.String("crossgate.host", each.Name)).Pool
	}
	b.addEvents()
	if before == nil && c.Cache.Shared.Reveal() != "" { // a running gateway keeps its own
		made, err := SharedCache(c, log)
		if err != nil {
			b.mistake("cache.shared", err)
		}
		b.parts.shared = made
	}
	if len(b.mistakes) > 0 {
		b.parts.close()
		return nil, b.mistakes
	}
	return b.parts, nil
}

func (b *builder) mistake(path string, err error) {
	b.mistakes = append(b.mistakes, b.config.Mistake(path, err.Error()))
}

// service builds the pool of endpoints whose list has a path in the configuration.
func (b *builder) service(path, name, of string, configured []config.Endpoint, attributes ...attribute.KeyValue) *service {
	var endpoints []*upstream.Endpoint
	for i, each := range configured {
		e, err := b.endpoint(of, each, attributes...)
		if err != nil {
			b.mistake(fmt.Sprintf("%s[%d].url", path, i), err)
			continue
		}
		endpoints = append(endpoints, e.Endpoint)
		b.parts.endpoints = append(b.parts.endpoints, e)
	}
	made := &service{Pool: upstream.NewPool(name, endpoints...), of: of}
	b.parts.services = append(b.parts.services, made)
	return made
}

// addChain builds the adapters that exist for the chain's family.
func (b *builder) addChain(path string, c config.Chain) {
	if b.keepChain(c) {
		return
	}
	known, _ := b.parts.registry.Chain(c.ID)
	own := b.service(path+".endpoints", known.Name, c.ID.String(), c.Endpoints, attribute.Int64("crossgate.chain.id", int64(c.ID)))
	rpc, lag := jsonrpc.New(own.Pool), Lag(known.BlockTime)
	own.rpc = rpc
	for _, each := range c.Endpoints {
		if known := rpc.Capabilities(each.Name); known != nil { // the endpoint could be made
			known.SetCosts(each.Costs)
		}
	}
	made := &chainParts{service: own, config: c}
	b.parts.chains[c.ID] = made
	switch known.Family {
	case chain.EVM, chain.TVM:
		rpc.CompareHeads(lag, evm.HeadCall(), evm.LinkCall)
		adapter := evm.New(known, rpc)
		made.orders, made.tokens, made.call, made.newest = adapter, adapter, adapter.CallAll, adapter.Newest
		simulator := swap.NewSimulator(adapter)
		made.manage = simulator
		made.swaps = quote.Chain{Guard: swap.Guard{}, Fees: swap.NewFees(adapter), Simulator: simulator}
		made.makes = crosschain.Chain{Fees: made.swaps.Fees, Charges: simulator.Charges, Runner: simulator}
		if known.Family == chain.TVM {
			made.relay = tron.Relay{Nodes: adapter.Client()}.Answer
			break
		}
		made.announcers, made.swaps.Router = b.announcers(path, known, c.Endpoints), swap.NewRouter(adapter)
		made.makes.Code, made.makes.Forecast = simulator.Code, simulator.Forecast
		made.makes.Approvals, made.makes.Delivers = simulator.Approvals, simulator.Delivers
	case chain.SVM:
		rpc.CompareHeads(lag, solana.HeadCall(), nil)
		adapter := solana.New(known, rpc)
		made.orders, made.tokens, made.manage = adapter, adapter, adapter
		made.swaps = quote.Chain{Guard: solana.Guard{}, Fees: adapter, Simulator: adapter, Payee: adapter.Payee, LookUp: adapter.LookUp}
		made.makes = crosschain.Chain{Fees: adapter, Charges: adapter.Charges, Runner: adapter, Writer: adapter, Signable: adapter.Signable}
	}
	made.makes.IsAlone = len(c.Endpoints) == 1
}

// Lag returns how many blocks an endpoint may lag behind the others before those are preferred, on a chain with a given
// block time.
func Lag(blockTime time.Duration) uint64 {
	const fewest, most = 2, 15 * time.Second // heads may differ by fewest between two responses
	if blockTime <= 0 {
		return fewest
	}
	return max(uint64(most/blockTime), fewest)
}

// keepChain reuses the adapter of the previous configuration if the chain's is unchanged: it has learned which endpoint
// is best, what each accepts in one request and which have proved their chain. It reports whether it did.
func (b *builder) keepChain(c config.Chain) bool {
	if b.before == nil {
		return false
	}
	kept, found := b.before.chains[c.ID]
	if !found || !reflect.DeepEqual(kept.config, c) {
		return false
	}
	for _, each := range b.before.endpoints {
		if each.of == c.ID.String() {
			each.holders.Add(1)
			b.parts.endpoints = append(b.parts.endpoints, each)
		}
	}
	b.parts.chains[c.ID] = kept
	b.parts.services = append(b.parts.services, kept.service)
	return true
}

// SourceOf returns a source that reads a chain through rpc, such as doctor's client of a single endpoint.
func SourceOf(c chain.Chain, rpc *jsonrpc.Client) order.Source {
	if c.Family == chain.SVM {
		return solana.New(c, rpc)
	}
	return evm.New(c, rpc)
}

// addVenue builds the adapter of a venue for the chains that have endpoints: on others a swap's tokens are unknown.
func (b *builder) addVenue(path string, c config.Venue) {
	var pool *upstream.Pool // exchanges have none
	if len(c.Endpoints) > 0 {
		pool = b.service(path+".endpoints", c.Name, c.Name, c.Endpoints, attribute.String("crossgate.venue", c.Name)).Pool
	}
	made, err := venue.New(c.Name, venue.Options{
		Pool: pool, Registry: b.parts.readable(), Key: c.Key.Reveal(), Settings: c.Settings, Contracts: b.contracts, Newest: b.newest,
	})
	if err != nil {
		b.mistake(path, err)
		return
	}
	b.parts.venues = append(b.parts.venues, made)
}

// readable returns the chains that have endpoints.
func (p *parts) readable() chain.Registry {
	var read []chain.Chain
	for id := range p.chains {
		known, _ := p.registry.Chain(id)
		read = append(read, known)
	}
	return chain.NewRegistry(read...)
}

func (b *builder) contracts(ctx context.Context, id chain.ID, calls []chain.ContractCall) ([][]byte, error) {
	read := b.parts.chains[id]
	if read == nil || read.call == nil {
		return nil, fmt.Errorf("chain %d is not read", id)
	}
	return read.call(ctx, calls)
}

// newest returns the time of a chain's newest known block, zero if its contracts are not called.
func (b *builder) newest(id chain.ID) time.Time {
	if read := b.parts.chains[id]; read != nil && read.newest != nil {
		return read.newest()
	}
	return time.Time{}
}

func (b *builder) addTokens() {
	o := token.DirectoryOptions{
		Registry: b.parts.registry,
		Readers:  make(map[chain.ID]token.Reader, len(b.parts.chains)),
		Own:      make(map[token.Key]token.Token),
		Recall:   b.parts.shelf.recall,
		Remember: b.parts.shelf.remember,
		Listed:   b.parts.shelf.listed,
	}
	for id, each := range b.parts.chains {
		o.Readers[id] = each.tokens
	}
	if endpoints := b.config.Prices.DefiLlama; endpoints != nil {
		pool := b.service("prices.defillama", "defillama", "defillama", endpoints).Pool
		o.Prices = append(o.Prices, price.DefiLlama(pool, b.parts.registry))
		b.parts.past = price.DefiLlamaPast(pool, b.parts.registry)
	}
	if b.config.Prices.Feeds {
		o.Prices = append(o.Prices, price.Feeds(b.contracts, b.parts.readable()))
	}
	for _, own := range b.config.Tokens.Own {
		o.Own[token.Key{Chain: own.Chain, Address: own.Address}] = token.Token{
			Decimals: own.Decimals, Name: own.Name, Symbol: own.Symbol,
		}
	}
	b.parts.tokens = token.NewDirectory(o)
	for i, each := range b.config.Tokens.Lists {
		name := "list-" + each.Name
		b.parts.lists = append(b.parts.lists, publicList{each.Name, b.service(fmt.Sprintf("tokens.lists[%d].endpoints", i), name, name, each.Endpoints).Pool})
	}
}

// SharedCache returns the cache that replicas share, which the configuration must set.
func SharedCache(config config.Config, log *slog.Logger) (*shared.Cache, error) {
	return shared.New(shared.Options{URL: config.Cache.Shared.Reveal(), CAFile: config.Cache.SharedCAFile, Logger: log})
}

// announcers returns the WebSocket subscriptions to heads that an EVM chain's endpoints offer.
func (b *builder) announcers(path string, known chain.Chain, configured []config.Endpoint) []follow.Announcer {
	var made []follow.Announcer
	for i, each := range configured {
		if each.WebSocket.Reveal() == "" {
			continue
		}
		heads, err := evm.NewHeadSubscription(known, evm.HeadSubscriptionOptions{
			Name: each.Name, URL: each.WebSocket.Reveal(), Header: each.Header(), Timeout: each.Timeout,
		})
		if err != nil {
			b.mistake(fmt.Sprintf("%s.endpoints[%d].websocket", path, i), err)
			continue
		}
		made = append(made, heads.Announce)
	}
	return made
}
