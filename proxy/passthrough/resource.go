package passthrough

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"crossgate/cache"
	"crossgate/cache/rfc9111"
)

// resource is the stored responses under one key. It is immutable; a new one replaces it.
type resource struct {
	variants []*variant // newest first
	// loose means that responses under this key cannot be stored, so that requests do not wait for each other.
	loose bool
	tags  []cache.Key
}

type variant struct {
	status    int
	header    http.Header // shared by all responses, so slices have no spare capacity
	body      []byte
	selection rfc9111.Selection
	policy    rfc9111.Policy
	received  time.Time
	ended     bool // invalidated since it was received
}

// cost returns the approximate memory of a resource in bytes.
func (s *resource) cost() int64 {
	const overhead = 256
	total := int64(overhead)
	for _, v := range s.variants {
		total += v.cost()
	}
	return total
}

func (v *variant) cost() int64 {
	const overhead, perField = 512, 48
	total := int64(overhead + cap(v.body))
	for name, lines := range v.header {
		total += int64(perField + len(name))
		for _, line := range lines {
			total += int64(len(line))
		}
	}
	return total
}

func (s *resource) match(q http.Header) *variant {
	if s == nil {
		return nil
	}
	for _, v := range s.variants {
		if v.selection.Matches(q) {
			return v
		}
	}
	return nil
}

// with returns a resource with v, which replaces a variant of the same selection. The oldest variants make room.
func (s *resource) with(v *variant, bytes int64) *resource {
	next := &resource{variants: []*variant{v}, tags: s.tags}
	left := bytes - v.cost()
	for _, each := range s.variants {
		left -= each.cost()
		if len(next.variants) < mostVariants && left >= 0 && !each.selection.Equal(v.selection) {
			next.variants = append(next.variants, each)
		}
	}
	return next
}

// mostVariants is how many responses of one resource are stored, by Vary.
const mostVariants = 16

func (s *resource) outdated() *resource {
	next := &resource{tags: s.tags}
	for _, v := range s.variants {
		ended := *v
		ended.ended = true
		next.variants = append(next.variants, &ended)
	}
	return next
}

// rest returns how long a resource is worth keeping: while fresh, stale but usable, or validatable.
func (s *resource) rest(now time.Time) time.Duration {
	const validatable = 24 * time.Hour
	longest := time.Duration(0)
	for _, v := range s.variants {
		rest := v.policy.FreshFor(now) + max(v.policy.IfError, v.policy.WhileRevalidate)
		if rfc9111.HasValidator(v.header) {
			rest = max(rest, v.policy.FreshFor(now)+validatable, validatable)
		}
		longest = max(longest, rest)
	}
	return longest
}

// looseFor is how long to remember that a response cannot be stored.
const looseFor = 10 * time.Second

// tagsOf returns the keys to purge a resource by: its host, and its path without the query.
func tagsOf(host *Host, path string) []cache.Key {
	return []cache.Key{hostTag(host.Name), pathTag(host.Name, path)}
}

func hostTag(name string) cache.Key { return cache.KeyOf("passthrough host", []byte(name)) }

func pathTag(name, path string) cache.Key {
	return cache.KeyOf("passthrough path", []byte(name), []byte(path))
}

// keyOf returns a resource's key: host, the Host sent to the origin if kept, escaped path, query.
func keyOf(host *Host, kept, path, query string) cache.Key {
	return cache.KeyOf("passthrough", []byte(host.Name), []byte(kept), []byte(path), []byte(query))
}

func keptHeader(header http.Header, received time.Time) http.Header {
	kept := rfc9111.Stored(header)
	if kept["Date"] == nil {
		kept["Date"] = []string{received.UTC().Format(http.TimeFormat)} // RFC 9110, section 6.6.1
	}
	for name, lines := range kept {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			delete(kept, name)
			continue
		}
		kept[name] = slices.Clip(lines)
	}
	return kept
}
