package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/redis/rueidis"
)

const (
	pingInterval = time.Second
	// Between attempts to connect.
	minPause, maxPause = 100 * time.Millisecond, 2 * time.Second
)

// Run keeps a connection until ctx ends.
func (c *Cache) Run(ctx context.Context) error {
	stop, err := c.observeConnection()
	if err != nil {
		return fmt.Errorf("instruments: %w", err)
	}
	pause := minPause
	for {
		wasUp, err := c.session(ctx)
		if ctx.Err() != nil {
			return stop()
		}
		if wasUp {
			pause = minPause
			c.log.WarnContext(ctx, "shared cache disconnected; caching locally", "error", err)
		} else if c.noteError(err) {
			c.log.WarnContext(ctx, "shared cache unreachable; caching locally", "error", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, maxPause)
	}
}

// noteError remembers the latest error for Status and reports whether it differs from the one before.
func (c *Cache) noteError(err error) (isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isNew = c.lastError != err.Error()
	c.lastError = err.Error()
	return isNew
}

// session is one connection from its beginning to its loss.
func (c *Cache) session(ctx context.Context) (wasUp bool, err error) {
	option, err := secured(c.option, c.certificates)
	if err != nil {
		return false, err
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		return false, err
	}
	defer client.Close()
	subscriber, release := client.Dedicate()
	defer release()
	lost := subscriber.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(m rueidis.PubSubMessage) { c.receive(m.Message) },
	})
	if err := c.start(ctx, client, subscriber); err != nil {
		return false, err
	}
	up := &connection{client: client, lost: make(chan struct{})}
	c.onPurge(Soft) // purges may have been missed until now
	c.mu.Lock()
	c.lastError = ""
	c.mu.Unlock()
	c.connected.Store(up)
	c.log.InfoContext(ctx, "shared cache connected")
	err = c.serve(ctx, client, lost)
	c.connected.Store(nil)
	c.noteError(err)
	close(up.lost)
	c.onPurge(Soft) // and from now on
	return true, err
}

var runID = regexp.MustCompile(`(?m)^run_id:(\w+)`)

// start subscribes to purges, purges everything if the server was restarted, and publishes what has waited.
func (c *Cache) start(ctx context.Context, client rueidis.Client, subscriber rueidis.DedicatedClient) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	if err := subscriber.Do(ctx, subscriber.B().Subscribe().Channel(channelName).Build()).Error(); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	info, err := client.Do(ctx, client.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return fmt.Errorf("info: %w", err)
	}
	run := runID.FindStringSubmatch(info)
	if run == nil {
		return errors.New("info: no run_id in the server's reply")
	}
	if err := settleScript.Exec(ctx, client, []string{stateName}, run[1:]).Error(); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return c.publish(ctx, client)
}

// serve publishes purges, and returns when the server stops answering.
func (c *Cache) serve(ctx context.Context, client rueidis.Client, lost <-chan error) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-lost:
			return cmp.Or(err, errUnavailable)
		case <-c.publisher.filled:
			if err := c.publish(ctx, client); err != nil {
				return err
			}
		case <-ticker.C:
			if err := c.ping(ctx, client); err != nil {
				return err
			}
		}
	}
}

func (c *Cache) ping(ctx context.Context, client rueidis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	if err := client.Do(ctx, client.B().Ping().Build()).Error(); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// receive handles a notice of another replica.
func (c *Cache) receive(text string) {
	n, ok := parseNotice(text)
	switch {
	case !ok || n.from == c.replica:
	case n.isRelease:
		c.waiters.wake(n.keys[0])
	default:
		c.onPurge(n.how, n.keys...)
	}
}

func (c *Cache) isConnected() bool { return c.connected.Load() != nil }

// Status describes the shared cache to operators.
func (c *Cache) Status() (state string, ok bool) {
	c.mu.Lock()
	lastError := c.lastError
	c.mu.Unlock()
	switch {
	case !c.isConnected():
		return "not connected to " + c.option.InitAddress[0] + ": " + lastError, false
	case c.values.isOpen():
		return "connected, but slow: skipped for a moment", false
	case lastError != "":
		return "connected, but refused a call: " + lastError, false
	}
	return "connected", true
}
