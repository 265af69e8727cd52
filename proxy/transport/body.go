package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
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

// bodyStream is the body of a request that its handler reads as it arrives. It may be read by another goroutine than
// the handler's, and ends when the handler returns.
type bodyStream struct {
	in      *input
	request *http.Request
	ctx     *requestContext

	mu      sync.Mutex
	left    int64     // bytes left of a body of known length
	chunks  io.Reader // decodes a chunked body; nil if the length is known
	limited bool      // to the request's time limit
	err     error     // returned by every later call; io.EOF if all has been read
}

var errBodyEnded = errors.New("request body read after its handler has returned")

// streamBody lets the handler read r's body, after sending 100 Continue to a client that expects it. The body fails if
// the client sends nothing for ReadLimit.
func (in *input) streamBody(r *http.Request, ctx *requestContext) (*bodyStream, error) {
	if len(r.Header["Expect"]) > 0 && r.ProtoMinor > 0 && in.isEmpty() {
		if err := in.from.continues(); err != nil {
			return nil, errGone
		}
	}
	ctx.isReading = true
	s := &bodyStream{in: in, request: r, ctx: ctx, left: r.ContentLength}
	if r.ContentLength < 0 {
		s.chunks = httputil.NewChunkedReader(in.Reader)
	}
	r.Body = s
	return s, nil
}

// Read reads what has arrived.
func (s *bodyStream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || len(p) == 0 {
		return 0, s.err
	}
	if !s.limited {
		_ = s.in.from.SetReadDeadline(time.Now().Add(s.in.from.server.options.ReadLimit))
	}
	n, err := s.read(p)
	if err == nil {
		return n, nil
	}
	s.err = err
	if errors.Is(err, io.EOF) {
		s.ctx.bodyRead()
		return n, io.EOF
	}
	s.ctx.cancel()
	return n, err
}

func (s *bodyStream) read(p []byte) (int, error) {
	if s.chunks != nil {
		return s.readChunks(p)
	}
	n, err := s.in.Reader.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	case err == nil && s.left == 0:
		return n, io.EOF
	}
	return n, err
}

// readChunks reads the data of chunks, and the trailer after the last one.
func (s *bodyStream) readChunks(p []byte) (int, error) {
	n, err := s.chunks.Read(p)
	switch {
	case !errors.Is(err, io.EOF):
		return n, err
	case n > 0: // the trailer may not have arrived; the next call finds the same end
		return n, nil
	}
	if err := s.in.trailer(s.request); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// Close leaves the rest unread, as handlers do that need no more.
func (s *bodyStream) Close() error { return nil }

// end ends the body after the handler returned, also for other goroutines, and reports whether all of it was read.
func (s *bodyStream) end() (all bool) {
	if !s.mu.TryLock() { // another goroutine reads
		_ = s.in.from.SetReadDeadline(longAgo)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	all = errors.Is(s.err, io.EOF)
	s.err = errBodyEnded
	return all
}
