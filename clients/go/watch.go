package crossgate

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	patience   = time.Minute      // for a creation that is not found yet, or a gateway that does not answer
	silence    = 45 * time.Second // for an answer, or three heartbeat comments of an idle stream
	reconnects = time.Second      // between two connections, unless Retry-After is longer
	longest    = 4 << 20          // bytes of a line
	streamType = "text/event-stream"
)

// awaited are refusals that another attempt may not meet. Without the last event a stream can always begin.
var awaited = []string{"TRANSACTION_NOT_FOUND", "CURSOR_EXPIRED", "CURSOR_UNKNOWN"}

// WatchOrder yields the first order of a transaction now and whenever its record changes, and ends after the final one
// or an error. A creation not found yet is awaited for a minute; broken streams are resumed.
func (c *Client) WatchOrder(ctx context.Context, creation string) iter.Seq2[Order, error] {
	return func(yield func(Order, error) bool) {
		w := watch{client: c, creation: creation, yield: yield}
		for heard := time.Now(); ; {
			isOpen, err := w.follow(ctx)
			if w.isOver {
				return
			}
			if isOpen {
				heard = time.Now()
			}
			pause, isAwaited := reconnects, isPassing(err)
			if e, isAnswer := err.(*Error); isAnswer {
				pause, isAwaited = max(pause, e.RetryAfter), isAwaited || slices.Contains(awaited, e.ID)
			}
			if isAwaited && time.Since(heard)+pause <= patience {
				err = sleep(ctx, pause)
			}
			if err != nil {
				yield(Order{}, err)
				return
			}
		}
	}
}

// watch requests an order whenever an event reports that something happened to it.
type watch struct {
	client   *Client
	creation string
	yield    func(Order, error) bool
	seen     string // the last record yielded
	event    string // id of the last event
	isOver   bool   // nothing more will follow
	quiet    *time.Timer
}

// follow reads one stream of the order's events.
func (w *watch) follow(ctx context.Context) (isOpen bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.quiet = time.AfterFunc(silence, func() { cancel(errors.New("the gateway does not answer")) })
	defer w.quiet.Stop()
	response, err := w.client.repeat(ctx, http.MethodGet, creationPath(w.creation), streamType, w.event, nil)
	if err != nil {
		w.event = ""
		return false, err
	}
	defer response.Body.Close()
	if err := w.look(ctx); err != nil || w.isOver {
		return false, err
	}
	var failed error
	err = readEvents(response.Body, func(name, id string) (goOn bool) {
		w.quiet.Reset(silence)
		if id != "" {
			w.event = id
		}
		if name != "" {
			failed = w.look(ctx)
		}
		return failed == nil && !w.isOver
	})
	return true, cmp.Or(failed, err)
}

// look yields the order's record if it has changed.
func (w *watch) look(ctx context.Context) error {
	raw, err := get[json.RawMessage](ctx, w.client, creationPath(w.creation))
	if err != nil || string(raw) == w.seen {
		return err
	}
	w.seen = string(raw)
	var order Order
	if err = json.Unmarshal(raw, &order); err != nil {
		err = fmt.Errorf("record of order %s: %w", w.creation, err)
	}
	isLast := order.State == "ClaimedUnlock" || order.State == "ClaimedOrderCancel"
	w.quiet.Stop() // the caller may take its time
	defer w.quiet.Reset(silence)
	w.isOver = !w.yield(order, err) || err != nil || isLast
	return nil
}

// readEvents calls handle with each event and comment until it returns false or the stream ends.
func readEvents(stream io.Reader, handle func(name, id string) (goOn bool)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longest)
	event := map[string]string{}
	for lines.Scan() {
		if field, value, _ := strings.Cut(lines.Text(), ": "); lines.Text() != "" {
			event[field] = value
			continue
		}
		if !handle(event["event"], event["id"]) {
			return nil
		}
		clear(event)
	}
	return lines.Err()
}
