package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/pflag"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
)

// flushLimit is how long exporting the last spans may take.
const flushLimit = 5 * time.Second

// serve runs the gateway until ctx ends.
func serve(flags *pflag.FlagSet) action {
	file := configFlag(flags)
	listen := flags.String("listen", "", "`address` to listen on, instead of the configured one")
	return func(ctx context.Context, _ []string, out, errOut io.Writer) error {
		c, err := load(*file)
		if err != nil {
			return err
		}
		c = withoutExporter(c)
		telemetry, err := gateway.StartTelemetry(ctx, c.Telemetry.Service)
		if err != nil {
			return err
		}
		s := serving{
			config: c, file: *file, listen: cmp.Or(*listen, c.Listen), telemetry: telemetry,
			out: out, log: gateway.NewLogger(errOut, c.Telemetry),
		}
		err = s.run(ctx)
		// ctx has ended by now.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		return errors.Join(err, telemetry.Stop(last))
	}
}

// serving is a gateway and what it is started with.
type serving struct {
	config    config.Config
	file      string // that config was read from; empty: the embedded default
	listen    string
	telemetry *gateway.Telemetry
	out       io.Writer
	log       *slog.Logger
}

func (s serving) run(ctx context.Context) error {
	limitMemory(ctx, memlimit.FromCgroup, s.log)
	g, err := gateway.New(ctx, s.config, s.log)
	if err != nil {
		return err
	}
	stopAdmin, err := serveAdmin(ctx, g, s.config.Telemetry.Admin, s.telemetry, s.log)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), stopAdmin(), g.Close())
	}
	scheme := "http"
	if s.config.TLS.CertFile != "" {
		scheme = "https"
	}
	fmt.Fprintf(s.out, "crossgate listening on %s://%s\n", scheme, listener.Addr())
	s.log.InfoContext(ctx, "configuration loaded", "revision", s.config.Revision())
	stopReloading := reloading(ctx, s.file, s.config, g, s.log)
	return errors.Join(g.Run(ctx, listener), stopReloading(), stopAdmin())
}

// withoutExporter is a configuration by which no request is traced when spans go nowhere.
func withoutExporter(c config.Config) config.Config {
	if !gateway.Exports() {
		c.Telemetry.Share = 0
	}
	return c
}

// reloading applies changes of the file, if there is one, to a running gateway until stop is called.
func reloading(
	ctx context.Context, file string, c config.Config, g *gateway.Gateway, log *slog.Logger,
) (stop func() error) {
	if file == "" {
		return func() error { return nil }
	}
	requests := make(chan os.Signal, 1)
	signal.Notify(requests, syscall.SIGHUP)
	watching, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	apply := func(next config.Config) error { return g.Reload(withoutExporter(next)) }
	r := &reloader{file: file, running: c, seen: c.Revision(), apply: apply, log: log}
	go func() { ended <- r.run(watching, requests) }()
	return func() error {
		end()
		signal.Stop(requests)
		return <-ended
	}
}

// serveAdmin runs the admin listener until stop is called, which is after the last request of a client.
func serveAdmin(
	ctx context.Context, g *gateway.Gateway, address string, t *gateway.Telemetry, log *slog.Logger,
) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("admin listener: %w", err)
	}
	log.InfoContext(ctx, "admin listener started", "address", listener.Addr().String())
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- g.RunAdmin(serving, listener, t) }()
	return func() error {
		end()
		return <-ended
	}, nil
}

// configFlag defines the flag of every command that reads a configuration.
func configFlag(flags *pflag.FlagSet) *string {
	return flags.String("config", "", "configuration `file`; the embedded default when empty")
}

// load reads the file, or the embedded default when there is none.
func load(file string) (config.Config, error) {
	if file == "" {
		return config.Default(), nil
	}
	return config.Load(file)
}
