package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order/index"
)

// bars draws the progress of each chain: redrawn in place on a terminal, printed from time to time elsewhere.
type bars struct {
	out      io.Writer
	terminal bool
	chains   chain.Registry
	units    units
	begun    time.Time
	drawn    int // lines on the terminal

	mu       sync.Mutex
	progress map[chain.ID]index.Progress
}

// units are what progress is counted in: what is read, and what is found in it.
type units struct{ read, found string }

func newBars(out io.Writer, chains chain.Registry, u units) *bars {
	return &bars{
		out: out, terminal: isTerminal(out), chains: chains, units: u, begun: time.Now(),
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

// during draws for as long as work takes.
func (b *bars) during(ctx context.Context, work func() error) error {
	watching, stop := context.WithCancel(ctx)
	var drawing sync.WaitGroup
	drawing.Go(func() { b.run(watching) })
	err := work()
	stop()
	drawing.Wait()
	return err
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
			fmt.Fprintln(&text, bar(c.Name, p, b.units, now.Sub(b.begun)))
			b.drawn++
		}
	}
	fmt.Fprint(b.out, text.String())
}

// bar is one chain's line: the share that is read, how fast, and the time left at that speed.
func bar(name string, p index.Progress, u units, elapsed time.Duration) string {
	const cells = 24
	share := 1.0
	if p.Total > 0 {
		share = float64(p.Read) / float64(p.Total)
	}
	filled := int(share * cells)
	line := fmt.Sprintf("%-14s [%s%s] %5.1f%%  %d of %d %s, %.0f %s/s",
		name, strings.Repeat("=", filled), strings.Repeat(" ", cells-filled), 100*share, p.Read, p.Total, u.read,
		float64(p.Events)/max(elapsed.Seconds(), 1e-3), u.found)
	if p.Calls > 0 {
		line = fmt.Sprintf("%s, %d of about %d calls, %.1f calls/s", line, p.Calls, max(p.Calls, p.Expected), float64(p.Calls)/max(elapsed.Seconds(), 1e-3))
	}
	switch {
	case p.Done && p.Err != nil:
		return fmt.Sprintf("%s, given up: %.120s", line, p.Err)
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
