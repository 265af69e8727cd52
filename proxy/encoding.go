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

// encoding is a content coding that bodies are sent in.
type encoding uint8

// The codings, the preferred one last.
const (
	identity encoding = iota
	gzipped
	zstandard
	encodings
)

var encodingNames = [encodings]string{"identity", "gzip", "zstd"}

// smallestEncoded is the length from which on a body is worth compressing: below it hardly a packet is saved.
const smallestEncoded = 1 << 10

// acceptedEncoding returns the coding that the client likes best of those we have (RFC 9110, section 12.5.3).
func acceptedEncoding(lines []string) encoding {
	var quality [encodings]int16
	other := int16(0) // of what is not named: *
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
		quality[identity] = 1 // what nobody ruled out, when nothing else will do
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

// permille reads the q parameter: 1000 when there is none, 0 when it cannot be read.
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
	body   string   // empty where there is no such form
	length []string // Content-Length
	etag   []string // nil where nothing may be kept
	coding []string // Content-Encoding; nil of the identity
}

// forms are a body's compressed forms. Each is made when it is first wanted.
type forms struct {
	once [encodings]sync.Once
	made [encodings]form // without a body where compressing does not pay
}

// in returns the body in a coding, in the identity when that is no good.
func (b *jsonBody) in(e encoding) *form {
	if e == identity || b.forms == nil {
		return &b.plain
	}
	b.forms.once[e].Do(func() { b.forms.made[e] = b.plain.compress(e) })
	if made := &b.forms.made[e]; made.body != "" {
		return made
	}
	return &b.plain
}

// compress returns the form in a coding; none unless it saves half, which is what the cache counts on.
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
		// Other bytes are another representation to a strong validator.
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
	// A buffer takes everything.
	_, _ = io.WriteString(writer, body)
	_ = writer.Close()
	return out.String()
}

// zstdWriter is one for all: it has a state for each processor, which is large.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	writer, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<17))
	if err != nil {
		panic("proxy: zstd refuses its options: " + err.Error())
	}
	return writer
})

func zstdOf(body string) string { return string(zstdWriter().EncodeAll([]byte(body), nil)) }
