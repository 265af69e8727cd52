package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// Sizes in bytes.
const (
	smallBuffer = 4 << 10  // of input read but not parsed yet
	headBytes   = 24 << 10 // of request line and header together
)

// input is the data received on a connection but not parsed yet.
type input struct {
	*bufio.Reader // nil while the connection is watched
	from          *conn
	ahead         []byte // read before the Reader
	afterPost     bool   // the previous request was a POST
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

// release returns the empty Reader to the pool.
func (in *input) release() {
	in.Reset(nil)
	readers.Put(in.Reader)
	in.Reader = nil
}

func (in *input) isEmpty() bool { return in.Buffered() == 0 }

// head returns a request line and the header lines up to and including the empty one. Lines end with a line feed; the
// carriage return before it may be missing (RFC 9112, section 2.2).
func (in *input) head() (string, error) {
	head := make([]byte, 0, 512) // larger than most
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

// line returns the next line of a trailer without its CRLF, in a part of the buffer that is valid until the next call.
// A line with another ending, or longer than the buffer, is rejected.
func (in *input) line() ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errMalformed
	}
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
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
