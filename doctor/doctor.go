// Package doctor calls every service in a configuration and reports mistakes and limits: endpoints of chains, venues
// and their keys, price services, token lists, origins, the database, the shared cache and the stream of events.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/order/audit"
	"crossgate/proxy/web"
	"crossgate/store"
	"crossgate/upstream/jsonrpc"
)

// Diagnosis is the report on every service in a configuration.
type Diagnosis struct {
	Chains   []Chain   `json:"chains"`
	Services []Service `json:"services"` // venues, prices, token lists, origins, the database, the shared cache, the event stream
}

// Chain is the report on one chain and its endpoints.
type Chain struct {
	Chain     chain.ID   `json:"chain"`
	Name      string     `json:"name"`
	Endpoints []Endpoint `json:"endpoints"`
	Unasked   web.Load   `json:"unasked"` // load of following the chain while clients do not request its orders
	Asked     web.Load   `json:"asked"`   // load while they request them all the time
	Verdict   []string   `json:"verdict"` // in words
}

// Endpoint is the report on one endpoint of a chain.
type Endpoint struct {
	Endpoint     string         `json:"endpoint"`
	Head         uint64         `json:"head"`         // newest block of its chain; zero if unknown
	Genesis      string         `json:"genesis"`      // hash of the chain's first block; empty if unknown
	Said         string         `json:"said"`         // its answer in words; empty if unusable
	Wrong        []string       `json:"wrong"`        // differences from the configuration
	Limits       jsonrpc.Limits `json:"limits"`       // found by refusals
	Shortcomings []string       `json:"shortcomings"` // limits and other weaknesses, in words
}

// Service is the report on anything else.
type Service struct {
	Name  string   `json:"name"`
	Said  string   `json:"said"`
	Wrong []string `json:"wrong"`
}

const (
	// endpointLimit bounds the time for the calls to one endpoint of a chain, including waits for its rate limit.
	endpointLimit = time.Minute
	// serviceLimit bounds the time for the calls to anything else.
	serviceLimit = 15 * time.Second
)

// Diagnose probes the abilities of every endpoint of c, requests prices from the venues with their keys, and checks
// that the database and the shared cache are usable. It calls report with the progress of each chain, concurrently.
func Diagnose(ctx context.Context, c config.Config, report func(audit.Progress)) (Diagnosis, error) {
	if err := gateway.Check(c); err != nil {
		return Diagnosis{}, err
	}
	d := Diagnosis{Chains: make([]Chain, len(c.Chains)), Services: make([]Service, len(c.Venues))}
	soon, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	anchors, _ := gateway.Database(c).Anchors(soon) // none where the database cannot be read, which is reported below
	var working sync.WaitGroup
	for i, each := range c.Chains {
		working.Go(func() { d.Chains[i] = diagnoseChain(ctx, c, each, anchors[each.ID], report) })
	}
	for i, each := range c.Venues {
		working.Go(func() { d.Services[i] = askVenue(each).report(ctx, c, "venue "+each.Name, each.Endpoints...) })
	}
	working.Wait()
	add := func(check checkup, name string, endpoints ...config.Endpoint) {
		d.Services = append(d.Services, check.report(ctx, c, name, endpoints...))
	}
	addAll := func(check checkup, kind string, endpoints []config.Endpoint) {
		for _, each := range endpoints {
			add(check, kind+" "+each.Name, each)
		}
	}
	addAll(askPrices, "prices", c.Prices.DefiLlama)
	for _, each := range c.Tokens.Lists {
		addAll(askList, "token list", each.Endpoints)
	}
	for _, each := range c.Passthrough.Hosts {
		addAll(askOrigin, "origin", each.Endpoints)
	}
	add(inspectDatabase, "database")
	if c.Cache.Shared.Reveal() != "" {
		add(askShared, "shared cache")
	}
	if c.Events.Redis.Reveal() != "" {
		add(askStream, "event stream")
	}
	return d, ctx.Err()
}

// Wrong returns how many of all endpoints and services differ from the configuration or are unusable.
func (d Diagnosis) Wrong() (wrong, all int) {
	count := func(lines []string) {
		all++
		if len(lines) > 0 {
			wrong++
		}
	}
	for _, c := range d.Chains {
		for _, e := range c.Endpoints {
			count(e.Wrong)
		}
	}
	for _, s := range d.Services {
		count(s.Wrong)
	}
	return wrong, all
}

func diagnoseChain(ctx context.Context, c config.Config, own config.Chain, anchor store.Anchor, report func(audit.Progress)) Chain {
	known, _ := c.Registry().Chain(own.ID)
	d := Chain{Chain: own.ID, Name: known.Name, Endpoints: make([]Endpoint, len(own.Endpoints))}
	var mu sync.Mutex
	done := audit.Progress{Chain: own.ID, Total: uint64(len(own.Endpoints))}
	var asking sync.WaitGroup
	for i, each := range own.Endpoints {
		asking.Go(func() {
			d.Endpoints[i] = diagnoseEndpoint(ctx, known, each, anchor)
			mu.Lock()
			defer mu.Unlock()
			done.Read++
			done.Done = done.Read == done.Total
			report(done)
		})
	}
	asking.Wait()
	compareHeads(d.Endpoints, gateway.Lag(known.BlockTime))
	compareGenesis(d.Endpoints)
	compareURLs(d.Endpoints, own.Endpoints)
	d.Unasked, d.Asked = gateway.Loads(known, own, c.Index)
	d.Verdict = d.verdict(known)
	return d
}

func diagnoseEndpoint(ctx context.Context, c chain.Chain, own config.Endpoint, anchor store.Anchor) Endpoint {
	d := Endpoint{Endpoint: own.Name}
	p, err := newProber(c, own)
	if err != nil {
		d.Wrong = []string{err.Error()}
		return d
	}
	defer p.endpoint.Close()
	ctx, cancel := context.WithTimeout(ctx, endpointLimit)
	defer cancel()
	if err := p.identify(ctx, &d); err != nil {
		d.wrong("%v", err)
	}
	if d.Head > 0 {
		p.probe(ctx, &d)
		p.checkBranch(ctx, &d, anchor)
	}
	d.Shortcomings = slices.Concat(gateway.LimitsInWords(d.Limits), d.Shortcomings)
	if usual := p.usual(); usual >= slow {
		d.short("slow: an answer takes %.1f s", usual.Seconds())
	}
	checkClearText(&d, own)
	return d
}

func (d *Endpoint) wrong(form string, values ...any) {
	d.Wrong = append(d.Wrong, fmt.Sprintf(form, values...))
}

func (d *Endpoint) short(form string, values ...any) {
	d.Shortcomings = append(d.Shortcomings, fmt.Sprintf(form, values...))
}

// compareHeads reports endpoints with a head more than most blocks away from the median.
func compareHeads(endpoints []Endpoint, most uint64) {
	var heads []uint64
	for _, e := range endpoints {
		if e.Head > 0 {
			heads = append(heads, e.Head)
		}
	}
	if len(heads) == 0 {
		return
	}
	slices.Sort(heads)
	usual := heads[len(heads)/2]
	for i := range endpoints {
		switch e := &endpoints[i]; {
		case e.Head == 0:
		case e.Head+most < usual:
			e.wrong("%d blocks behind the others", usual-e.Head)
		case e.Head > usual+most:
			e.wrong("%d blocks ahead of the others", e.Head-usual)
		}
	}
}

// compareGenesis reports endpoints whose first block differs from the most frequent one, or, in a tie, from the
// earliest endpoint's.
func compareGenesis(endpoints []Endpoint) {
	votes := make(map[string]int)
	for _, e := range endpoints {
		votes[e.Genesis]++
	}
	usual := Endpoint{}
	for _, e := range endpoints {
		if e.Genesis != "" && (usual.Genesis == "" || votes[e.Genesis] > votes[usual.Genesis]) {
			usual = e
		}
	}
	for i := range endpoints {
		if e := &endpoints[i]; e.Genesis != "" && e.Genesis != usual.Genesis {
			e.wrong("its chain begins with block %.10s…, that of %s with %.10s…", e.Genesis, usual.Endpoint, usual.Genesis)
		}
	}
}

// compareURLs reports endpoints with the URL of an earlier one: they confirm nothing and fail together.
func compareURLs(endpoints []Endpoint, own []config.Endpoint) {
	for i, each := range own {
		first := slices.IndexFunc(own, func(other config.Endpoint) bool { return other.URL.Reveal() == each.URL.Reveal() })
		if first < i {
			endpoints[i].wrong("has the URL of %s", own[first].Name)
		}
	}
}

// verdict describes in words what the endpoints of a chain can do together.
func (d *Chain) verdict(c chain.Chain) (said []string) {
	var serving []Endpoint
	for _, e := range d.Endpoints {
		if e.Head > 0 {
			serving = append(serving, e)
		}
	}
	if len(serving) == 0 {
		return []string{"not followed: no endpoint serves this chain"}
	}
	say := func(is bool, text string) {
		if is {
			said = append(said, text)
		}
	}
	all := func(lacks func(jsonrpc.Limits) bool) bool {
		return !slices.ContainsFunc(serving, func(e Endpoint) bool { return !lacks(e.Limits) })
	}
	shallow := func(part string) bool {
		return all(func(l jsonrpc.Limits) bool { _, is := l.Depths[part]; return is })
	}
	say(len(serving) == 1, "one endpoint: what it says cannot be compared with another")
	say(all(lacking("eth_getLogs")), "not followed: no endpoint lists logs")
	say(shallow("logs"), "a backfill may end early: no endpoint has old logs")
	say(shallow("state"), "older orders are found by their logs alone: no endpoint has old state")
	say(c.Family == chain.EVM && all(lacking(simulation)), "swaps through venues' own routers are refused: no endpoint has eth_simulateV1")
	if l := d.Unasked; l.Monthly > 0 {
		say(l.UnitsPerMonth > l.Monthly, fmt.Sprintf(
			"the plans of its endpoints have %s units a month, following takes %s: it is looked at less often", web.Count(l.Monthly), web.Count(l.UnitsPerMonth)))
	}
	if len(said) == 0 {
		said = []string{"good"}
	}
	return said
}

func lacking(what string) func(jsonrpc.Limits) bool {
	return func(l jsonrpc.Limits) bool { return slices.Contains(l.Lacks, what) }
}

var errNotJSON = errors.New("it returned no number")
