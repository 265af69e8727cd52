package shared

import (
	"context"
	"embed"
	"errors"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sony/gobreaker/v2"
)

// script is a Lua script that the server runs atomically for one call.
type script struct{ name, text, digest string }

func newScript(name, text string) script {
	return script{name, text, redis.NewScript(0, text).Hash()}
}

//go:embed scripts/*.lua
var scripts embed.FS

func scriptOf(name string) script {
	text, err := scripts.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // a mistake in this package
	}
	return newScript(name, string(text))
}

//nolint:gochecknoglobals // read only
var (
	settleScript = scriptOf("settle")
	takeScript   = scriptOf("take")
	renewScript  = scriptOf("renew")
	putScript    = scriptOf("put")
	purgeScript  = scriptOf("purge")
	spendScript  = scriptOf("spend")
	attestScript = scriptOf("attest")
)

// isUnknownScript reports whether the server was never sent the script or has forgotten it.
func isUnknownScript(err error) bool {
	refused, is := errors.AsType[redis.Error](err)
	return is && strings.HasPrefix(string(refused), "NOSCRIPT ")
}

// errUnavailable means that the server was not called: the connection is down or the circuit breaker is open.
var errUnavailable = errors.New("shared cache unavailable")

// The circuit breaker opens for breakerPause after breakerFailures consecutive failures.
const (
	breakerFailures = 5
	breakerPause    = time.Second
	maxCalls        = 256 // concurrent calls per policy
)

// callPolicy bounds the cost of calls of one kind by a time limit, a semaphore and a circuit breaker.
type callPolicy struct {
	timeout   time.Duration
	semaphore chan struct{}
	breaker   *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newCallPolicy(timeout time.Duration) *callPolicy {
	return &callPolicy{
		timeout:   timeout,
		semaphore: make(chan struct{}, maxCalls),
		breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			MaxRequests: 1,
			Timeout:     breakerPause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
			IsExcluded:  func(err error) bool { return errors.Is(err, context.Canceled) },
		}),
	}
}

func (p *callPolicy) isOpen() bool { return p.breaker.State() == gobreaker.StateOpen }

// call runs a script on the server. It returns within the policy's time limit, whatever the server does.
func (c *Cache) call(
	ctx context.Context, p *callPolicy, run script, keys []string, arguments ...string,
) ([]any, error) {
	up := c.connected.Load()
	if up == nil {
		return nil, errUnavailable
	}
	report, err := p.breaker.Allow()
	if err != nil {
		return nil, errUnavailable
	}
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	limited, end := c.observe(limited, run.name)
	var reply []any
	select {
	case p.semaphore <- struct{}{}:
		err = errUnavailable
		if !p.isOpen() { // it may have opened while this call waited
			reply, err = up.calls.runs(limited, run, keys, arguments...)
		}
		<-p.semaphore
	case <-limited.Done():
		err = limited.Err()
	}
	end(err)
	if err != nil && ctx.Err() != nil {
		report(context.Canceled) // the caller left or ran out of time: not the server's fault
		return nil, err
	}
	if _, refused := errors.AsType[redis.Error](err); refused {
		report(nil) // an immediate answer, not a failure
		if c.noteError(err) {
			c.log.WarnContext(ctx, "shared cache refused a call", "script", run.name, "error", err)
		}
		return nil, err
	}
	report(err)
	return reply, err
}
