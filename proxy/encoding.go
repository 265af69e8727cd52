package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"
)

// smallestEncoded is the length from which a body is worth compressing: below it hardly a packet is saved.
const smallestEncoded = 1 << 10

// acceptsGzip reports whether a client takes gzip as gladly as a plain body (RFC 9110, section 12.5.3).
func acceptsGzip(lines []string) bool {
	packed, plain, other := -1.0, -1.0, 0.0 // other is of codings that are not named: *
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

// quality parses the q parameter: 1 without one, 0 when it is malformed.
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
	body   string   // empty where compression does not pay
	length []string // Content-Length
	etag   []string // nil where the body may not be cached
	coding []string // Content-Encoding; nil: the body is as it is
}

// packed is a body's form in gzip, made when it is first requested.
type packed struct {
	once sync.Once
	form form
}

// in returns the body in gzip where that is accepted and pays, otherwise as it is.
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

// compress returns the form in gzip; none unless it saves half, which is what the cache reckons with.
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
