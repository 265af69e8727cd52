package transport

import (
	"net"
	"net/http"
	"net/netip"
)

// Limits bound how many connections are open at a time, and how many requests of HTTP/2 are under way. Where there are
// too many connections, the one that has waited longest for its next request is closed for the new one; if none waits,
// the new one is refused, as requests are.
type Limits struct {
	All        int                   // 0: no bound
	PerAddress int                   // of one IPv4 address, or one IPv6 network of 64 bits; 0: no bound
	Exempt     func(netip.Addr) bool // from PerAddress: proxies, which speak for many clients; nil: none
}

// openConns is the open connections. Its methods are called with the server's mutex held.
type openConns struct {
	limits Limits
	all    map[*conn]struct{}
	from   map[netip.Prefix]map[*conn]struct{} // those whose address counts

	requests     int // of HTTP/2 under way, with those that are being refused
	requestsFrom map[netip.Prefix]int
}

func newOpenConns(l Limits) openConns {
	return openConns{
		limits: l, all: map[*conn]struct{}{}, from: map[netip.Prefix]map[*conn]struct{}{}, requestsFrom: map[netip.Prefix]int{},
	}
}

// enter gives c a place, or returns the status to refuse it by.
func (w *openConns) enter(c *conn) (refused int) {
	c.from = w.origin(c.socket.RemoteAddr())
	same := w.from[c.from]
	if c.from.IsValid() && len(same) >= w.limits.PerAddress && !endLongestIdle(same, len(same)) {
		return http.StatusTooManyRequests
	}
	const looked = 128 // of many: maps are walked from anywhere
	if w.limits.All > 0 && len(w.all) >= w.limits.All && !endLongestIdle(w.all, looked) {
		return http.StatusServiceUnavailable
	}
	w.all[c] = struct{}{}
	if c.from.IsValid() {
		if same == nil {
			same = map[*conn]struct{}{}
			w.from[c.from] = same
		}
		same[c] = struct{}{}
	}
	return 0
}

// leave gives the place back.
func (w *openConns) leave(c *conn) {
	delete(w.all, c)
	if same := w.from[c.from]; same != nil {
		delete(same, c)
		if len(same) == 0 {
			delete(w.from, c.from)
		}
	}
}

// aborted is in the place of a status where even refusals wait to be sent.
const aborted = -1

// enterRequest gives a request a place, or returns the status to refuse it by, also with a place, or aborted.
func (w *openConns) enterRequest(c *conn) (refused int) {
	same, each, all := w.requestsFrom[c.from], w.limits.PerAddress, w.limits.All
	switch {
	case c.from.IsValid() && same >= 2*each, all > 0 && w.requests >= 2*all:
		return aborted
	case c.from.IsValid() && same >= each:
		refused = http.StatusTooManyRequests
	case all > 0 && w.requests >= all:
		refused = http.StatusServiceUnavailable
	}
	w.requests++
	if c.from.IsValid() {
		w.requestsFrom[c.from] = same + 1
	}
	return refused
}

func (w *openConns) leaveRequest(c *conn) {
	w.requests--
	if w.requestsFrom[c.from]--; w.requestsFrom[c.from] <= 0 {
		delete(w.requestsFrom, c.from)
	}
}

// origin is what connections of one client have in common; invalid where they are not counted.
func (w *openConns) origin(peer net.Addr) netip.Prefix {
	address, isTCP := peer.(*net.TCPAddr)
	if !isTCP || w.limits.PerAddress <= 0 {
		return netip.Prefix{}
	}
	from := address.AddrPort().Addr().Unmap().WithZone("")
	if w.limits.Exempt != nil && w.limits.Exempt(from) {
		return netip.Prefix{}
	}
	bits := from.BitLen()
	if from.Is6() {
		bits = 64 // the network of one subscriber
	}
	return netip.PrefixFrom(from, bits).Masked()
}

// endLongestIdle ends the connection that has waited longest among so many.
func endLongestIdle(among map[*conn]struct{}, most int) (ended bool) {
	var longest *conn
	var since int64
	for c := range among {
		if idle := c.idleSince.Load(); idle > 0 && (longest == nil || idle < since) {
			longest, since = c, idle
		}
		if most--; most == 0 {
			break
		}
	}
	return longest != nil && longest.leaveIdle()
}
