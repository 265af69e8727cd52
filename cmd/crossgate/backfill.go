package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/cmd/crossgate/gateway"
	"crossgate/order/index"
)

// backfill reads history into the order index until all is read or it is stopped. The next one resumes there.
func backfill(ctx context.Context, flags *flag.FlagSet, arguments []string, out io.Writer) error {
	file := configFlag(flags)
	if err := parse(flags, arguments); err != nil {
		return err
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	bars := newBars(flags.Output(), c.Registry())
	watching, stop := context.WithCancel(ctx)
	var drawing sync.WaitGroup
	drawing.Go(func() { bars.run(watching) })
	// Errors are shown beside the bar of their chain.
	err = gateway.Backfill(ctx, c, slog.New(slog.DiscardHandler), bars.report)
	stop()
	drawing.Wait()
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(out, "stopped; run backfill again to resume")
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintln(out, "backfill complete: the history of every chain is indexed")
	return nil
}

// bars draws the progress of each chain: redrawn in place on a terminal, printed from time to time elsewhere.
type bars struct {
	out      io.Writer
	terminal bool
	chains   chain.Registry
	begun    time.Time
	drawn    int // lines on the terminal

	mu       sync.Mutex
	progress map[chain.ID]index.Progress
}

func newBars(out io.Writer, chains chain.Registry) *bars {
	return &bars{
		out: out, terminal: isTerminal(out), chains: chains, begun: time.Now(),
		progress: make(map[chain.ID]index.Progress),
	}
}

func isTerminal(out io.Writer) bool {
	file, isFile := out.(*os.File)
	if !isFile {
		return false
	}
	facts, err := file.Stat()
	return err == nil && facts.Mode()&os.ModeCharDevice != 0
}

func (b *bars) report(p index.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress[p.Chain] = p
}

// run draws until ctx ends, and once more then.
func (b *bars) run(ctx context.Context) {
	interval := 15 * time.Second
	if b.terminal {
		interval = 500 * time.Millisecond
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.draw(time.Now())
		case <-ctx.Done():
			b.draw(time.Now())
			return
		}
	}
}

func (b *bars) draw(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var text strings.Builder
	if b.drawn > 0 && b.terminal {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", b.drawn) // up to the first line, and clear what follows
	}
	b.drawn = 0
	for _, c := range b.chains.All() {
		if p, known := b.progress[c.ID]; known {
			fmt.Fprintln(&text, bar(c.Name, p, now.Sub(b.begun)))
			b.drawn++
		}
	}
	fmt.Fprint(b.out, text.String())
}

// bar is one chain's line: the share that is read, how fast, and the time left at that speed.
func bar(name string, p index.Progress, elapsed time.Duration) string {
	const cells = 24
	share := 1.0
	if p.Total > 0 {
		share = float64(p.Read) / float64(p.Total)
	}
	filled := int(share * cells)
	line := fmt.Sprintf("%-14s [%s%s] %5.1f%%  %d of %d blocks, %.0f events/s",
		name, strings.Repeat("=", filled), strings.Repeat(" ", cells-filled), 100*share, p.Read, p.Total,
		float64(p.Events)/max(elapsed.Seconds(), 1e-3))
	switch {
	case p.Done:
		return line + ", done"
	case p.Err != nil:
		return fmt.Sprintf("%s, waiting: %.120s", line, p.Err)
	case p.Read == 0:
		return line
	}
	left := time.Duration(float64(elapsed) * float64(p.Total-p.Read) / float64(p.Read))
	return fmt.Sprintf("%s, %v left", line, left.Round(time.Second))
}
