package upstream

import (
	"cmp"
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
	isBeside bool // the distance is to the only other endpoint, which may be as wrong
	isFar    bool // too far, and it is known that the others are right
}

// off returns how far the endpoint was from the others' head when its own was last seen.
func (h *head) off() (blocks int64, compared bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.distance, h.compared
}

// isOff reports whether that is too far, and held against the endpoint.
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

// place sets the distance to the head of the majority. An endpoint that is too far stays so until it is less than
// half as far.
func (h *head) place(distance int64, most uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isFar {
		most /= 2
	}
	h.distance, h.compared, h.isBeside = distance, true, false
	h.isFar = uint64(max(distance, -distance)) > most
}

// placeBeside sets the distance to the head of the only other endpoint, which may be as wrong, and reports whether this
// one is too far behind it. That is held against the endpoint if it was proven.
func (h *head) placeBeside(distance int64, most uint64) (isBehind bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isFar {
		most /= 2
	}
	h.distance, h.compared, h.isBeside = distance, true, true
	isBehind = distance < 0 && uint64(-distance) > most
	h.isFar = h.isFar && isBehind
	return isBehind
}

// proveFar has it held against the endpoint that it is too far behind the only other one. A majority that was heard
// meanwhile knows better.
func (h *head) proveFar() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isFar = h.isFar || h.isBeside
}

// heads compares the endpoints of a pool by how far each has come.
type heads struct {
	most   uint64 // blocks that an endpoint may be away from the others
	probes []HeadProbe
	asked  atomic.Int64 // UNIX nanoseconds at which endpoints were asked for nothing else
	linked atomic.Int64 // UNIX nanoseconds at which two heads were last tried to be linked
}

// HeadProbe is how an endpoint is asked how far its chain has come. Responses are read that pass their request's Check.
type HeadProbe struct {
	Request Request
	Head    func(Response) (number uint64, told bool)
	// Block makes a request for the block of a number, of which Link reads the hash and that of the block before. Nil
	// where blocks do not tell that.
	Block func(number uint64) Request
	Link  func(number uint64, response Response) (hash, parent string, told bool)
}

// CompareHeads has endpoints whose head is more than most blocks away from that of the majority asked after the
// others. Of two endpoints it is the one that is behind, if the other has the block that comes next after its head;
// without that proof nobody knows which one is wrong. Heads are learned by SawHead; endpoints of which none was seen
// lately are asked by the probe at their index. To be called before the pool is used.
func (p *Pool) CompareHeads(most uint64, probes []HeadProbe) {
	if len(p.endpoints) > 1 {
		p.heads = &heads{most: most, probes: probes}
	}
}

// SawHead learns from an answer of e how far its chain has come.
func (p *Pool) SawHead(e *Endpoint, number uint64) {
	if p.heads == nil {
		return
	}
	if prove := p.compareHead(e, number); prove != nil {
		p.proveInBackground(prove)
	}
}

// seenHead is what an endpoint, by its index, told lately.
type seenHead struct {
	index  int
	number uint64
}

// compareHead sets the distance of e, whose head was seen just now, and of those seen in the same moment, from the
// head of the majority: the median of those seen lately. Others may have gone on meanwhile, so that an endpoint may
// be further behind than it seems, but hardly less. What it returns, unless nil, is to be run to prove that.
func (p *Pool) compareHead(e *Endpoint, number uint64) (prove func(context.Context)) {
	now := time.Now()
	e.head.take(now, number)
	var all []seenHead
	for i, each := range p.endpoints {
		if known, is := each.head.recent(now, headsFor); is {
			all = append(all, seenHead{i, known})
		}
	}
	slices.SortFunc(all, func(a, b seenHead) int { return cmp.Compare(a.number, b.number) })
	if len(all) < majority {
		if len(all) == majority-1 {
			return p.compareTwo(now, all[0], all[1])
		}
		return nil
	}
	for _, each := range p.endpoints {
		if known, is := each.head.recent(now, headsTogether); is {
			each.head.place(int64(known)-int64(all[len(all)/2].number), p.heads.most)
		}
	}
	return nil
}

// compareTwo sets the distances of two endpoints from each other, and returns how to prove which one is wrong, nil
// where that need not be or was tried lately.
func (p *Pool) compareTwo(now time.Time, low, high seenHead) (prove func(context.Context)) {
	distance := int64(high.number) - int64(low.number)
	if _, is := p.endpoints[high.index].head.recent(now, headsTogether); is {
		p.endpoints[high.index].head.placeBeside(distance, p.heads.most)
	}
	behind := &p.endpoints[low.index].head
	if _, is := behind.recent(now, headsTogether); !is || !behind.placeBeside(-distance, p.heads.most) || behind.isOff() {
		return nil
	}
	last := p.heads.linked.Load()
	if p.heads.probes[low.index].Block == nil || now.Sub(time.Unix(0, last)) < headsEvery || !p.heads.linked.CompareAndSwap(last, now.UnixNano()) {
		return nil
	}
	return func(ctx context.Context) { p.linkHeads(ctx, low, high) }
}

// linkHeads tries to prove that an endpoint is behind: that the other one has a block after its head.
func (p *Pool) linkHeads(ctx context.Context, low, high seenHead) {
	head, _, isTold := p.linkAt(ctx, low.index, low.number)
	_, parent, follows := p.linkAt(ctx, high.index, low.number+1)
	if isTold && follows && head == parent {
		p.endpoints[low.index].head.proveFar()
	}
}

// proveInBackground runs a proof about two endpoints beside one of them that nothing is being asked in the background.
func (p *Pool) proveInBackground(prove func(context.Context)) {
	for _, e := range p.endpoints {
		if e.worker.begin(prove) {
			return
		}
	}
	p.heads.linked.Store(0) // all are being asked something: next time
}

// linkAt asks one endpoint for the hash of a block and of the one before it.
func (p *Pool) linkAt(ctx context.Context, index int, number uint64) (hash, parent string, told bool) {
	probe := p.heads.probes[index]
	response, err := p.endpoints[index].probe(ctx, probe.Block(number))
	if err != nil {
		return "", "", false
	}
	return probe.Link(number, response)
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
		if e.standing() >= down {
			continue
		}
		probe := p.heads.probes[i]
		e.worker.begin(func(ctx context.Context) {
			response, err := e.probe(ctx, probe.Request)
			if err != nil {
				return
			}
			if number, told := probe.Head(response); told {
				if prove := p.compareHead(e, number); prove != nil {
					prove(ctx)
				}
			}
		})
	}
}
