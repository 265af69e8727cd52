package proxy

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"crossgate/proxy/quota"
)

const requestIDHeader = "X-Request-Id"

// longestURL limits the path and the query, each in bytes: hooks of orders are long, and the hosted service's servers
// read as much. Parsing takes more than linear time.
const longestURL = 16 << 10

// observe gives every request an id, a metric, a log line and maybe a span, without its query, which may hold a key.
func (s *Server) observe(c *gin.Context) {
	started := time.Now()
	span := s.startSpan(c) // nil if this request is not traced
	id := requestID(span)
	header := c.Writer.Header()
	header[requestIDHeader] = []string{id}
	header["X-Content-Type-Options"] = noSniff
	defer func() {
		took := time.Since(started)
		if span == nil && isNotable(c, took) {
			options := append(linked(c.Request), trace.WithTimestamp(started), trace.WithAttributes(attribute.String("crossgate.request.id", id)))
			span = s.openSpan(c.Request.Context(), c, options...)
		}
		s.measures.request(c, took)
		if span != nil {
			endSpan(span, c)
		}
		s.logRequest(c, id, took)
	}()
	c.Next()
}

// requestID returns a traced request's trace id, so that a client's report leads to the trace, or a random one.
func requestID(span trace.Span) string {
	if span != nil && span.IsRecording() {
		return span.SpanContext().TraceID().String()
	}
	var id [16]byte
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return hex.EncodeToString(id[:])
}

// recoverPanic turns a panic into a 500. A load that panics returns an error of the cache instead.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		recovered := recover()
		if recovered == nil {
			return
		}
		if cause, isError := recovered.(error); isError && errors.Is(cause, http.ErrAbortHandler) {
			panic(recovered)
		}
		err := fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())
		if c.Writer.Written() {
			_ = c.Error(err)
			return
		}
		s.TurnAway(c, internalError.From(err))
	}()
	c.Next()
}

// allowOrigins lets pages of any origin read the responses (CORS), which are the same for everyone.
func allowOrigins(c *gin.Context) {
	header := c.Writer.Header()
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposed
}

// limitURL rejects overlong URLs before they are parsed.
func (s *Server) limitURL(c *gin.Context) {
	if len(c.Request.URL.RawQuery) > longestURL || len(c.Request.URL.Path) > longestURL {
		s.TurnAway(c, urlTooLong.Because(""))
	}
}

// Costs of requests in units of a quota. A swap asks every venue; a list reads a hundred orders; a page costs as much
// as the orders that it shows. A search of the chains is charged in addition to the request that causes it.
const (
	CheapCost    = 1
	SearchCost   = 4
	ListCost     = 5
	EstimateCost = 5
	SwapCost     = 10
)

// limitClients charges requests, except preflights, to the quotas of their clients, and rejects those over quota.
func (s *Server) limitClients(c *gin.Context) {
	if c.Request.Method == http.MethodOptions && c.FullPath() != "" { // otherwise it is passed through
		return
	}
	cost := max(s.router.costs[c.FullPath()], CheapCost)
	charge, limited := s.quotas.Charge(c.Request, cost, time.Now())
	if !limited {
		return
	}
	charge.WriteHeader(c.Writer.Header())
	if charge.RetryAfter > 0 {
		s.TurnAway(c, s.overQuota(c.Request.Context(), charge))
	}
}

func (s *Server) overQuota(ctx context.Context, charge quota.Charge) *problem {
	s.measures.refusals.Add(ctx, 1, metric.WithAttributes(quotaKey.String(charge.Policy)))
	p := quotaExceeded.Because("")
	p.retryAfter = charge.RetryAfter
	return p
}

// searchPayer is the client charged for searches, and the units per search.
type searchPayer struct {
	server *Server
	client quota.Payer
	cost   int
}

type searchPayerKey struct{}

// WithPayer returns a context in which searches of the chains are charged to the request's client.
func (s *Server) WithPayer(c *gin.Context, cost int) context.Context {
	return context.WithValue(c.Request.Context(), searchPayerKey{}, &searchPayer{s, s.quotas.Payer(c.Request), cost})
}

// ChargeSearch charges a search of the chains to the client whose request caused it, or fails if over its quota.
func ChargeSearch(ctx context.Context) error {
	p, known := ctx.Value(searchPayerKey{}).(*searchPayer)
	if !known {
		return nil
	}
	if charge, limited := p.client.Charge(ctx, p.cost, time.Now()); limited && charge.RetryAfter > 0 {
		return p.server.overQuota(ctx, charge)
	}
	return nil
}
