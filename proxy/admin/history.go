package admin

import (
	"math"
	"sync"
	"time"

	"crossgate/cache"
	"crossgate/proxy/web"
)

const (
	sampledEvery = 10 * time.Second
	mostSamples  = 360 // one hour
)

// history is the latest samples of what operators look at first. It is safe for concurrent use.
type history struct {
	mu      sync.Mutex
	before  cache.Stats
	samples [][]float64 // oldest first; each has one value per line, which is not finite if unknown
}

var sampled = []web.Line{
	{Name: "Answers a second"},
	{Name: "From the cache", Unit: " %"},
	{Name: "Failed loads a second"},
	{Name: "Calls of endpoints a second"},
	{Name: "Longest lag of a chain", Unit: " s"},
	{Name: "Endpoints out of use"},
}

func (h *history) add(now cache.Stats, p Pulse) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := float64(now.Hits + now.Stales - h.before.Hits - h.before.Stales)
	asked := found + float64(now.Misses-h.before.Misses)
	failed := float64(now.Failed - h.before.Failed)
	h.before = now
	lag := p.Lag.Seconds()
	if p.Lag < 0 {
		lag = math.NaN()
	}
	if len(h.samples) == mostSamples {
		h.samples = h.samples[1:]
	}
	seconds := sampledEvery.Seconds()
	// Zero divided by zero is NaN: the share is unknown for a time without lookups.
	h.samples = append(h.samples, []float64{asked / seconds, 100 * found / asked, failed / seconds, p.Calls, lag, float64(p.Unusable)})
}

func (h *history) lines() []web.Line {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.samples) < 2 {
		return nil
	}
	all := make([]web.Line, len(sampled))
	for i, line := range sampled {
		for _, sample := range h.samples {
			line.Values = append(line.Values, sample[i])
		}
		all[i] = line
	}
	return all
}
