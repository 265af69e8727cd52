package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestMemoryIsLimited(t *testing.T) {
	gc := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(gc)
		debug.SetMemoryLimit(limit)
	})
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for name, c := range map[string]struct {
		allowed     memlimit.Provider
		environment map[string]string
		limit       int64
		gc          int
	}{
		"a control group":             {memlimit.Limit(1072 << 20), nil, 900 << 20, roomyGC},
		"a small control group":       {memlimit.Limit(100 << 20), nil, 45 << 20, roomyGC},
		"no control group":            {none, nil, math.MaxInt64, 100},
		"a control group that broke":  {func() (uint64, error) { return 0, os.ErrPermission }, nil, math.MaxInt64, 100},
		"a collector set by somebody": {memlimit.Limit(1072 << 20), map[string]string{"GOGC": "50"}, 900 << 20, 100},
		"a limit set by somebody":     {memlimit.Limit(1000 << 20), map[string]string{"GOMEMLIMIT": "1GiB"}, math.MaxInt64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(math.MaxInt64) // what the runtime makes of the environment it has read at the start
			for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
				t.Setenv(name, c.environment[name]) // put back afterwards
				if c.environment[name] == "" {
					_ = os.Unsetenv(name)
				}
			}
			limitMemory(t.Context(), c.allowed, slog.New(slog.DiscardHandler))
			if got := debug.SetMemoryLimit(-1); got != c.limit {
				t.Errorf("the limit is %d bytes, want %d", got, c.limit)
			}
			if got := debug.SetGCPercent(100); got != c.gc {
				t.Errorf("the collector's percentage is %d, want %d", got, c.gc)
			}
		})
	}
}
