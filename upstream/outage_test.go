package upstream_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// trio is a pool of three endpoints, each of which can be down or slow.
type trio struct {
	pool  *upstream.Pool
	ends  [3]*upstream.Endpoint
	takes [3]atomic.Int64 // nanoseconds per answer; negative if down
}

func newTrio(t *testing.T) *trio {
	p := new(trio)
	for i, name := range []string{"a", "b", "c"} {
		p.takes[i].Store(int64(40 * time.Millisecond))
		p.ends[i] = pooltest.Endpoint(t, name, func(r *http.Request) (*http.Response, error) {
			takes := time.Duration(p.takes[i].Load())
			select {
			case <-time.After(max(takes, time.Millisecond)):
				if takes < 0 {
					return nil, errors.New("connection reset")
				}
				return pooltest.Answer(200, name), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
	}
	p.pool = upstream.NewPool("pool", p.ends[:]...)
	return p
}

// ask sends the given number of requests concurrently and returns how long the last answer took.
func (p *trio) ask(t *testing.T, questions int) time.Duration {
	t.Helper()
	began := time.Now()
	failures := make(chan error, questions)
	for range questions {
		go func() {
			_, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
			failures <- err
		}()
	}
	for range questions {
		if err := <-failures; err != nil {
			t.Errorf("Do() = %v, want the answer of who can give one", err)
		}
	}
	return time.Since(began)
}

// While one endpoint is down and one is slow, requests do not wait for the slow one, whichever was in use before and
// whatever is known of the third.
func TestOneEndpointOfThreeIsEnough(t *testing.T) {
	const down, slow = -1, int64(2 * time.Second)
	for name, begin := range map[string]func(*trio){
		"the one in use is down, the next is slow": func(p *trio) { p.takes[0].Store(down); p.takes[1].Store(slow) },
		"the one in use is slow, the next is down": func(p *trio) { p.takes[0].Store(slow); p.takes[1].Store(down) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTrio(t)
				for range 40 {
					p.ask(t, 1)
				}
				begin(p)
				if took := p.ask(t, 1); took > 200*time.Millisecond {
					t.Errorf("the answer took %v, want that of the third soon", took)
				}
			})
		})
	}
}

// A busy pool has many requests in flight when an endpoint fails. All those that the endpoint can no longer accept fail
// over, whatever their number; those that it is slow to answer fail over within the pool's retry budget.
func TestEverybodyUnderWayFailsOver(t *testing.T) {
	const second = 100
	for name, test := range map[string]struct {
		begun    time.Duration
		underWay int
	}{
		"down": {-1, 5 * second},
		"slow": {2 * time.Second, second * 3 / 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTrio(t)
				for range 100 { // 10 s
					p.ask(t, second/10)
					<-time.After(60 * time.Millisecond)
				}
				p.takes[0].Store(int64(test.begun))
				if took := p.ask(t, test.underWay); took > 300*time.Millisecond {
					t.Errorf("the last of %d answers took %v, want all of them soon", test.underWay, took)
				}
			})
		})
	}
}
