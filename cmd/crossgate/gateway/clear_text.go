package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"crossgate/config"
)

// tlsPatience bounds how long it is tried whether a host takes TLS.
const tlsPatience = 5 * time.Second

// clearText reports what is sent to an endpoint through networks of others without TLS. It is wrong where the same host
// takes TLS with a certificate that by believes, else a shortcoming of the endpoint.
func clearText(ctx context.Context, e config.Endpoint, by http.RoundTripper) (wrong, short []string) {
	for _, each := range []struct{ key, address, plain, encrypted string }{
		{"url", e.URL.Reveal(), "http", "https"},
		{"websocket", e.WebSocket.Reveal(), "ws", "wss"},
	} {
		at, err := url.Parse(each.address)
		if err != nil || at.Scheme != each.plain || isNear(at.Hostname()) {
			continue
		}
		said := each.key + " begins with " + each.plain + "://: calls, and the key if it has one, are sent in clear text"
		if takesTLS(ctx, at, by) {
			wrong = append(wrong, said+", though its host takes "+each.encrypted+"://")
		} else {
			short = append(short, said)
		}
	}
	return wrong, short
}

// isNear reports whether what is sent to a host stays on this machine or within a network of its operator, as far as
// its name or address tells.
func isNear(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() || address.IsUnspecified()
	}
	if !strings.Contains(host, ".") {
		return true // a name of this machine, or of a service beside this one
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc"} { // RFC 6761, RFC 6762, RFC 8375
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// takesTLS asks for the front page of the host of an address, without its path, query or user, which may be keys.
func takesTLS(ctx context.Context, at *url.URL, by http.RoundTripper) bool {
	hosts := []string{net.JoinHostPort(at.Hostname(), "443")}
	if port := at.Port(); port != "" && port != "80" {
		hosts = append(hosts, at.Host)
	}
	ctx, cancel := context.WithTimeout(ctx, tlsPatience)
	defer cancel()
	for _, host := range hosts {
		request, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/", nil)
		if err != nil {
			continue
		}
		if response, err := by.RoundTrip(request); err == nil {
			_ = response.Body.Close()
			return true
		}
	}
	return false
}
