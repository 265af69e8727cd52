package passthrough

import (
	"net/http"
	"time"

	"crossgate/cache/rfc9111"
)

// lack is what is missing of a stored part to answer a request.
type lack struct {
	of   *variant
	part rfc9111.Extent
}

// lackOf returns what a request needs beside a stored part, where the origin can be asked for it and the two would not
// be too long together.
func (v *variant) lackOf(x *exchange, now time.Time) *lack {
	if v == nil || v.extent.IsWhole() || v.status != http.StatusPartialContent {
		return nil
	}
	for _, name := range rfc9111.Conditions {
		if len(x.header[name]) > 0 {
			return nil
		}
	}
	needed, wanted := rfc9111.RangeOf(x.asks, v.header, v.extent.Total, now)
	switch {
	case wanted == rfc9111.Unsatisfiable, wanted == rfc9111.All && len(x.header["Range"]) > 0:
		return nil
	case wanted == rfc9111.All:
		needed = rfc9111.FullExtent(v.extent.Total)
	}
	part, isOne := rfc9111.Missing(v.extent, needed)
	if !isOne || part.Len()+v.extent.Len() > x.host.MaxBody || !rfc9111.AskForPart(http.Header{}, v.header, part, v.received) {
		return nil
	}
	return &lack{v, part}
}

// complete has the origin give only what is missing of a stored part, joins the two, and reports whether the client has
// its answer. Where they do not belong together any more, the origin's answer is all of what has taken its place, or
// the client's own request has to go on.
func (h *Handler) complete(x *exchange, v *variant, now time.Time) bool {
	lacks := v.lackOf(x, now)
	if lacks == nil || x.isTried {
		return false
	}
	x.isTried = true
	partial := *x
	partial.lacks = lacks
	f, isFirst := h.join(&partial, nil, true)
	defer f.leave(isFirst)
	if !h.await(x, f, f.opened, isFirst) {
		h.left(x)
		return true
	}
	switch {
	case f.err != nil:
		h.fail(x, f.err)
		return true
	case f.answered != http.StatusPartialContent:
		h.relay(x, f, "partial")
		return true
	case f.growing == nil: // it may not be stored
		return false
	case !h.await(x, f, f.done, false):
		h.left(x)
		return true
	case f.kept == nil || !f.kept.answers(x, now):
		return false
	}
	x.outcome = miss
	h.write(x, f.kept, rfc9111.Status{Forwarded: "partial", Answered: f.answered, Stored: true}, time.Now())
	return true
}

// answers reports whether a response has all that a request asks for.
func (v *variant) answers(x *exchange, now time.Time) bool {
	if v.extent.IsWhole() {
		return true
	}
	_, wanted := rfc9111.RangeOf(x.asks, v.header, v.extent.Total, now)
	return wanted == rfc9111.Part && v.covers(x, now)
}
