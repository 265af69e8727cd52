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

// diagnoseVenue asks a venue for a price of the coin in USDC, with its key.
func diagnoseVenue(ctx context.Context, c config.Config, own config.Venue) Service {
	d := Service{Name: "venue " + own.Name}
	if len(own.Endpoints) == 0 {
		d.Said = "read from the chains"
		return d
	}
	endpoints := make([]*upstream.Endpoint, len(own.Endpoints))
	for i, each := range own.Endpoints {
		var err error
		if endpoints[i], err = upstream.NewEndpoint(gateway.EndpointOptions(each)); err != nil {
			d.Wrong = []string{err.Error()}
			return d
		}
		defer endpoints[i].Close()
	}
	made, err := venue.New(own.Name, venue.Options{
		Pool: upstream.NewPool(own.Name, endpoints...), Registry: c.Registry(), Key: own.Key.Reveal(), Settings: own.Settings,
	})
	if err != nil {
		d.Wrong = []string{err.Error()}
		return d
	}
	swap, found := exampleSwap(c, made.Profile())
	if !found {
		d.Said = "serves none of the configured chains"
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	_, err = made.Quote(ctx, swap)
	failed, isFailure := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil:
		d.Said = "quotes"
	case errors.Is(err, quote.ErrNoRoute):
		d.Said = "answers, without a route for the example swap"
	case isFailure && isRefusal(failed.Status):
		d.Wrong = []string{fmt.Sprintf("access denied (HTTP %d): its key is missing or wrong", failed.Status)}
	case isFailure:
		d.Wrong = []string{err.Error()}
	default:
		d.Said = "answers: " + err.Error()
	}
	return d
}

// exampleSwap is a swap of a little of the coin of the first configured chain that has USDC.
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

// diagnosePrices accepts any response: what a price service serves at its base URL is undefined.
func diagnosePrices(ctx context.Context, own config.Endpoint) Service {
	d := Service{Name: "prices " + own.Name}
	e, err := upstream.NewEndpoint(gateway.EndpointOptions(own))
	if err != nil {
		d.Wrong = []string{err.Error()}
		return d
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	response, err := e.Do(ctx, upstream.Request{})
	if failed, is := errors.AsType[*upstream.Error](err); is && failed.Status != 0 && failed.Class != upstream.ServerError {
		response.Status, err = failed.Status, nil // a page, a redirect, too many requests: it is up
	}
	if err != nil {
		d.Wrong = []string{err.Error()}
		return d
	}
	d.Said = fmt.Sprintf("answers (HTTP %d)", response.Status)
	if isRefusal(response.Status) {
		d.Said += ": it may require a key"
	}
	return d
}

func diagnoseStore(ctx context.Context, c config.Config) Service {
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	if err := gateway.Database(c).Inspect(ctx); err != nil {
		return Service{Name: "database", Wrong: []string{err.Error()}}
	}
	return Service{Name: "database", Said: "usable"}
}

// diagnoseShared connects to the shared cache, for a few seconds at most.
func diagnoseShared(ctx context.Context, c config.Config) Service {
	const patience, interval = 5 * time.Second, 20 * time.Millisecond
	cache, err := gateway.SharedCache(c, nil)
	if err != nil {
		return Service{Name: "shared cache", Wrong: []string{err.Error()}}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for order.Wait(ctx, interval, nil) {
		if state, ok := cache.Status(); ok {
			return Service{Name: "shared cache", Said: state}
		}
	}
	state, _ := cache.Status()
	return Service{Name: "shared cache", Wrong: []string{state}}
}
