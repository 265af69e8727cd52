package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"crossgate/config"
)

const (
	// debounce is how long files must be unchanged before they are read: editors and volume mounts change several at a
	// time.
	debounce = 200 * time.Millisecond
	// pollInterval is how often files are read without a notification: those can be lost.
	pollInterval = time.Minute
)

// reloader applies changes of a configuration file to a running gateway.
type reloader struct {
	file    string
	running config.Config
	seen    string // revision read last, applied or not
	apply   func(config.Config) error
	log     *slog.Logger
}

// run watches until ctx ends. A request reads the file at once, changed or not.
func (r *reloader) run(ctx context.Context, requests <-chan os.Signal) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch configuration: %w", err)
	}
	defer func() { _ = watcher.Close() }()
	r.watch(watcher)
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	var changed <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			changed = time.After(debounce)
			continue
		case err := <-watcher.Errors:
			r.log.Warn("configuration watch failed; changes are noticed within a minute", "error", err)
			continue
		case <-requests:
			r.reload(true)
		case <-changed:
			changed = nil
			r.reload(false)
		case <-poll.C:
			r.reload(false)
		}
		r.watch(watcher)
	}
}

// watch watches the directories of the file and of its secrets, and of what they link to: editors and mounted
// ConfigMaps replace a file by another one in the same directory.
func (r *reloader) watch(watcher *fsnotify.Watcher) {
	for _, file := range append([]string{r.file}, r.running.Files()...) {
		directories := []string{filepath.Dir(file)}
		if target, err := filepath.EvalSymlinks(file); err == nil {
			directories = append(directories, filepath.Dir(target))
		}
		for _, directory := range directories {
			if err := watcher.Add(directory); err != nil {
				r.log.Warn("configuration watch failed; changes are noticed within a minute", "error", err)
			}
		}
	}
}

// reload reads the file and applies it if it changed, or in any case when requested. With a mistake in it the running
// configuration stays.
func (r *reloader) reload(requested bool) {
	next, err := config.Load(r.file)
	if !requested && next.Revision() == r.seen {
		return
	}
	r.seen = next.Revision()
	if err == nil {
		err = r.apply(next)
	}
	measureReload(err == nil)
	by := "changed file"
	if requested {
		by = "SIGHUP"
	}
	if err != nil {
		r.log.Error("configuration not reloaded; fix the file", "running", r.running.Revision(), "by", by, "error", err)
		return
	}
	r.log.Info("configuration reloaded", "revision", next.Revision(), "was", r.running.Revision(), "by", by)
	r.running = next
}

// measureReload reports whether the file that was read last is in force, and since when.
func measureReload(succeeded bool) {
	meter := otel.Meter("crossgate/config")
	success, err := meter.Int64Gauge("crossgate.config.reload.success",
		metric.WithDescription("1 when the latest change of the configuration was taken over, 0 when it was refused."))
	at, timeErr := meter.Float64Gauge("crossgate.config.reload.time", metric.WithUnit("s"),
		metric.WithDescription("When the latest change of the configuration was noticed, in Unix time."))
	if err != nil || timeErr != nil {
		return // the names are wrong: a test would fail
	}
	value := int64(0)
	if succeeded {
		value = 1
	}
	success.Record(context.Background(), value)
	at.Record(context.Background(), float64(time.Now().UnixMilli())/1000)
}
