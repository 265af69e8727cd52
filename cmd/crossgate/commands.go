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

Without --config the embedded default is used: all documented chains through public endpoints.

Exit status: 0 is success, 1 failure or a report of something wrong, 2 a command line that is wrong.`

// newRoot returns the tree of all commands. A version promises their names and flags.
func newRoot() *cobra.Command {
	root := group("crossgate", "a caching gateway for cross-chain orders and swaps", about,
		command("serve", "run the gateway", `Run the gateway until it is interrupted.

It first says where it listens, on standard output; everything else goes to its log on standard error. A changed
configuration file is taken over while it runs, at SIGHUP at once.`, serve),
		command("check", "report every mistake in a configuration", "", check),
		command("healthcheck", "ask the gateway of this machine whether it lives",
			"Ask the gateway of this machine whether it lives, for images without a shell. The exit status is 1 when it does not.", healthcheck),
		command("doctor", "call everything that a configuration names", `Call everything that a configuration names, except webhooks: what each endpoint serves and can do, whether keys, database
and shared cache work, and how many calls following the chains takes. The exit status is 1 when something is wrong.`, examine),
		command("schema", "print the JSON schema of the configuration, for editors", "", schema),
		command("backfill", "read history into the order index", "Read history into the order index. It can be stopped and resumed.", backfill),
		command("export", "write a gateway's orders or events as CSV or JSON lines", `Write the orders or events of a running gateway, oldest first. It can be stopped, and goes on with the cursor that it ends
with. The environment variable CROSSGATE_KEY is the key that the gateway knows the client by.`, exportRows),
		group("index", "look into the order index, compare and correct it, back up its database", "",
			command("status", "show how far each chain has been indexed", "", showStatus),
			command("audit", "compare stored orders with the contracts and with receipts", selections, auditIndex),
			command("repair", "correct what an audit finds, or have blocks verified again", selections+`
With --from or --to it has blocks verified again instead.`, repairIndex),
			command("withdraw", "withdraw what blocks of a chain said, for gateways to read on before them", `Withdraw what blocks of a chain said, from one on, with the anchors there. It accepts the chain of endpoints that
contradict final blocks and so have stopped it. Gateways read on before these blocks.`, withdrawIndex),
			command("backup", "copy an SQLite database into a new file, also while a gateway uses it", "", backupIndex),
			command("restore", "make an SQLite database of a backup", "", restoreIndex),
		),
		command("upgrade-check", "show which versions can open the database, and whether this one can",
			"Show which versions can open the database. Nothing is changed. The exit status is 1 when this version cannot.", upgradeCheck),
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

const selections = `A selection of orders is --order, --taker, --chain, --since and --until. It runs beside a serving gateway. The exit status
is 1 when something differs or could not be compared.`

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

// strictUsage makes wrong arguments of the library's own commands, help and completion, wrong usage, too. Call it once
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
