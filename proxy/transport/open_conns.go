package transport

import (
	"net"
	"net/http"
	"net/netip"
)

// Limits bounds the open connections and the HTTP/2 requests in flight. At the limit of connections, a new one replaces
// the one that has been idle longest; if none is idle, the new one is rejected. Requests over the limit are rejected.
type Limits struct {
	All        int                   // 0 means unbounded
	PerAddress int                   // per IPv4 address or IPv6 /64 network; 0 means unbounded
	Exempt     func(netip.Addr) bool // from PerAddress: proxies, which act for many clients; may be nil
}

// openConns is the set of open connections. Its methods must be called with the server's mutex held.
type openConns struct {
	limits Limits
	all    map[*conn]struct{}
	from   map[netip.Prefix]map[*conn]struct{} // connections counted by address

	requests     int // HTTP/2 requests in flight, including those being rejected
	requestsFrom map[netip.Prefix]int
}

func newOpenConns(l Limits) openConns {
	return openConns{
		limits: l, all: map[*conn]struct{}{}, from: map[netip.Prefix]map[*conn]struct{}{}, requestsFrom: map[netip.Prefix]int{},
	}
}

// enter admits c, or returns the status to reject it with.
func (w *openConns) enter(c *conn) (refused int) {
	c.from = w.origin(c.socket.RemoteAddr())
	same := w.from[c.from]
	if c.from.IsValid() && len(same) >= w.limits.PerAddress && !endLongestIdle(same, len(same)) {
		return http.StatusTooManyRequests
	}
	const looked = 128 // a sample: map iteration starts anywhere
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

func (w *openConns) leave(c *conn) {
	delete(w.all, c)
	if same := w.from[c.from]; same != nil {
		delete(same, c)
		if len(same) == 0 {
			delete(w.from, c.from)
		}
	}
}

// aborted replaces a status when even rejections are queued up.
const aborted = -1

// enterRequest counts a request and returns the status to reject it with, or 0. A return of aborted does not count it.
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

// origin returns the prefix that groups connections of one client, invalid if they are not counted.
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

// endLongestIdle ends the connection that has been idle longest among the first most of them.
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
