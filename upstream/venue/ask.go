package venue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	// maxAnswer is far above what a venue needs for a route; recorded ones have 10 kB.
	maxAnswer = 2 << 20

	// maxMessage bounds how much of a venue's own message goes into an error, in characters.
	maxMessage = 160
)

// ask sends r and reads the answer. A plain error of read is a bad answer: the next endpoint is asked. A refusal is
// final.
func ask[A any](ctx context.Context, p *upstream.Pool, r upstream.Request, read func(upstream.Response) (A, error)) (A, error) {
	var answer, none A
	var declined error
	_, err := p.Do(ctx, r, func(resp upstream.Response) error {
		var err error
		if answer, err = read(resp); isRefusal(err) {
			declined = resp.Scrub(err) // it does not pass the endpoint, which would do that
			return upstream.ErrDeclined
		}
		return err
	})
	if err == nil {
		err = declined
	}
	if err != nil {
		return none, err
	}
	return answer, nil
}

// isRefusal reports whether err is an answer of the venue rather than a failure to answer.
func isRefusal(err error) bool {
	if errors.Is(err, quote.ErrNoRoute) || errors.Is(err, ErrPriceMoved) {
		return true
	}
	var failed *upstream.Error
	return errors.As(err, &failed) && failed.Class == upstream.Rejected
}

// noSwapRoute is a venue's refusal of the pair or the amount.
func noSwapRoute(message string) error {
	return fmt.Errorf("%w: %s", quote.ErrNoRoute, clean(message))
}

// refused is a venue's refusal of the request itself, with the HTTP status that it came with.
func refused(venue string, status int, message string) error {
	return &upstream.Error{Class: upstream.Rejected, Endpoint: venue, Status: status, Err: messageOr(status, message)}
}

// limited is a rate limit that a venue states in the body of its answer.
func limited(venue string, status int, message string) error {
	return &upstream.Error{Class: upstream.RateLimited, Endpoint: venue, Status: status, Err: messageOr(status, message)}
}

// messageOr is the venue's message, or the text of the HTTP status.
func messageOr(status int, message string) error {
	if message = clean(message); message == "" {
		message = strings.ToLower(http.StatusText(status))
	}
	return errors.New(message)
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

// decode reads an answer's JSON into out; members that out does not name are passed over.
func decode(resp upstream.Response, out any) error {
	if len(resp.Body) > maxAnswer {
		return fmt.Errorf("answer of %d bytes", len(resp.Body))
	}
	return unmarshal(resp.Body, "answer", out)
}

// unmarshal reads a venue's JSON; what names the part. The decoder's errors quote numbers of any length.
func unmarshal(text []byte, what string, out any) error {
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s is not the documented JSON: %s", what, clean(err.Error()))
	}
	return nil
}

// decodeOr is decode for answers of 2xx. explain reads a client error: its message, and whether it refuses the route.
func decodeOr(
	explain func(failure) (message string, isRoute bool), venue string, resp upstream.Response, out any,
) error {
	if !isRejection(resp) {
		return decode(resp, out)
	}
	f := failure{status: resp.Status}
	if err := decode(resp, &f.members); err != nil {
		return refused(venue, resp.Status, "")
	}
	message, isRoute := explain(f)
	if isRoute {
		return noSwapRoute(message)
	}
	return refused(venue, resp.Status, message)
}

// failure is the body of a client error, by the names that the venue gives its members.
type failure struct {
	status  int
	members map[string]json.RawMessage
}

// text is members as text, with a space between: strings without their quotes, anything else as it stands.
func (f failure) text(names ...string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		if err := json.Unmarshal(f.members[name], &texts[i]); err != nil {
			texts[i] = string(f.members[name])
		}
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// isRejection reports whether the answer is a client error.
func isRejection(resp upstream.Response) bool { return resp.Status >= http.StatusBadRequest }

// header is one header, and none when there is nothing to say in it: no key, mostly.
func header(name, value string) http.Header {
	if value == "" {
		return nil
	}
	return http.Header{name: {value}}
}

// encode writes a request body. Raw JSON in it goes through untouched: venues sign their routes.
func encode(body any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return text.Bytes(), nil
}
