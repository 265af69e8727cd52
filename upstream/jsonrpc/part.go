package jsonrpc

import (
	"context"
	"slices"
	"time"

	"crossgate/upstream"
)

// Times are a part of eth_getLogs' results, of each log its block's: nodes older than about 2025 leave it out.
const Times = "times"

// Part is a part of a call's results that some nodes leave out.
type Part struct {
	Name string // as Limits.Lacks has it after the method
	// In sees a pointer to an accepted result and tells whether the part is in it. It is not told by a result that
	// has no place for it, such as an empty list. It writes to nothing, and may be called after the caller has left.
	In func(result any) (has, told bool)
}

// part tells whether the part of a call's results that some nodes leave out is in this one.
func (r rpcResult) part(call *Call) (has, told bool) {
	if call.Part.In == nil || r.err != nil || !r.value.IsValid() {
		return false, false
	}
	return call.Part.In(r.value.Addr().Interface())
}

// gave learns whether a part was in a result. Only what is new counts as a change, which is stored.
func (c *Capabilities) gave(what string, has bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wasLacking := time.Now().Before(c.lacks[what])
	if has {
		delete(c.lacks, what)
	} else {
		c.lacks[what] = time.Now().Add(lacksMethod)
	}
	if has == wasLacking {
		c.version++
	}
}

// Lacking returns the endpoints that are known to leave a part out of a method's results, for upstream.Avoiding. None
// where no other endpoint can be asked instead, of those that ctx does not avoid.
func (c *Client) Lacking(ctx context.Context, method, part string) []string {
	now := time.Now()
	var lacking []string
	hasOther := false
	for _, e := range c.pool.Endpoints() {
		known := c.abilities[e]
		known.mu.Lock()
		lacks := known.lacksLocked(method+" "+part, now)
		known.mu.Unlock()
		switch {
		case lacks:
			lacking = append(lacking, e.Name())
		case e.IsSound() && !slices.Contains(upstream.Avoided(ctx), e.Name()):
			hasOther = true
		}
	}
	if !hasOther {
		return nil
	}
	return lacking
}
