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

// memoryShare is the part of the memory that the garbage collector may use, after the database's.
const memoryShare = 0.9

// roomyGC (GOGC) lets garbage grow to four times the live heap before a collection, which takes less CPU than the
// default of one. The live heap is bounded by the configuration; near the memory limit the collector runs as often as
// it must.
const roomyGC = 400

// limitMemory sets the garbage collector's memory limit from allowed, the limit of the process's cgroup. GOMEMLIMIT and
// GOGC of the environment take precedence.
func limitMemory(ctx context.Context, allowed memlimit.Provider, log *slog.Logger) {
	ofHeap := func() (uint64, error) { // without what SQLite takes outside of it, but half at least
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
