package bench

import (
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// balancers are as docs/operations.md says, and as little as a balancer can be told.
var balancers = map[string]peer{
	"haproxy":              haproxy(false, itself),
	"haproxy that retries": haproxy(false, retries),
	"haproxy that checks":  haproxy(true, itself),
	"nginx":                nginxBalancer(""),
	"nginx that keeps":     nginxBalancer("keepalive 64;"),
}

// drainLine is what the shipped configuration says.
var drainLine = regexp.MustCompile(`(?m)^drain: .*$`)

// TestDrainLosesNothing stops the gateways of a fleet one after the other with SIGTERM and starts them again, while 200
// requests a second come by way of a balancer. Each must be answered. CROSSGATE_CHAOS has it run.
func TestDrainLosesNothing(t *testing.T) {
	if os.Getenv("CROSSGATE_CHAOS") == "" {
		t.Skip("takes two minutes: CROSSGATE_CHAOS has it run, make soak does")
	}
	shipped, err := os.ReadFile("../deploy/crossgate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	drain := drainLine.FindString(string(shipped))
	f := startFleet(t, chaosSettings+drain+"\n")
	is := look(t, f.world)
	for name, by := range balancers {
		t.Run(name, func(t *testing.T) {
			f.balance(t, by, f.replicas[0].public, f.replicas[1].public)
			is.settle(t, "http://"+f.address)
			f.restartAll(t, is)
		})
	}
}

// restartAll asks without a pause until each gateway was stopped and started again.
func (f *fleet) restartAll(t *testing.T, is *truth) {
	t.Helper()
	p := &pacer{address: f.address}
	defer p.close()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for _, r := range f.replicas {
			r.end(t, syscall.SIGTERM)
			r.start(t)
			command{admin: "http://" + r.admin}.awaitReady(t)
			<-time.After(3 * time.Second) // for a balancer to notice
		}
	}()
	each := &phase{name: "restarts", span: time.Second}
	for isOver := false; !isOver; {
		p.run(each, chaosRate, func() question { return is.mix(missing{}) })
		select {
		case <-over:
			isOver = true
		default:
		}
	}
	p.under.Wait()
	if len(each.wrong) > 0 {
		t.Errorf("%d of %d answers were lost, such as %s", len(each.wrong), len(each.late), each.wrong[0])
	}
	t.Logf("%d requests, %d lost; longest %v", len(each.late), len(each.wrong), max(quantile(each.hits, 1), quantile(each.misses, 1)))
}
