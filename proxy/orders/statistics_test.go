package orders

import (
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/proxy"
)

// TestDaysAreReadAsClientsWriteThem has both ends included, whatever form and case a client gives them.
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
