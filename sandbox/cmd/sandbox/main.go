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
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/release"
	"crossgate/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var d demonstration
	flag.StringVar(&d.listen, "listen", "127.0.0.1:8080", "`address` of the gateway")
	flag.StringVar(&d.operators, "operators", "127.0.0.1:9464", "`address` of the gateway's pages and metrics for operators")
	flag.StringVar(&d.control, "control", "127.0.0.1:8090", "`address` of the sandbox: controls, chains and venues")
	flag.DurationVar(&d.blockTime, "block-time", 0, "make a block this often even without transactions; 0: never")
	flag.IntVar(&d.batch, "taker", 0, "have a taker fulfil new orders that pay, and unlock this `many` at a time; 0: none does")
	flag.StringVar(&d.config, "config", "", "`file` to write a gateway's configuration for this world to, for crossgate --config")
	flag.StringVar(&d.wallet, "wallet", "", "`file` to write the settings of examples/wallet to")
	version := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *version {
		fmt.Println(release.Current())
		return
	}
	// Being stopped during the start is as clean an end as being stopped later.
	if err := d.run(ctx, os.Stdout); err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// demonstration holds where the world and its gateway listen, and the files that describe them.
type demonstration struct {
	listen, operators, control string
	blockTime                  time.Duration
	batch                      int
	config, wallet             string // files to write; empty: none
}

// run keeps the world and its gateway running until ctx ends.
func (d demonstration) run(ctx context.Context, out io.Writer) (err error) {
	started := time.Now()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	world, err := sandbox.Start(ctx, sandbox.Options{Listen: d.control, BlockTime: d.blockTime, Batch: d.batch, Log: log})
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
	telemetry, err := gateway.StartTelemetry(ctx, c.Telemetry, log)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		telemetry.Stop(last)
	}()
	g, err := gateway.New(ctx, c, log)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen (--listen takes another address): %w", err), g.Close())
	}
	operators, err := new(net.ListenConfig).Listen(ctx, "tcp", d.operators)
	if err != nil {
		return errors.Join(fmt.Errorf("listen (--operators takes another address): %w", err), listener.Close(), g.Close())
	}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return g.Run(ctx, listener) })
	running.Go(func() error { return g.RunAdmin(ctx, operators, telemetry) })
	running.Go(func() error {
		if err := g.AwaitIndexed(ctx); err != nil {
			return nil //nolint:nilerr // stopped before it was up
		}
		at := guide{world: world, gateway: sandbox.URLOf(listener), operators: sandbox.URLOf(operators), config: d.config, wallet: d.wallet}
		if err := d.write(at); err != nil {
			return err
		}
		return at.print(ctx, out, time.Since(started))
	})
	return running.Wait()
}

// write writes the files that other programs read.
func (d demonstration) write(g guide) error {
	if d.config != "" {
		index := strings.TrimSuffix(d.config, filepath.Ext(d.config)) + ".db"
		if err := os.WriteFile(d.config, g.world.Config(index), 0o600); err != nil {
			return fmt.Errorf("configuration of another gateway (--config): %w", err)
		}
	}
	if d.wallet != "" {
		if err := os.WriteFile(d.wallet, []byte(g.walletSettings()), 0o600); err != nil {
			return fmt.Errorf("settings of the wallet (--wallet): %w", err)
		}
	}
	return nil
}
