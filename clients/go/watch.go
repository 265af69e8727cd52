package crossgate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

const (
	patience   = time.Minute      // for a creation that is not found yet, or a gateway that does not answer
	silence    = 45 * time.Second // three of the comments that the gateway sends while nothing happens
	reconnects = time.Second      // between two connections
	longest    = 4 << 20          // bytes of a line
)

// WatchOrder yields the first order of a transaction now and whenever its record changes, and ends after the final
// one. A creation that is not found yet is awaited for a minute; streams that break go on. An error ends it.
func (c *Client) WatchOrder(ctx context.Context, creation string) iter.Seq2[Order, error] {
	return func(yield func(Order, error) bool) {
		seen, heard := "", time.Now()
		for {
			isOpen, isOver, err := c.follow(ctx, creation, &seen, yield)
			switch {
			case isOver:
				return
			case isOpen:
				heard = time.Now()
			case !isAwaited(err) || time.Since(heard) > patience:
				yield(Order{}, err)
				return
			}
			if err := sleep(ctx, reconnects); err != nil {
				yield(Order{}, err)
				return
			}
		}
	}
}

func isAwaited(err error) bool {
	var e *Error
	return isPassing(err) || errors.As(err, &e) && e.ID == "TRANSACTION_NOT_FOUND"
}

// follow yields the records of one stream that differ from the last seen. It is over when nothing more is to come.
func (c *Client) follow(ctx context.Context, creation string, seen *string, yield func(Order, error) bool) (isOpen, isOver bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.repeat(ctx, http.MethodGet, creationPath(creation), "text/event-stream", nil)
	if err != nil {
		return false, false, err
	}
	defer response.Body.Close()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	err = readEvents(response.Body, func(name, id, data string) (goOn bool) {
		quiet.Reset(silence)
		switch {
		case name == "final":
			isOver = true
		case name == "order" && id != *seen:
			*seen = id
			var order Order
			err := json.Unmarshal([]byte(data), &order)
			if err != nil {
				err = fmt.Errorf("event of order %s: %w", creation, err)
			}
			quiet.Stop() // the caller may take long
			isOver = !yield(order, err) || err != nil
			quiet.Reset(silence)
		}
		return !isOver
	})
	return true, isOver, err
}

// readEvents calls handle with each event, and each comment, until it returns false or the stream ends.
func readEvents(stream io.Reader, handle func(name, id, data string) (goOn bool)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longest)
	event := map[string]string{}
	for lines.Scan() {
		if field, value, _ := strings.Cut(lines.Text(), ": "); lines.Text() != "" {
			event[field] = value
			continue
		}
		if !handle(event["event"], event["id"], event["data"]) {
			return nil
		}
		clear(event)
	}
	return lines.Err()
}
