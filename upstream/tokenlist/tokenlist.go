// Package tokenlist fetches public token lists. What they hold is read by token/catalog.
package tokenlist

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"crossgate/upstream"
)

// ErrSame says that a list has not changed since the answer with the ETag that was sent.
var ErrSame = errors.New("the list has not changed")

// Fetch gets a list from a pool whose endpoints' URLs lead to it. etag is that of the answer which is known, empty for
// none; that of the answer is returned, empty where it has none. ErrSame when there is nothing new.
func Fetch(ctx context.Context, pool *upstream.Pool, etag string) (text []byte, newETag string, err error) {
	request := upstream.Request{AnyStatus: true}
	if etag != "" {
		request.Header = http.Header{"If-None-Match": {etag}}
	}
	answer, err := pool.Do(ctx, request, func(r upstream.Response) error {
		if r.Status == http.StatusNotModified && etag != "" {
			return nil
		}
		if err := r.StatusError(); err != nil {
			return err
		}
		if r.Status >= http.StatusBadRequest {
			return fmt.Errorf("HTTP status %d", r.Status)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("fetch token list: %w", err)
	case answer.Status == http.StatusNotModified:
		return nil, etag, ErrSame
	}
	return answer.Body, answer.Header.Get("ETag"), nil
}
