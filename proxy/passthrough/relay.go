package passthrough

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crossgate/cache/rfc9111"
)

// relay answers the client whose request began a fill while the body arrives.
func (h *Handler) relay(x *exchange, f *fill, why string) {
	x.outcome = miss
	status := rfc9111.Status{Forwarded: why, Answered: f.answered, Stored: f.growing != nil}
	if f.growing == nil {
		writeHead(x.w, f.response, status)
		stream(x, f.response, f.response.Body)
		return
	}
	part, ended, changed := f.growing.from(0)
	if err := f.growing.failure(); err != nil {
		x.fail(err)
		return
	}
	writeHead(x.w, f.response, status)
	if rfc9111.NotModified(x.header, f.head.status, f.head.header, f.head.received) {
		delete(x.w.Header(), "Content-Length")
		x.w.WriteHeader(http.StatusNotModified)
		return
	}
	x.w.WriteHeader(f.response.StatusCode)
	if !ended {
		flush(x.w)
	}
	defer x.limitWrite(writeSilence)
	for sent := 0; ; part, ended, changed = f.growing.from(sent) {
		if x.send(part) != nil {
			return
		}
		if sent += len(part); ended {
			if f.growing.failure() != nil {
				panic(http.ErrAbortHandler) // the client must not take it for all
			}
			if rest := f.growing.leave(); rest != nil {
				flush(x.w)
				copyBody(x, f.response, rest)
			}
			return
		}
		if len(part) > 0 && f.response.ContentLength < 0 {
			flush(x.w)
		}
		x.limitWrite(0)
		select {
		case <-changed:
		case <-x.r.Context().Done():
			return
		}
	}
}

// pass has a request go on by itself, and streams both ways.
func (h *Handler) pass(x *exchange, why string) {
	x.outcome = passed
	f := h.forwardOf(x)
	if x.r.ContentLength != 0 {
		reading := &lentWriter{w: x.w}
		defer reading.end() // an origin that answers early leaves the rest unread
		f.Body, f.ContentLength, f.Trailer = &patientBody{x.r.Body, x.r.Trailer, reading}, x.r.ContentLength, x.r.Trailer
		x.limitWrite(0)
	}
	interims := &lentWriter{w: x.w}
	f.Inform = func(status int, header http.Header) {
		interims.use(func(w http.ResponseWriter) { inform(w, interim{status, header.Clone()}) })
	}
	response, err := h.forward(x.r.Context(), x.host, f)
	interims.end()
	if err != nil {
		x.fail(err)
		return
	}
	if rfc9111.Invalidates(x.r.Method, response.StatusCode) {
		h.invalidate(x, response)
	}
	writeHead(x.w, response, rfc9111.Status{Forwarded: why, Answered: response.StatusCode})
	stream(x, response, response.Body)
}

// lentWriter lets other goroutines use a handler's writer until end. Afterwards the writer may serve another request.
type lentWriter struct {
	mu sync.Mutex
	w  http.ResponseWriter // nil once ended
}

func (l *lentWriter) use(do func(http.ResponseWriter)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		do(l.w)
	}
}

func (l *lentWriter) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = nil
}

// patientBody is a request's body that is read for as long as data arrives. At its end it removes the trailer fields
// that would not be forwarded in a header either.
type patientBody struct {
	io.ReadCloser
	trailer http.Header
	writer  *lentWriter
}

// bodySilence is how long an HTTP/2 client may pause within a body; proxy/transport has its own limit.
const bodySilence = 10 * time.Second

func (b *patientBody) Read(p []byte) (int, error) {
	b.limit(time.Now().Add(bodySilence))
	n, err := b.ReadCloser.Read(p)
	b.limit(time.Time{}) // time when nothing is read does not count
	if errors.Is(err, io.EOF) {
		maps.DeleteFunc(b.trailer, func(name string, _ []string) bool { return drops(name) || !rfc9111.MayTrail(name) })
	}
	return n, err
}

func (b *patientBody) limit(until time.Time) {
	b.writer.use(func(w http.ResponseWriter) {
		_ = http.NewResponseController(w).SetReadDeadline(until) // if unsupported, the connection has limits of its own
	})
}

func writeHead(w http.ResponseWriter, response *http.Response, status rfc9111.Status) {
	header := w.Header()
	rfc9111.DropHopByHop(response.Header)
	for name, lines := range response.Header {
		if !strings.HasPrefix(name, http.TrailerPrefix) {
			header[name] = lines
		}
	}
	if header["Content-Type"] == nil {
		header["Content-Type"] = []string{} // do not guess it
	}
	if response.ContentLength >= 0 && response.StatusCode != http.StatusNoContent && response.StatusCode != http.StatusNotModified {
		header["Content-Length"] = []string{strconv.FormatInt(response.ContentLength, 10)}
	}
	if len(response.Trailer) > 0 {
		header["Trailer"] = slices.Sorted(maps.Keys(response.Trailer))
	}
	header["Via"] = append(slices.Clone(header["Via"]), strconv.Itoa(response.ProtoMajor)+"."+strconv.Itoa(response.ProtoMinor)+" "+Name)
	header["Cache-Status"] = statusLines(header["Cache-Status"], status)
}

// stream sends a response whose header is set as it arrives.
func stream(x *exchange, response *http.Response, body io.ReadCloser) {
	x.w.WriteHeader(response.StatusCode)
	if x.r.Method == http.MethodHead || response.StatusCode == http.StatusNotModified || response.StatusCode == http.StatusNoContent {
		_ = body.Close()
		return
	}
	copyBody(x, response, body)
}

var parts = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// small is the length in bytes up to which a body is sent in one piece.
const small = 32 << 10

// copyBody sends a body as it arrives, and its trailer. If the origin aborts, so does the connection.
func copyBody(x *exchange, response *http.Response, body io.ReadCloser) {
	defer body.Close()
	defer context.AfterFunc(x.r.Context(), func() { _ = body.Close() })() // nothing else ends a silent one
	defer x.limitWrite(writeSilence)
	buffer := parts.Get().(*[32 << 10]byte)
	defer parts.Put(buffer)
	isLong := response.ContentLength < 0 || response.ContentLength > small
	if isLong {
		flush(x.w)
	}
	for {
		x.limitWrite(0) // the origin may pause
		n, err := body.Read(buffer[:])
		if x.send(buffer[:n]) != nil {
			return
		}
		switch {
		case errors.Is(err, io.EOF):
			for name, lines := range response.Trailer {
				x.w.Header()[http.TrailerPrefix+name] = lines
			}
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
		if response.ContentLength < 0 {
			flush(x.w)
		}
	}
}

// writeSilence is how long an HTTP/2 client may take to accept a part; proxy/transport has its own limit.
const writeSilence = 30 * time.Second

// partBytes is how much of a body is sent within one time limit.
const partBytes = 64 << 10

// send sends a part of a body, of any length, for as long as the client keeps accepting it.
func (x *exchange) send(body []byte) error {
	if len(body) > partBytes {
		flush(x.w) // from then on each HTTP/1.1 write has a limit of its own
	}
	for part := range slices.Chunk(body, partBytes) {
		x.limitWrite(writeSilence)
		if _, err := x.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// limitWrite bounds how long an HTTP/2 client may take to accept the next write; 0 means that none follows soon.
func (x *exchange) limitWrite(within time.Duration) {
	if x.r.ProtoMajor < 2 {
		return
	}
	var limit time.Time
	if within > 0 {
		limit = time.Now().Add(within)
	}
	_ = http.NewResponseController(x.w).SetWriteDeadline(limit) // fails if limits are unsupported
}

// inform sends an interim response, bypassing wrappers that would take it for the final one.
func inform(w http.ResponseWriter, i interim) {
	for {
		wrapper, is := w.(interface{ Unwrap() http.ResponseWriter })
		if !is {
			break
		}
		w = wrapper.Unwrap()
	}
	header := w.Header()
	before := header.Clone()
	clear(header)
	rfc9111.DropHopByHop(i.header)
	maps.Copy(header, i.header)
	w.WriteHeader(i.status)
	clear(header)
	maps.Copy(header, before)
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
