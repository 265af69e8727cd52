package transport

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// Sizes in bytes.
const (
	smallBuffer = 4 << 10  // of what has been read and not understood yet; kept while a connection is idle
	headBytes   = 12 << 10 // of a request line and header together
)

// input is what has arrived on a connection and is not understood yet.
type input struct {
	from       *conn
	buffer     []byte
	begin, end int
	limit      time.Time // for the request under way to arrive
	afterPost  bool      // the request before was a POST
}

func (in *input) isEmpty() bool  { return in.begin == in.end }
func (in *input) unread() []byte { return in.buffer[in.begin:in.end] }
func (in *input) clear()         { in.begin, in.end = 0, 0 }

// fill reads what has arrived, at least one byte, after what is unread. The buffer grows up to headBytes; a full one of
// that size is an error.
func (in *input) fill() error {
	switch {
	case in.isEmpty():
		in.clear()
		if len(in.buffer) != smallBuffer {
			in.buffer = make([]byte, smallBuffer)
		}
	case in.begin > 0 && in.end == len(in.buffer):
		in.end = copy(in.buffer, in.unread())
		in.begin = 0
	case in.end == len(in.buffer) && in.end < headBytes:
		in.buffer = append(make([]byte, 0, min(2*in.end, headBytes)), in.buffer...)
		in.buffer = in.buffer[:cap(in.buffer)]
	case in.end == len(in.buffer):
		return errFull
	}
	n, err := in.from.Read(in.buffer[in.end:])
	in.end += n
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

var errFull = errors.New("line or header too long")

// more is fill for the rest of a request.
func (in *input) more() error {
	in.from.limitRead(in.limit)
	return in.fill()
}

// until returns what is unread up to the place that find returns for it, as a part of the buffer that is valid until
// the next call; find returns -1 as long as that has not arrived. It is given the place up to which it has looked
// before.
func (in *input) until(find func(unread []byte, from int) int) ([]byte, error) {
	for looked := 0; ; {
		if at := find(in.unread(), looked); at >= 0 {
			found := in.unread()[:at]
			in.begin += at
			return found, nil
		}
		looked = in.end - in.begin
		if err := in.more(); err != nil {
			return nil, err
		}
	}
}

// line returns the next line, without its CRLF. A line that ends otherwise is refused.
func (in *input) line() ([]byte, error) {
	line, err := in.until(lineEnd)
	if err != nil {
		return nil, err
	}
	line, ended := bytes.CutSuffix(line, []byte("\r\n"))
	if !ended || bytes.IndexByte(line, '\r') >= 0 {
		return nil, errMalformed
	}
	return line, nil
}

func lineEnd(unread []byte, from int) int {
	if at := bytes.IndexByte(unread[from:], '\n'); at >= 0 {
		return from + at + 1
	}
	return -1
}
