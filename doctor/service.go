package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"crossgate/cache/shared"
	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/token/catalog"
	"crossgate/upstream"
	"crossgate/upstream/price"
	"crossgate/upstream/tokenlist"
	"crossgate/upstream/venue"
)

// checkup calls a service, through a pool if it has endpoints.
type checkup func(ctx context.Context, c config.Config, pool *upstream.Pool) (said string, err error)

// report calls the named service, for serviceLimit at most.
func (check checkup) report(ctx context.Context, c config.Config, name string, configured ...config.Endpoint) Service {
	endpoints := make([]*upstream.Endpoint, len(configured))
	for i, each := range configured {
		var err error
		if endpoints[i], err = upstream.NewEndpoint(gateway.EndpointOptions(each)); err != nil {
			return Service{Name: name, Wrong: []string{err.Error()}}
		}
		defer endpoints[i].Close()
	}
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	said, err := check(ctx, c, upstream.NewPool(name, endpoints...))
	if err != nil {
		return Service{Name: name, Wrong: []string{err.Error()}}
	}
	return Service{Name: name, Said: said}
}

// askVenue requests a quote for the coin in USDC from a venue, with its key.
func askVenue(own config.Venue) checkup {
	return func(ctx context.Context, c config.Config, pool *upstream.Pool) (said string, err error) {
		if len(own.Endpoints) == 0 {
			return "read from the chains", nil
		}
		made, err := venue.New(own.Name, venue.Options{Pool: pool, Registry: c.Registry(), Key: own.Key.Reveal(), Settings: own.Settings})
		if err != nil {
			return "", err
		}
		swap, found := exampleSwap(c, made.Profile())
		if !found {
			return "serves none of the configured chains", nil
		}
		_, err = made.Quote(ctx, swap)
		failed, isFailure := errors.AsType[*upstream.Error](err)
		switch {
		case err == nil:
			return "quotes", nil
		case errors.Is(err, quote.ErrNoRoute):
			return "answers, without a route for the example swap", nil
		case isFailure && (failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden):
			return "", fmt.Errorf("access denied (HTTP %d): its key is missing or wrong", failed.Status)
		case isFailure:
			return "", err
		}
		return "answers: " + err.Error(), nil
	}
}

// exampleSwap returns a swap of a little coin into USDC, on the first configured chain with USDC that the venue serves.
func exampleSwap(c config.Config, profile quote.Profile) (quote.Swap, bool) {
	for _, each := range c.Chains {
		usdc, known := token.WellKnown(each.ID, "USDC")
		if _, served := profile.Routers[each.ID]; served && known {
			in, _ := c.Registry().Chain(each.ID)
			return quote.Example(in, usdc), true
		}
	}
	return quote.Swap{}, false
}

func askPrices(ctx context.Context, c config.Config, pool *upstream.Pool) (said string, err error) {
	var coins []token.Key
	for _, each := range c.Chains {
		known, _ := c.Registry().Chain(each.ID)
		coins = append(coins, token.Key{Chain: each.ID, Address: chain.NativeCoin(known.Family)})
	}
	prices, err := price.DefiLlama(pool, c.Registry())(ctx, coins)
	return fmt.Sprintf("prices of %d of %d coins", len(prices), len(coins)), err
}

func askList(ctx context.Context, c config.Config, pool *upstream.Pool) (said string, err error) {
	text, err := tokenlist.Fetch(ctx, pool)
	if err != nil {
		return "", err
	}
	list, err := catalog.Parse(text, c.Registry())
	return fmt.Sprintf("%d tokens", len(list.Tokens)), err
}

// askOrigin accepts any response, since the content at an origin's base URL is undefined.
func askOrigin(ctx context.Context, _ config.Config, pool *upstream.Pool) (said string, err error) {
	response, err := pool.Do(ctx, upstream.Request{}, nil)
	if failed, is := errors.AsType[*upstream.Error](err); is && failed.Status != 0 && failed.Class != upstream.ServerError {
		response.Status, err = failed.Status, nil // a page, a redirect or too many requests: the service is up
	}
	return fmt.Sprintf("answers (HTTP %d)", response.Status), err
}

func inspectDatabase(ctx context.Context, c config.Config, _ *upstream.Pool) (said string, err error) {
	return "usable", gateway.Database(c).Inspect(ctx)
}

func askStream(ctx context.Context, c config.Config, _ *upstream.Pool) (said string, err error) {
	stream, err := gateway.EventStream(c)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	_, err = stream.Last(ctx)
	return "usable", err
}

// askShared connects to the shared cache and stores something, for a few seconds at most.
func askShared(ctx context.Context, c config.Config, _ *upstream.Pool) (said string, err error) {
	const patience, interval = 5 * time.Second, 20 * time.Millisecond
	cache, err := gateway.SharedCache(c, nil)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	defer running.Wait()
	defer cancel()
	limited, end := context.WithTimeout(ctx, patience)
	defer end()
	state, isUp := cache.Status()
	for !isUp && order.Wait(limited, interval, nil) {
		state, isUp = cache.Status()
	}
	for isStored := false; isUp && !isStored && order.Wait(limited, interval, nil); { // a call has a few milliseconds
		_, _, err := cache.Spend(limited, shared.KeyOf("doctor"), time.Millisecond, time.Second, 0)
		isStored = err == nil
		state, isUp = cache.Status()
	}
	if !isUp {
		return "", errors.New(state)
	}
	return state, nil
}
