package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/upstream"
)

// A page of an origin's list of orders: the documented most, and the longest body that is read of it.
const (
	listedAtOnce    = 100
	longestListBody = 8 << 20 // bytes
)

// ListOrders returns the ids of a taker's orders as an origin of c has them, by the name of its host, which may be
// empty where there is one: POST /api/Orders/filteredList of the hosted service (docs.debridge.com, Orders_GetOrders),
// page by page. They are that server's word and nothing more.
func ListOrders(
	ctx context.Context, c config.Config, log *slog.Logger, host string, taker chain.Address, family chain.Family,
) ([]order.ID, error) {
	host, err := hostNamed(c.Passthrough, host)
	if err != nil {
		return nil, err
	}
	p, err := build(c, log, nil)
	if err != nil {
		return nil, err
	}
	defer p.close()
	ids, err := listAll(ctx, p.origins[host], taker.Format(family))
	if err != nil {
		return nil, fmt.Errorf("list orders of origin %s: %w", host, err)
	}
	return ids, nil
}

var errNoOrigin = errors.New("no origin is configured: add the server that this gateway replaces under passthrough.hosts")

// hostNamed returns the name of a configured host: of the only one where none is named.
func hostNamed(c config.Passthrough, name string) (string, error) {
	names := make([]string, len(c.Hosts))
	for i, each := range c.Hosts {
		names[i] = each.Name
	}
	switch {
	case len(names) == 0:
		return "", errNoOrigin
	case name == "" && len(names) == 1:
		return names[0], nil
	case !slices.Contains(names, name):
		return "", fmt.Errorf("origin %q is not configured: want --origin with one of %q", name, names)
	}
	return name, nil
}

// listAll walks an origin's list until it has given as many orders as it says to have. New orders push the others back,
// so some may come twice.
func listAll(ctx context.Context, from *upstream.Pool, taker string) (ids []order.ID, err error) {
	seen := map[order.ID]bool{}
	for skipped := uint64(0); ; {
		page, err := listPage(ctx, from, taker, skipped)
		if err != nil {
			return nil, err
		}
		before := len(ids)
		for _, id := range page.ids {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		skipped += uint64(len(page.ids))
		switch {
		case skipped >= page.total:
			return ids, nil
		case len(ids) == before:
			return nil, fmt.Errorf("nothing new on the page after %d of %d orders", skipped, page.total)
		}
	}
}

func listPage(ctx context.Context, from *upstream.Pool, taker string, skip uint64) (listedPage, error) {
	question, err := json.Marshal(map[string]any{
		"unlockAuthorities": taker, "filterMode": "CrossChain", "skip": skip, "take": listedAtOnce,
	})
	if err != nil {
		return listedPage{}, err
	}
	response, err := from.Forward(ctx, upstream.Forward{
		Method: http.MethodPost, Path: "/api/Orders/filteredList",
		Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
		Body:   bytes.NewReader(question), ContentLength: int64(len(question)),
	})
	if err != nil {
		return listedPage{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return listedPage{}, fmt.Errorf("status %d after %d orders", response.StatusCode, skip)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, longestListBody+1))
	if err != nil {
		return listedPage{}, fmt.Errorf("read page after %d orders: %w", skip, err)
	}
	if len(body) > longestListBody {
		return listedPage{}, fmt.Errorf("page after %d orders is longer than %d bytes", skip, longestListBody)
	}
	return readListedPage(body)
}

// listedPage is a part of an origin's list.
type listedPage struct {
	ids   []order.ID
	total uint64 // orders of the whole list
}

// readListedPage reads what an origin answers.
func readListedPage(body []byte) (listedPage, error) {
	var answer struct {
		Orders []struct {
			OrderID struct {
				StringValue string `json:"stringValue"`
			} `json:"orderId"`
		} `json:"orders"`
		TotalCount *uint64 `json:"totalCount"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return listedPage{}, fmt.Errorf("malformed list of orders: %w", err)
	}
	if answer.TotalCount == nil {
		return listedPage{}, errors.New("malformed list of orders: no totalCount")
	}
	page := listedPage{total: *answer.TotalCount, ids: make([]order.ID, len(answer.Orders))}
	for i, each := range answer.Orders {
		var err error
		if page.ids[i], err = chain.ParseHash(each.OrderID.StringValue); err != nil {
			return listedPage{}, fmt.Errorf("malformed list of orders: order %d: %w", i+1, err)
		}
	}
	return page, nil
}
