package bench

import (
	"context"
	"os"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"crossgate/internal/must"
)

// drainLine is what the shipped configuration says.
var drainLine = regexp.MustCompile(`(?m)^drain: .*$`)

// TestDrainLosesNothing stops the gateways of a fleet one after the other with SIGTERM and starts them again, while 200
// requests a second come by way of a balancer. Each must be answered. CROSSGATE_CHAOS has it run.
func TestDrainLosesNothing(t *testing.T) {
	if os.Getenv("CROSSGATE_CHAOS") == "" {
		t.Skip("takes two minutes: CROSSGATE_CHAOS has it run, make soak does")
	}
	program := buildCommand(t)
	f := startFleet(t, program, 2, shippedDrain(t))
	is := look(t, f.world)
	for name, by := range balancers(t) {
		t.Run(name, func(t *testing.T) {
			f.balance(t, by, f.addresses()...)
			is.settle(t, "http://"+f.address)
			restarts := f.askedDuring(t, is, "restarts", func() { f.replaceAll(t, program) })
			reportPhases(t, []*phase{restarts})
		})
	}
}

// shippedDrain is how long a gateway drains by the shipped configuration, as a line of one.
func shippedDrain(t *testing.T) string {
	t.Helper()
	return drainLine.FindString(string(must.Get(os.ReadFile("../deploy/crossgate.yaml"))(t))) + "\n"
}

// replaceAll stops one gateway after the other, and starts each again as a program, which may be another than before.
func (f *fleet) replaceAll(t *testing.T, program string) {
	t.Helper()
	for _, r := range f.replicas {
		r.end(t, syscall.SIGTERM)
		r.program = program
		r.start(t)
		command{admin: "http://" + r.admin}.awaitReady(t)
		<-time.After(3 * time.Second) // for a balancer to notice
	}
}

// askedDuring asks 200 questions a second while act runs, and returns what became of them. None is lost for being late, or
// declined by a gateway at its limit of load or before a slow database: what a machine with other work makes of 2 s says
// nothing of a restart. There may be few of those.
func (f *fleet) askedDuring(t *testing.T, is *truth, name string, act func()) *phase {
	t.Helper()
	p := &pacer{address: f.address}
	defer p.close()
	each := &phase{name: name, span: time.Second}
	over, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() {
		for over.Err() == nil {
			p.run(each, chaosRate, func() question {
				q := is.mix(missing{})
				q.limit, q.cold, q.check = 0, 0, declining(true, `"errorCode":503`, q.check)
				return q
			})
		}
	})
	defer func() {
		stop()
		load.Wait()
		if p.under.Wait(); 4*len(each.declined) > len(each.late) {
			t.Errorf("%s: %d of %d questions were declined, so that nothing is shown", name, len(each.declined), len(each.late))
		}
	}()
	act()
	return each
}
