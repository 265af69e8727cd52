package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/index"
	"crossgate/quote"
	"crossgate/store"
	"crossgate/token"
	"crossgate/upstream"
)

// Diagnosis is what was found out about everything that a configuration names.
type Diagnosis struct {
	Chains   []ChainDiagnosis   `json:"chains"`
	Accounts []AccountDiagnosis `json:"accounts"`
	Services []ServiceDiagnosis `json:"services"` // venues, prices, the database, the shared cache
}

// ChainDiagnosis is about one chain and its endpoints.
type ChainDiagnosis struct {
	Chain     chain.ID            `json:"chain"`
	Name      string              `json:"name"`
	Endpoints []EndpointDiagnosis `json:"endpoints"`
	Unasked   Load                `json:"unasked"` // following the chain while nobody asks about it
	Asked     Load                `json:"asked"`   // while its orders are asked for all the time
	Verdict   []string            `json:"verdict"` // in words
}

// Load is what following a chain takes.
type Load struct {
	CallsPerDay   uint64 `json:"callsPerDay"`
	CallsPerMonth uint64 `json:"callsPerMonth"`
	// Units are what the calls cost: by the endpoints' own costs, elsewhere 60 for eth_getLogs and 20 for any other.
	UnitsPerMonth uint64 `json:"unitsPerMonth"`
	Monthly       uint64 `json:"monthly"` // that all plans of the chain's endpoints have; 0: one of them has none
}

// EndpointDiagnosis is about one endpoint of a chain.
type EndpointDiagnosis struct {
	Identity
	*Findings
	Shortcomings []string `json:"shortcomings"` // what it cannot do though others can; the gateway works with it
	UsualSeconds float64  `json:"usualSeconds"` // the median time of an answer
	Calls        int64    `json:"calls"`        // that this took
}

// ServiceDiagnosis is about anything else.
type ServiceDiagnosis struct {
	Name  string   `json:"name"`
	Said  string   `json:"said"`
	Wrong []string `json:"wrong"`
}

// doctorPatience bounds what is asked of one endpoint, waiting for its rate limit included.
const doctorPatience = time.Minute

// Diagnose asks every endpoint of c what it can do, the venues for a price with their keys, and the database and the
// shared cache whether they let us in. report hears of every endpoint, from several goroutines.
func Diagnose(ctx context.Context, c config.Config, report func(index.Progress)) (Diagnosis, error) {
	p, err := build(c, nil, nil)
	if err != nil {
		return Diagnosis{}, err
	}
	defer p.close()
	d := Diagnosis{Chains: make([]ChainDiagnosis, len(c.Chains)), Services: make([]ServiceDiagnosis, len(c.Venues))}
	anchors := knownAnchors(ctx, c)
	var working sync.WaitGroup
	for i, each := range c.Chains {
		working.Go(func() { d.Chains[i] = p.diagnoseChain(ctx, c, each, anchors[each.ID], report) })
	}
	for i, each := range c.Venues {
		working.Go(func() { d.Services[i] = p.diagnoseVenue(ctx, each, i) })
	}
	working.Wait()
	if service := c.Prices.DefiLlama; service != nil {
		var calls identification
		calls.add("defillama", service.Endpoints, identifyService)
		answered, _ := calls.run(ctx)
		for _, each := range answered {
			d.Services = append(d.Services, ServiceDiagnosis{"prices " + each.Endpoint, each.Said, each.Wrong})
		}
	}
	pace := p.indexOptions(c.Index, nil, nil).Pace
	d.Accounts = diagnoseAccounts(p.registry, c.Chains, func(each chain.Chain) time.Duration { return pace.Of(each, index.Unasked) })
	d.Services = append(d.Services, diagnoseStore(ctx, c.Index))
	if p.shared != nil {
		d.Services = append(d.Services, diagnoseShared(ctx, p.shared))
	}
	return d, ctx.Err()
}

// Wrong counts what differs from the configuration or cannot be used.
func (d Diagnosis) Wrong() (wrong, all int) {
	count := func(lines []string) {
		all++
		if len(lines) > 0 {
			wrong++
		}
	}
	for _, c := range d.Chains {
		for _, e := range c.Endpoints {
			count(e.Identity.Wrong)
		}
	}
	for _, s := range d.Services {
		count(s.Wrong)
	}
	return wrong, all
}

func (p *parts) diagnoseChain(
	ctx context.Context, c config.Config, own config.Chain, anchor store.Anchor, report func(index.Progress),
) ChainDiagnosis {
	known, _ := p.registry.Chain(own.ID)
	d := ChainDiagnosis{Chain: own.ID, Name: known.Name, Endpoints: make([]EndpointDiagnosis, len(own.Endpoints))}
	of := fmt.Sprintf("%s (%d)", known.Name, known.ID)
	var mu sync.Mutex
	done := index.Progress{Chain: own.ID, Total: uint64(len(own.Endpoints))}
	var asking sync.WaitGroup
	for i, each := range own.Endpoints {
		asking.Go(func() {
			d.Endpoints[i] = diagnoseEndpoint(ctx, known, of, each, anchor)
			mu.Lock()
			defer mu.Unlock()
			done.Read++
			done.Events += uint64(d.Endpoints[i].Calls)
			done.Done = done.Read == done.Total
			report(done)
		})
	}
	asking.Wait()
	identities := make([]Identity, len(d.Endpoints))
	for i, e := range d.Endpoints {
		identities[i] = e.Identity
	}
	compareHeads(identities, of, c.LagOf(own, known.BlockTime))
	compareGenesis(identities)
	compareURLs(identities, own.Endpoints)
	for i := range identities {
		d.Endpoints[i].Identity = identities[i]
	}
	pace := p.indexOptions(c.Index, nil, nil).Pace
	d.Unasked, d.Asked = loadOf(known, own, pace.Of(known, index.Unasked)), loadOf(known, own, pace.Of(known, index.AskedAboutOrders))
	d.Verdict = append(d.verdict(known), sharedFates(own)...)
	return d
}

// compareURLs reports endpoints that are the same as another one: they confirm nothing and fail together.
func compareURLs(identities []Identity, endpoints []config.Endpoint) {
	for i, each := range endpoints {
		first := slices.IndexFunc(endpoints, func(other config.Endpoint) bool { return other.URL.Reveal() == each.URL.Reveal() })
		if first < i {
			identities[i].Wrong = append(identities[i].Wrong, "has the URL of "+endpoints[first].Name)
		}
	}
}

func diagnoseEndpoint(ctx context.Context, c chain.Chain, of string, each config.Endpoint, anchor store.Anchor) EndpointDiagnosis {
	d := EndpointDiagnosis{Identity: Identity{Of: of, Endpoint: each.Name}}
	p, err := newProber(c, each)
	if err != nil {
		d.Identity.Wrong = []string{err.Error()}
		return d
	}
	defer p.endpoint.Close()
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	if err := identifyChain(ctx, c, p.endpoint, &d.Identity); err != nil {
		d.Identity.Wrong = append(d.Identity.Wrong, err.Error())
	}
	if c.Family != chain.SVM && d.Head > 0 {
		p.run(ctx, d.Head)
		d.Findings = &p.found
		for _, check := range []func(context.Context) string{p.checkProtocol, p.checkClock} {
			if wrong := check(ctx); wrong != "" {
				d.Identity.Wrong = append(d.Identity.Wrong, wrong)
			}
		}
		if p.found.LogRefusal != "" {
			d.Identity.Wrong = append(d.Identity.Wrong, "lists no logs: "+p.found.LogRefusal)
		}
		d.Shortcomings = p.shortcomings()
	}
	if c.Family == chain.SVM && d.First > 1 {
		d.Shortcomings = append(d.Shortcomings, fmt.Sprintf("pruned: blocks are kept of the newest %d slots", d.Head-min(d.First, d.Head)))
	}
	if d.Head > 0 {
		wrong, short := checkBranch(ctx, c, p.endpoint, anchor)
		d.add(wrong, short)
	}
	usual := p.made.usual()
	d.UsualSeconds = usual.Seconds()
	if usual >= slow {
		d.Shortcomings = append(d.Shortcomings, fmt.Sprintf("slow: an answer takes %.1f s", d.UsualSeconds))
	}
	wrong, short := clearText(ctx, each, http.DefaultTransport)
	d.Identity.Wrong, d.Shortcomings = append(d.Identity.Wrong, wrong...), append(d.Shortcomings, short...)
	d.Calls = p.made.calls.Load()
	return d
}

// add adds to what is wrong and what the endpoint cannot do; empty texts are nothing.
func (d *EndpointDiagnosis) add(wrong, short string) {
	if wrong != "" {
		d.Identity.Wrong = append(d.Identity.Wrong, wrong)
	}
	if short != "" {
		d.Shortcomings = append(d.Shortcomings, short)
	}
}

// loadOf projects what following a chain takes when it is looked at so often.
func loadOf(c chain.Chain, own config.Chain, every time.Duration) Load {
	const days = 30
	p := index.Project(c, every, len(own.Endpoints))
	costs := map[string]int{"eth_getLogs": 60, "*": 20}
	l := Load{CallsPerDay: uint64(p.Total()), CallsPerMonth: uint64(days * p.Total())}
	for i, e := range own.Endpoints {
		if i == 0 && e.Costs != nil {
			costs = e.Costs
		}
		if e.Monthly == 0 {
			l.Monthly = 0
			break
		}
		l.Monthly += uint64(e.Monthly)
	}
	l.UnitsPerMonth = uint64(days * p.Units(costs))
	return l
}

// verdict says in words what the endpoints of a chain are good for together.
func (d *ChainDiagnosis) verdict(c chain.Chain) (said []string) {
	serving, highest, best := 0, uint64(0), Findings{}
	for _, e := range d.Endpoints {
		if e.Head == 0 {
			continue
		}
		serving++
		highest = max(highest, e.Head)
		if can := e.Findings; can != nil {
			best.LogSpan, best.LogDepth = max(best.LogSpan, can.LogSpan), max(best.LogDepth, can.LogDepth)
			best.StateDepth, best.Simulates = max(best.StateDepth, can.StateDepth), best.Simulates || can.Simulates
		}
	}
	say := func(is bool, text string) {
		if is {
			said = append(said, text)
		}
	}
	if serving == 0 {
		return []string{"not followed: no endpoint serves this chain"}
	}
	say(serving == 1, "nothing that the one endpoint says can be compared with another")
	if c.Family != chain.SVM {
		if best.LogSpan == 0 {
			return append(said, "not followed: no endpoint lists logs")
		}
		say(isShallow(best.LogDepth, triedDepths, highest) && best.LogDepth < highest/2,
			fmt.Sprintf("a backfill may end early: logs were had from %d blocks ago at most", best.LogDepth))
		say(isShallow(best.StateDepth, triedStates, highest), "older orders are found by their logs alone: no endpoint has old state")
		say(!best.Simulates && c.Family == chain.EVM, "swaps through venues' own routers are refused: no endpoint has eth_simulateV1")
	}
	if l := d.Unasked; l.Monthly > 0 {
		say(l.UnitsPerMonth > l.Monthly, fmt.Sprintf("the plans of its endpoints have %d units a month, following takes %d: it is looked at less often", l.Monthly, l.UnitsPerMonth))
	}
	if len(said) == 0 {
		said = []string{"good"}
	}
	return said
}

// diagnoseVenue asks a venue for a price of the coin in USDC, with its key.
func (p *parts) diagnoseVenue(ctx context.Context, own config.Venue, at int) ServiceDiagnosis {
	d := ServiceDiagnosis{Name: "venue " + own.Name}
	if len(own.Endpoints) == 0 {
		d.Said = "read from the chains"
		return d
	}
	swap, found := p.exampleSwap(p.venues[at].Profile())
	if !found {
		d.Said = "serves none of the configured chains"
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	_, err := p.venues[at].Quote(ctx, swap)
	failed, isFailure := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil:
		d.Said = "quotes"
	case errors.Is(err, quote.ErrNoRoute):
		d.Said = "answers, without a route for the example swap"
	case isFailure && (failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden):
		d.Wrong = []string{fmt.Sprintf("refuses us (HTTP %d): its key is missing or wrong", failed.Status)}
	case isFailure:
		d.Wrong = []string{err.Error()}
	default:
		d.Said = "answers: " + err.Error()
	}
	return d
}

// exampleSwap is a swap of a little of the coin of the first chain that is read and has USDC.
func (p *parts) exampleSwap(profile quote.Profile) (quote.Swap, bool) {
	for _, c := range p.registry.All() {
		usdc, known := token.WellKnown(c.ID, "USDC")
		if _, served := profile.Routers[c.ID]; !served || !known || p.chains[c.ID] == nil {
			continue
		}
		return quote.Example(c, usdc), true
	}
	return quote.Swap{}, false
}

func diagnoseStore(ctx context.Context, c config.Index) ServiceDiagnosis {
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	d := ServiceDiagnosis{Name: "database", Said: "usable"}
	if err := (store.Location{Postgres: c.Postgres.Reveal(), Path: c.Path}).Inspect(ctx); err != nil {
		d.Said, d.Wrong = "", []string{err.Error()}
	}
	return d
}

// diagnoseShared connects to the shared cache, for a few seconds at most.
func diagnoseShared(ctx context.Context, c *shared.Cache) ServiceDiagnosis {
	const patience, interval = 5 * time.Second, 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		state, ok := c.Status()
		select {
		case <-tick.C:
			if ok {
				cancel()
				<-ran
				return ServiceDiagnosis{Name: "shared cache", Said: state}
			}
		case <-ctx.Done():
			<-ran
			return ServiceDiagnosis{Name: "shared cache", Wrong: []string{state}}
		}
	}
}
