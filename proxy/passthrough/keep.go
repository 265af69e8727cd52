package passthrough

import (
	"net/http"
	"slices"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
)

// found returns the stored resource of a fill, with all variants out of date if it was purged softly.
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

// put stores a variant beside those under its key, while they are useful. Callers must hold Handler.mu.
func (h *Handler) put(f *fill, v *variant) {
	s := h.found(f).with(v, h.options.MaxBytes/8)
	if rest := s.rest(time.Now()); rest > 0 {
		h.store.Keep(f.mark, f.key, s, cache.Life{Fresh: rest})
	}
}

// loosen records that the resource cannot be stored, unless a response of it is stored.
func (h *Handler) loosen(f *fill) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stored, _, found := h.store.Find(f.key); !found || len(stored.variants) == 0 {
		s := &resource{loose: true, tags: tagsOf(f.host, f.path)}
		h.store.Keep(f.mark, f.key, s, cache.Life{Fresh: looseFor})
	}
}

// refresh returns a variant that a 304 has validated, and stores it if permitted.
func (h *Handler) refresh(f *fill, notModified rfc9111.Response) (_ *variant, isKept bool) {
	merged := rfc9111.Merge(f.stale.header, notModified.Header)
	said := rfc9111.Response{
		Status: f.stale.status, Header: merged.Clone(), Requested: notModified.Requested, Received: notModified.Received,
	}
	if age := notModified.Header["Age"]; len(age) > 0 {
		said.Header["Age"] = age
	}
	if len(notModified.Header["Date"]) == 0 {
		delete(said.Header, "Date") // the merged one is that of the earlier response
	}
	fresh := *f.stale
	fresh.header, fresh.received, fresh.ended = keptHeader(merged, said.Received), said.Received, false
	fresh.policy, fresh.selection = rfc9111.PolicyOf(said), rfc9111.SelectionOf(f.asks, merged)
	if !rfc9111.MayStore(f.request.Header, said, f.host.SetCookie) {
		return &fresh, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(f, &fresh)
	return &fresh, true
}

// invalidate purges stored responses of the resources that an unsafe request has changed.
func (h *Handler) invalidate(x *exchange, response *http.Response) {
	h.end(x, x.path, x.r.URL.RawQuery)
	for _, scheme := range []string{"http", "https"} { // a proxy that terminates TLS need not say so
		target := *x.r.URL
		target.Scheme, target.Host = scheme, x.r.Host
		for _, each := range rfc9111.Invalidated(&target, response.Header) {
			h.end(x, each.EscapedPath(), each.RawQuery)
		}
	}
}

// end purges a resource of the host if it is stored or being stored; purging others would waste the bounded purges.
func (h *Handler) end(x *exchange, path, query string) {
	key := keyOf(x.host, x.keptHost, path, query)
	h.mu.Lock()
	isUnderway := h.underway[key] > 0
	h.mu.Unlock()
	if _, _, found := h.store.Find(key); found || isUnderway {
		h.store.Purge(cache.Hard, key)
	}
}

// byOperator is among the keys of each operator's purge, which replicas publish along with all others.
var byOperator = cache.KeyOf("passthrough purge")

// Purge purges stored responses of hosts, or of their paths with any query. Its keys are for Purged on other replicas.
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

// Purged applies a purge by another replica: without keys all responses, otherwise only keys from Purge.
func (h *Handler) Purged(how cache.Purge, keys ...cache.Key) {
	switch {
	case len(keys) == 0:
		h.store.PurgeAll(how)
	case slices.Contains(keys, byOperator):
		h.store.Purge(how, keys...)
	}
}

// Hosts returns the names of the configured hosts.
func (h *Handler) Hosts() []string {
	var names []string
	for _, each := range h.hosts.Load().all {
		names = append(names, each.Name)
	}
	return names
}
