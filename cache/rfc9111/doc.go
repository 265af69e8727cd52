// Package rfc9111 implements the rules of HTTP caching for a shared cache, without a cache: which parts of a response
// may be stored, how long it is fresh, which requests it may answer, how it is validated, updated and invalidated. It
// has no state and no clock.
//
// The rules are those of RFC 9111, with RFC 9110 (ranges, preconditions), RFC 5861 (stale-while-revalidate,
// stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted fields) and RFC 9211 (Cache-Status). Where they leave a
// choice, the one that stores or reuses less is made: a malformed lifetime is none, the first of several counts, an
// unreadable response is not stored.
package rfc9111
