package proxy

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding (RFC 9110, section 8.4.1).
type encoding uint8

// The codings, in ascending order of preference.
const (
	identity encoding = iota
	gzipped
	zstandard
	encodings
)

var encodingNames = [encodings]string{"identity", "gzip", "zstd"}

// smallestEncoded is the length from which a body is worth compressing: below it hardly a packet is saved.
const smallestEncoded = 1 << 10

// acceptedEncoding negotiates the coding by Accept-Encoding (RFC 9110, section 12.5.3).
func acceptedEncoding(lines []string) encoding {
	var quality [encodings]int16
	other := int16(0) // of codings that are not named: *
	for i := range quality {
		quality[i] = -1
	}
	for _, line := range lines {
		for each := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(each, ";")
			name = strings.TrimSpace(name)
			if name == "*" {
				other = permille(parameters)
				continue
			}
			for i, known := range encodingNames {
				if strings.EqualFold(name, known) {
					quality[i] = permille(parameters)
				}
			}
		}
	}
	best := identity
	if quality[identity] < 0 {
		quality[identity] = 1 // acceptable unless ruled out, as a last resort
	}
	for e := gzipped; e < encodings; e++ {
		if quality[e] < 0 {
			quality[e] = other
		}
		if quality[e] > 0 && quality[e] >= quality[best] {
			best = e
		}
	}
	return best
}

// permille parses the q parameter: 1000 without one, 0 when it is malformed.
func permille(parameters string) int16 {
	name, value, given := strings.Cut(parameters, "=")
	if !given || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1000
	}
	quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(quality >= 0 && quality <= 1) {
		return 0
	}
	return int16(math.Round(1000 * quality))
}

// form is a body in one coding, with the headers that go with it.
type form struct {
	body   string   // empty where compression does not pay
	length []string // Content-Length
	etag   []string // nil where the body may not be cached
	coding []string // Content-Encoding; nil for identity
}

// forms are a body's compressed forms, each made when it is first requested.
type forms struct {
	once [encodings]sync.Once
	made [encodings]form // without a body where compression does not pay
}

// in returns the body in a coding, or uncompressed where compression does not pay.
func (b *Body) in(e encoding) *form {
	if e == identity || b.forms == nil {
		return &b.plain
	}
	b.forms.once[e].Do(func() { b.forms.made[e] = b.plain.compress(e) })
	if made := &b.forms.made[e]; made.body != "" {
		return made
	}
	return &b.plain
}

// compress returns the form in a coding; none unless it saves half, which is what the cache reckons with.
func (f *form) compress(e encoding) form {
	var body string
	switch e {
	case gzipped:
		body = gzipOf(f.body)
	case zstandard:
		body = zstdOf(f.body)
	}
	if len(body) > len(f.body)/2 {
		return form{}
	}
	made := form{body: body, length: []string{strconv.Itoa(len(body))}, coding: []string{encodingNames[e]}}
	if f.etag != nil {
		// Strong validators differ between representations.
		made.etag = []string{strings.TrimSuffix(f.etag[0], `"`) + "-" + encodingNames[e] + `"`}
	}
	return made
}

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func gzipOf(body string) string {
	writer := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	// Writes to a buffer do not fail.
	_, _ = io.WriteString(writer, body)
	_ = writer.Close()
	return out.String()
}

// zstdWriter is shared: it has a large state for each processor.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	writer, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<17))
	if err != nil {
		panic("proxy: zstd refuses its options: " + err.Error())
	}
	return writer
})

func zstdOf(body string) string { return string(zstdWriter().EncodeAll([]byte(body), nil)) }
