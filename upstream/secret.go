package upstream

import (
	"cmp"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// shortestSecret is the length from which a part of a URL or a header value is taken for a key.
const shortestSecret = 8

// NewScrubber returns a replacer that puts a service's name in place of everything in texts about it that could be a
// key: its host, unless that is an IP address or localhost, each part of its URL, and its header values. Ports stay.
func NewScrubber(name string, base *url.URL, header http.Header) *strings.Replacer {
	host := base.Hostname()
	secrets := secretsOfURL(base)
	for _, values := range header {
		for _, value := range values {
			secrets = append(append(secrets, value), strings.Fields(value)...) // such as Bearer and a key
		}
	}
	if net.ParseIP(host) != nil || host == "localhost" {
		return replacer(name, secrets)
	}
	hidden := "(host of " + name + ")"
	return replacer(name, append(secrets, secretLabels(host)...), [2]string{host, hidden}, [2]string{strings.ToLower(host), hidden})
}

// secretLabels returns the labels of a host that could be keys: services also quote them individually. The last of
// several is not a key if it is all letters, as top-level domains are (RFC 3696, section 2), "internal" among them.
func secretLabels(host string) []string {
	labels := strings.Split(host, ".")
	if last := len(labels) - 1; last > 0 && strings.Trim(labels[last], "abcdefghijklmnopqrstuvwxyz") == "" {
		labels = labels[:last]
	}
	for _, label := range labels {
		labels = append(labels, strings.ToLower(label))
	}
	return labels
}

// secretsOfURL returns the parts of a URL before and after its host, both as written and unescaped.
func secretsOfURL(base *url.URL) []string {
	secrets := []string{base.RawQuery, base.Fragment, base.EscapedFragment()}
	for segment := range strings.SplitSeq(base.EscapedPath(), "/") {
		meant, _ := url.PathUnescape(segment) // never fails for a parsed URL
		secrets = append(secrets, segment, meant, url.PathEscape(meant))
	}
	for pair := range strings.SplitSeq(base.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		secrets = append(secrets, pair, key, value)
	}
	for key, values := range base.Query() {
		for _, text := range append(values, key) {
			secrets = append(secrets, text, url.QueryEscape(text))
		}
	}
	if base.User == nil {
		return secrets
	}
	password, _ := base.User.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(base.User.Username() + ":" + password)) // of its header, RFC 7617
	written := base.User.String()
	user, escaped, _ := strings.Cut(written, ":")
	return append(secrets, base.User.Username(), password, user, escaped, written, basic)
}

// replacer replaces each secret that is long enough to be a key by name, and applies pairs. It prefers the longer of
// two texts that begin at the same place: the other may be a part of it.
func replacer(name string, secrets []string, pairs ...[2]string) *strings.Replacer {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			pairs = append(pairs, [2]string{secret, name})
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	var flat []string
	for _, pair := range pairs {
		flat = append(flat, pair[0], pair[1])
	}
	return strings.NewReplacer(flat...)
}

// scrubber removes keys from texts about an endpoint; nil: there is none.
type scrubber struct {
	name string // of the endpoint
	own  *strings.Replacer
}

// sent holds the parts of a request that could be keys: services quote requests.
type sent struct {
	header http.Header
	keys   []string
}

func (r Request) secrets() sent { return sent{r.Header, r.Keys} }

// scrubbed is an error whose text quoted a key.
type scrubbed struct {
	text  string
	cause error
}

func (s *scrubbed) Error() string { return s.text }

func (s *scrubbed) Unwrap() error { return s.cause }

// scrub removes possible keys of the endpoint, or of its request, from the text of an error.
func (s *scrubber) scrub(sent sent, err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	text := s.redact(sent, said)
	if text == said {
		return err
	}
	return &scrubbed{text, err}
}

// redact is scrub for plain text.
func (s *scrubber) redact(sent sent, text string) string {
	if s == nil {
		return text
	}
	keys := slices.Clone(sent.keys)
	for _, values := range sent.header {
		for _, value := range values {
			keys = append(append(keys, value), strings.Fields(value)...)
		}
	}
	return replacer(s.name, keys).Replace(s.own.Replace(text))
}
