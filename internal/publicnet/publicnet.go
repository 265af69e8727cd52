// Package publicnet keeps connections to hosts that others name away from what only this machine can reach.
package publicnet

import (
	"fmt"
	"net/netip"
	"syscall"
)

// shared are the addresses that carriers share (RFC 6598), which Go does not count among the private ones, and those
// that stand for IPv4 ones behind a translator (RFC 6052), private ones among them.
var shared = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96")}

// IsPublic reports whether an address is none of a private, local or shared network.
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, each := range shared {
		if each.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// Control is that of a net.Dialer which connects to public addresses alone: names are resolved by then.
func Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && !IsPublic(at.Addr()) {
		err = fmt.Errorf("%s is not a public address", at.Addr())
	}
	return err
}
