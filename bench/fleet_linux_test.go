package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/internal/redistest"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// fleet is a deployment on one machine: gateways that share a PostgreSQL and a Redis, behind a balancer and in front of
// a world, all connected by links that can fail. Only the first chain's second endpoint has no link.
type fleet struct {
	world        *sandbox.World
	database     *postgrestest.Server
	databaseLink *postgrestest.Link
	cache        *redistest.Server
	cacheLink    *linktest.Link
	chainLink    *linktest.Link
	replicas     []*replica
	address      string // of the balancer
}

// replica is one gateway, in a separate process that can be restarted.
type replica struct {
	link          *linktest.Link // from the balancer
	program, file string
	public, admin string
	process       *exec.Cmd
	said          bytes.Buffer
}

// startFleet starts everything but the balancer, until the test ends, with a number of gateways of a program. settings
// are lines of their configuration.
func startFleet(t *testing.T, program string, gateways int, settings string) *fleet {
	t.Helper()
	f := &fleet{cache: redistest.Serve(t)}
	var err error
	if f.database, err = postgrestest.Start(); err != nil {
		t.Skipf("no PostgreSQL to test with: %v", err)
	}
	t.Cleanup(func() { closed(t, f.database.Remove) })
	f.databaseLink = must.Get(f.database.NewLink())(t)
	t.Cleanup(func() { closed(t, f.databaseLink.Close) })
	direct := must.Get(f.database.Create("orders"))(t)
	f.world = sandboxtest.Start(t, sandbox.Options{})
	f.cacheLink = openLink(t, "unix", filepath.Join(t.TempDir(), "redis"), strings.TrimPrefix(f.cache.URL(), "unix://"))
	f.chainLink = openLink(t, "tcp", "127.0.0.1:0", strings.TrimPrefix(f.world.URL(), "http://"))
	configuration := f.configuration(direct, gateways) + settings
	for range gateways {
		r := newReplica(t, program, configuration)
		r.start(t)
		f.replicas = append(f.replicas, r)
	}
	for _, r := range f.replicas {
		command{admin: "http://" + r.admin}.awaitReady(t)
	}
	return f
}

// configuration returns the world's configuration, routed through the links. All gateways together stay within
// PostgreSQL's default number of connections (docs/operations.md).
func (f *fleet) configuration(database string, gateways int) string {
	const taken, most, besides = 97, 32, 5 // connections: of the server, and of a gateway for reading and for the rest
	readers := min(most, taken/gateways-besides)
	text := string(f.world.Config("nowhere"))
	behind := "http://" + f.chainLink.Address()
	for was, is := range map[string]string{
		`path: "nowhere"`:                   fmt.Sprintf("postgres: %q, connections: %d", f.databaseLink.To(database), readers),
		`telemetry: {admin: "127.0.0.1:0"}`: fmt.Sprintf("cache: {shared: %q}\n", "unix://"+f.cacheLink.Address()),
		fmt.Sprintf("{id: 1, explorer: none, endpoints: [{url: %q}]}", f.world.URL()+"/rpc/1"): fmt.Sprintf(
			"{id: 1, explorer: none, endpoints: [{name: linked, url: %q}, {name: direct, url: %q}]}", behind+"/rpc/1", f.world.URL()+"/rpc/1"),
	} {
		if !strings.Contains(text, was) {
			panic("the sandbox's configuration has no " + was)
		}
		text = strings.Replace(text, was, is, 1)
	}
	return text
}

func openLink(t *testing.T, network, address, to string) *linktest.Link {
	t.Helper()
	link := must.Get(linktest.Open(network, address, to))(t)
	t.Cleanup(func() { closed(t, link.Close) })
	return link
}

func closed(t *testing.T, end func() error) {
	t.Helper()
	if err := end(); err != nil {
		t.Error(err)
	}
}

func newReplica(t *testing.T, program, configuration string) *replica {
	t.Helper()
	r := &replica{program: program, file: filepath.Join(t.TempDir(), "crossgate.yaml"), public: freeAddress(t), admin: freeAddress(t)}
	configuration += fmt.Sprintf("listen: %s\ntelemetry: {admin: %q}\n", r.public, r.admin)
	must.Do(t, os.WriteFile(r.file, []byte(configuration), 0o600))
	r.link = openLink(t, "tcp", "127.0.0.1:0", r.public)
	t.Cleanup(func() {
		if r.process.ProcessState == nil {
			r.signal(t, syscall.SIGKILL)
			_ = r.process.Wait() // killed
		}
		if t.Failed() {
			const last = 4 << 10
			t.Logf("a gateway said\n%s", r.said.Bytes()[max(0, r.said.Len()-last):])
		}
	})
	return r
}

// start runs the gateway and waits until it listens.
func (r *replica) start(t testing.TB) {
	t.Helper()
	r.process = exec.Command(r.program, "serve", "--config", r.file)
	r.process.Stderr = &r.said
	r.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, r.process.Start())
	awaitListener(t, r.public)
}

func (r *replica) signal(t testing.TB, by syscall.Signal) {
	t.Helper()
	if err := r.process.Process.Signal(by); err != nil {
		t.Error(err)
	}
}

// end sends a signal and waits until the gateway has ended.
func (r *replica) end(t testing.TB, by syscall.Signal) {
	t.Helper()
	r.signal(t, by)
	if err := r.process.Wait(); err != nil && by != syscall.SIGKILL {
		t.Errorf("the gateway ended: %v", err)
	}
}

// addresses returns the addresses at which the gateways listen.
func (f *fleet) addresses() (all []string) {
	for _, r := range f.replicas {
		all = append(all, r.public)
	}
	return all
}

// balance starts a balancer in front of the replicas, which it reaches at these addresses. It skips the test if the
// balancer is not installed.
func (f *fleet) balance(t *testing.T, by peer, replicas ...string) {
	t.Helper()
	address, _, installed := by.start(t, strings.Join(replicas, " "))
	if !installed {
		t.Skipf("%s is not installed (Debian and Ubuntu: apt-get install %s)", by.program, by.program)
	}
	f.address = address
	command{admin: "http://" + address}.awaitReady(t) // through the balancer
}

// drainLine matches the drain setting of the shipped configuration.
var drainLine = regexp.MustCompile(`(?m)^drain: .*$`)

// TestDrainLosesNothing restarts the gateways of a fleet one after the other with SIGTERM, under 200 requests a second
// through a balancer. Each must be answered. It runs if CROSSGATE_CHAOS is set.
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

// shippedDrain returns the drain setting of the shipped configuration, as a line of configuration.
func shippedDrain(t *testing.T) string {
	t.Helper()
	return drainLine.FindString(string(must.Get(os.ReadFile("../deploy/crossgate.yaml"))(t))) + "\n"
}

// replaceAll stops the gateways one after the other and starts each again, with a program that may differ from before.
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

// askedDuring sends 200 requests a second while act runs, and returns the outcome. Requests that are late, or declined
// by a gateway at its load limit or with a slow database, do not count as lost: on a machine with other work 2 s say
// nothing about a restart. There may be few of them.
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

// TestUpgradeLosesNothing replaces three gateways on one PostgreSQL, one after the other, by a later revision, and then
// by the earlier one again, under 200 requests a second through a balancer. Each must be answered according to the
// contracts. Orders fulfilled during either program's time must be returned by the other one. The later revision is the
// checked-out one, the earlier one the newest release before it, or CROSSGATE_FROM; it has to understand the sandbox's
// configuration (docs/versions.md). Before a first release no compatible schema is promised, so the program replaces
// itself, which tests the procedure. It runs if CROSSGATE_CHAOS is set.
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

// buildCommit builds the gateway at a commit and returns the program's path.
func buildCommit(t *testing.T, commit string) string {
	t.Helper()
	sources, archive := t.TempDir(), filepath.Join(t.TempDir(), "sources.tar")
	run(t, "..", "git", "archive", "--output", archive, commit)
	run(t, sources, "tar", "-xf", archive)
	return buildSources(t, sources)
}
