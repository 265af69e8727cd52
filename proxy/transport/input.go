package transport

import (
	"bufio"
	"bytes"
	"errors"
	"sync"
)

// Sizes in bytes.
const (
	smallBuffer = 4 << 10  // of what has been read and not understood yet
	headBytes   = 12 << 10 // of a request line and header together
)

// input is what has arrived on a connection and is not understood yet.
type input struct {
	*bufio.Reader // nil while the connection is watched
	from          *conn
	ahead         []byte // read before the Reader
	afterPost     bool   // the request before was a POST
}

func newInput(from *conn) input {
	in := input{from: from}
	in.acquire()
	return in
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, smallBuffer) }}

func (in *input) acquire() {
	in.Reader = readers.Get().(*bufio.Reader)
	in.Reset(in.from)
}

// release gives the empty Reader back.
func (in *input) release() {
	in.Reset(nil)
	readers.Put(in.Reader)
	in.Reader = nil
}

func (in *input) isEmpty() bool { return in.Buffered() == 0 }

// head returns a request line with the header lines after it, up to and with the empty one. Lines end with a line feed;
// the carriage return before it may be missing (RFC 9112, section 2.2).
func (in *input) head() (string, error) {
	head := make([]byte, 0, 512) // more than most
	for lineAt := 0; ; {
		part, err := in.ReadSlice('\n')
		head = append(head, part...)
		switch {
		case err == nil && lineAt > 0 && (string(head[lineAt:]) == "\n" || string(head[lineAt:]) == "\r\n"):
			return string(head), nil
		case err == nil && len(head) < headBytes:
			lineAt = len(head)
		case err == nil || errors.Is(err, bufio.ErrBufferFull) && len(head) >= headBytes:
			return "", errHeadTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// line returns the next line, without its CRLF, as a part of the buffer that is valid until the next call. A line that
// ends otherwise, or is longer than the buffer, is refused.
func (in *input) line() ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errMalformed
	}
	if err != nil {
		return nil, err
	}
	line, ended := bytes.CutSuffix(line, []byte("\r\n"))
	if !ended || bytes.IndexByte(line, '\r') >= 0 {
		return nil, errMalformed
	}
	return line, nil
}
