package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"
)

// smallestEncoded is the body length in bytes from which compression pays: below it hardly a packet is saved.
const smallestEncoded = 1 << 10

// acceptsGzip reports whether a client likes gzip at least as much as identity (RFC 9110, section 12.5.3).
func acceptsGzip(lines []string) bool {
	packed, plain, other := -1.0, -1.0, 0.0 // other is the quality of *: unlisted codings
	for _, line := range lines {
		for each := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(each, ";")
			switch name = strings.TrimSpace(name); {
			case name == "*":
				other = quality(parameters)
			case strings.EqualFold(name, "gzip"):
				packed = quality(parameters)
			case strings.EqualFold(name, "identity"):
				plain = quality(parameters)
			}
		}
	}
	if packed < 0 {
		packed = other
	}
	return packed > 0 && packed >= plain
}

// quality parses the q parameter: 1 if it is absent, 0 if it is malformed.
func quality(parameters string) float64 {
	name, value, given := strings.Cut(parameters, "=")
	if !given || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// form is a body in one coding, with the headers that go with it.
type form struct {
	body   string   // empty if compression does not pay
	length []string // Content-Length
	etag   []string // nil if the body may not be cached
	coding []string // Content-Encoding; nil if uncompressed
}

// packed is a body's gzip form, made on first use.
type packed struct {
	once sync.Once
	form form
}

// in returns the body in gzip if that is accepted and pays, otherwise uncompressed.
func (b *Body) in(acceptsGzip bool) *form {
	if !acceptsGzip || b.packed == nil {
		return &b.plain
	}
	b.packed.once.Do(func() { b.packed.form = b.plain.compress() })
	if made := &b.packed.form; made.body != "" {
		return made
	}
	return &b.plain
}

var gzipType = []string{"gzip"}

// compress returns the gzip form, or an empty one unless it halves the body, which the cache's cost estimate relies on.
func (f *form) compress() form {
	writer := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	// Writes to a buffer do not fail.
	_, _ = io.WriteString(writer, f.body)
	_ = writer.Close()
	if out.Len() > len(f.body)/2 {
		return form{}
	}
	made := form{body: out.String(), length: []string{strconv.Itoa(out.Len())}, coding: gzipType}
	if f.etag != nil { // strong validators differ between representations
		made.etag = []string{strings.TrimSuffix(f.etag[0], `"`) + `-gzip"`}
	}
	return made
}

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
