// Command crossgate is the gateway: it serves orders, locked assets and swaps.
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

const usage = `crossgate serves the state of cross-chain orders, what is locked for a taker, and swap transactions.

  crossgate serve [--config FILE] [--listen ADDRESS]   run the gateway
  crossgate check [--config FILE]                      report every mistake in a configuration
  crossgate doctor [--config FILE] [--json]            call everything that a configuration names: what each endpoint
                                                       serves and can do, whether keys, database and shared cache work,
                                                       and how many calls following the chains takes
  crossgate schema                                     print the JSON schema of the configuration, for editors
  crossgate backfill [--config FILE] [--dry-run]       read history into the order index; can be stopped and resumed;
                                                       --dry-run tells what is left to read and what that takes
  crossgate index status [--config FILE]               show how far each chain has been indexed
  crossgate index audit [--config FILE] [SELECTION]    compare stored orders with the contracts and with receipts
  crossgate index repair [--config FILE] [SELECTION]   correct what an audit finds; with --from or --to, have blocks
                                                       verified again
  crossgate index import [--config FILE] --taker ADDRESS [--origin NAME | FILE]
                                                       verify a taker's orders on their chains and store them: ids by line
                                                       or as a JSON array, - for standard input, or as an origin under
                                                       passthrough.hosts lists them; can be stopped and resumed
  crossgate index backup [--config FILE] --file FILE   copy the database into a new file, also while gateways use it
  crossgate index restore [--config FILE] --file FILE  fill an empty database from a backup, of SQLite or PostgreSQL
  crossgate index migrate [--config FILE] [--to N]     bring the database's schema to a version, also an earlier one
  crossgate diff [--config FILE] [--origin NAME] HASH  compare what is answered here about an order, by its id or the hash of
                                                       its creation, with what the origin under passthrough.hosts answers
  crossgate record [--config FILE] --chain ID --endpoint NAME
                                                       ask an endpoint what a gateway would, and print what it said without
                                                       its keys, in the form of the book of behaviours
  crossgate replay [--listen ADDRESS] [FILE]           answer as a recording says, or as the book does
  crossgate help                                       print this text

A selection of orders: --order ID, --taker ADDRESS, --chain ID, --since TIME, --until TIME. Audits and repairs report
with --json as well, run beside a serving gateway, and exit with status 1 when something differs or could not be compared.

Without a file the embedded default is used: all documented chains through public endpoints.
`

// command runs one subcommand and parses its flags.
type command func(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error

var commands = map[string]command{
	"serve": serve, "check": check, "doctor": doctor, "schema": printSchema, "backfill": backfill, "index": indexCommand,
	"diff": diff, "record": record, "replay": replay,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage.
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
		fmt.Fprintf(errOut, "crossgate: unknown command %q\n\n%s", name, usage)
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

// errUsage means that the usage error has been printed already.
var errUsage = errors.New("usage")

// parse parses the flags of a command that takes no arguments.
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
