package jsonrpc

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"crossgate/upstream"
)

// How long something counts as missing before it is tried again, since endpoints and plans change.
const (
	lacksMethod = 6 * time.Hour    // according to an error
	lacksBlock  = 10 * time.Minute // not even a single block is searched
	lacksDepth  = time.Hour        // blocks of that age are not kept
	lacksTag    = 10 * time.Minute // starting nodes have no final block yet
)

const (
	// leastSoft is the fewest blocks that a search is narrowed to after failures that may have other reasons.
	leastSoft = 256
	// nearHead is the depth, in blocks, down to which a node that lacks something may just be behind.
	nearHead = 64
)

// Reach is the part of a chain that a call reads, for endpoints that do not serve all of it. All serve the zero value.
type Reach struct {
	Blocks uint64   // number of blocks searched at once; zero: not a search
	Oldest uint64   // oldest block that is read
	Depth  uint64   // of that block below the newest; zero: unknown, or at the head
	State  bool     // state is read, not history
	Tag    string   // tag for a block, if some nodes do not know it
	Fields []string // fields of the parameters that some nodes reject
}

// Fields of parameters that some nodes reject.
const (
	Topics    = "topics"    // of eth_getLogs: criteria for logs besides their contracts
	Addresses = "addresses" // of eth_getLogs: several contracts
	Overrides = "overrides" // of eth_call and eth_estimateGas: states during the call
)

// part returns the kind of history that a call reads: endpoints keep each for a different time.
func (r Reach) part() string {
	switch {
	case r.State:
		return "state"
	case r.Blocks > 0:
		return "logs"
	}
	return "blocks"
}

// Limits are an endpoint's limits as discovered. Zero means unknown.
type Limits struct {
	Batch  uint64            `json:"batch,omitempty"`  // calls in one request
	Span   uint64            `json:"span,omitempty"`   // blocks in one search of logs
	Depths map[string]uint64 `json:"depths,omitempty"` // how many blocks back logs, state and blocks are kept
	Lacks  []string          `json:"lacks,omitempty"`  // methods, or a method and a tag or a field
}

// Capabilities are the abilities of one endpoint: it can do everything until it refuses something, which is tried again
// after a while, since endpoints and plans change. Safe for concurrent use.
type Capabilities struct {
	batch, span width

	mu         sync.Mutex
	paces      map[string]*upstream.Budget // of methods that are accepted less often than others
	costs      map[string]int              // see SetCosts
	depths     map[string]depth
	lacks      map[string]time.Time // until when something is not asked for; see Call.needs
	crowded    time.Time            // when a batch was refused for its rate, if nothing was answered since; zero: never
	longest    int                  // longest list that was found whole
	foundWhole int                  // how often a list of this length was found whole
}

// depth is how far into the past an endpoint answers, in blocks below the newest.
type depth struct {
	most     uint64 // the limit, as far as is known
	answered uint64 // the deepest answered
	refused  uint64 // the least deep refused
	until    time.Time
}

func newCapabilities() *Capabilities {
	return &Capabilities{
		batch: width{most: largestBatch}, span: width{most: widestSearch},
		depths: make(map[string]depth), lacks: make(map[string]time.Time), paces: make(map[string]*upstream.Budget),
	}
}

// widestSearch is how many blocks are searched at once until that is refused. Public endpoints accept 5,000, which is
// found in four searches.
const widestSearch = 40_000

// SetCosts sets how many units of the endpoint's rate a call takes, by method, with * for any other; 1 by default.
func (c *Capabilities) SetCosts(costs map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.costs = costs
}

func (c *Capabilities) costOf(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.costs[method], c.costs["*"], 1)
}

// cuts are lengths at which endpoints are known to truncate lists silently.
var cuts = []int{100, 500, 1000, 2000, 5000, 10_000, 20_000}

// MayBeCut reports whether a list of n items may be truncated: n is one of cuts, is more than the longest list found
// whole, or equals it and was found whole fewer than enoughWhole times.
func (c *Capabilities) MayBeCut(n int) bool {
	const leastRecord, enoughWhole = 3, 3
	c.mu.Lock()
	defer c.mu.Unlock()
	isKnown := n < leastRecord || n < c.longest || n == c.longest && c.foundWhole >= enoughWhole
	return !isKnown || slices.Contains(cuts, n)
}

// FoundWhole records that a list of n items was whole.
func (c *Capabilities) FoundWhole(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > c.longest {
		c.longest, c.foundWhole = n, 0
	}
	if n == c.longest {
		c.foundWhole++
	}
}

// Span returns how many blocks to search at once.
func (c *Capabilities) Span() uint64 { return c.span.now() }

// Batch returns how many calls to make in one request.
func (c *Capabilities) Batch() uint64 { return c.batch.now() }

// can reports whether the endpoint can be expected to answer a call or, with isNew, whether it might: then the
// endpoints that are known to answer it are avoided.
func (c *Capabilities) can(call *Call, isNew bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.lacks) > 0 && slices.ContainsFunc(call.needs(), func(what string) bool { return now.Before(c.lacks[what]) }) {
		return false
	}
	if d := c.depths[call.Reach.part()]; now.Before(d.until) && call.Reach.Depth > d.most && !(isNew && call.Reach.Depth < d.refused) {
		return false
	}
	most := c.span.limited()
	return most == 0 || call.Reach.Blocks <= most
}

// needs returns the features that a node must have for the call, in the words of Limits.Lacks.
func (c *Call) needs() []string {
	what := []string{c.Method}
	if c.Reach.Tag != "" {
		what = append(what, c.Method+" "+c.Reach.Tag)
	}
	for _, field := range c.Reach.Fields {
		what = append(what, c.Method+" "+field)
	}
	return what
}

func (c *Capabilities) answered(call *Call) {
	if call.Reach.Blocks > 0 {
		c.span.took(call.Reach.Blocks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.lacks, func(what string, _ time.Time) bool { return slices.Contains(call.needs(), what) })
	if call.Reach.Depth == 0 {
		return
	}
	d := c.depths[call.Reach.part()]
	if d.answered = max(d.answered, call.Reach.Depth); d.refused <= d.answered {
		d.refused = 0
	}
	d.most = max(d.most, d.answered)
	c.depths[call.Reach.part()] = d
}

func (c *Capabilities) refused(call *Call, said *Error) {
	switch said.Meaning() {
	case MethodMissing:
		c.lack(call.Method, lacksMethod)
	case TagMissing:
		c.lackTag(call)
	case FieldMissing:
		c.lack(call.Method+" "+said.field, lacksMethod)
	case Pruned:
		c.forgot(call.Reach)
	case RangeLimit:
		c.narrow(call)
	case Unclear:
		c.lackTag(call) // nodes may say so about a tag that they cannot parse
		if call.Reach.Blocks > 0 && !isAboutFilter(said) {
			c.narrow(call)
		}
	case Overloaded:
		c.late(call)
	}
}

func isAboutFilter(said *Error) bool {
	text := said.text()
	return strings.Contains(text, "topic") || strings.Contains(text, "address")
}

// concerns reports whether an error in reply to a number of calls can be about this one.
func (e *Error) concerns(call *Call, calls int) bool {
	switch e.Meaning() {
	case MethodMissing:
		return calls == 1 || strings.Contains(e.text(), strings.ToLower(call.Method))
	case FieldMissing:
		return e.about(call).field != ""
	case Pruned:
		return call.Reach.Depth > 0
	}
	return true
}

// lackTag records that the endpoint has no block for the tag of a call, if the call has a tag.
func (c *Capabilities) lackTag(call *Call) {
	if call.Reach.Tag != "" {
		c.lack(call.Method+" "+call.Reach.Tag, lacksTag)
	}
}

func (c *Capabilities) lack(what string, term time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lacks[what] = time.Now().Add(term)
}

// narrow records that a search was too wide. An endpoint that rejects even a single block cannot search at all.
func (c *Capabilities) narrow(call *Call) {
	if asked := call.Reach.Blocks; asked == 1 {
		c.lack(call.Method, lacksBlock)
	} else if asked > 1 {
		c.span.refused(asked)
	}
}

// late records that a search took too long, or failed for a reason that may be its width.
func (c *Capabilities) late(call *Call) {
	if call.Reach.Blocks > leastSoft {
		c.span.refused(call.Reach.Blocks)
	}
}

// forgot records that something is older than the endpoint's history: half that age may still be there. An age that was
// known to be too old, and merely tried again, leaves the limit unchanged.
func (c *Capabilities) forgot(asked Reach) {
	if asked.Depth <= nearHead {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.depths[asked.part()]
	if d.answered >= asked.Depth {
		d.answered = 0
	}
	if d.most == 0 || d.most >= asked.Depth {
		d.most = max(asked.Depth/2, d.answered)
	}
	if d.refused == 0 || d.refused > asked.Depth {
		d.refused = asked.Depth
	}
	d.until = time.Now().Add(lacksDepth)
	c.depths[asked.part()] = d
}

// Known returns the limits currently in force.
func (c *Capabilities) Known() Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	known := Limits{Batch: c.batch.limited(), Span: c.span.limited()}
	for part, d := range c.depths {
		if now.Before(d.until) {
			if known.Depths == nil {
				known.Depths = make(map[string]uint64)
			}
			known.Depths[part] = d.most
		}
	}
	for what, until := range c.lacks {
		if now.Before(until) {
			known.Lacks = append(known.Lacks, what)
		}
	}
	slices.Sort(known.Lacks)
	return known
}
