package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"

	"crossgate/chain"
	"crossgate/cmd/crossgate/gateway"
	"crossgate/upstream/jsonrpc/behaviour"
)

// record writes what an endpoint says into a file in the form of the book of behaviours.
func record(flags *pflag.FlagSet) action {
	path := configFlag(flags)
	id := flags.Uint64("chain", 0, "the chain's `id`")
	name := flags.String("endpoint", "", "the endpoint's `name`")
	return func(ctx context.Context, _ []string, out, _ io.Writer) error {
		c, err := load(*path)
		if err != nil {
			return err
		}
		cases, err := gateway.Record(ctx, c, chain.ID(*id), *name)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		return behaviour.Write(out, cases)
	}
}

// replay answers as a recording says, on a loopback address, until it is stopped.
func replay(flags *pflag.FlagSet) action {
	address := listenFlag(flags, "127.0.0.1:8545", "loopback `address`")
	return func(ctx context.Context, arguments []string, out, _ io.Writer) error {
		cases := behaviour.Book()
		if len(arguments) > 0 {
			file, err := os.Open(arguments[0])
			if err != nil {
				return err
			}
			defer file.Close()
			if cases, err = behaviour.Read(file); err != nil {
				return fmt.Errorf("%s: %w", arguments[0], err)
			}
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%d cases are played at http://%s\n", len(cases), listener.Addr())
		server := &http.Server{Handler: behaviour.NewPlayer(cases), ReadHeaderTimeout: 10 * time.Second}
		stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stopped()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
