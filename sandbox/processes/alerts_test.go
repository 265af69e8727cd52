package processes_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/internal/redistest"
	"crossgate/sandbox"
	"crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/sandboxtest"
)

// observed is two gateways on one database and one shared cache, and a Prometheus that scrapes both.
type observed struct {
	replicated
	prometheus
	cache         *redistest.Server
	link          *postgrestest.Link // from the second gateway to the database
	first, second process
	near, far     string // their admin listeners
	// Chains by what happens to them: slow is slow, lost is away or not followed, spoilt is known through node.
	slow, lost, spoilt *sandbox.Chain
	node               *spoilt
	origin             string   // of passthrough paths; it fails, or does not answer
	staging            process  // another environment in the same Prometheus, which is healthy until it ends
	besides            string   // its admin listener
	lasting            []string // alerts whose cause has not been fixed
	fading             []string // alerts whose cause is gone, but so recently that they may still fire
}

// startObserved has a dead second endpoint of the first chain, and one chain whose node refuses logs.
func startObserved(t *testing.T) *observed {
	t.Helper()
	lively := sandbox.Options{BlockTime: 20 * time.Second} // below a minute, after which a head can be stale
	o := &observed{replicated: startReplicated(t, lively), cache: redistest.Serve(t), near: freeAddress(t), far: freeAddress(t), besides: freeAddress(t)}
	o.link = must.Get(o.server.NewLink())(t)
	t.Cleanup(func() { o.link.Close() })
	chains := o.world.Chains()
	o.slow, o.lost, o.spoilt = chains[0], chains[1], chains[2]
	o.node = startSpoilt(t, o.spoilt.RPC)
	o.node.spoil(refusing("eth_getLogs"))
	o.origin = startFailing(t)
	o.config = strings.NewReplacer(
		fmt.Sprintf("[{url: %q}]", o.slow.RPC),
		fmt.Sprintf("[{name: own, url: %q}, {name: gone, url: %q}]", o.slow.RPC, "http://"+freeAddress(t)),
		fmt.Sprintf("[{url: %q}]", o.spoilt.RPC), fmt.Sprintf("[{name: spoilt, url: %q}]", o.node.url),
	).Replace(o.config)
	o.config += fmt.Sprintf("cache: {shared: %q}\n", o.cache.URL()) +
		fmt.Sprintf("passthrough: {hosts: [{name: origin, endpoints: [{url: %q}]}]}\n", o.origin)
	o.first = serveApart(t, withOperators(o.config, o.near))
	far := strings.Replace(o.link.To(o.config), "index: {", "index: {connections: 3, ", 1) // the database's address is in it
	o.second = serveApart(t, withOperators(far, o.far))
	behind := fmt.Sprint(o.spoilt.Facts.ID)
	const stranger = "0x00000000000000000000000000000000000000aa" // for which that chain does not have to be read
	for _, each := range []process{o.first, o.second} {
		each.until(t, "level but for the chain that refuses logs", lockedFor(stranger), func(r reply) bool {
			late := regexp.MustCompile(`(\d+);[^,]*behind`).FindAllStringSubmatch(r.header.Get("Index-Basis"), -1)
			return r.status == http.StatusOK && len(late) == 1 && late[0][1] == behind
		})
	}
	// Nothing listens there, as probes find out.
	o.lasting = []string{fmt.Sprintf("CrossgateBreakerOpen %d gone", o.slow.Facts.ID)}
	o.staging = serveApart(t, fmt.Sprintf("index: {path: %q, lookback: 0}\nchains: [{id: %d, explorer: none, endpoints: [{url: %q}]}]\ntelemetry: {admin: %q}\n",
		t.TempDir()+"/orders.db", chains[3].Facts.ID, chains[3].RPC, o.besides))
	o.prometheus = startPrometheus(t, map[string][]string{"": {o.near, o.far}, "staging": {o.besides}})
	return o
}

// startFailing starts an origin that fails on one path and never answers another.
func startFailing(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/failing":
			w.WriteHeader(http.StatusInternalServerError)
		case "/waiting":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// expect waits until exactly these alerts and the lasting ones fire.
func (o *observed) expect(t *testing.T, alerts ...string) {
	t.Helper()
	want := slices.Concat(o.lasting, alerts)
	slices.Sort(want)
	began := time.Now()
	o.untilFiring(t, o.fading, want...)
	t.Logf("%v after %.1f s", alerts, time.Since(began).Seconds())
}

// asking sends requests to a gateway from a number of concurrent clients, at up to a hundred a second each, until
// stopped.
func (o *observed) asking(t *testing.T, of process, clients int, path func(i int) string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for client := range clients {
		asking.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for i := client; ctx.Err() == nil; i += clients {
				<-pace.C
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, of.url+path(i), nil)
				if err != nil {
					return
				}
				if response, err := http.DefaultClient.Do(request); err == nil {
					response.Body.Close()
				}
			}
		})
	}
	return func() {
		cancel()
		asking.Wait()
	}
}

// execute runs statements in the database.
func (o *observed) execute(t *testing.T, statements ...string) {
	t.Helper()
	for _, each := range statements {
		must.Get(o.server.Query("orders", each))(t)
	}
}

// unknownOrder returns the path of an order that no chain knows, a different one for each i.
func unknownOrder(i int) string { return fmt.Sprintf("/api/Orders/creationTxHash/0x%064x", 1<<40+i) }

// TestOneCauseIsOneAlert provokes causes together and in sequence: each must fire exactly one alert.
func TestOneCauseIsOneAlert(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two gateways, a PostgreSQL, a Redis and a Prometheus take a minute and more: run without -short")
	}
	o := startObserved(t)
	o.troubleIndex(t)
	o.failRequests(t)
	o.giveUpRequests(t)
	o.slowDatabase(t)
	o.nameUnknownChain(t)

	// Causes that do not hide each other last from here on.
	must.Do(t, o.cache.Kill())
	o.refuseConfigurations(t)
	o.lasting = append(o.lasting, "CrossgateReloadFails", "CrossgateSharedCacheAway")
	o.expect(t)

	// The others follow in sequence, because some hide their consequences.
	lost := fmt.Sprint(o.lost.Facts.ID)
	o.execute(t, `UPDATE leases SET holder = 'gone/1/gone', epoch = epoch + 1, expires = expires + 3600 WHERE job = 'follow `+lost+`'`)
	o.expect(t, "CrossgateChainUnled "+lost)
	o.execute(t, `UPDATE leases SET expires = 0 WHERE job = 'follow `+lost+`'`)
	o.expect(t)

	o.execute(t, `ALTER TABLE stale_days RENAME TO mislaid`)
	o.expect(t, "CrossgateDatabaseFails postgresql")
	o.execute(t, `ALTER TABLE mislaid RENAME TO stale_days`)
	o.expect(t)

	o.slowAnswers(t)
	o.refuseChanges(t)
	o.loseChain(t)

	o.link.Refuse()
	o.expect(t, "CrossgateDatabaseCutOff "+o.far)
	must.Do(t, o.link.Heal())
	o.expect(t)
	must.Do(t, o.server.Stop())
	o.expect(t, "CrossgateDatabaseUnavailable")
	must.Do(t, o.server.Resume())
	o.fading = nil
	o.expect(t)
	release := must.Get(o.server.Hold("orders", "BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE"))(t)
	o.expect(t, "CrossgateDatabaseUnavailable")
	must.Do(t, release())
	o.expect(t)
	_ = o.second.end(os.Kill)
	o.expect(t, "CrossgateDown "+o.far)
	o.loseTargets(t)
}

// fault makes a chain's node misbehave.
func (o *observed) fault(t *testing.T, at *sandbox.Chain, how string) {
	t.Helper()
	sandboxtest.Control(t, o.world, "fault", fmt.Sprintf(`{"target":%d,%s}`, at.Facts.ID, how), new(any))
}

// configure adds lines to the configurations of both gateways.
func (o *observed) configure(t *testing.T, lines string) {
	t.Helper()
	for _, each := range []process{o.first, o.second} {
		must.Do(t, os.WriteFile(each.config, append(must.Get(os.ReadFile(each.config))(t), lines...), 0o600))
	}
}

// refuseConfigurations gives both gateways an invalid configuration and returns when both have rejected it.
func (o *observed) refuseConfigurations(t *testing.T) {
	t.Helper()
	o.configure(t, "nonsense: true\n")
	eventually(t, "both have refused the configuration", func() (string, bool) {
		refused := o.query(t, "crossgate_config_reload_success == 0")
		return fmt.Sprint(refused), len(refused) == 2
	})
}

// spoilt is an endpoint in front of a chain's node that answers some calls differently.
type spoilt struct {
	url string
	by  atomic.Pointer[func(jsonrpc.Request) (members string)]
}

// startSpoilt starts an endpoint that answers like the node, until the test ends.
func startSpoilt(t *testing.T, node string) *spoilt {
	t.Helper()
	s := &spoilt{}
	s.spoil(nil)
	server := httptest.NewServer(jsonrpc.Altered(jsonrpc.At(node), func(call jsonrpc.Request, _ int) string {
		if by := *s.by.Load(); by != nil {
			return by(call)
		}
		return ""
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// spoil makes by return the members of calls' answers beside their id. The node answers calls without members, and all
// of them if by is nil.
func (s *spoilt) spoil(by func(jsonrpc.Request) (members string)) { s.by.Store(&by) }

// refusing returns the answers of a node that lacks a method.
func refusing(method string) func(jsonrpc.Request) string {
	return func(call jsonrpc.Request) string {
		if call.Method == method {
			return `"error":{"code":-32000,"message":"not available at the moment"}`
		}
		return ""
	}
}
