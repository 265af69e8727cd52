package pages

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/quote"
)

const secondsOfDay = 86_400

// dayChoices are the numbers of days that the page of statistics can be asked for.
var dayChoices = []int{7, orders.UsualDays, 90}

// statisticsPage shows the statistics of the last days. What cannot be had leaves a reason in its place.
func (s *Pages) statisticsPage(c *gin.Context) {
	ctx, now := c.Request.Context(), time.Now()
	wanted, err := strconv.Atoi(c.DefaultQuery("days", strconv.Itoa(orders.UsualDays)))
	if err != nil || !slices.Contains(dayChoices, wanted) {
		s.server.FailPage(c, proxy.InvalidParameters.Because("days must be one of 7, 30, 90"))
		return
	}
	today := uint64(now.Unix()) / secondsOfDay
	q := orders.Days{From: today - uint64(wanted-1), To: today}
	first := time.Unix(int64(q.From*secondsOfDay), 0).UTC()
	shown := Statistics{
		Days: wanted, Choices: dayChoices, FirstDay: first, Now: now, Origin: originOf(c.Request),
	}
	for _, name := range []string{"getDaily", "getDeliveryTimes", "getVenues"} {
		shown.Paths = append(shown.Paths, "/api/Statistics/"+name+"?dateFrom="+first.Format(time.DateOnly))
	}
	found, from, err := s.orders.DailyRoute().Ask(ctx, s.server, q)
	if err != nil {
		shown.Reason = proxy.ProblemOf(err).PublicText()
	} else {
		shown.HasDaily, shown.Daily = true, found.Value.([]order.DailyStatistics)
		shown.Gaps, shown.Since = gapsIn(found.Basis, from.Value.Made), begunAt(found.Basis)
		shown.Times, _ = valueOf[[]order.DeliveryTimes](ctx, s, s.orders.DeliveryTimesRoute(), q)
	}
	shown.Venues, shown.HasVenues = valueOf[[]quote.VenueDay](ctx, s, s.orders.VenuesRoute(), q)
	s.server.WritePage(c, http.StatusOK, func(to io.Writer) error { return s.pages.Statistics(to, shown) })
}

// begunAt is when the oldest history that was read of a chain begins; zero when one has no beginning.
func begunAt(b index.Basis) (since time.Time) {
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
