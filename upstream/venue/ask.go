package venue

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"crossgate/quote"
	"crossgate/upstream"
)

// maxMessage bounds how much of a venue's own message goes into an error, in characters.
const maxMessage = 160

// heard is a venue's answer. A refusal is final; after any other error of read the next endpoint is asked.
type heard struct {
	*upstream.Attempt
	question *question
	read     func(*question, upstream.Response) (proposal, error)
	found    proposal
	declined error
}

var _ upstream.Reply = (*heard)(nil)

// Judge implements upstream.Reply.
func (h *heard) Judge(context.Context) (err error) {
	if h.found, err = h.read(h.question, h.Response); isRefusal(err) {
		h.declined = h.Response.Scrub(err) // the endpoint never sees it, and so cannot scrub it
		return upstream.ErrDeclined
	}
	return err
}

// ask sends the question as a request and reads the answer into it.
func (q *question) ask(
	ctx context.Context, attempt string, t *requestTemplate, read func(*question, upstream.Response) (proposal, error),
) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s %s on chain %d: %w", q.Name, attempt, q.swap.Chain.ID, err)
		}
	}()
	if q.request, err = t.request(q); err != nil {
		return err
	}
	accepted, err := q.Pool.Run(ctx, upstream.Job{
		IsRead: q.request.Body == nil,
		Try: func(ctx context.Context, e *upstream.Endpoint, turn int) upstream.Reply {
			return &heard{Attempt: e.Attempt(ctx, q.request, turn), question: q, read: read}
		},
	})
	if err != nil {
		return err
	}
	h := accepted.(*heard)
	q.proposal = h.found
	return h.declined
}

// isRefusal reports whether err is an answer of the venue rather than a failure to answer.
func isRefusal(err error) bool {
	if errors.Is(err, quote.ErrNoRoute) || errors.Is(err, ErrPriceMoved) {
		return true
	}
	failed, is := errors.AsType[*upstream.Error](err)
	return is && failed.Class == upstream.Rejected && !failed.Closed
}

func noSwapRoute(message string) error {
	return fmt.Errorf("%w: %s", quote.ErrNoRoute, clean(message))
}

// failed returns a venue's own error, with its message or the text of the HTTP status.
func failed(class upstream.Class, venue string, status int, message string) error {
	if message == "" {
		message = strings.ToLower(http.StatusText(status))
	}
	return &upstream.Error{
		Class: class, Endpoint: venue, Status: status, Err: errors.New(message), Closed: status == http.StatusUnauthorized,
	}
}

// clean makes a venue's message fit for one line of a log.
func clean(message string) string {
	kept := make([]rune, 0, maxMessage)
	for _, r := range message {
		if len(kept) == maxMessage {
			return string(kept) + "…"
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			r = ' '
		}
		kept = append(kept, r)
	}
	return strings.TrimSpace(string(kept))
}
