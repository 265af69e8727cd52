package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crossgate/internal/didyoumean"
	"crossgate/internal/release"
)

// action runs a command line. Results go to out, progress to errOut.
type action func(ctx context.Context, out, errOut io.Writer) error

const about = `Crossgate serves the state of cross-chain orders, the assets locked for takers, and swap transactions.

Without --config it uses an embedded default: all documented chains through public endpoints.

Exit status: 0 success, 1 failure or a report that found something wrong, 2 invalid command line.`

// newRoot returns the tree of all commands. A version promises their names and flags.
func newRoot() *cobra.Command {
	root := group("crossgate", "a caching gateway for cross-chain orders and swaps", about,
		command("serve", "run the gateway", `Run the gateway until it is interrupted.

Standard output gets the address that it listens on, standard error the log. Changes of the configuration file apply
without a restart, immediately on SIGHUP.`, serve),
		command("check", "report every mistake in a configuration", "", check),
		command("healthcheck", "check that the gateway on this machine is alive",
			"Check that the gateway on this machine is alive, for images without a shell. The exit status is 1 if it is not.", healthcheck),
		command("doctor", "test every service in a configuration", `Test every service in a configuration except webhooks: what each endpoint serves and can do, whether keys, database
and shared cache work, and how many calls it takes to follow the chains. The exit status is 1 if something is wrong.`, examine),
		command("schema", "print the JSON schema of the configuration, for editors", "", schema),
		command("backfill", "read history into the order index", "Read history into the order index. It can be stopped and resumed.", backfill),
		command("export", "write a gateway's orders or events as CSV or JSON lines", `Write the orders or events of a running gateway, oldest first. It can be stopped, and resumed with the last cursor that
it prints. The environment variable CROSSGATE_KEY holds the client's access key.`, exportRows),
		group("index", "inspect, audit, repair and back up the order index", "",
			command("status", "show how far each chain has been indexed", "", showStatus),
			command("audit", "compare stored orders with the contracts and with receipts", selections, auditIndex),
			command("repair", "correct the differences that an audit finds, or verify blocks again", selections+`
With --from or --to it verifies blocks again instead.`, repairIndex),
			command("withdraw", "remove a chain's events from a block on, so that gateways reread them", `Remove a chain's events and anchors from a block on. Use it if a chain has stopped because its endpoints contradict the
stored final blocks, and the endpoints are right. Gateways then reread the chain from there.`, withdrawIndex),
			command("backup", "copy an SQLite database to a new file, even while a gateway uses it", "", backupIndex),
			command("restore", "restore an SQLite database from a backup", "", restoreIndex),
		),
		command("upgrade-check", "show which versions can open the database, and whether this one can",
			"Show which versions can open the database, without changing it. The exit status is 1 if this version cannot.", upgradeCheck),
		command("version", "print the version, the commit, its date, and the version of Go", "", version),
	)
	root.Example = `  crossgate serve
  crossgate check --config crossgate.yaml
  crossgate serve --config crossgate.yaml --listen :8080`
	root.Version = release.Current().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		like := ""
		if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
			var known []string
			c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
			like = didyoumean.Suggest("--"+unknown.GetSpecifiedName(), known)
		}
		return wrongUsage("%s%s", err, like)
	})
	return root
}

const selections = `Select orders with --order, --taker, --chain, --since and --until. A gateway may run meanwhile. The exit status
is 1 if something differs or could not be compared.`

// command returns a subcommand that takes flags but no arguments.
func command(name, short, long string, declare func(*pflag.FlagSet) action) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: long, Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions}
	do := declare(c.Flags())
	if c.Flags().Lookup("config") != nil {
		cobra.CheckErr(c.MarkFlagFilename("config", "yaml", "yml"))
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return do(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

func noArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	extra := arguments[0]
	if ext := filepath.Ext(extra); c.Flags().Lookup("config") != nil && (ext == ".yaml" || ext == ".yml") {
		return wrongUsage("unexpected %q: want --config %s", extra, extra)
	}
	return wrongUsage("unexpected %q", extra)
}

func group(name, short, long string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: long, SuggestionsMinimumDistance: 2}
	c.AddCommand(below...)
	for _, each := range below {
		c.SuggestFor = append(c.SuggestFor, each.Name())
	}
	c.Args, c.RunE = cobra.ArbitraryArgs, wantCommand
	return c
}

// wantCommand returns why the arguments of a group are not one of its commands.
func wantCommand(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), c.UsageString())
		return wrongUsage("want a command")
	}
	says := fmt.Sprintf("unknown command %q", arguments[0])
	if like := c.SuggestionsFor(arguments[0]); len(like) > 0 {
		says += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return wrongUsage("%s", says)
}

// strictUsage makes bad arguments of cobra's own commands, help and completion, usage errors too. Call it once
// the output is set.
func strictUsage(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	help, _, _ := root.Find([]string{"help"})
	show := help.Run
	help.RunE = func(c *cobra.Command, arguments []string) error {
		if of, extra, _ := root.Find(arguments); len(extra) > 0 {
			return wantCommand(of, extra)
		}
		show(c, arguments)
		return nil
	}
	completion, _, _ := root.Find([]string{"completion"})
	completion.Args, completion.RunE = cobra.ArbitraryArgs, wantCommand
	for _, shell := range completion.Commands() {
		shell.Args = noArguments
	}
}
