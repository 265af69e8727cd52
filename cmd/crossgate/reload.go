package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"crossgate/config"
	"crossgate/store"
)

// lookInterval is how often the file and its secret files are read. A change applies once two consecutive readings are
// equal: editors and volume mounts write several files, and in pieces.
const lookInterval = time.Second

// reloader applies changes of a configuration file to a running gateway.
type reloader struct {
	file    string
	every   time.Duration
	running config.Config
	seen    string // last handled revision, applied or not
	read    string // revision at the last look
	awaits  string // revision that is applied once the database is back; empty: none
	apply   func(config.Config) error
	log     *slog.Logger
}

// run watches the file until ctx ends. A request reloads it immediately, changed or not.
func (r *reloader) run(ctx context.Context, requests <-chan os.Signal) {
	look := time.NewTicker(r.every)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-requests:
			r.reload(true)
		case <-look.C:
			r.reload(false)
		}
	}
}

// reload reads the file and applies it if it changed or a reload was requested. If the file has a mistake, the running
// configuration stays; if the database is needed and away, each look tries again.
func (r *reloader) reload(requested bool) {
	next, err := config.Load(r.file)
	was := r.read
	r.read = next.Revision()
	isSettled := r.read == r.seen && r.awaits == ""
	if !requested && (isSettled || r.read != was) {
		return
	}
	r.seen = r.read
	if err == nil {
		err = r.apply(next)
	}
	remedy, awaited := "; fix the file", r.awaits
	if r.awaits = ""; errors.Is(err, store.ErrUnavailable) {
		remedy, r.awaits = " until the database is back", r.read
		if awaited == r.awaits {
			return // logged before
		}
	}
	measureReload(err == nil)
	by := "changed file"
	if requested {
		by = "SIGHUP"
	}
	if err != nil {
		r.log.Error("configuration not reloaded"+remedy, "running", r.running.Revision(), "by", by, "error", err)
		return
	}
	r.log.Info("configuration reloaded", "revision", next.Revision(), "was", r.running.Revision(), "by", by)
	r.running = next
}

// measureReload records whether the latest change was applied, and the current time.
func measureReload(succeeded bool) {
	meter := otel.Meter("crossgate/config")
	success, _ := meter.Int64Gauge("crossgate.config.reload.success", // the names are valid, which is all that could fail
		metric.WithDescription("1 if the latest configuration change was applied, 0 if it was refused."))
	at, _ := meter.Float64Gauge("crossgate.config.reload.time", metric.WithUnit("s"),
		metric.WithDescription("UNIX time at which the latest configuration change was noticed."))
	success.Record(context.Background(), store.Bit(succeeded))
	at.Record(context.Background(), float64(time.Now().UnixMilli())/1000)
}
