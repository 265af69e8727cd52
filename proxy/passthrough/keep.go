package passthrough

import (
	"net/http"
	"slices"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
)

// keep stores a variant beside those that are stored under its key. Parts of the same representation are combined.
func (h *Handler) keep(f *fill, v *variant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.found(f)
	if old := before.match(f.asks.Header); old != nil && v.status == http.StatusPartialContent {
		v = combined(old, v, f.host.MaxBody)
	}
	f.kept = v
	key := h.keyOf(f.host, f.request.Host, f.path, f.request.RawQuery)
	h.put(f.mark, key, before.with(v, f.host.MaxVariants, h.options.MaxBytes/8))
}

// found is what is stored for a fill, with everything out of date where it was purged softly.
func (h *Handler) found(f *fill) *resource {
	stored, purged, found := h.store.Find(f.key)
	switch {
	case !found:
		return &resource{tags: tagsOf(f.host, f.path)}
	case purged:
		return stored.outdated()
	}
	return stored
}

// put stores a resource for as long as it is of use.
func (h *Handler) put(mark cache.Mark, key cache.Key, s *resource) {
	if rest := s.rest(time.Now()); rest > 0 {
		h.store.Keep(mark, key, s, cache.Life{Fresh: rest})
	}
}

// loosen remembers that what is asked cannot be stored, unless something is stored.
func (h *Handler) loosen(f *fill) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stored, _, found := h.store.Find(f.key); !found || len(stored.variants) == 0 {
		s := &resource{loose: true, tags: tagsOf(f.host, f.path)}
		h.store.Keep(f.mark, f.key, s, cache.Life{Fresh: looseFor})
	}
}

// refresh stores a variant that a 304 has validated, and returns it.
func (h *Handler) refresh(f *fill, notModified rfc9111.Response) *variant {
	fresh, mayStore := f.freshened(notModified)
	if mayStore { // else it is served this time
		h.mu.Lock()
		defer h.mu.Unlock()
		h.put(f.mark, f.key, h.found(f).with(fresh, f.host.MaxVariants, h.options.MaxBytes/8))
	}
	return fresh
}

// freshened is the stale variant with the header of a 304, or of the response to a HEAD, and whether it may be stored.
func (f *fill) freshened(notModified rfc9111.Response) (*variant, bool) {
	merged := rfc9111.Merge(f.stale.header, notModified.Header)
	fresh := *f.stale
	fresh.header, fresh.received, fresh.ended = keptHeader(merged, notModified.Received), notModified.Received, false
	said := rfc9111.Response{Status: fresh.status, Header: merged, Requested: notModified.Requested, Received: notModified.Received}
	said.Header = merged.Clone()
	if age := notModified.Header["Age"]; len(age) > 0 {
		said.Header["Age"] = age
	}
	if date := notModified.Header["Date"]; len(date) == 0 {
		delete(said.Header, "Date") // the stored one is that of the response before
	}
	fresh.policy = rfc9111.PolicyOf(said, f.host.Options)
	fresh.selection = rfc9111.SelectionOf(f.asks.Header, merged)
	return &fresh, rfc9111.MayStore(f.asks, said, f.host.Options)
}

// combined returns two stored parts as one, or the newer where they do not belong together.
func combined(old, part *variant, most int64) *variant {
	if !rfc9111.SameStrong(old.header, part.header, part.received) {
		return part
	}
	if old.extent.IsWhole() && old.status == http.StatusOK && old.extent.Total == part.extent.Total {
		updated := *old
		updated.header, updated.policy = rfc9111.Merge(old.header, part.header), part.policy
		updated.received = part.received
		return &updated
	}
	extent, body, joined := rfc9111.Combine(old.extent, old.body, part.extent, part.body)
	if !joined || extent.Len() > most {
		return part
	}
	both := *part
	both.header, both.extent, both.body = rfc9111.Merge(old.header, part.header), extent, body
	delete(both.header, "Content-Length")
	if both.header["Content-Range"] = []string{extent.String()}; extent.IsWhole() {
		both.status = http.StatusOK
		delete(both.header, "Content-Range")
	}
	return &both
}

// invalidate ends what is stored of the resources that an unsafe request has changed.
func (h *Handler) invalidate(x *exchange, response *http.Response) {
	h.end(x, x.path, x.r.URL.RawQuery)
	for _, scheme := range []string{"http", "https"} { // who ends TLS in front need not say so
		target := *x.r.URL
		target.Scheme, target.Host = scheme, x.r.Host
		for _, each := range rfc9111.Invalidated(&target, response.Header) {
			h.end(x, each.EscapedPath(), each.RawQuery)
		}
	}
}

// end purges a resource of the host that was asked. One that is neither stored nor being stored needs no purge, whose
// number is bounded.
func (h *Handler) end(x *exchange, path, query string) {
	key := h.keyOf(x.host, x.keptHost, path, query)
	h.mu.Lock()
	under := h.fills[key] != nil
	h.mu.Unlock()
	if _, _, found := h.store.Find(key); found || under {
		h.store.Purge(cache.Hard, key)
	}
}

// byOperator is among the keys of each purge by an operator, which replicas tell each other in one stream with all
// others.
var byOperator = cache.KeyOf("passthrough purge")

// Purge declares what is stored of hosts, and of the paths of each with any query and any kept Host, out of date. Its
// keys are for Purged of other replicas.
func (h *Handler) Purge(how cache.Purge, hosts []string, paths []string) (keys []cache.Key) {
	tags := []cache.Key{byOperator}
	for _, host := range hosts {
		if len(paths) == 0 {
			tags = append(tags, hostTag(host))
		}
		for _, path := range paths {
			tags = append(tags, pathTag(host, path))
		}
	}
	h.store.Purge(how, tags...)
	return tags
}

// Purged takes a purge of another replica: without keys one of everything, and else only what Purge returns there.
func (h *Handler) Purged(how cache.Purge, keys ...cache.Key) {
	switch {
	case len(keys) == 0:
		h.store.PurgeAll(how)
	case slices.Contains(keys, byOperator):
		h.store.Purge(how, keys...)
	}
}

// Hosts are the names of the configured hosts.
func (h *Handler) Hosts() []string {
	var names []string
	for _, each := range h.hosts.Load().all {
		names = append(names, each.Name)
	}
	return names
}
