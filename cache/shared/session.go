package shared

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	pingInterval = time.Second
	// Pauses between attempts to connect.
	minPause, maxPause = 100 * time.Millisecond, 2 * time.Second
	// errorLife is how long the server counts as refusing calls after it last refused one.
	errorLife = time.Minute
)

// Run keeps a connection until ctx ends.
func (c *Cache) Run(ctx context.Context) {
	defer c.observeConnection()()
	pause := minPause
	for {
		wasUp, err := c.session(ctx)
		if ctx.Err() != nil {
			return
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

// noteError records the latest error for Status and reports whether it differs from the previous one, or is not of the
// same series.
func (c *Cache) noteError(err error) (isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isNew = c.lastError != err.Error() || time.Since(c.lastAt) > errorLife
	c.lastError, c.lastAt = err.Error(), time.Now()
	return isNew
}

// session maintains a connection for calls and one for notices of other replicas, until either is lost.
func (c *Cache) session(ctx context.Context) (wasUp bool, err error) {
	at, err := c.server.secured(c.caFile)
	if err != nil {
		return false, err
	}
	dialled, err := at.dial(ctx, c.silence)
	if err != nil {
		return false, err
	}
	calls := newPipeline(dialled)
	defer calls.close()
	notices, err := c.subscribe(ctx, at)
	if err != nil {
		return false, err
	}
	defer notices.close()
	if err := c.start(ctx, calls); err != nil {
		return false, err
	}
	up := &connection{calls: calls, lost: make(chan struct{})}
	c.onPurge(Soft) // purges may have been missed until now
	c.mu.Lock()
	c.lastError = ""
	c.mu.Unlock()
	c.connected.Store(up)
	c.log.InfoContext(ctx, "shared cache connected")
	err = c.serve(ctx, calls, notices)
	c.connected.Store(nil)
	c.noteError(err)
	close(up.lost)
	c.onPurge(Soft) // and may be missed from now on
	return true, err
}

var runID = regexp.MustCompile(`(?m)^run_id:(\w+)`)

// start purges everything if the server was restarted, and publishes the queued purges.
func (c *Cache) start(ctx context.Context, calls *pipeline) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	info, err := redis.String(calls.do(ctx, "INFO", "server"))
	if err != nil {
		return fmt.Errorf("info: %w", err)
	}
	run := runID.FindStringSubmatch(info)
	if run == nil {
		return errors.New("info: no run_id in the server's reply")
	}
	if _, err := calls.runs(ctx, settleScript, []string{stateName}, run[1]); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return c.publish(ctx, calls)
}

// serve publishes purges until the server stops answering.
func (c *Cache) serve(ctx context.Context, calls *pipeline, notices *subscription) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-calls.ended:
			return calls.cause
		case err := <-notices.lost:
			return err
		case <-c.publisher.filled:
			if err := c.publish(ctx, calls); err != nil {
				return err
			}
		case <-ticker.C:
			if err := c.ping(ctx, calls, notices); err != nil {
				return err
			}
		}
	}
}

func (c *Cache) ping(ctx context.Context, calls *pipeline, notices *subscription) error {
	ctx, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	if err := notices.Ping(""); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	if _, err := calls.do(ctx, "PING"); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// subscription is a connection on which the notices of other replicas arrive.
type subscription struct {
	redis.PubSubConn
	lost    chan error // why it ended
	hearing sync.WaitGroup
}

// subscribe returns once the server sends notices. Close the subscription.
func (c *Cache) subscribe(ctx context.Context, at server) (*subscription, error) {
	connection, err := at.dial(ctx, c.silence)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	s := &subscription{PubSubConn: redis.PubSubConn{Conn: connection}, lost: make(chan error, 1)}
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	if err := s.Subscribe(channelName); err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	if refused, is := s.ReceiveWithTimeout(c.silence).(error); is {
		_ = connection.Close()
		return nil, fmt.Errorf("subscribe: %w", refused)
	}
	s.hearing.Go(func() { s.lost <- s.hear(c) })
	return s, nil
}

// hear receives notices until the connection is lost or closed. The replies to pings arrive on it, too.
func (s *subscription) hear(c *Cache) error {
	for {
		switch said := s.ReceiveWithTimeout(pingInterval + c.silence).(type) {
		case redis.Message:
			n, ok := parseNotice(string(said.Data))
			switch {
			case !ok:
			case n.kind == released:
				c.waiters.wake(n.keys[0])
			case n.from != c.replica:
				c.onPurge(map[byte]Purge{purgedSoftly: Soft, purgedHard: Hard}[n.kind], n.keys...)
			}
		case error:
			return said
		}
	}
}

func (s *subscription) close() {
	_ = s.Close()
	s.hearing.Wait()
}

// Status describes the shared cache to operators.
func (c *Cache) Status() (state string, ok bool) {
	c.mu.Lock()
	lastError, isPast := c.lastError, time.Since(c.lastAt) > errorLife
	c.mu.Unlock()
	switch {
	case c.connected.Load() == nil:
		return "not connected to " + c.server.address + ": " + lastError, false
	case c.values.isOpen():
		return "connected, but slow: skipped for a moment", false
	case lastError != "" && !isPast:
		return "connected, but refused a call: " + lastError, false
	}
	return "connected", true
}
