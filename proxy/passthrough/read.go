package passthrough

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"time"

	"crossgate/cache/rfc9111"
)

// mostJoins is how often a request waits for the response to another before it is forwarded itself.
const mostJoins = 2

func (h *Handler) read(x *exchange) {
	x.wants = rfc9111.RequestDirectives(x.header)
	if x.wants.NoStore() {
		h.pass(x, "request")
		return
	}
	for joins := 0; ; joins++ {
		stored, purged, _ := h.store.Find(x.key)
		x.stored = stored
		v := stored.match(x.header)
		now := time.Now()
		if v != nil && h.serveStored(x, v, purged || v.ended, joins, now) {
			return
		}
		switch {
		case x.wants.OnlyIfCached():
			x.fail(ErrNotCached)
			return
		case x.r.Method == http.MethodHead:
			h.pass(x, missOf(x.stored, v))
			return
		}
		isLoose := stored != nil && stored.loose
		isOwn := (v == nil || !rfc9111.HasValidator(v.header)) && isConditional(x.header) // the response is for this request only
		isAlone := isLoose || isOwn || joins >= mostJoins
		if h.ask(x, v, isAlone) {
			return
		}
	}
}

// serveStored answers with a stored response if permitted, and reports whether it did.
func (h *Handler) serveStored(x *exchange, v *variant, ended bool, joins int, now time.Time) bool {
	status := rfc9111.Status{Hit: true, TTL: v.policy.FreshFor(now)}
	switch rfc9111.UseOf(x.header, v.policy, ended, now) {
	case rfc9111.Serve:
		x.outcome = hit
	case rfc9111.ServeWhileValidating:
		x.outcome, status.Detail = stale, "stale-while-revalidate"
		quiet := *x
		if f, isFirst := h.join(&quiet, v, false); f != nil { // another has just ended otherwise
			f.leave(isFirst, isFirst)
		}
	case rfc9111.Validate:
		return false
	}
	if joins > 0 {
		x.outcome, status = collapsed, rfc9111.Status{Forwarded: "uri-miss", Collapsed: true}
	}
	h.write(x, v, status, now)
	return true
}

// ask has the origin answer, and reports whether the client has its answer. Where it was the response to another
// request, and cannot answer this request, it has not.
func (h *Handler) ask(x *exchange, v *variant, isAlone bool) bool {
	stale := v
	if v != nil && !rfc9111.HasValidator(v.header) {
		stale = nil
	}
	f, isFirst := h.join(x, stale, isAlone)
	if f == nil {
		return false
	}
	defer f.leave(isFirst, false)
	waiting := f.opened
	if !isFirst {
		waiting = f.done
	}
	if !h.await(x, f, waiting, isFirst) {
		x.fail(context.Canceled) // for the metrics
		x.outcome = unanswered
		return true
	}
	now := time.Now()
	failed := f.err != nil || rfc9111.IsFailure(f.answered)
	switch {
	case failed && v != nil && rfc9111.MayServeOnError(x.header, v.policy, now):
		x.outcome = staleIfError
		status := rfc9111.Status{Hit: true, TTL: v.policy.FreshFor(now), Forwarded: "stale", Answered: f.answered, Detail: "stale-if-error"}
		h.write(x, v, status, now)
	case f.err != nil:
		x.fail(f.err)
	case f.isFresh && (isFirst || f.isKept) && f.head.selection.Matches(x.header):
		x.outcome = validated
		status := rfc9111.Status{Forwarded: "stale", Answered: f.answered, Stored: f.isKept, Collapsed: !isFirst}
		h.write(x, f.head, status, now)
	case !isFirst:
		return false
	default:
		h.relay(x, f, missOf(x.stored, v))
	}
	return true
}

// await forwards interim responses until a channel of the fill is closed, or returns false if the client leaves.
func (h *Handler) await(x *exchange, f *fill, until <-chan struct{}, isFirst bool) bool {
	informs := f.inform
	if !isFirst {
		informs = nil
	}
	for {
		select {
		case i := <-informs:
			inform(x.w, i)
		case <-until:
			for len(informs) > 0 {
				inform(x.w, <-informs)
			}
			return true
		case <-x.r.Context().Done():
			return false
		}
	}
}

// missOf returns why a request is forwarded, in terms of Cache-Status.
func missOf(stored *resource, v *variant) string {
	switch {
	case v != nil:
		return "stale"
	case stored != nil && len(stored.variants) > 0:
		return "vary-miss"
	}
	return "uri-miss"
}

// isConditional reports whether a request is for a part or conditional, so that its response is not for others.
func isConditional(header http.Header) bool {
	return len(header["Range"]) > 0 || len(header["If-None-Match"]) > 0 || len(header["If-Modified-Since"]) > 0
}

// write answers with a stored response: all of it, the requested part, or 304.
func (h *Handler) write(x *exchange, v *variant, status rfc9111.Status, now time.Time) {
	header := x.w.Header()
	maps.Copy(header, v.header)
	if header["Content-Type"] == nil {
		header["Content-Type"] = []string{} // do not guess it
	}
	lines := &[2]string{strconv.FormatInt(int64(v.policy.AgeAt(now)/time.Second), 10)}
	header["Age"] = lines[:1:1]
	if others := v.header["Cache-Status"]; len(others) > 0 {
		header["Cache-Status"] = statusLines(others, status)
	} else {
		var space [64]byte
		lines[1] = string(status.Append(space[:0], Name))
		header["Cache-Status"] = lines[1:]
	}
	body, code := v.body, v.status
	switch {
	case rfc9111.NotModified(x.header, v.status, v.header, v.received):
		for _, name := range []string{"Content-Length", "Content-Range", "Content-Encoding", "Content-Type"} {
			delete(header, name)
		}
		x.w.WriteHeader(http.StatusNotModified)
		return
	case v.status == http.StatusOK && x.r.Method == http.MethodGet:
		var contentRange string
		if body, contentRange, code = rfc9111.RangeOf(x.header, v.header, v.body); contentRange != "" {
			header["Content-Range"] = []string{contentRange}
		}
	}
	if code != http.StatusNoContent && code != http.StatusNotModified {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	x.w.WriteHeader(code)
	if x.r.Method != http.MethodHead {
		_ = x.send(body) // fails if the client has left
	}
}

// statusLines returns the lines of Cache-Status with this cache's entry last.
func statusLines(others []string, status rfc9111.Status) []string {
	lines := make([]string, 0, len(others)+1)
	return append(append(lines, others...), string(status.Append(nil, Name)))
}
