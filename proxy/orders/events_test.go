package orders

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/internal/must"
	"crossgate/proxy"
)

// TestQuestionsForEventsAreAlikeByTheirMembers compares the keys of equal and different questions.
func TestQuestionsForEventsAreAlikeByTheirMembers(t *testing.T) {
	keyOf := func(query string) cache.Key {
		return new(Orders).EventsRoute().Key("", events{most: 1, filter: must.Get(ParseFeedFilter(query))(t)})
	}
	const asked = "referralCode=5&maker=" + taker
	key := keyOf(asked)
	if again := keyOf(asked); key != again {
		t.Error("the same question has two keys")
	}
	for _, other := range []string{"referralCode=6&maker=" + taker, "referralCode=5&maker=" + nobody, "referralCode=5"} {
		if key == keyOf(other) {
			t.Errorf("%s has the key of another question", other)
		}
	}
}

// TestStreamsResumeAtTheLastEvent covers an EventSource, which sends the URL that it began with at each reconnection.
func TestStreamsResumeAtTheLastEvent(t *testing.T) {
	for _, target := range []string{"", "?cursor=5", "?CURSOR=5&limit=9", "?accesstoken=a;b&cursor=x"} {
		c, _ := gin.CreateTestContext(nil)
		c.Request = httptest.NewRequest(http.MethodGet, "/v1.0/events"+target, http.NoBody)
		c.Request.Header = http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {"7"}}
		if q, err := new(Orders).parseEvents(c); err != nil || q.after != 7 || !q.isGiven {
			t.Errorf("%s: resumes at %d, %v, want 7", target, q.after, err)
		}
	}
}

// TestAFilterThatIsMisspeltIsRefused proves that a misspelt filter does not match everything.
func TestAFilterThatIsMisspeltIsRefused(t *testing.T) {
	for query, isGood := range map[string]bool{"": true, "MAKER=" + taker: true, "makers=" + taker: false, "delivery=final&state=Created": false} {
		if _, err := ParseFeedFilter(query); (err == nil) != isGood {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestAnAmountOfUSDCostsLittleToRefuse covers an exponent that would make a number of millions of digits.
func TestAnAmountOfUSDCostsLittleToRefuse(t *testing.T) {
	m := must.Get(ParseMembers([]byte(`{"usdFrom":"1e1000000"}`)))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m.usd("usdFrom"); len(m.Wrong) != 1 {
		t.Errorf("wrong: %q", m.Wrong)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100_000 {
		t.Errorf("%d bytes to refuse it", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestDaysAreReadAsClientsWriteThem includes both ends, whatever form and case a client uses.
func TestDaysAreReadAsClientsWriteThem(t *testing.T) {
	at := func(date string) uint64 {
		day := must.Get(time.Parse(time.DateOnly, date))(t)
		return uint64(day.Unix()) / SecondsOfDay
	}
	now := time.Unix(int64(at("2025-10-31"))*SecondsOfDay+7, 0)
	for query, want := range map[string]Days{
		"":                    {at("2025-10-02"), at("2025-10-31")},
		"dateFrom=&dateTo=":   {at("2025-10-02"), at("2025-10-31")},
		"dateTo=2025-09-30":   {at("2025-09-01"), at("2025-09-30")},
		"dateFrom=2025-10-30": {at("2025-10-30"), at("2025-10-31")},
		"dateFrom=2025-10-01T00:00:00.000Z&dateTo=2025-10-02T23:59:59.999Z": {at("2025-10-01"), at("2025-10-02")},
		"DateFrom=2025-10-01&dateto=2025-10-02&accesstoken=x":               {at("2025-10-01"), at("2025-10-02")},
		"dateFrom=2024-11-01&dateTo=2025-12-31":                             {at("2024-11-01"), at("2025-10-31")},
		"dateFrom=2025-11-05":                                               {at("2025-11-05"), at("2025-10-31")}, // none
	} {
		if got, err := parseDays(query, now); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", query, got, err, want)
		}
	}
	for query, want := range map[string]string{
		"dateFrom=2025-10-02&dateTo=2025-10-01":   "dateFrom must not be after dateTo",
		"dateFrom=2024-10-30":                     "at most 366 days, both included",
		"DATEFROM=yesterday&dateTo=1e9":           "2025-10-01T00:00:00Z; dateFrom must be a date such as 2025-10-01, or a time",
		"dateFrom=2025-10-01&datefrom=2025-10-02": "dateFrom must be given once",
	} {
		p := proxy.ProblemOf(func() error { _, err := parseDays(query, now); return err }())
		if p == nil || !strings.Contains(p.PublicText(), want) {
			t.Errorf("%s: %v, want %q", query, p, want)
		}
	}
}
