// Command crossgate is the gateway: it serves orders, locked assets and swaps.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status: 0 for success, 1 for failure, 2 for wrong usage.
func run(ctx context.Context, arguments []string, out, errOut io.Writer) int {
	root := newRoot()
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetArgs(doubleDashed(root, arguments))
	used, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "%s: %s\nSee '%s --help'.\n", used.CommandPath(), usage.says, used.CommandPath())
		return 2
	default:
		fmt.Fprintln(errOut, "crossgate:", err)
		return 1
	}
}

// usageError is a command line that says nothing that can be done.
type usageError struct{ says string }

func (e *usageError) Error() string { return e.says }

func wrongUsage(format string, of ...any) error { return &usageError{fmt.Sprintf(format, of...)} }

// doubleDashed gives the flags of any command their second dash: with one they were written before there were
// completions, and are in scripts.
func doubleDashed(root *cobra.Command, arguments []string) []string {
	names := make(map[string]bool)
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
		for _, below := range c.Commands() {
			collect(below)
		}
	}
	collect(root)
	names["help"], names["version"] = true, true // those that cobra adds
	spelled := slices.Clone(arguments)
	for i, argument := range spelled {
		if argument == "--" {
			break
		}
		flag, isFlag := strings.CutPrefix(argument, "-")
		name, _, _ := strings.Cut(flag, "=")
		if isFlag && names[name] {
			spelled[i] = "-" + argument
		}
	}
	return spelled
}
