package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/pflag"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/release"
	"crossgate/order"
	"crossgate/store"
)

// flushLimit bounds the export of the last spans.
const flushLimit = 5 * time.Second

func serve(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	listen := listenFlag(flags, "`address` to listen on, instead of the configured one")
	logForm := flags.String("log-format", "", "`FORMAT` of log lines, text or json, instead of the configured one")
	return func(ctx context.Context, out, errOut io.Writer) error {
		requests := make(chan os.Signal, 1)
		if *file != "" { // from here on, for it would end a gateway that starts or stops
			signal.Notify(requests, syscall.SIGHUP)
			defer signal.Stop(requests)
		}
		c, err := load(*file)
		if err != nil {
			return err
		}
		form := config.LogForm(cmp.Or(*logForm, string(c.Telemetry.Log)))
		if form != config.LogText && form != config.LogJSON {
			return wrongUsage("--log-format is text or json")
		}
		c = withoutExporter(c)
		level := new(slog.LevelVar)
		level.Set(c.Telemetry.Level)
		log := gateway.NewLogger(errOut, form, level)
		telemetry, err := gateway.StartTelemetry(ctx, c.Telemetry, log)
		if err != nil {
			return err
		}
		s := serving{
			config: c, file: *file, listen: cmp.Or(*listen, c.Listen), telemetry: telemetry,
			out: out, log: log, level: level, requests: requests,
		}
		err = s.run(ctx)
		// ctx has ended by now.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		telemetry.Stop(last)
		return err
	}
}

type serving struct {
	config    config.Config
	file      string // source of config; empty: the embedded default
	listen    string
	telemetry *gateway.Telemetry
	out       io.Writer
	log       *slog.Logger
	level     *slog.LevelVar   // of log
	requests  <-chan os.Signal // to reload file
}

func (s serving) run(ctx context.Context) error {
	limitMemory(ctx, memlimit.FromCgroup, s.log)
	g, err := gateway.New(ctx, s.config, s.log)
	if mistakes, are := errors.AsType[config.Mistakes](err); are {
		return fmt.Errorf("configuration %s: %w", configName(s.file), mistakes)
	}
	if err != nil {
		return err
	}
	operators, stopAdmin, err := s.serveAdmin(ctx, g)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), stopAdmin(), g.Close())
	}
	at := link(s.config.TLS, listener.Addr().String())
	fmt.Fprintln(s.out, "crossgate listening on", at)
	built := release.Current()
	s.log.InfoContext(ctx, "crossgate started", "version", built.Version, "commit", built.Commit,
		"configuration", configName(s.file), "revision", s.config.Revision(), "database", gateway.Database(s.config).String(),
		"chains", len(s.config.Chains), "venues", len(s.config.Venues), "clients", at, "operators", cmp.Or(operators, "off"))
	stopping := context.AfterFunc(ctx, func() {
		s.log.Info("crossgate stops: draining in-flight requests", "drain", s.config.Drain)
	})
	defer stopping()
	stopReloading := s.reloading(ctx, g)
	endSupervision := supervised(ctx, healthURL(s.config.TLS, listener.Addr().String()), s.log)
	err = g.Run(ctx, listener)
	stopReloading()
	err = errors.Join(err, stopAdmin())
	endSupervision()
	if err == nil {
		s.log.InfoContext(ctx, "crossgate stopped: all requests answered")
	}
	return err
}

func link(c config.TLS, address string) string {
	if c.CertFile != "" {
		return "https://" + address
	}
	return "http://" + address
}

// withoutExporter turns off the tracing of requests in c if no destination for spans is set.
func withoutExporter(c config.Config) config.Config {
	if !gateway.Exports() {
		c.Telemetry.Share = 0
	}
	return c
}

// reloading applies changes of the configuration file, if any, to a running gateway until stop is called.
func (s serving) reloading(ctx context.Context, g *gateway.Gateway) (stop func()) {
	if s.file == "" {
		return func() {}
	}
	if facts, err := os.Stat(s.file); err == nil && facts.Mode()&os.ModeNamedPipe != 0 { // opening it again waits for a writer
		s.log.InfoContext(ctx, "configuration came through a pipe: its changes need a restart")
		return func() {}
	}
	watching, end := context.WithCancel(ctx)
	apply := func(next config.Config) error {
		err := g.Reload(withoutExporter(next))
		if err == nil {
			s.level.Set(next.Telemetry.Level)
		}
		return err
	}
	r := &reloader{file: s.file, every: lookInterval, running: s.config, seen: s.config.Revision(), apply: apply, log: s.log}
	var looking sync.WaitGroup
	looking.Go(func() { r.run(watching, s.requests) })
	return func() {
		end()
		looking.Wait()
	}
}

// serveAdmin runs the admin listener, if configured, until stop is called. It outlives ctx, to serve until the last
// client request has ended.
func (s serving) serveAdmin(ctx context.Context, g *gateway.Gateway) (at string, stop func() error, err error) {
	c := s.config.Telemetry
	if c.Admin == "" {
		return "", func() error { return nil }, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Admin)
	if err != nil {
		return "", nil, fmt.Errorf("admin listener: %w", err)
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- g.RunAdmin(serving, listener, s.telemetry) }()
	return link(c.TLS, listener.Addr().String()), func() error {
		end()
		return <-ended
	}, nil
}

func configFlag(flags *pflag.FlagSet) *string {
	return flags.String("config", "", "configuration `file`; default: an embedded one")
}

// configured returns an action on the configuration that its command line selects.
func configured(flags *pflag.FlagSet, do func(ctx context.Context, c config.Config, out, errOut io.Writer) error) action {
	file := configFlag(flags)
	return func(ctx context.Context, out, errOut io.Writer) error {
		c, err := load(*file)
		if err != nil {
			return err
		}
		return do(ctx, c, out, errOut)
	}
}

func listenFlag(flags *pflag.FlagSet, usage string) *string {
	address := new(string)
	flags.Func("listen", usage, func(text string) error {
		*address = text
		return config.CheckListen(text)
	})
	return address
}

func load(file string) (config.Config, error) {
	if file == "" {
		return config.Default(), nil
	}
	return config.Load(file)
}

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

// supervised notifies systemd that the gateway is ready, then that it is alive while it answers, and that it stops when
// ctx ends; done returns after the last notification. Without systemd it does nothing (sd_notify(3)).
func supervised(ctx context.Context, health string, log *slog.Logger) (done func()) {
	tell := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("systemd notification failed", "error", err)
		}
	}
	tell(daemon.SdNotifyReady)
	stopping := context.AfterFunc(ctx, func() { tell(daemon.SdNotifyStopping) })
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil || within == 0 {
		return func() { stopping() }
	}
	// A draining gateway still answers, so the watchdog outlives ctx.
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for isOn := true; isOn; isOn = order.Wait(watching, within/3, nil) {
			if _, err := askHealth(watching, health); err == nil {
				tell(daemon.SdNotifyWatchdog)
			} else if watching.Err() == nil {
				log.Warn("self health check failed; systemd restarts the gateway if that lasts", "error", err)
			}
		}
	}()
	return func() {
		stopping()
		end()
		<-ended
	}
}
