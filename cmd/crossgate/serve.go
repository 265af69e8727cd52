package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
)

// flushLimit is how long the last spans may take to leave.
const flushLimit = 5 * time.Second

func serve(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) (err error) {
	file := flags.String("config", "", "configuration `file`; the embedded default when empty")
	listen := flags.String("listen", "", "`address` to serve on, instead of the configured one")
	if err := parse(flags, arguments); err != nil {
		return err
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	flush, err := gateway.StartTelemetry(ctx, c.Telemetry.Service)
	if err != nil {
		return err
	}
	defer func() {
		// ctx has ended by now; the last spans get time of their own.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		err = errors.Join(err, flush(last))
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	g, err := gateway.New(ctx, c, log)
	if err != nil {
		return err
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", cmp.Or(*listen, c.Listen))
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), g.Close())
	}
	fmt.Fprintf(out, "crossgate answers on http://%s\n", listener.Addr())
	return g.Run(ctx, listener)
}

// load reads the file, or the embedded default when there is none.
func load(file string) (config.Config, error) {
	if file == "" {
		return config.Default(), nil
	}
	return config.Load(file)
}
