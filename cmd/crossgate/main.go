// Command crossgate is the gateway: orders, locked assets and swaps behind three documented paths.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `crossgate answers what became of a cross-chain order, what is locked for a taker,
and which transaction makes a swap.

  crossgate serve [--config FILE] [--listen ADDRESS]   run the gateway
  crossgate check [--config FILE] [--live]             report every mistake in a configuration; ask every endpoint
                                                       who it is
  crossgate schema                                     the JSON schema of a configuration, for editors
  crossgate backfill [--config FILE]                   read history into the order index; stop and resume at will
  crossgate index status [--config FILE]               tell how far the order index is with each chain
  crossgate help                                       this text

Without a file the embedded default is used: all documented chains by public endpoints.
`

// command runs one subcommand with its flags still unread.
type command func(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error

var commands = map[string]command{"serve": serve, "check": check, "schema": printSchema, "backfill": backfill, "index": indexCommand}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit code: 0 done, 1 it went wrong, 2 it was not understood.
func run(ctx context.Context, arguments []string, out, errOut io.Writer) int {
	if len(arguments) == 0 {
		fmt.Fprint(errOut, usage)
		return 2
	}
	name, rest := arguments[0], arguments[1:]
	if name == "help" || name == "-h" || name == "--help" {
		fmt.Fprint(out, usage)
		return 0
	}
	do, known := commands[name]
	if !known {
		fmt.Fprintf(errOut, "crossgate: no command %q\n\n%s", name, usage)
		return 2
	}
	flags := flag.NewFlagSet("crossgate "+name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	switch err := do(ctx, flags, rest, out); {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	default:
		fmt.Fprintln(errOut, "crossgate:", err)
		return 1
	}
}

// errUsage says that the flag package has already told the user what it did not understand.
var errUsage = errors.New("usage")

// parse reads the flags of a command that takes nothing else.
func parse(flags *flag.FlagSet, arguments []string) error {
	switch err := flags.Parse(arguments); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return errUsage
	case flags.NArg() > 0:
		fmt.Fprintf(flags.Output(), "%s: unexpected %q\n", flags.Name(), flags.Arg(0))
		return errUsage
	}
	return nil
}
