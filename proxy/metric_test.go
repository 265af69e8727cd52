package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/order/query"
)

// TestFailureIsForWantOfOneChain distinguishes failures that a chain's own alert covers from all others.
func TestFailureIsForWantOfOneChain(t *testing.T) {
	now, m := measured.Start(t), &measures{}
	m.duration = must.Get(otel.Meter("crossgate/proxy").Float64Histogram("took"))(t)
	missed := map[chain.ID]float64{}
	unreachable := func(chains ...chain.ID) error {
		return fmt.Errorf("order: %w", &query.UnreachableError{Chains: chains, Err: errors.New("refused")})
	}
	for name, test := range map[string]struct {
		status int
		err    error
		swapOn chain.ID
		want   chain.ID
	}{
		"the chain of an order":       {http.StatusServiceUnavailable, unreachable(137), 0, 137},
		"one of several":              {http.StatusServiceUnavailable, unreachable(1, 137), 0, 0},
		"the index":                   {http.StatusServiceUnavailable, query.ErrUnavailable, 0, 0},
		"a swap's chain, or a venue":  {http.StatusBadGateway, errors.New("no quote"), 10, 10},
		"a swap that is answered":     {http.StatusOK, nil, 10, 0},
		"an order that is not there":  {http.StatusNotFound, unreachable(137), 0, 0},
		"a client that did not wait":  {clientLeft.Status, nil, 10, 0},
		"an origin, passed through":   {http.StatusBadGateway, nil, 0, 0},
		"an answer kept by the cache": {http.StatusOK, unreachable(137), 0, 0},
	} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Status(test.status)
		if test.err != nil {
			_ = c.Error(test.err)
		}
		if test.swapOn != 0 {
			c.Set(SwapChain, uint64(test.swapOn))
		}
		if got := missingChain(c); got != test.want {
			t.Errorf("%s: for want of chain %v, want %v", name, got, test.want)
		}
		c.Request = httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		m.request(c, 0)
		missed[test.want]++
	}
	found := now()
	for id, times := range missed {
		for series, count := range found {
			if label := fmt.Sprintf("crossgate.chain.id=%d,", id); id != 0 && strings.Contains(series, label) || id == 0 && !strings.Contains(series, "chain") {
				times -= count
			}
		}
		if times != 0 {
			t.Errorf("%v more requests failed for want of chain %d than were measured: %v", times, id, found)
		}
	}
}
