package proxy

import (
	"net/http"
	"sync/atomic"
	"time"

	"crossgate/proxy/web"
)

// trafficWindow is over how many seconds rates of requests are taken.
const trafficWindow = 60

// traffic counts requests: since the start, and second by second within the window. Two that come at the same time as a
// new second may count for less than two in it; none is lost since the start.
type traffic struct {
	requests, clientErrors, serverErrors atomic.Uint64
	seconds                              [trafficWindow]second
}

// second counts the requests of one second.
type second struct {
	at               atomic.Int64 // UNIX time
	requests, failed atomic.Int64
}

// count counts a request that ended at a time and took so long.
func (t *traffic) count(now time.Time, status int, took time.Duration) {
	t.requests.Add(1)
	isFailed := isFailed(status, took)
	switch {
	case isFailed:
		t.serverErrors.Add(1)
	case status >= http.StatusBadRequest:
		t.clientErrors.Add(1)
	}
	at := now.Unix()
	s := &t.seconds[at%trafficWindow]
	if before := s.at.Load(); before != at && s.at.CompareAndSwap(before, at) {
		s.requests.Store(0)
		s.failed.Store(0)
	}
	s.requests.Add(1)
	if isFailed {
		s.failed.Add(1)
	}
}

// Served counts what was served, for the status page.
func (s *Server) Served() web.Served {
	served := web.Served{Traffic: s.measures.traffic.at(time.Now()), Cache: web.CacheCounts(s.answers.Stats())}
	if s.passthrough != nil {
		for _, c := range s.passthrough.Counts() {
			served.Hosts = append(served.Hosts, web.Counted(c))
		}
	}
	if s.shadow != nil {
		for _, c := range s.shadow.Answers() {
			served.Compared = append(served.Compared, web.Counted(c))
		}
		for _, e := range s.shadow.Examples() {
			served.Differences = append(served.Differences, web.Difference(e))
		}
	}
	return served
}

func (t *traffic) at(now time.Time) web.Traffic {
	counted := web.Traffic{Requests: t.requests.Load(), ClientErrors: t.clientErrors.Load(), ServerErrors: t.serverErrors.Load()}
	var requests, failed int64
	for i := range t.seconds {
		if age := now.Unix() - t.seconds[i].at.Load(); age >= 0 && age < trafficWindow {
			requests += t.seconds[i].requests.Load()
			failed += t.seconds[i].failed.Load()
		}
	}
	if requests > 0 {
		counted.PerSecond, counted.Failing = float64(requests)/trafficWindow, float64(failed)/float64(requests)
	}
	return counted
}
