package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http/httpguts"
)

// Limits of a chunked body in bytes. Those of net/http are at least as high.
const (
	longestChunkLine = 1 << 10
	longestTrailer   = 2 << 10
	mostOverhead     = 16 << 10 // of chunk lines, beyond 16 per chunk and twice its data
)

// readBody reads the body that r announces, within the request's time limit.
func (in *input) readBody(r *http.Request, ctx *requestContext) error {
	most := int64(in.from.server.options.BodyBytes)
	if r.ContentLength > most {
		return errBodyTooLong
	}
	s, err := in.streamBody(r, ctx)
	if err != nil {
		return err
	}
	s.most, s.limited = most, true
	body, err := io.ReadAll(s)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// chunkEnd reads the CRLF after the data of a chunk.
func (in *input) chunkEnd() error {
	var end [len("\r\n")]byte
	if _, err := io.ReadFull(in, end[:]); err != nil {
		return err
	}
	if string(end[:]) != "\r\n" {
		return errMalformed
	}
	return nil
}

// chunkSize parses a chunk's size line. Extensions are unknown and therefore ignored. Blanks before them, which some
// parsers take for the end of the line, are rejected.
func chunkSize(line []byte) (int64, error) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	const mostDigits = 16
	if len(line) > longestChunkLine || len(digits) > mostDigits || !httpguts.ValidHeaderFieldValue(string(extension)) {
		return 0, errMalformed
	}
	size, err := strconv.ParseUint(string(digits), 16, 63)
	if err != nil {
		return 0, errMalformed
	}
	return int64(size), nil
}

// trailer reads the fields after a chunked body. They are not merged into the header (RFC 9110, section 6.5).
func (in *input) trailer(r *http.Request) error {
	for length := 0; ; {
		line, err := in.line()
		if err != nil || len(line) == 0 {
			return err
		}
		if length += len(line); length > longestTrailer {
			return errMalformed
		}
		name, value, err := parseField(string(line))
		if err != nil {
			return err
		}
		if r.Trailer == nil {
			r.Trailer = http.Header{}
		}
		r.Trailer[name] = append(r.Trailer[name], value)
	}
}
