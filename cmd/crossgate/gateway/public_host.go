package gateway

import (
	"net/url"
	"strings"
	"sync"

	"crossgate/config"
)

// publicHost is as much of the end of an endpoint's host as is published in this program: the whole of one that the
// configuration without a file has, or the domain of a known provider. Empty: any other host may hold a key.
func publicHost(address config.Secret) string {
	at, err := url.Parse(address.Reveal())
	if err != nil {
		return ""
	}
	host := strings.ToLower(at.Hostname())
	if _, is := defaultHosts()[host]; is {
		return host
	}
	for _, domain := range providerDomains {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return domain
		}
	}
	return ""
}

// providerDomains are those below which well-known providers serve, with keys or networks in the labels before.
var providerDomains = []string{
	"alchemy.com", "core.chainstack.com", "p2pify.com", "drpc.org", "helius-rpc.com", "infura.io", "trongrid.io",
}

// defaultHosts are those of the endpoints of the configuration without a file.
var defaultHosts = sync.OnceValue(func() map[string]struct{} {
	hosts := make(map[string]struct{})
	for _, each := range config.Default().Endpoints() {
		if at, err := url.Parse(each.URL.Reveal()); err == nil {
			hosts[strings.ToLower(at.Hostname())] = struct{}{}
		}
	}
	return hosts
})
