package admin

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// ownHosts passes on requests whose Host no outsider can have pointed here (DNS rebinding): otherwise a page in an
// operator's browser could read everything under a name of its own. A token proves as much, and so does TLS.
func (a *admin) ownHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, _ := bearer(r); r.TLS != nil || a.isOwn(r.Host) || a.isToken(token) {
			next.ServeHTTP(w, r)
			return
		}
		writeJSON(w, http.StatusMisdirectedRequest, map[string]string{
			"error": "Host is a public name that is not this listener's: use its IP address, the name in telemetry.admin, " +
				"a name of the private network, or send telemetry.token as a bearer token",
		})
	})
}

// isOwn reports whether a Host is an address, the listener's or the machine's name, or a name outside the public DNS.
func (a *admin) isOwn(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") {
		return true
	}
	listener, _, _ := net.SplitHostPort(a.Listen)
	machine, _ := os.Hostname()
	return strings.EqualFold(name, listener) || strings.EqualFold(name, machine) || !isPublic(name)
}

// isPublic reports whether a name with a dot is, or may be, in the public DNS.
func isPublic(name string) bool {
	switch suffix, isListed := publicsuffix.PublicSuffix(name); suffix {
	case "example", "invalid", "test": // reserved, but not for private networks (RFC 6761)
		return true
	default:
		return isListed || strings.Contains(suffix, ".")
	}
}
