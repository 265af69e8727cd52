package bench

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpgradeLosesNothing replaces three gateways on one PostgreSQL, one after the other, by those of a later revision, and
// then by the earlier ones again, while 200 requests a second come by way of a balancer. Each must be answered, and as
// the contracts say. Orders that are delivered beside either program must be told by the other one. What is checked out is
// the later revision, and the newest release before it the earlier one, or what CROSSGATE_FROM names; it has to understand
// what the sandbox configures (docs/versions.md). Before a first release no schema is promised to any other: the program
// replaces itself, which tries the way. CROSSGATE_CHAOS has it run.
func TestUpgradeLosesNothing(t *testing.T) {
	if os.Getenv("CROSSGATE_CHAOS") == "" {
		t.Skip("takes three minutes: CROSSGATE_CHAOS has it run, make soak does")
	}
	later := buildCommand(t)
	earlier, from := later, os.Getenv("CROSSGATE_FROM")
	if released, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output(); err == nil && from == "" {
		from = strings.TrimSpace(string(released))
	}
	if from != "" {
		earlier = buildCommit(t, run(t, "..", "git", "rev-parse", "--verify", from+"^{commit}"))
	}
	t.Logf("from %s", cmp.Or(from, "what is checked out: nothing was released"))
	for _, name := range []string{"haproxy", "nginx"} {
		t.Run(name, func(t *testing.T) {
			f := startFleet(t, earlier, 3, shippedDrain(t))
			f.balance(t, balancers(t)[name], f.addresses()...)
			f.upgradeAndBack(t, earlier, later)
		})
	}
}

func (f *fleet) upgradeAndBack(t *testing.T, earlier, later string) {
	t.Helper()
	is := look(t, f.world)
	is.settle(t, "http://"+f.address)
	var phases []*phase
	for _, step := range []struct{ name, program string }{{"upgrade", later}, {"rollback", earlier}} {
		phases = append(phases, f.askedDuring(t, is, step.name, func() {
			before := is.deliver(t)
			f.replaceAll(t, step.program)
			after := is.deliver(t)
			for _, address := range f.addresses() {
				is.until(t, "http://"+address, "/api/Orders/"+before.OrderID, isOrder(before))
				is.until(t, "http://"+address, "/api/Orders/"+after.OrderID, isOrder(after))
			}
		}))
	}
	reportPhases(t, phases)
}

// buildCommit returns the path of the gateway's program as it was at a commit.
func buildCommit(t *testing.T, commit string) string {
	t.Helper()
	sources, archive := t.TempDir(), filepath.Join(t.TempDir(), "sources.tar")
	run(t, "..", "git", "archive", "--output", archive, commit)
	run(t, sources, "tar", "-xf", archive)
	return buildSources(t, sources)
}
