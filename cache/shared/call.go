package shared

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/redis/rueidis"
	"github.com/sony/gobreaker/v2"
)

// script is what the server runs for one call, atomically.
type script struct {
	*rueidis.Lua
	name string
}

//nolint:gochecknoglobals // read only
var (
	//go:embed scripts/settle.lua
	settleText string
	//go:embed scripts/take.lua
	takeText string
	//go:embed scripts/renew.lua
	renewText string
	//go:embed scripts/put.lua
	putText string
	//go:embed scripts/purge.lua
	purgeText string
	//go:embed scripts/spend.lua
	spendText string
	//go:embed scripts/attest.lua
	attestText string

	settleScript = script{rueidis.NewLuaScript(settleText), "settle"}
	takeScript   = script{rueidis.NewLuaScript(takeText), "take"}
	renewScript  = script{rueidis.NewLuaScript(renewText), "renew"}
	putScript    = script{rueidis.NewLuaScript(putText), "put"}
	purgeScript  = script{rueidis.NewLuaScript(purgeText), "purge"}
	spendScript  = script{rueidis.NewLuaScript(spendText), "spend"}
	attestScript = script{rueidis.NewLuaScript(attestText), "attest"}
)

// errUnavailable says that the server was not asked: there is no connection, or the circuit breaker is open.
var errUnavailable = errors.New("shared cache unavailable")

// The circuit breaker opens after so many failures in a row, for a while.
const (
	breakerFailures = 5
	breakerPause    = time.Second
	maxCalls        = 256 // at once; the connection's queue has 1024
)

// callPolicy bounds what calls of one kind cost: by a time limit, a semaphore and a circuit breaker.
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

// call has the server run a script. It returns within the policy's time limit whatever the server does.
func (c *Cache) call(
	ctx context.Context, p *callPolicy, run script, keys []string, arguments ...string,
) ([]rueidis.RedisMessage, error) {
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
	var reply []rueidis.RedisMessage
	select {
	case p.semaphore <- struct{}{}:
		err = errUnavailable
		if !p.isOpen() { // which it may have become while this call waited
			reply, err = run.Exec(limited, up.client, keys, arguments).ToArray()
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
	if _, refused := rueidis.IsRedisErr(err); refused {
		report(nil) // at once, which costs nothing
		if c.noteError(err) {
			c.log.WarnContext(ctx, "shared cache refused a call", "script", run.name, "error", err)
		}
		return nil, err
	}
	report(err)
	return reply, err
}
