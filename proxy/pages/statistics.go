package pages

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/quote"
)

var dayChoices = []int{7, orders.UsualDays, 90}

// statisticsPage shows the statistics of the last days. Unavailable parts are replaced by a reason.
func (s *Pages) statisticsPage(c *gin.Context) {
	ctx, now := c.Request.Context(), time.Now()
	wanted, err := strconv.Atoi(c.DefaultQuery("days", strconv.Itoa(orders.UsualDays)))
	if err != nil || !slices.Contains(dayChoices, wanted) {
		s.server.FailPage(c, proxy.InvalidParameters.Because("days must be one of 7, 30, 90"))
		return
	}
	q := orders.LastDays(uint64(wanted), now)
	shown := s.statisticsOf(ctx, q, now)
	shown.Choices, shown.Origin = dayChoices, OriginOf(c.Request)
	for _, name := range []string{"getDaily", "getDeliveryTimes", "getVenues"} {
		shown.Paths = append(shown.Paths, "/api/Statistics/"+name+"?dateFrom="+shown.FirstDay.Format(time.DateOnly))
	}
	shown.Venues, shown.HasVenues = valueOf[[]quote.VenueDay](ctx, s, s.orders.VenuesRoute(), q)
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Statistics(to, shown) })
}

// statisticsOf returns the statistics of orders, with a reason if they are unavailable.
func (s *Pages) statisticsOf(ctx context.Context, q orders.Days, now time.Time) Statistics {
	shown := Statistics{Days: int(q.To - q.From + 1), FirstDay: time.Unix(int64(q.From*orders.SecondsOfDay), 0).UTC(), Now: now}
	found, from, err := s.orders.DailyRoute().Ask(ctx, s.server, q)
	if err != nil {
		shown.Reason = proxy.ProblemOf(err).PublicText()
	} else {
		shown.HasDaily, shown.Daily = true, found.Value.([]order.DailyStatistics)
		shown.Gaps, shown.Since = gapsIn(found.Basis, from.Value.Made), begunAt(found.Basis)
		shown.Times, _ = valueOf[[]order.DeliveryTimes](ctx, s, s.orders.DeliveryTimesRoute(), q)
	}
	return shown
}

// begunAt returns when the oldest indexed history of a chain begins, zero if one was read from block 0.
func begunAt(b order.Basis) (since time.Time) {
	for _, c := range b.Chains {
		switch begun := time.Unix(int64(c.From.Time), 0); {
		case !c.HasBegun():
		case c.From.Number == 0:
			return time.Time{}
		case since.IsZero() || begun.Before(since):
			since = begun
		}
	}
	return since
}

// Statistics is the content of the page of statistics.
type Statistics struct {
	Days      int // whole days, today being the last
	Daily     []order.DailyStatistics
	Times     []order.DeliveryTimes // empty if there are none or they are unavailable
	Venues    []quote.VenueDay
	HasDaily  bool   // false if Daily is unavailable
	HasVenues bool   // false if Venues is unavailable
	Reason    string // why Daily is unavailable
	Gaps      []Gap
	Since     time.Time // no chain was read before this time; zero if one was read from its beginning
	Choices   []int     // periods to choose from, in days
	Paths     []string  // paths and queries of the answers in the API
	Origin    string
	Now       time.Time
	FirstDay  time.Time
}

type statisticsView struct {
	Statistics
	Columns []column // days, oldest first
	Highest string   // USD of the largest column; empty if no volume is known
	All     volume
	Pairs   []pairRow // by volume, largest first
	More    []pairRow // shown on request
	Fills   []fillRow // of Pairs
	Calls   []call
}

// fillRow counts the orders of a pair and margin class that were delivered.
type fillRow struct {
	Give, Take, Margin string
	Fills              order.Fills
	P50                string // empty if nothing was delivered
}

// marginText names a class of margins, in percent.
func marginText(m order.Margin) string {
	const perPercent = 100
	from, below := m.Bounds()
	switch {
	case from == nil:
		return fmt.Sprintf("below %g %%", float64(*below)/perPercent)
	case below == nil:
		return fmt.Sprintf("%g %% and more", float64(*from)/perPercent)
	}
	return fmt.Sprintf("%g to %g %%", float64(*from)/perPercent, float64(*below)/perPercent)
}

const mostPairs = 25

// call is an API request to show as a command.
type call struct{ Origin, Path string }

// column is a day of the plot of volumes, in percent of its width and height.
type column struct {
	Day          time.Time
	X, Width     string
	Y, Height    string
	Volume       volume
	HasNoHistory bool // the day was not indexed
}

type volume struct {
	Created, Fulfilled, Unpriced uint64
	given                        *big.Rat // USD; nil if unknown
}

// USD formats the given value at the time of creation.
func (v volume) USD() string {
	if v.Created == 0 {
		return ""
	}
	return sumText(v.given, v.Unpriced > 0)
}

func (v *volume) add(d order.DailyStatistics) {
	v.Created, v.Fulfilled, v.Unpriced = v.Created+d.Created, v.Fulfilled+d.Fulfilled, v.Unpriced+d.Unpriced
	if d.Created == 0 || d.Given.Orders > 0 {
		if v.given == nil {
			v.given = new(big.Rat)
		}
		v.given.Add(v.given, big.NewRat(d.Given.Micros, 1_000_000))
	}
}

type pairRow struct {
	pairOf
	Give, Take string
	Volume     volume
	Share      string // percent of the largest volume; empty if unknown
	P50, P95   string // delivery times; empty if nothing was delivered or they are unknown
	Half, Most string // P50 and P95 in percent of the longest P95
	times      order.DeliveryTimes
}

type pairOf struct{ give, take chain.ID }

// Statistics writes the page of statistics.
func (p *Views) Statistics(to io.Writer, s Statistics) error {
	v := p.viewOf(s, mostPairs)
	for _, path := range s.Paths {
		v.Calls = append(v.Calls, call{s.Origin, path})
	}
	return p.Write(to, "statistics", web.View{
		Title: "Statistics", At: "statistics", Says: "Volume, delivery times and venues of the last " + web.Plural(s.Days, "day"), Root: s.Origin,
		Now: s.Now, Page: v,
	})
}

// viewOf summarizes statistics, initially showing most pairs of chains.
func (p *Views) viewOf(s Statistics, most int) statisticsView {
	v := statisticsView{Statistics: s}
	for _, d := range s.Daily {
		v.All.add(d)
	}
	v.plot(s.Daily)
	pairs := p.pairs(s.Daily, s.Times)
	most = min(most, len(pairs))
	v.Pairs, v.More = pairs[:most], pairs[most:]
	for _, pair := range v.Pairs {
		for _, f := range pair.times.Fills {
			row := fillRow{Give: pair.Give, Take: pair.Take, Margin: marginText(f.Margin), Fills: f}
			if f.Fulfilled > 0 {
				row.P50 = web.Took(time.Duration(f.P50) * time.Second)
			}
			v.Fills = append(v.Fills, row)
		}
	}
	return v
}

func (v *statisticsView) plot(rows []order.DailyStatistics) {
	byDay := map[uint64]volume{}
	var highest *big.Rat
	for _, d := range rows {
		of := byDay[d.Day]
		of.add(d)
		byDay[d.Day] = of
	}
	for _, of := range byDay {
		if of.given != nil && (highest == nil || of.given.Cmp(highest) > 0) {
			highest = of.given
		}
	}
	if highest != nil && highest.Sign() > 0 {
		value, _ := highest.Float64()
		v.Highest = UsdText(value)
	}
	const gap = 0.2 // of a column
	width := 100 / float64(max(v.Days, 1))
	for i := range v.Days {
		day := v.FirstDay.AddDate(0, 0, i)
		c := column{
			Day: day, Volume: byDay[uint64(day.Unix())/orders.SecondsOfDay], X: Percents(float64(i) * width), Width: Percents(width * (1 - gap)), Y: "100", Height: "0",
			HasNoHistory: byDay[uint64(day.Unix())/orders.SecondsOfDay].Created == 0 && !day.AddDate(0, 0, 1).After(v.Since),
		}
		if v.Highest != "" && c.Volume.given != nil {
			share, _ := new(big.Rat).Quo(c.Volume.given, highest).Float64()
			c.Y, c.Height = Percents(100-100*share), Percents(100*share)
		}
		v.Columns = append(v.Columns, c)
	}
}

func Percents(n float64) string { return fmt.Sprintf("%.2f", n) }

// pairs returns all pairs of chains with orders, largest volume first and unknown volumes last.
func (p *Views) pairs(rows []order.DailyStatistics, times []order.DeliveryTimes) []pairRow {
	byPair := map[pairOf]*pairRow{}
	var pairs []*pairRow
	of := func(key pairOf) *pairRow {
		if byPair[key] == nil {
			byPair[key] = &pairRow{pairOf: key, Give: p.ChainName(key.give), Take: p.ChainName(key.take)}
			pairs = append(pairs, byPair[key])
		}
		return byPair[key]
	}
	for _, d := range rows {
		of(pairOf{d.Give, d.Take}).Volume.add(d)
	}
	longest := uint64(1)
	for _, t := range times {
		of(pairOf{t.Give, t.Take}).times = t
		longest = max(longest, t.P95)
	}
	slices.SortFunc(pairs, func(a, b *pairRow) int {
		return cmp.Or(compareKnown(b.Volume.given, a.Volume.given), cmp.Compare(b.Volume.Created, a.Volume.Created),
			cmp.Compare(a.give, b.give), cmp.Compare(a.take, b.take))
	})
	shown := make([]pairRow, len(pairs))
	for i, each := range pairs {
		if top := pairs[0].Volume.given; top != nil && top.Sign() > 0 && each.Volume.given != nil {
			share, _ := new(big.Rat).Quo(each.Volume.given, top).Float64()
			each.Share = Percents(100 * share)
		}
		if t := each.times; t.Orders > 0 {
			each.P50, each.P95 = web.Took(time.Duration(t.P50)*time.Second), web.Took(time.Duration(t.P95)*time.Second)
			each.Half, each.Most = Percents(100*float64(t.P50)/float64(longest)), Percents(100*float64(t.P95)/float64(longest))
		}
		shown[i] = *each
	}
	return shown
}

// compareKnown compares values, unknown ones being the smallest.
func compareKnown(a, b *big.Rat) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Cmp(b)
}

// venueShare formats the percentage of its comparisons that a venue won.
func venueShare(v quote.VenueDay) string {
	return Percents(100 * float64(v.Won) / float64(max(v.Quoted, 1)))
}

// venueGain describes how much more than the runner-up a venue paid when it won, empty if there was none.
func venueGain(v quote.VenueDay) string {
	if v.Contested == 0 {
		return ""
	}
	const perPercent = 10_000
	return gainText(float64(v.Gain) / float64(v.Contested) / perPercent)
}

// gainText describes in percent how much more than the runner-up a venue paid out.
func gainText(percent float64) string {
	const least = 0.005 // the smallest that rounds to 0.01
	switch {
	case percent >= least:
		return fmt.Sprintf("%.2f %% more than the runner-up", percent)
	case percent <= -least:
		return fmt.Sprintf("%.2f %% less than the runner-up, for cheaper gas", -percent)
	}
	return "same as the runner-up"
}
