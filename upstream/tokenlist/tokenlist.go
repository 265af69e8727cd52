// Package tokenlist fetches public token lists. Package token/catalog reads them.
package tokenlist

import (
	"context"
	"fmt"
	"net/http"

	"crossgate/upstream"
)

// Fetch returns the list that a pool's endpoints serve at their URLs.
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
