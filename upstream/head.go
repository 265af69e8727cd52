package upstream

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// headsFor is how long a head is compared with those of others: chains go on.
	headsFor = 5 * time.Second
	// headsTogether is what passes for the same moment.
	headsTogether = time.Second
	// headsEvery is after what time an endpoint whose head is not known is asked for it.
	headsEvery = 15 * time.Second
	// majority is the fewest endpoints of which one can be alone.
	majority = 3
)

// head is the newest block of an endpoint, and its distance from those of the others in its pool.
type head struct {
	mu       sync.Mutex
	number   uint64
	seen     time.Time // when number was seen; zero: never
	distance int64     // to the others' head at that time; below zero: behind
	compared bool
	isFar    bool
}

// off returns how far the endpoint was from the others' head when its own was last seen.
func (h *head) off() (blocks int64, compared bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.distance, h.compared
}

// isOff reports whether that is too far.
func (h *head) isOff() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isFar
}

// take remembers a head that was just seen.
func (h *head) take(now time.Time, number uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number, h.seen = number, now
}

// recent returns the head if it was seen lately.
func (h *head) recent(now time.Time, within time.Duration) (number uint64, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.number, !h.seen.IsZero() && now.Sub(h.seen) < within
}

// place sets the distance to the others' head. An endpoint that is too far stays so until it is less than half as far.
func (h *head) place(distance int64, isAlone bool, most uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isFar {
		most /= 2
	}
	behind, ahead := uint64(max(-distance, 0)), uint64(max(distance, 0))
	h.distance, h.compared = distance, true
	h.isFar = behind > most || isAlone && ahead > most
}

// heads compares the endpoints of a pool by how far each has come.
type heads struct {
	most   uint64 // blocks that an endpoint may be away from the others
	probes []HeadProbe
	asked  atomic.Int64 // UNIX nanoseconds at which endpoints were asked for nothing else
}

// HeadProbe is a request for the head of an endpoint's chain.
type HeadProbe struct {
	Request Request
	// Head reads a response that passes the request's Check.
	Head func(Response) (number uint64, told bool)
}

// CompareHeads has endpoints whose head is more than most blocks behind that of the majority asked after the others,
// and those that alone are as far ahead. Heads are learned by SawHead; endpoints of which none was seen lately are
// asked by the probe at their index. To be called before the pool is used.
func (p *Pool) CompareHeads(most uint64, probes []HeadProbe) {
	if len(p.endpoints) > 1 {
		p.heads = &heads{most: most, probes: probes}
	}
}

// SawHead learns from an answer of e how far its chain has come.
func (p *Pool) SawHead(e *Endpoint, number uint64) {
	if p.heads != nil {
		p.compareHead(e, number)
	}
}

// compareHead sets the distance of e, whose head was seen just now, and of those seen in the same moment, from the head
// of the majority: the median of those seen lately, of two the higher one. Others may have gone on meanwhile, so that
// an endpoint may be further behind than it seems, but hardly less.
func (p *Pool) compareHead(e *Endpoint, number uint64) {
	now := time.Now()
	e.head.take(now, number)
	var all []uint64
	for _, each := range p.endpoints {
		if known, is := each.head.recent(now, headsFor); is {
			all = append(all, known)
		}
	}
	if len(all) < 2 {
		return
	}
	slices.Sort(all)
	for _, each := range p.endpoints {
		if known, is := each.head.recent(now, headsTogether); is {
			each.head.place(int64(known)-int64(all[len(all)/2]), len(all) >= majority, p.heads.most)
		}
	}
}

// askHeads has all endpoints asked for their head when that of one has not been seen for a while.
func (p *Pool) askHeads() {
	if p.heads == nil {
		return
	}
	now, last := time.Now(), p.heads.asked.Load()
	if now.Sub(time.Unix(0, last)) < headsEvery || !p.heads.asked.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	isUnseen := func(e *Endpoint) bool { _, told := e.head.recent(now, headsEvery); return !told }
	if !slices.ContainsFunc(p.endpoints, isUnseen) {
		return
	}
	for i, e := range p.endpoints {
		if e.unusable() != nil || !e.breaker.isClosed() {
			continue
		}
		probe := p.heads.probes[i]
		e.inBackground(func(ctx context.Context) {
			response, err := e.probe(ctx, probe.Request)
			if err != nil {
				return
			}
			if number, told := probe.Head(response); told {
				p.compareHead(e, number)
			}
		})
	}
}
