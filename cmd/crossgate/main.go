// Command crossgate is the gateway: it serves orders, locked assets and swaps.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status: 0 for success, 1 for failure, 2 for wrong usage.
func run(ctx context.Context, arguments []string, out, errOut io.Writer) int {
	root, printed := newRoot(), &checked{Writer: out}
	root.SetOut(printed)
	root.SetErr(errOut)
	strictUsage(root)
	root.SetArgs(arguments)
	used, err := root.ExecuteContextC(ctx)
	if err == nil && printed.err != nil {
		err = fmt.Errorf("standard output: %w", printed.err)
	}
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

type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(text []byte) (int, error) {
	n, err := c.Writer.Write(text)
	c.err = cmp.Or(err, c.err)
	return n, err
}

type usageError struct{ says string }

func (e *usageError) Error() string { return e.says }

func wrongUsage(format string, of ...any) error { return &usageError{fmt.Sprintf(format, of...)} }
