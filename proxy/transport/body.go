package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http/httpguts"
)

// Limits of a chunked body, in bytes; those of net/http are longer or equal.
const (
	longestChunkLine = 1 << 10
	longestTrailer   = 2 << 10
	mostOverhead     = 16 << 10 // of chunk lines, beyond 16 for each chunk and twice its data
)

// readBody reads the body that r announces, once it has told a client that waits for that to send it.
func (in *input) readBody(r *http.Request) error {
	most := in.from.server.options.BodyBytes
	if r.ContentLength > int64(most) {
		return errBodyTooLong
	}
	if len(r.Header["Expect"]) > 0 && r.ProtoMinor > 0 && in.isEmpty() {
		if err := in.from.continues(); err != nil {
			return errGone
		}
	}
	var body []byte
	var err error
	if r.ContentLength > 0 {
		body, err = in.take(nil, int(r.ContentLength))
	} else {
		if body, err = in.chunks(most); err == nil {
			err = in.trailer(r)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// chunks reads a chunked body up to its trailer (RFC 9112, section 7.1).
func (in *input) chunks(most int) (body []byte, err error) {
	for overhead := 0; ; {
		line, err := in.line()
		if err != nil {
			return nil, err
		}
		overhead += len(line) + len("\r\n")
		size, err := chunkSize(line)
		switch {
		case err != nil:
			return nil, err
		case size == 0:
			return body, nil
		case size > int64(most-len(body)):
			return nil, errBodyTooLong
		}
		if overhead = max(overhead-16-2*int(size), 0); overhead > mostOverhead {
			return nil, errMalformed
		}
		if body, err = in.take(body, int(size)); err != nil {
			return nil, err
		}
		if err := in.chunkEnd(); err != nil {
			return nil, err
		}
	}
}

// chunkEnd reads what follows the data of a chunk.
func (in *input) chunkEnd() error {
	end, err := in.until(func(unread []byte, _ int) int {
		if len(unread) < len("\r\n") {
			return -1
		}
		return len("\r\n")
	})
	if err == nil && string(end) != "\r\n" {
		return errMalformed
	}
	return err
}

// chunkSize is the size that a chunk's line says. Its extensions are not understood, and so ignored. Blanks before
// them, which some take for the end of the line, are refused.
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

// trailer reads the fields after a chunked body. They are no fields of the header (RFC 9110, section 6.5).
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
