package upstream

import (
	"net/http"
	"net/url"
	"strings"
)

// shortestSecret is the length from which a part of a URL or a header value is taken for a key.
const shortestSecret = 8

// newScrubber replaces whatever could be a key of an endpoint by the endpoint's name: its host, the long
// parts of its path, its query and user values, its own headers. Answers and transport errors quote them.
func newScrubber(name string, base *url.URL, header http.Header) *strings.Replacer {
	secrets := []string{base.Host, base.Hostname(), base.RawQuery}
	for segment := range strings.SplitSeq(base.Path, "/") {
		secrets = append(secrets, segment)
	}
	for _, values := range base.Query() {
		secrets = append(secrets, values...)
	}
	if password, set := base.User.Password(); set {
		secrets = append(secrets, base.User.Username(), password)
	}
	for _, values := range header {
		secrets = append(secrets, values...)
	}
	var pairs []string
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			pairs = append(pairs, secret, name)
		}
	}
	return strings.NewReplacer(pairs...)
}
