// Package crossgate is a client of the API with only the standard library: cross-chain orders, locked assets, swaps.
package crossgate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client calls one gateway. The zero value with a URL is ready for use.
type Client struct {
	URL   string       // such as http://127.0.0.1:8080
	Key   string       // the client's access token for the gateway, if it has one
	HTTP  *http.Client // http.DefaultClient if nil
	Tries int          // attempts of a request without a whole answer, or with status 429, 502, 503 or 504; 0 means 4
	// MaxRetryAfter is the longest Retry-After to wait for; a longer one is an error. 0 means half a minute.
	MaxRetryAfter time.Duration
}

const (
	firstPause   = 150 * time.Millisecond // without Retry-After; doubles with each attempt
	longestRetry = 30 * time.Second
	mostTries    = 4
	maxBody      = 64 << 20
)

// Order returns the first order that a transaction created.
func (c *Client) Order(ctx context.Context, creation string) (Order, error) {
	return get[Order](ctx, c, creationPath(creation))
}

// OrderByID returns an order by its id.
func (c *Client) OrderByID(ctx context.Context, id string) (Order, error) {
	return get[Order](ctx, c, "/api/Orders/"+url.PathEscape(id))
}

// OrderIDs returns the orders that a transaction is a step of: their creation or a later one.
func (c *Client) OrderIDs(ctx context.Context, transaction string) ([]Text, error) {
	list, err := get[struct {
		IDs []Text `json:"orderIds"`
	}](ctx, c, "/api/Transaction/"+url.PathEscape(transaction)+"/orderIds")
	return list.IDs, err
}

// Orders lists orders, newest first.
func (c *Client) Orders(ctx context.Context, filter OrderFilter) (list OrderList, err error) {
	_, err = c.Ask(ctx, http.MethodPost, "/api/Orders/filteredList", filter, &list)
	return list, err
}

// LockedAssets returns what a taker has delivered but has not been paid for yet.
func (c *Client) LockedAssets(ctx context.Context, taker string) (locked LockedAssets, err error) {
	header, err := c.Ask(ctx, http.MethodGet, "/api/Statistics/"+url.PathEscape(taker)+"/lockedAssets", nil, &locked.Chains)
	for member := range strings.SplitSeq(header.Get("Index-Basis"), ", ") { // such as 1;block=21000000;lag=2
		id, basis, _ := strings.Cut(member, ";")
		if slices.Contains(strings.Split(basis, ";"), "behind") && err == nil {
			var chain ChainID
			err = chain.UnmarshalJSON([]byte(id))
			locked.Behind = append(locked.Behind, chain)
		}
	}
	return locked, err
}

// Swap returns the best quote and the transaction to sign.
func (c *Client) Swap(ctx context.Context, query SwapQuery) (Swap, error) {
	values := given(map[string]string{
		"chainId": query.Chain.text(), "tokenIn": query.TokenIn, "tokenOut": query.TokenOut, "tokenInAmount": decimal(query.AmountIn, "max"),
		"tokenOutRecipient": query.Recipient, "senderAddress": query.Sender, "slippage": percent(query.Slippage),
		"affiliateFeePercent": percent(query.AffiliatePercent), "affiliateFeeRecipient": query.AffiliateRecipient,
	})
	return get[Swap](ctx, c, "/v1.0/chain/transaction?"+values.Encode())
}

func creationPath(hash string) string { return "/api/Orders/creationTxHash/" + url.PathEscape(hash) }

func get[T any](ctx context.Context, c *Client, path string) (answer T, err error) {
	_, err = c.Ask(ctx, http.MethodGet, path, nil, &answer)
	return answer, err
}

// Ask requests any path of the API, with a body unless that is nil, and decodes the answer into a value.
func (c *Client) Ask(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("body of %s %s: %w", method, path, err)
		}
	}
	response, err := c.repeat(ctx, method, path, "application/json", "", text)
	if err != nil {
		return nil, err
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return nil, fmt.Errorf("answer of %s %s: %w", method, path, err)
	}
	return response.Header, nil
}

// repeat sends a request until it succeeds or retrying is pointless. lastEvent, if set, is where a stream resumes.
func (c *Client) repeat(ctx context.Context, method, path, accept, lastEvent string, body []byte) (*http.Response, error) {
	pause := firstPause
	for tries := 1; ; tries++ {
		response, err := c.send(ctx, method, path, accept, lastEvent, body)
		if err == nil {
			return response, nil
		}
		wait := pause
		if e, isAnswer := err.(*Error); isAnswer && e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		if !isPassing(err) || tries >= cmp.Or(c.Tries, mostTries) || wait > cmp.Or(c.MaxRetryAfter, longestRetry) {
			return nil, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

func (c *Client) send(ctx context.Context, method, path, accept, lastEvent string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Content-Type", "application/json")
	if lastEvent != "" {
		request.Header.Set("Last-Event-ID", lastEvent)
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	response, err := cmp.Or(c.HTTP, http.DefaultClient).Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode == http.StatusOK && accept == streamType {
		return response, nil
	}
	defer response.Body.Close()
	whole, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if response.StatusCode == http.StatusOK {
		if response.Body = io.NopCloser(bytes.NewReader(whole)); err != nil {
			return nil, fmt.Errorf("answer of %s %s: %w", method, path, err)
		}
		return response, nil
	}
	var e Error
	if err := json.Unmarshal(whole, &e); err != nil {
		e = Error{Request: response.Header.Get("X-Request-Id")}
	}
	e.Status, e.asked = response.StatusCode, method+" "+path
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return nil, &e
}

// Error is an error of the API, or of a load balancer in front of it, which has only a status.
type Error struct {
	Status     int
	ID         string `json:"errorId"`   // for programs, such as TRANSACTION_NOT_FOUND
	Code       int    `json:"errorCode"` // the status on paths below /api, an error number below /v1.0
	Message    string `json:"errorMessage"`
	Request    string `json:"reqId"` // identifies the request in the gateway's log
	RetryAfter time.Duration

	asked string // method and path
}

func (e *Error) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: status %d without an error of the API", e.asked, e.Status)
	}
	return fmt.Sprintf("%s: %s (request %s)", e.ID, e.Message, e.Request)
}

// isPassing reports whether the same request may succeed later; true without an error.
func isPassing(err error) bool {
	e, isAnswer := err.(*Error)
	if !isAnswer {
		return true // no answer; if the context has ended, sleep returns
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
