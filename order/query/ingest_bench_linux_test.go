package query

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"crossgate/order"
	"crossgate/store"
)

// BenchmarkIngest stores orders as followers do: some dozen per transaction, each event of an order in a transaction of
// its own, among 40 000 that are there already. It reports the processor time of an order with all of its events, that
// of the database's processes included.
func BenchmarkIngest(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		b.Run(name, func(b *testing.B) {
			db, v := open(b), newInvented(3)
			if !testing.Short() {
				ingest(b, db, v, 40_000)
			}
			settle(b, db)
			before := processorTime(b, db)
			for b.Loop() {
				ingest(b, db, v, 1000)
			}
			b.ReportMetric(float64((processorTime(b, db)-before).Microseconds())/float64(b.N)/1000, "cpu-µs/order")
		})
	}
}

// ingest stores so many orders, each range of blocks with what happens to those of the three ranges before it.
func ingest(b *testing.B, db *store.DB, v *invented, orders int) {
	b.Helper()
	const atOnce = 40
	var course [][]order.Event // by the step that each order is at
	for first := 0; first < orders; first += atOnce {
		steps := make([][]order.Event, 4)
		for range min(atOnce, orders-first) {
			for step, e := range v.events() {
				e.At.Time += v.number % secondsOfDay
				steps[step] = append(steps[step], e)
			}
		}
		for step, events := range steps {
			if at := first/atOnce + step; at < len(course) {
				course[at] = append(course[at], events...)
			} else {
				course = append(course, events)
			}
		}
	}
	for _, events := range course {
		apply(b, db, events, nil)
	}
}

// processorTime is what this process has used, and PostgreSQL's with it.
func processorTime(b *testing.B, db *store.DB) time.Duration {
	b.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	used := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if !db.IsReplicated() {
		return used
	}
	var backend int
	if _, err := db.QueryRow(b.Context(), []any{&backend}, `SELECT pg_backend_pid()`); err != nil {
		b.Fatal(err)
	}
	postmaster := processOf(fmt.Sprintf("/proc/%d/stat", backend)).parent
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range all {
		if p := processOf(path); p.parent == postmaster {
			used += p.used
		}
	}
	return used
}

// process is what the system tells of one; nothing of one that has ended.
type process struct {
	parent int
	used   time.Duration
}

func processOf(stat string) (p process) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return p
	}
	// After the command in brackets: state, parent and ten more, then the time in user and system mode in ticks of 10 ms.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	p.parent, _ = strconv.Atoi(fields[1])
	for _, ticks := range fields[11:13] {
		n, _ := strconv.Atoi(ticks)
		p.used += time.Duration(n) * 10 * time.Millisecond
	}
	return p
}
