package cache

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/redis/rueidis"
	"github.com/sony/gobreaker/v2"
)

// script is what one call has the server do, in one step.
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

	settleScript = script{rueidis.NewLuaScript(settleText), "settle"}
	takeScript   = script{rueidis.NewLuaScript(takeText), "take"}
	renewScript  = script{rueidis.NewLuaScript(renewText), "renew"}
	putScript    = script{rueidis.NewLuaScript(putText), "put"}
	purgeScript  = script{rueidis.NewLuaScript(purgeText), "purge"}
	spendScript  = script{rueidis.NewLuaScript(spendText), "spend"}
)

// errAway says that the server was not asked, since it is not there or too slow.
var errAway = errors.New("the shared cache is away")

// Rules of a guard: so many calls in a row that went wrong keep all others away for a while.
const (
	guardFailures = 5
	guardPause    = time.Second
	guardPlaces   = 256 // calls at a time; the connection's queue has 1024
)

// guard bounds what calls of one kind cost: the time of each, how many there are at a time, and how often a server that
// does not answer is tried.
type guard struct {
	patience time.Duration
	places   chan struct{}
	breaker  *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newGuard(patience time.Duration) *guard {
	return &guard{
		patience: patience,
		places:   make(chan struct{}, guardPlaces),
		breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			MaxRequests: 1,
			Timeout:     guardPause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= guardFailures },
			IsExcluded:  func(err error) bool { return errors.Is(err, context.Canceled) },
		}),
	}
}

func (g *guard) isOpen() bool { return g.breaker.State() == gobreaker.StateOpen }

// call has the server run a script. It returns within the guard's patience whatever the server does.
func (s *Shared) call(ctx context.Context, g *guard, run script, keys []string, arguments ...string) ([]rueidis.RedisMessage, error) {
	up := s.link.Load()
	if up == nil {
		return nil, errAway
	}
	settle, err := g.breaker.Allow()
	if err != nil {
		return nil, errAway
	}
	limited, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	limited, end := s.observe(limited, run.name)
	var reply []rueidis.RedisMessage
	select {
	case g.places <- struct{}{}:
		err = errAway
		if !g.isOpen() { // which it may have become while this call waited
			reply, err = run.Exec(limited, up.client, keys, arguments).ToArray()
		}
		<-g.places
	case <-limited.Done():
		err = limited.Err()
	}
	end(err)
	if err != nil && ctx.Err() != nil {
		settle(context.Canceled) // who asked has left, or was out of time: the server is not to blame
		return nil, err
	}
	if _, refused := rueidis.IsRedisErr(err); refused {
		settle(nil) // at once, which costs nothing
		if s.hear(err) {
			s.log.WarnContext(ctx, "the shared cache refuses a call", "script", run.name, "error", err)
		}
		return nil, err
	}
	settle(err)
	return reply, err
}
