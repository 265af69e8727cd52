package upstream

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// shortestSecret is the length from which a part of a URL or a header value is taken for a key.
const shortestSecret = 8

// newScrubber replaces whatever could be a key of an endpoint by the endpoint's name: the long parts of its path, its
// query and user values, its own headers. Responses and transport errors quote them. Of its host, which errors are to
// tell, the last two labels are left: providers put keys before them.
func newScrubber(name string, base *url.URL, header http.Header) *strings.Replacer {
	pairs := []string{base.Hostname(), shownHost(name, base.Hostname())}
	secrets := []string{base.RawQuery}
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
	return strings.NewReplacer(append(pairs, replacements(name, secrets)...)...)
}

// shownHost is as much of a host as is no key: an IP address, the domain of a name. A name without one is that of the
// endpoint.
func shownHost(name, host string) string {
	if net.ParseIP(host) != nil || host == "localhost" {
		return host
	}
	switch labels := strings.Split(host, "."); len(labels) {
	case 1:
		return name
	case 2:
		return host
	default:
		return "…." + strings.Join(labels[len(labels)-2:], ".")
	}
}

// replacer puts name in place of each of the texts that are long enough to be a key.
func replacer(name string, secrets []string) *strings.Replacer {
	return strings.NewReplacer(replacements(name, secrets)...)
}

// replacements are each of the texts that are long enough to be a key, and name.
func replacements(name string, secrets []string) (pairs []string) {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			pairs = append(pairs, secret, name)
		}
	}
	return pairs
}

// scrubbed is an error whose text quoted a key.
type scrubbed struct {
	text  string
	cause error
}

func (s *scrubbed) Error() string { return s.text }

func (s *scrubbed) Unwrap() error { return s.cause }

// Scrub takes out of the text of an error that quotes the answer what could be a key of the endpoint, or of the
// request: services quote what they were sent.
func (r Response) Scrub(err error) error {
	if err == nil || r.from == nil {
		return err
	}
	return r.from.scrub(r.sent, err)
}

// Redact is Scrub for a text of the answer.
func (r Response) Redact(text string) string {
	if r.from == nil {
		return text
	}
	return r.from.scrubText(r.sent, text)
}

func (e *Endpoint) scrub(sent http.Header, err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	text := e.scrubText(sent, said)
	if text == said {
		return err
	}
	return &scrubbed{text, err}
}

func (e *Endpoint) scrubText(sent http.Header, text string) string {
	var keys []string
	for _, values := range sent {
		keys = append(keys, values...)
	}
	return replacer(e.name, keys).Replace(e.secrets.Replace(text))
}
