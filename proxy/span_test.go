package proxy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/quote"
)

// TestErrorsAndSlowRequestsLeaveASpan queries a server that traces nothing: requests worth a look leave only the
// request's own span, if the sampler allows it, with the ID that the client knows.
func TestErrorsAndSlowRequestsLeaveASpan(t *testing.T) {
	for name, test := range map[string]struct {
		sampler trace.Sampler
		wait    time.Duration
		err     error
		status  int
		spans   int
	}{
		"quick":                 {trace.ParentBased(trace.AlwaysSample()), time.Millisecond, nil, 200, 0},
		"not found":             {trace.ParentBased(trace.AlwaysSample()), time.Millisecond, order.ErrNotFound, 404, 0},
		"slow":                  {trace.ParentBased(trace.AlwaysSample()), proxy.SlowRequest, nil, 200, 1},
		"failed":                {trace.ParentBased(trace.AlwaysSample()), time.Millisecond, errors.New("out of order"), 500, 1},
		"failed, without spans": {trace.NeverSample(), time.Millisecond, errors.New("out of order"), 500, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spans := recordSpans(t, trace.WithSampler(test.sampler))
				s := newWorld(t).server(t, func(o *parts) {
					find := ordersOf(o).find
					ordersOf(o).find = func(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
						_, span := otel.Tracer("test").Start(ctx, "order.find") // without a trace
						defer span.End()
						<-time.After(test.wait)
						if test.err != nil {
							return nil, test.err
						}
						return find(ctx, tx)
					}
					swaps := o.Swaps
					o.Swaps = estimates(func(ctx context.Context, r quote.Request) (quote.Estimate, error) {
						<-time.After(test.wait)
						return swaps.Estimate(ctx, r)
					})
					o.Traced = 0
				})
				target, path := ordersPath+createdTx, ordersPath+":creationTxHash"
				if test.wait == proxy.SlowRequest { // orders never take that long
					target, path = goodSwap, swapPath
				}
				response := get(s, target)
				if response.StatusCode != test.status {
					t.Errorf("HTTP %d, want %d", response.StatusCode, test.status)
				}
				found := spans.GetSpans()
				if len(found) != test.spans {
					t.Fatalf("%d spans, want %d", len(found), test.spans)
				}
				if test.spans > 0 {
					span := found[0]
					if span.Name != "GET "+path || span.EndTime.Sub(span.StartTime) < test.wait {
						t.Errorf("%s took %v, want %v at least", span.Name, span.EndTime.Sub(span.StartTime), test.wait)
					}
					said := map[string]string{}
					for _, attribute := range span.Attributes {
						said[string(attribute.Key)] = attribute.Value.String()
					}
					if id := response.Header.Get("X-Request-Id"); said["crossgate.request.id"] != id || said["http.route"] == "" {
						t.Errorf("the span says %v, want the request id %s in it", said, id)
					}
				}
			})
		})
	}
}
