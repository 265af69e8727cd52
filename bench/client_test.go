package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// client is one connection to a server. It uses less of the machine than a client of net/http, which would compete with
// the server.
type client struct {
	net.Conn
	reader *bufio.Reader
}

func dial(ctx context.Context, address string) (client, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	return client{connection, bufio.NewReaderSize(connection, 64<<10)}, err
}

// ask sends a request and reads the whole response.
func (c client) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	return readAnswer(c.reader)
}

var errOverloaded = errors.New("the gateway is beyond its load")

// readAnswer reads a 200 with a Content-Length.
func readAnswer(reader *bufio.Reader) error {
	head, err := readHead(reader)
	if err != nil {
		return err
	}
	if head.status != http.StatusOK || head.length < 1024 {
		said, _ := io.ReadAll(io.LimitReader(reader, int64(head.length)))
		if bytes.Contains(said, []byte("OVERLOADED")) {
			return errOverloaded
		}
		return fmt.Errorf("answer %d of %d bytes: %.300s", head.status, head.length, said)
	}
	_, err = reader.Discard(head.length)
	return err
}

// head is what is parsed of a response's head.
type head struct {
	status int
	length int  // bytes of the body
	isKept bool // the gateway had it cached, or served a stale one because loading failed
	isLast bool // the last response on its connection
	// isBehind means that the index has not read all chains up to their heads.
	isBehind bool
	// retryAfter is the Retry-After header.
	retryAfter string
}

// readHead reads up to the beginning of the body.
func readHead(reader *bufio.Reader) (head, error) {
	var read head
	for first := true; ; first = false {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return head{}, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return read, nil
		}
		if status, found := bytes.CutPrefix(line, []byte("HTTP/1.1 ")); first && found {
			read.status, err = strconv.Atoi(string(status[:min(3, len(status))]))
		}
		if length, found := cutName(line, "Content-Length: "); found {
			read.length, err = strconv.Atoi(string(length))
		}
		if err != nil {
			return head{}, err
		}
		if after, found := cutName(line, "Retry-After: "); found {
			read.retryAfter = string(after)
		}
		if value, found := cutName(line, "Connection: "); found && string(value) == "close" {
			read.isLast = true
		}
		if value, found := cutName(line, "Cache-Status: "); found {
			read.isKept = bytes.HasPrefix(value, []byte("crossgate; hit")) || bytes.Contains(value, []byte("stale-if-error"))
		}
	}
}

// cutName returns what follows a header's name, which some balancers write in lower case.
func cutName(line []byte, name string) (value []byte, found bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return line[len(name):], true
}
