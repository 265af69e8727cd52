package web

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
)

// Condition is how everything is that a gateway needs, as far as the gateway's parts tell.
type Condition struct {
	Store    string // why it cannot be read; empty: it answers
	Chains   []ChainCondition
	Services []Service
	Venues   []Venue
}

// ChainCondition is how far the orders of a chain have been read.
type ChainCondition struct {
	Chain   chain.ID
	Head    uint64 // newest block that the chain told of; 0: none so far
	Indexed uint64 // newest block whose events are kept; 0: none so far
	Lag     time.Duration
	Late    bool // more than is usual
}

// Service is what several endpoints can do: a chain, a venue, prices.
type Service struct {
	Name      string
	Endpoints []Endpoint
}

// Endpoint is how one URL does.
type Endpoint struct {
	Name      string
	Standing  string
	OK        bool // it would be asked at once
	Preferred bool
	Breaker   string
	IsForced  bool          // an operator holds its breaker in that state
	Head      string        // blocks from the others' head, with a sign; empty where nothing compares them
	Usual     time.Duration // nine of ten recent calls ended within it; zero: too few are known
	Failing   float64       // share of recent calls that failed
	Left      float64       // requests that our own rate allows at once
	IsLimited bool          // there is such a rate
	Wait      time.Duration // until it may be asked again
	Reason    string        // of its latest failure; empty: there was none
	Failed    time.Time     // when that was
}

// Venue is what became of a venue in comparisons.
type Venue struct {
	Name                                  string
	Won, Outbid, Refused, Silent, LeftOut uint64
	Took                                  time.Duration // its latest quote; zero: none
	Reason                                string        // of its latest refusal; empty: there was none
	At                                    time.Time     // of that
}

// CacheCounts are the counts of the cache of answers since the start.
type CacheCounts struct{ Hits, Stales, Misses, Loads, Failed, StaleIfErrors, Remotes, Shed, Dropped uint64 }

// Operators is what the page of operators is made of.
type Operators struct {
	Condition
	Unready string // why requests should go elsewhere; empty: they are welcome
	Cache   CacheCounts
	Now     time.Time
}

type operatorsView struct {
	Operators
	Trouble  []string // what is not well, in words
	Chains   []chainRow
	Services []serviceRows
	Venues   []venueRow
	Counts   []count
}

type chainRow struct {
	Name, Head, Indexed, Lag string
	Known, Late              bool
}

type serviceRows struct {
	Name string
	Rows []endpointRow
}

type endpointRow struct {
	Endpoint
	Tone                  string // how the standing is coloured
	Latency, Share, Units string
	Distance              string // to the others' head
	Delay                 string // until it may be asked again; empty: it may
}

type venueRow struct {
	Venue
	Latency string
}

type count struct{ Name, Text string }

// Operators writes the page on which operators see how everything is.
func (p *Pages) Operators(to io.Writer, o Operators) error {
	v := operatorsView{Operators: o, Counts: o.Cache.rows()}
	if o.Unready != "" {
		v.Trouble = append(v.Trouble, "requests are sent elsewhere: "+o.Unready)
	}
	if o.Store != "" {
		v.Trouble = append(v.Trouble, "the store of orders: "+o.Store)
	}
	for _, c := range o.Condition.Chains {
		row := p.chainRow(c)
		if row.Late {
			v.Trouble = append(v.Trouble, row.Name+" is behind")
		}
		v.Chains = append(v.Chains, row)
	}
	for _, s := range o.Condition.Services {
		rows := serviceRows{Name: s.Name}
		for _, e := range s.Endpoints {
			if trouble := e.trouble(); trouble != "" {
				v.Trouble = append(v.Trouble, "endpoint "+e.Name+" "+trouble)
			}
			rows.Rows = append(rows.Rows, e.row())
		}
		v.Services = append(v.Services, rows)
	}
	for _, each := range o.Condition.Venues {
		v.Venues = append(v.Venues, venueRow{each, milliseconds(each.Took)})
	}
	slices.SortStableFunc(v.Venues, func(a, b venueRow) int { return cmp.Compare(b.Won, a.Won) })
	return p.write(to, "operators", view{Title: "Health", At: "operators", Now: o.Now, Page: v})
}

func (p *Pages) chainRow(c ChainCondition) chainRow {
	row := chainRow{Name: p.chainName(c.Chain), Known: c.Indexed > 0, Late: c.Late, Head: "not known", Lag: "–"}
	if c.Head > 0 {
		row.Head = grouped(strconv.FormatUint(c.Head, 10))
	}
	row.Indexed = grouped(strconv.FormatUint(c.Indexed, 10))
	if c.Lag >= time.Second {
		row.Lag = lasting(c.Lag)
	}
	return row
}

// trouble says what keeps the endpoint from being asked; empty when nothing does.
func (e Endpoint) trouble() string {
	switch {
	case e.OK:
		return ""
	case e.IsForced:
		return "is " + e.Standing + ", its breaker held " + e.Breaker + " by an operator"
	}
	return "is " + e.Standing
}

func (e Endpoint) row() endpointRow {
	row := endpointRow{
		Endpoint: e, Tone: "good", Latency: milliseconds(e.Usual), Share: fmt.Sprintf("%.0f %%", 100*e.Failing), Units: "no limit",
		Distance: distance(e.Head),
	}
	if !e.OK {
		row.Tone = "bad"
	}
	if e.IsLimited {
		row.Units = grouped(strconv.FormatUint(uint64(max(e.Left, 0)), 10))
	}
	if e.Wait > 0 {
		row.Delay = lasting(e.Wait + time.Second - 1) // rounded up: it is not asked before
	}
	return row
}

// distance is how many blocks one is from the others: a zero has no sign, and what nobody compares has a dash.
func distance(blocks string) string {
	switch blocks {
	case "":
		return "–"
	case "+0":
		return "0"
	}
	return strings.Replace(blocks, "-", "−", 1)
}

// milliseconds is a latency, or a dash where none is known.
func milliseconds(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return grouped(strconv.FormatInt(max(d.Milliseconds(), 1), 10)) + " ms"
}

func (c CacheCounts) rows() []count {
	rows := []count{{"Answered from the cache", "–"}}
	if asked := c.Hits + c.Stales + c.Misses; asked > 0 {
		rows[0].Text = fmt.Sprintf("%.1f %%", 100*float64(c.Hits+c.Stales)/float64(asked))
	}
	for _, each := range []struct {
		name string
		n    uint64
	}{
		{"Fresh answers", c.Hits},
		{"Stale answers, made anew behind", c.Stales},
		{"Answers that were waited for", c.Misses},
		{"Loads", c.Loads},
		{"Loads that failed", c.Failed},
		{"Old answers served instead of a failure", c.StaleIfErrors},
		{"Loads spared by the shared cache", c.Remotes},
		{"Loads declined for too many at a time", c.Shed},
		{"Answers too many to keep", c.Dropped},
	} {
		rows = append(rows, count{each.name, grouped(strconv.FormatUint(each.n, 10))})
	}
	return rows
}
