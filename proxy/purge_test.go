package proxy_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/proxy/admin"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/upstream"
)

const adminToken = "operators-token-of-the-tests"

// standing is a gateway with only a venue.
type standing struct{}

func (standing) Dependencies(context.Context) []admin.Dependency { return nil }
func (standing) Endpoint(_, _ string) *upstream.Endpoint         { return nil }
func (standing) Pulse() admin.Pulse                              { return admin.Pulse{} }

func (standing) Condition(context.Context) web.Condition {
	return web.Condition{Venues: []web.Venue{{Record: quote.Record{Name: "odos", Won: 7}}}}
}

// operatorsOf returns the admin listener next to s.
func operatorsOf(s *site, token string) http.Handler {
	return admin.Handler(admin.Options{
		Server: s, Gateway: standing{}, Pages: web.New(chain.Documented()), Token: token, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler),
	})
}

// operatorPosts sends a request with the operators' token and further headers to the admin listener.
func operatorPosts(operators http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+target, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	operators.ServeHTTP(answer, r)
	return answer.Result()
}

func TestOperatorsPurge(t *testing.T) {
	for query, served := range map[string]string{
		"how=hard&order=" + idText(8):                         "crossgate; fwd=miss; stored",
		"how=hard&order=" + idText(7) + "&order=" + idText(8): "crossgate; fwd=miss; stored",
		"how=soft&chain=137":                                  "crossgate; hit; detail=stale-while-revalidate",
		"how=hard&chain=8453":                                 "crossgate; fwd=miss; stored",
		"how=hard&chain=1":                                    "crossgate; hit; ttl=3599",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t).server(t)
			get(s, ordersPath+claimedTx)
			<-time.After(time.Second)
			wantStatus(t, query, operatorPosts(operatorsOf(s, adminToken), "/purge?"+query), http.StatusOK)
			if got := get(s, ordersPath+claimedTx).Header.Get("Cache-Status"); got != served {
				t.Errorf("after %s: Cache-Status = %q, want %q", query, got, served)
			}
			synctest.Wait()
		})
	}
}
