package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"crossgate/config"
)

const (
	// settle is how long files must be left alone before they are read: editors and volume mounts change
	// several at a time.
	settle = 200 * time.Millisecond
	// compareEvery is when files are read even so: notices of changes can be lost.
	compareEvery = time.Minute
)

// reloader brings what a file says to a running gateway whenever that changes.
type reloader struct {
	file    string
	running config.Config
	seen    string // revision that was read last, used or not
	apply   func(config.Config) error
	log     *slog.Logger
}

// run watches until ctx ends. What asks reads the file at once, changed or not.
func (r *reloader) run(ctx context.Context, asks <-chan os.Signal) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch configuration: %w", err)
	}
	defer func() { _ = watcher.Close() }()
	r.watch(watcher)
	compare := time.NewTicker(compareEvery)
	defer compare.Stop()
	var changed <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			changed = time.After(settle)
			continue
		case err := <-watcher.Errors:
			r.log.Warn("a change of the configuration may go unnoticed for a minute", "error", err)
			continue
		case <-asks:
			r.reload(true)
		case <-changed:
			changed = nil
			r.reload(false)
		case <-compare.C:
			r.reload(false)
		}
		r.watch(watcher)
	}
}

// watch looks at the directories of the file and of its secrets, and of what they are links to: a file that is
// replaced, as editors and mounted ConfigMaps do, is another file in the same directory.
func (r *reloader) watch(watcher *fsnotify.Watcher) {
	for _, file := range append([]string{r.file}, r.running.Files()...) {
		directories := []string{filepath.Dir(file)}
		if target, err := filepath.EvalSymlinks(file); err == nil {
			directories = append(directories, filepath.Dir(target))
		}
		for _, directory := range directories {
			if err := watcher.Add(directory); err != nil {
				r.log.Warn("a change of the configuration may go unnoticed for a minute", "error", err)
			}
		}
	}
}

// reload reads the file and has it applied if it says something new, or in any case when asked. The running
// configuration stays when something is wrong.
func (r *reloader) reload(asked bool) {
	next, err := config.Load(r.file)
	if !asked && next.Revision() == r.seen {
		return
	}
	r.seen = next.Revision()
	if err == nil {
		err = r.apply(next)
	}
	if err != nil {
		r.log.Error("the new configuration is not used", "running", r.running.Revision(), "error", err)
		return
	}
	r.log.Info("the new configuration is used", "revision", next.Revision(), "was", r.running.Revision())
	r.running = next
}
