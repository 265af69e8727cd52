package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

func serviceOf(name string, ask func() (said string, err error)) Service {
	said, err := ask()
	if err != nil {
		return Service{Name: name, Wrong: []string{err.Error()}}
	}
	return Service{Name: name, Said: said}
}

// askVenue requests a quote for the coin in USDC from a venue, with its key.
func askVenue(ctx context.Context, c config.Config, own config.Venue) (said string, err error) {
	if len(own.Endpoints) == 0 {
		return "read from the chains", nil
	}
	endpoints := make([]*upstream.Endpoint, len(own.Endpoints))
	for i, each := range own.Endpoints {
		if endpoints[i], err = upstream.NewEndpoint(gateway.EndpointOptions(each)); err != nil {
			return "", err
		}
		defer endpoints[i].Close()
	}
	made, err := venue.New(own.Name, venue.Options{
		Pool: upstream.NewPool(own.Name, endpoints...), Registry: c.Registry(), Key: own.Key.Reveal(), Settings: own.Settings,
	})
	if err != nil {
		return "", err
	}
	swap, found := exampleSwap(c, made.Profile())
	if !found {
		return "serves none of the configured chains", nil
	}
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	_, err = made.Quote(ctx, swap)
	failed, isFailure := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil:
		return "quotes", nil
	case errors.Is(err, quote.ErrNoRoute):
		return "answers, without a route for the example swap", nil
	case isFailure && isRefusal(failed.Status):
		return "", fmt.Errorf("access denied (HTTP %d): its key is missing or wrong", failed.Status)
	case isFailure:
		return "", err
	}
	return "answers: " + err.Error(), nil
}

// exampleSwap returns a swap of a little coin into USDC, on the first configured chain with USDC that the venue serves.
func exampleSwap(c config.Config, profile quote.Profile) (quote.Swap, bool) {
	read := make(map[chain.ID]bool)
	for _, own := range c.Chains {
		read[own.ID] = true
	}
	for _, each := range c.Registry().All() {
		usdc, known := token.WellKnown(each.ID, "USDC")
		if _, served := profile.Routers[each.ID]; served && known && read[each.ID] {
			return quote.Example(each, usdc), true
		}
	}
	return quote.Swap{}, false
}

// askAny accepts any response, since the content at a service's base URL is undefined.
func askAny(ctx context.Context, own config.Endpoint) (said string, err error) {
	e, err := upstream.NewEndpoint(gateway.EndpointOptions(own))
	if err != nil {
		return "", err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	response, err := e.Do(ctx, upstream.Request{})
	if failed, is := errors.AsType[*upstream.Error](err); is && failed.Status != 0 && failed.Class != upstream.ServerError {
		response.Status, err = failed.Status, nil // a page, a redirect or too many requests: the service is up
	}
	if isRefusal(response.Status) {
		said = ": it may require a key"
	}
	return fmt.Sprintf("answers (HTTP %d)%s", response.Status, said), err
}

func askStream(ctx context.Context, c config.Config) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	stream, err := gateway.EventStream(c)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	_, err = stream.Last(ctx)
	return "usable", err
}

// askShared connects to the shared cache, for a few seconds at most.
func askShared(ctx context.Context, c config.Config) (said string, err error) {
	const patience, interval = 5 * time.Second, 20 * time.Millisecond
	cache, err := gateway.SharedCache(c, nil)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	defer running.Wait()
	defer cancel()
	state, isUp := cache.Status()
	for !isUp && order.Wait(ctx, interval, nil) {
		state, isUp = cache.Status()
	}
	if !isUp {
		return "", errors.New(state)
	}
	return state, nil
}
