package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"crossgate/cache/shared"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/proxy/orders"
	"crossgate/store"
	"crossgate/webhook"
)

// eventsKept is how long events are kept for clients that resume; webhook retries take a day.
const eventsKept = 7 * 24 * time.Hour

// EventStream returns the Redis stream that the feed is published to, which the configuration must set.
func EventStream(c config.Config) (*shared.Stream, error) {
	return shared.NewStream(c.Events.Redis.Reveal(), "crossgate:events")
}

// addEvents checks the subscribers to events, and the address of the Redis stream.
func (b *builder) addEvents() {
	for i, each := range b.config.Events.Webhooks {
		path := fmt.Sprintf("events.webhooks[%d]", i)
		for at, secret := range each.Secrets {
			if err := webhook.CheckSecret(secret.Reveal()); err != nil {
				b.mistake(fmt.Sprintf("%s.secrets[%d]", path, at), err)
			}
		}
		if _, err := orders.ParseFeedFilter(each.Filter); err != nil {
			b.mistake(path+".filter", err)
		}
	}
	if b.config.Events.Redis.Reveal() != "" {
		var err error
		if b.parts.stream, err = EventStream(b.config); err != nil {
			b.mistake("events.redis", err)
		}
	}
}

func (g *Gateway) openEvents(ctx context.Context, c config.Config, p *parts) error {
	g.feed = feed.New(g.store, eventsKept, orders.EncodeEntry(p.registry))
	g.webhooks = webhook.New(g.store, g.feed, webhook.Options{Filter: orders.ParseFeedFilter, Logger: g.log})
	err := g.configureWebhooks(ctx, c.Events.Webhooks)
	if errors.Is(err, webhook.ErrTaken) { // a mistake in c
		return err
	}
	g.lacksWebhooks = err != nil
	return nil
}

// catchUpWebhooks configures those of the file once the database takes changes, if it did not at the start.
func (g *Gateway) catchUpWebhooks(ctx context.Context) {
	var failure store.Failure
	for g.lacksWebhooks && order.Wait(ctx, store.LeaseInterval, nil) {
		g.settingUp.Lock() // a reload must not come between
		err := g.configureWebhooks(ctx, g.sets.now().config.Events.Webhooks)
		g.settingUp.Unlock()
		failure.Log(ctx, g.log, err, "webhooks of the file are not set up", "webhooks of the file are set up")
		g.lacksWebhooks = err != nil
	}
}

func (g *Gateway) configureWebhooks(ctx context.Context, configured []config.Webhook) error {
	hooks := make([]webhook.Hook, len(configured))
	for i, each := range configured {
		hooks[i] = webhook.Hook{Name: each.Name, URL: each.URL.Reveal(), Filter: each.Filter}
		for _, secret := range each.Secrets {
			hooks[i].Secrets = append(hooks[i].Secrets, secret.Reveal())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	return g.webhooks.Configure(ctx, hooks)
}

func (g *Gateway) runEvents(ctx context.Context) {
	defer g.webhooks.Observe()()
	var running sync.WaitGroup
	for _, run := range []func(context.Context){g.feed.Run, g.webhooks.Run, g.catchUpWebhooks, g.publish} {
		running.Go(func() { run(ctx) })
	}
	running.Wait()
}

// publish appends the feed to the Redis stream until ctx ends, while no other replica does.
func (g *Gateway) publish(ctx context.Context) {
	if g.stream == nil {
		return
	}
	defer g.stream.Close()
	var failure store.Failure
	g.store.Lead(ctx, "publish events", func(holding context.Context, _ store.Lease) {
		if err := g.publishOn(holding, &failure); holding.Err() == nil {
			failure.Log(ctx, g.log, err, "events are not published to Redis", "")
		}
	})
}

// publishOn resumes after the stream's last entry. Entry numbers ascend, so that no entry appears twice.
func (g *Gateway) publishOn(ctx context.Context, failure *store.Failure) error {
	last, err := g.stream.Last(ctx)
	if err != nil {
		return err
	}
	after := last
	if err := g.feed.Check(ctx, after); errors.Is(err, feed.ErrExpired) {
		if _, after, err = g.feed.Ends(ctx); err != nil {
			return err
		}
		g.log.WarnContext(ctx, "events were deleted before they could be published to Redis", "published_from", after)
	} else if err != nil {
		return fmt.Errorf("last entry of stream: %w", err)
	}
	for {
		const atOnce = 200
		part, err := g.feed.Next(ctx, after, feed.Filter{}, atOnce)
		if err != nil {
			return err
		}
		entries := make([]shared.StreamEntry, len(part.Items))
		for i, item := range part.Items {
			fields := []string{"status", item.Step.String(), "orderId", item.Order.String(), "event", string(item.Text)}
			entries[i] = shared.StreamEntry{Number: item.Position, Fields: fields}
		}
		if last, err = g.stream.Append(ctx, last, entries, uint64(time.Now().Add(-eventsKept).UnixMicro())); err != nil {
			return err
		}
		after = part.Next
		if part.Grown == nil {
			continue
		}
		failure.Log(ctx, g.log, nil, "", "events are published to Redis again")
		select {
		case <-part.Grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
