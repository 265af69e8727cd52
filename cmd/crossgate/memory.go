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

// memoryShare is the share of memory for the garbage-collected heap, after subtracting the database's.
const memoryShare = 0.9

// roomyGC (GOGC) lets garbage grow to four times the live heap before a collection, which takes less CPU than the
// default of one. The configuration bounds the live heap; near the memory limit the collector runs as often as needed.
const roomyGC = 400

// limitMemory sets the garbage collector's memory limit from allowed, the limit of the process's cgroup. The
// environment variables GOMEMLIMIT and GOGC take precedence.
func limitMemory(ctx context.Context, allowed memlimit.Provider, log *slog.Logger) {
	ofHeap := func() (uint64, error) { // without SQLite's memory outside the heap, but at least half
		limit, err := allowed()
		return max(limit/2, limit-min(limit, store.FileMemory)), err
	}
	limit, err := memlimit.Set(memlimit.WithProvider(ofHeap), memlimit.WithRatio(memoryShare))
	if errors.Is(err, memlimit.ErrNoCgroup) || errors.Is(err, memlimit.ErrCgroupsNotSupported) {
		return
	}
	if err != nil {
		log.WarnContext(ctx, "memory limit not set: cgroup limit unreadable; set GOMEMLIMIT", "error", err)
		return
	}
	if limit == math.MaxInt64 {
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(roomyGC)
	}
	log.InfoContext(ctx, "memory limit set", "bytes", limit)
}
