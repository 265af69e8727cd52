package main

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"crossgate/store"
)

// memoryShare is the garbage collector's of what the order index leaves of the process's memory.
const memoryShare = 0.9

// roomyGC lets garbage grow to four times what is alive before it is collected, GOGC's default is one time. What is
// alive is bounded by the configuration; where memory ends, the limit makes the collector work as often as it must.
const roomyGC = 400

// limitMemory tells the garbage collector how much memory there is, which allowed knows: GOMEMLIMIT and GOGC of the
// environment come first.
func limitMemory(ctx context.Context, allowed memlimit.Provider, log *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithProvider(withoutStore(allowed)), memlimit.WithRatio(memoryShare))
	if errors.Is(err, memlimit.ErrNoCgroup) || errors.Is(err, memlimit.ErrCgroupsNotSupported) {
		return
	}
	if err != nil {
		log.WarnContext(ctx, "memory is not limited", "error", err)
		return
	}
	if limit == math.MaxInt64 {
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(roomyGC)
	}
	log.InfoContext(ctx, "memory is limited", "bytes", limit)
}

// withoutStore is allowed less what the order index takes beside Go's heap, and at least half of it.
func withoutStore(allowed memlimit.Provider) memlimit.Provider {
	return func() (uint64, error) {
		limit, err := allowed()
		if err != nil {
			return 0, err
		}
		return max(limit/2, limit-min(limit, store.FileMemory)), nil
	}
}
