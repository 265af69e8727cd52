package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
)

// client is one connection to a server. It costs less than a client of net/http, which would compete with the server
// for the machine.
type client struct {
	net.Conn
	reader *bufio.Reader
}

func dial(ctx context.Context, address string) (client, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	return client{connection, bufio.NewReaderSize(connection, 64<<10)}, err
}

// ask sends a request and reads the answer whole.
func (c client) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	return readAnswer(c.reader)
}

// readAnswer reads a 200 with a Content-Length.
func readAnswer(reader *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("answer %q", line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 1024 {
		return fmt.Errorf("answer of %d bytes", length)
	}
	_, err := reader.Discard(length)
	return err
}
