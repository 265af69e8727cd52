package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
)

// bars prints the progress of each chain that has progressed since it was last printed.
type bars struct {
	out    io.Writer
	chains chain.Registry
	units  units
	begun  time.Time

	mu      sync.Mutex
	changed map[chain.ID]audit.Progress // since the last print
}

type units struct{ read, found string }

func newBars(out io.Writer, chains chain.Registry, u units) *bars {
	return &bars{out: out, chains: chains, units: u, begun: time.Now(), changed: make(map[chain.ID]audit.Progress)}
}

func (b *bars) report(p audit.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed[p.Chain] = p
}

// during prints periodically while work runs, and once more when it ends.
func (b *bars) during(ctx context.Context, work func() error) error {
	const interval = 15 * time.Second
	watching, stop := context.WithCancel(ctx)
	var printing sync.WaitGroup
	printing.Go(func() {
		for order.Wait(watching, interval, nil) {
			b.print(time.Now())
		}
		b.print(time.Now())
	})
	err := work()
	stop()
	printing.Wait()
	return err
}

func (b *bars) print(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.chains.All() {
		if p, known := b.changed[c.ID]; known {
			fmt.Fprintln(b.out, bar(c.Name, p, b.units, now.Sub(b.begun)))
		}
	}
	clear(b.changed)
}

// bar formats one chain's line: the share read, the speed, and the remaining time at that speed.
func bar(name string, p audit.Progress, u units, elapsed time.Duration) string {
	const cells = 24
	share := 1.0
	if p.Total > 0 {
		share = float64(p.Read) / float64(p.Total)
	}
	filled := int(share * cells)
	line := fmt.Sprintf("%-14s [%s%s] %5.1f%%  %d of %d %s, %.0f %s/s",
		name, strings.Repeat("=", filled), strings.Repeat(" ", cells-filled), 100*share, p.Read, p.Total, u.read,
		float64(p.Events)/max(elapsed.Seconds(), 1e-3), u.found)
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
