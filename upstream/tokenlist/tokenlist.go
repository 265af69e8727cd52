// Package tokenlist fetches public token lists. What they hold is read by token/catalog.
package tokenlist

import (
	"context"
	"fmt"
	"net/http"

	"crossgate/upstream"
)

// Fetch gets a list from a pool whose endpoints' URLs lead to it.
func Fetch(ctx context.Context, pool *upstream.Pool) ([]byte, error) {
	answer, err := pool.Do(ctx, upstream.Request{}, func(r upstream.Response) error {
		if r.Status >= http.StatusBadRequest {
			return fmt.Errorf("HTTP status %d", r.Status)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fetch token list: %w", err)
	}
	return answer.Body, nil
}
