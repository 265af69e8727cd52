package flight_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/cache/flight"
)

const loadTakes = time.Second

// slow returns a load that takes a while and sends its error, or nil, to ended.
func slow(ended chan<- error) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		select {
		case <-time.After(loadTakes):
			ended <- nil
			return "value", nil
		case <-ctx.Done():
			ended <- ctx.Err()
			return "", ctx.Err()
		}
	}
}

// wait waits for c in a goroutine.
func wait(ctx context.Context, c *flight.Call[string]) <-chan error {
	left := make(chan error, 1)
	go func() {
		_, err := c.Wait(ctx)
		left <- err
	}()
	return left
}

func TestOneLoadServesAllWhoJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		c := flight.Start(t.Context(), slow(ended))
		for range 3 {
			if !c.Join() {
				t.Fatal("Join of a load under way = false")
			}
		}
		for i := range 4 {
			if got, err := c.Wait(t.Context()); got != "value" || err != nil {
				t.Errorf("Wait of caller %d = %q, %v", i, got, err)
			}
		}
		if !c.Join() {
			t.Error("Join of a load that is done = false")
		}
	})
}

func TestALoadOutlivesTheCallerThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		first, leave := context.WithCancel(t.Context())
		c := flight.Start(first, slow(ended))
		c.Join()
		left := wait(first, c)
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Wait of a caller who left = %v", err)
		}
		if got, err := c.Wait(t.Context()); got != "value" || err != nil {
			t.Errorf("Wait of the other = %q, %v", got, err)
		}
	})
}

func TestALoadEndsWithItsLastWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		ctx, leave := context.WithCancel(t.Context())
		c := flight.Start(ctx, slow(ended))
		c.Join()
		one, other := wait(ctx, c), wait(ctx, c)
		began := time.Now()
		leave()
		<-one
		<-other
		if c.Join() {
			t.Error("Join of a load that was given up = true")
		}
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("load ended after %s with %v, want at once and canceled", time.Since(began), err)
		}
	})
}

func TestAPanicIsAnErrorForEveryWaiter(t *testing.T) {
	c := flight.Start(t.Context(), func(context.Context) (string, error) { panic("index out of range") })
	c.Join()
	for range 2 {
		if _, err := c.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("Wait = %v, want the panic", err)
		}
	}
}
