// Package publicnet keeps connections to hosts named by third parties away from what only this machine can reach.
package publicnet

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// special holds networks that Go counts as global unicast although they lead into a local, carrier or test network,
// some by embedding an IPv4 address (IANA's special-purpose registries; RFC 6598, 2544, 6052, 8215, 3056, 4380, 3879).
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10",
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// IsPublic reports whether an address is in none of a private, local or special network.
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("") // a zone is in no prefix
	isSpecial := slices.ContainsFunc(special, func(each netip.Prefix) bool { return each.Contains(ip) })
	return !isSpecial && ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// Control is the Control of a net.Dialer that connects only to public addresses. Names are already resolved then.
func Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && !IsPublic(at.Addr()) {
		err = fmt.Errorf("%s is not a public address", at.Addr())
	}
	return err
}
