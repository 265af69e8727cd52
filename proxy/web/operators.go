package web

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/shadow"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/webhook"
)

// Condition is the state of everything that a gateway needs.
type Condition struct {
	Release  string // the running version
	Started  time.Time
	Store    string // why the order store is unavailable; empty if it is available
	Chains   []ChainCondition
	Unknown  []UnknownChain // ascending
	Services []Service
	Venues   []Venue
	Webhooks []Webhook

	Unasked, Asked Load // totals of all chains
}

// UnknownChain is a chain that orders reference but the gateway does not know.
type UnknownChain struct {
	Chain  chain.ID
	Orders uint64
}

// ChainCondition says how far the orders of a chain are indexed.
type ChainCondition struct {
	order.ChainBasis
	Behind      time.Duration
	Late        bool   // Behind exceeds the configured threshold
	Corrections uint64 // events that second readings added or removed since the start

	Unasked Load // following the chain while no client asks about it
	Asked   Load // following the chain while clients ask about it all the time

	Announcers int    // endpoints configured to announce heads by WebSocket
	Announcing int    // number of them announcing to this replica now
	Announced  uint64 // newest block announced
}

// Load is the projected cost of following a chain.
type Load struct {
	CallsPerDay   uint64 `json:"callsPerDay"`
	CallsPerMonth uint64 `json:"callsPerMonth"`
	// UnitsPerMonth are by the costs of the chain's first endpoint. Without any, a call is one unit if all endpoints
	// have plans, or else eth_getLogs is 60 and any other call 20.
	UnitsPerMonth uint64 `json:"unitsPerMonth"`
	Monthly       uint64 `json:"monthly"` // total of the plans of the chain's endpoints in these units; 0 if one has none
	// USDPerMonth is the cost of the units at the price of the first endpoint that has one; for a sum, if each has one.
	// Nil means unknown.
	USDPerMonth *float64 `json:"usdPerMonth,omitempty"`
}

// Service is a chain, a venue or a price service with its endpoints.
type Service struct {
	Name      string
	Of        string // its name in commands
	Endpoints []Endpoint
}

// Endpoint is the state of an endpoint.
type Endpoint struct {
	upstream.Health
	Limits []string // missing features, found or declared, in words
}

// Venue is a venue's record in comparisons.
type Venue struct{ quote.Record }

// Webhook is a subscriber to events and the state of its deliveries.
type Webhook struct{ *webhook.Hook }

// Path returns the path prefix of operators' commands to the webhook.
func (h Webhook) Path() string { return "/webhooks/" + url.PathEscape(h.Name) + "/" }

// Failing returns since when the webhook has been failing, zero if it is not.
func (h Webhook) Failing() (since time.Time) {
	if h.FailingSince > 0 {
		since = time.Unix(h.FailingSince, 0)
	}
	return since
}

// Served is a server's counts since its start.
type Served struct {
	Cache       cache.Stats
	Hosts       []Counted        // pass-through requests by host
	Compared    []Counted        // answers compared with an origin's, by route
	Differences []shadow.Example // gravest first
}

// Operators is the content of the status page.
type Operators struct {
	Condition
	Unready string // why the server is not ready; empty if it is
	Now     time.Time
	Served

	History       []Line // the last hour
	TakesCommands bool   // a token for operators' commands is configured
	Notice        Notice // result of a command; empty if none was given
}

// Notice is the result of an operator's command.
type Notice struct {
	Text  string
	IsBad bool
}

// Counted is how often something had an outcome.
type Counted struct {
	Of, Outcome string
	Times       uint64
}

// Line is a time series at equal intervals, oldest value first. Values that are not finite are unknown.
type Line struct {
	Name, Unit string
	Values     []float64
}

// lineHeight is the height of a line's picture, in which each value is one step to the right.
const lineHeight = 24

// Newest formats the last value.
func (l Line) Newest() string { return l.text(l.Values[len(l.Values)-1]) }

// Most formats the greatest known value.
func (l Line) Most() string { return l.text(l.most()) }

func (l Line) text(value float64) string {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return "–"
	}
	return Significant(big.NewRat(int64(math.Round(10*value)), 10)) + l.Unit
}

func (l Line) most() float64 {
	most := math.Inf(-1)
	for _, value := range l.Values {
		if !math.IsNaN(value) {
			most = max(most, value)
		}
	}
	return most
}

// Width returns the width of the line's picture.
func (l Line) Width() int { return len(l.Values) - 1 }

// Paths returns the points of SVG polylines, one for each stretch of known values.
func (l Line) Paths() (paths []string) {
	scale := lineHeight / max(l.most(), 1)
	var path strings.Builder
	for i, value := range l.Values {
		if isKnown := !math.IsNaN(value) && !math.IsInf(value, 0); isKnown {
			fmt.Fprintf(&path, "%d,%.1f ", i, lineHeight-scale*value)
			continue
		}
		paths, path = append(paths, path.String()), strings.Builder{}
	}
	return slices.DeleteFunc(append(paths, path.String()), func(path string) bool { return path == "" })
}

type operatorsView struct {
	Operators
	Trouble []string
}

const failing = "failing"

// Path returns the path prefix of commands to an endpoint of the service.
func (s Service) Path(endpoint string) string {
	return "/endpoints/" + url.PathEscape(s.Of) + "/" + url.PathEscape(endpoint) + "/"
}

type commandButton struct{ Path, Text, Endpoint string }

func buttonOf(path, command, text, endpoint string) commandButton {
	return commandButton{path + command, text, endpoint}
}

// Operators writes the status page.
func (p *Pages) Operators(to io.Writer, o Operators) error {
	byWins := func(a, b Venue) int { return cmp.Compare(b.Won, a.Won) }
	o.Venues = slices.SortedStableFunc(slices.Values(o.Venues), byWins)
	v := operatorsView{Operators: o, Trouble: p.trouble(o)}
	return p.Write(to, "operators", View{Title: "Status", At: "operators", Now: o.Now, Page: v})
}

// Standing describes a venue by its counts.
func (v Venue) Standing() string {
	switch {
	case !v.FailingSince.IsZero():
		return failing
	case v.Won+v.Outbid > 0:
		return "quotes"
	case v.Refused+v.Silent > 0:
		return "gave no quote yet"
	}
	return "not asked yet"
}

// Tone returns the CSS class of the venue's state.
func (v Venue) Tone() string {
	return map[string]string{failing: "bad", "quotes": "good", "gave no quote yet": "moving", "not asked yet": "quiet"}[v.Standing()]
}

// Tone returns the CSS class of the endpoint's state.
func (e Endpoint) Tone() string {
	switch {
	case !e.CanBeAsked:
		return "bad"
	case e.Standing != "ready":
		return "moving"
	}
	return "good"
}

// Budget describes how following a chain compares with the plans of its endpoints.
func (c ChainCondition) Budget() string {
	switch monthly := c.Unasked.Monthly; {
	case monthly == 0:
		return "no plan"
	case c.Unasked.UnitsPerMonth > monthly:
		return "exceeds the plans"
	case c.Asked.UnitsPerMonth > monthly:
		return "exceeds the plans when asked all the time"
	}
	return "within the plans"
}

func (p *Pages) trouble(o Operators) (all []string) {
	if o.Unready != "" {
		all = append(all, "not ready: "+o.Unready)
	}
	if o.Store != "" {
		all = append(all, "order store unavailable: "+o.Store)
	}
	for _, c := range o.Chains {
		if c.Late {
			all = append(all, p.ChainName(c.Chain)+" is behind")
		}
		if c.Stale > 0 {
			all = append(all, "newest block of "+p.ChainName(c.Chain)+" is "+Lasting(o.Now.Sub(time.Unix(int64(c.Stale), 0)))+" old")
		}
		if c.Announcing > 0 && c.Announcing < c.Announcers {
			all = append(all, fmt.Sprintf("heads of %s are announced by %d of %s", p.ChainName(c.Chain), c.Announcing, Plural(c.Announcers, "endpoint")))
		}
		if c.Quarantined.Count > 0 {
			all = append(all, Plural(c.Quarantined.Count, "block")+" of "+p.ChainName(c.Chain)+" in quarantine")
		}
	}
	for _, c := range o.Unknown {
		all = append(all, fmt.Sprintf("chain %d is not known; orders that name it: %s; add it to the configuration", c.Chain, Count(c.Orders)))
	}
	for _, s := range o.Services {
		for _, e := range s.Endpoints {
			if e.CanBeAsked {
				continue
			}
			all = append(all, "endpoint "+e.Endpoint+" of "+s.Name+" is "+e.Standing)
		}
	}
	for _, v := range o.Venues {
		if !v.FailingSince.IsZero() {
			all = append(all, "venue "+v.Name+" has given nothing but failures for "+Lasting(o.Now.Sub(v.FailingSince)))
		}
	}
	for _, h := range o.Webhooks {
		if since := h.Failing(); !since.IsZero() {
			all = append(all, "deliveries to webhook "+h.Name+" have failed for "+Lasting(o.Now.Sub(since)))
		}
	}
	return all
}

// hitRatio formats the share of lookups answered from the cache in percent, a dash before the first.
func hitRatio(c cache.Stats) string {
	if lookups := c.Hits + c.Stales + c.Misses; lookups > 0 {
		return fmt.Sprintf("%.1f %%", 100*float64(c.Hits+c.Stales)/float64(lookups))
	}
	return "–"
}

// Dollars formats an amount in USD, with cents below 100, a dash if unknown.
func Dollars(usd *float64) string {
	switch {
	case usd == nil:
		return "–"
	case *usd < 100:
		return fmt.Sprintf("$%.2f", *usd)
	}
	return "$" + Count(uint64(*usd+0.5))
}

// Count formats a number with commas between thousands.
func Count(n uint64) string { return Grouped(strconv.FormatUint(n, 10)) }
