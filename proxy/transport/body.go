package transport

import (
	"bytes"
	"io"
	"net/http"
)

// longestTrailer is the limit of a trailer in bytes. That of net/http is higher.
const longestTrailer = 2 << 10

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
	s.limited = true
	body, err := io.ReadAll(io.LimitReader(s, most+1))
	if int64(len(body)) > most {
		return errBodyTooLong
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
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
