// Command sandbox runs a small offline world of chains, orders and venues with the gateway in front of it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
	"crossgate/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listen := flag.String("listen", "127.0.0.1:8080", "`address` of the gateway")
	control := flag.String("control", "127.0.0.1:8090", "`address` of the sandbox: controls, chains and venues")
	blockTime := flag.Duration("block-time", 0, "make a block this often even without transactions; 0: never")
	flag.Parse()
	if err := run(ctx, *listen, *blockTime, *control, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// run keeps the world and its gateway up until ctx ends.
func run(ctx context.Context, listen string, blockTime time.Duration, control string, out io.Writer) (err error) {
	started := time.Now()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	world, err := sandbox.Start(ctx, sandbox.Options{Listen: control, BlockTime: blockTime, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()

	scratch, err := os.MkdirTemp("", "crossgate-sandbox-")
	if err != nil {
		return fmt.Errorf("place for the order index: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	c, err := config.Parse(world.Config(filepath.Join(scratch, "orders.db")))
	if err != nil {
		return fmt.Errorf("configuration of the gateway: %w", err)
	}
	telemetry, err := gateway.StartTelemetry(ctx, "crossgate-sandbox")
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err = errors.Join(err, telemetry.Stop(last))
	}()
	g, err := gateway.New(ctx, c, log)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), g.Close())
	}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return g.Run(ctx, listener) })
	running.Go(func() error {
		if err := g.AwaitIndexed(ctx); err != nil {
			return nil //nolint:nilerr // it was ended before it was up
		}
		return printGuide(ctx, out, world, "http://"+listener.Addr().String(), time.Since(started))
	})
	return running.Wait()
}
