package upstream_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// A search that is refused at once is no sign of a quick endpoint: neither of a node that refuses it by an error, nor of
// a venue whose answer is that it has no route.
func TestRefusalsDoNotMakeAnEndpointQuick(t *testing.T) {
	for name, row := range map[string]struct {
		said  error
		fails bool // the caller is told
	}{
		"an error":                {&upstream.Error{Class: upstream.Rejected, Err: errors.New("range too wide")}, true},
		"an answer that declines": {upstream.ErrDeclined, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, 400*time.Millisecond, 400*time.Millisecond)
				for range 10 {
					p.ask(t)
				}
				p.a, p.b = time.Millisecond, time.Millisecond
				for range 200 {
					_, err := p.pool.Do(t.Context(), upstream.Request{}, func(upstream.Response) error { return row.said })
					if (err != nil) != row.fails {
						t.Fatalf("Do() = %v", err)
					}
				}
				if health := p.pool.Health()[0]; health.Usual < 400*time.Millisecond || health.Failing != 0 || !health.IsClosed {
					t.Errorf("after refusals: %+v, want an endpoint that takes 400 ms and does not fail", health)
				}
				if asked := p.askedB.Load(); !row.fails && asked > 40 {
					t.Errorf("the other endpoint was asked %d times: a refusal ends the question", asked)
				}
			})
		})
	}
}
