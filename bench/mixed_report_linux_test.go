package bench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// How much longer than without faults the slowest of a hundred answers may take with them.
const (
	mostHits   = 2.0
	mostMissed = 3.0
)

// lateClient is how late a hundredth of the requests may be sent. Beyond it the machine is too busy for the client itself.
const lateClient = 2 * time.Millisecond

// usage is processor time.
type usage struct {
	gateway, own, machine time.Duration
}

func (u usage) since(before usage) usage {
	return usage{u.gateway - before.gateway, u.own - before.own, u.machine - before.machine}
}

// usage is what the gateway, this process and the whole machine have used so far.
func (m *mixed) usage(b *testing.B) usage {
	b.Helper()
	gateway, err := processorTimeOf(m.gateway.pid)
	if err != nil {
		b.Error(err)
	}
	return usage{gateway: gateway, own: spent(b), machine: machineTime(b)}
}

// machineTime is what all processors have done but wait, in steps of 10 ms: the first line of proc(5)'s stat.
func machineTime(b *testing.B) (busy time.Duration) {
	b.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Error(err)
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	const idle, ioWait, steal, tick = 4, 5, 8, 10 * time.Millisecond
	for i, field := range strings.Fields(line) {
		if i > 0 && i != idle && i != ioWait && i <= steal {
			busy += time.Duration(number(b, field)) * tick
		}
	}
	return busy
}

// report says how long answers took in each phase, what the processors did, and what was wrong.
func report(b *testing.B, phases []*phase) {
	b.Helper()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\thits p50\tp99\tlongest\tmisses p50\tp99\tlongest\tsent late p99\tnot kept\tgateway\tbenchmark\tothers\t")
	var without, with, neither phase
	for _, each := range phases {
		cores := func(used time.Duration) float64 { return used.Seconds() / each.span.Seconds() }
		others := each.usage.machine - each.usage.gateway - each.usage.own
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%.2f\t%.2f\t%.2f\t\n", each.name, quantiles(each.hits), quantiles(each.misses),
			milliseconds(quantile(each.late, 0.99)), each.loaded, cores(each.usage.gateway), cores(each.usage.own), cores(others))
		all := &neither
		switch {
		case each.kind == well:
			all = &without
		case each.kind.isIll():
			all = &with
		}
		all.hits, all.misses, all.late = append(all.hits, each.hits...), append(all.misses, each.misses...), append(all.late, each.late...)
		if len(each.wrong) > 0 {
			b.Errorf("%s: %d of %d answers are not what the chains say, such as %s",
				each.name, len(each.wrong), len(each.hits)+len(each.misses), each.wrong[0])
		}
	}
	_ = table.Flush()
	b.Logf("milliseconds, and processors in use\n%s", text.String())
	if late := quantile(without.late, 0.99); late > lateClient {
		b.Logf("even without faults one of a hundred requests was sent %v late: the machine is too busy for these figures", late)
	}
	compare(b, "hit", without.hits, with.hits, mostHits)
	compare(b, "miss", without.misses, with.misses, mostMissed)
	b.ReportMetric(0, "ns/op")
}

// compare reports the 99th percentiles without and with faults, and fails where the second is too much more; not with
// -short, of which the times mean nothing.
func compare(b *testing.B, name string, without, with []time.Duration, most float64) {
	b.Helper()
	before, after := quantile(without, 0.99), quantile(with, 0.99)
	b.ReportMetric(before.Seconds()*1e3, name+"-p99-ms")
	b.ReportMetric(after.Seconds()*1e3, name+"-p99-ms-faults")
	b.ReportMetric(after.Seconds()/before.Seconds(), name+"-p99-ratio")
	if after.Seconds() > most*before.Seconds() && !testing.Short() {
		b.Errorf("of a hundred, the slowest %s takes %v with faults and %v without, more than %v times as long", name, after, before, most)
	}
}

func quantiles(all []time.Duration) string {
	return milliseconds(quantile(all, 0.5)) + "\t" + milliseconds(quantile(all, 0.99)) + "\t" + milliseconds(quantile(all, 1))
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e3) }

// quantile is what the share q of all is not above. It sorts them.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(float64(len(all)-1)*q)]
}
