package processes_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/cache/redistest"
	"crossgate/store/postgrestest"
)

// observed is two gateways on one database and one shared cache, and a Prometheus that looks at both.
type observed struct {
	replicated
	prometheus
	cache         *redistest.Server
	link          *postgrestest.Link // from the second gateway to the database
	first, second process
	near, far     string   // their admin listeners
	lasting       []string // alerts whose cause has not been mended
}

// startObserved has a second endpoint of the first chain that nobody listens at.
func startObserved(t *testing.T) *observed {
	t.Helper()
	o := &observed{replicated: startReplicated(t), cache: redistest.Serve(t), near: freeAddress(t), far: freeAddress(t)}
	var err error
	if o.link, err = o.server.NewLink(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.link.Close() })
	node := o.world.Chains()[0].RPC
	o.config = strings.Replace(o.config, fmt.Sprintf("[{url: %q}]", node),
		fmt.Sprintf("[{name: own, url: %q}, {name: gone, url: %q}]", node, "http://"+freeAddress(t)), 1)
	o.config += fmt.Sprintf("cache: {shared: %q}\n", o.cache.URL())
	o.first = serveApart(t, withOperators(o.config, o.near))
	o.second = serveApart(t, withOperators(o.link.To(o.config), o.far)) // the database's address is in it
	for _, each := range []process{o.first, o.second} {
		each.until(t, "level", lockedFor(o.taker), isLevel)
	}
	o.prometheus = startPrometheus(t, o.near, o.far)
	return o
}

// expect waits until the alerts that fire are those of these causes and of the lasting ones.
func (o *observed) expect(t *testing.T, alerts ...string) {
	t.Helper()
	want := slices.Concat(o.lasting, alerts)
	slices.Sort(want)
	began := time.Now()
	o.untilFiring(t, want...)
	t.Logf("%v after %.1f s", alerts, time.Since(began).Seconds())
}

// asking asks the first gateway for paths, one after the other, until it is stopped.
func (o *observed) asking(t *testing.T, path func(i int) string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for worker := range 4 {
		asking.Go(func() {
			for i := worker; ctx.Err() == nil; i += 4 {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.first.url+path(i), nil)
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

// execute has the database carry out a statement.
func (o *observed) execute(t *testing.T, statement string) {
	t.Helper()
	if _, err := o.server.Query("orders", statement); err != nil {
		t.Fatal(err)
	}
}

// unknownOrder is the path of an order that no chain knows, another one each time.
func unknownOrder(i int) string { return fmt.Sprintf("/api/Orders/creationTxHash/0x%064x", 1<<40+i) }

// TestOneCauseIsOneAlert provokes causes beside and after each other, and wants one alert for each.
func TestOneCauseIsOneAlert(t *testing.T) {
	if testing.Short() {
		t.Skip("two gateways, a PostgreSQL, a Redis and a Prometheus take a minute and more: run without -short")
	}
	o := startObserved(t)
	o.expect(t)
	chains := o.world.Chains()

	// Causes that do not hide each other last from here on.
	command(t, o.near, fmt.Sprintf("/endpoints/%d/gone/breaker/open", chains[0].Facts.ID))
	if err := o.cache.Kill(); err != nil {
		t.Fatal(err)
	}
	o.refuseConfigurations(t)
	o.lasting = []string{"CrossgateBreakerOpen", "CrossgateReloadFails", "CrossgateSharedCacheAway"}
	o.expect(t)

	// The others come after each other: some hide what would follow from them.
	o.execute(t, fmt.Sprintf(`UPDATE leases SET holder = 'gone/1/gone', epoch = epoch + 1, expires = expires + 3600 WHERE job = 'follow %d'`, chains[1].Facts.ID))
	o.expect(t, "CrossgateChainUnled")
	o.execute(t, fmt.Sprintf(`UPDATE leases SET expires = 0 WHERE job = 'follow %d'`, chains[1].Facts.ID))
	o.expect(t)

	o.execute(t, `ALTER TABLE uncounted RENAME TO mislaid`)
	o.expect(t, "CrossgateDatabaseFails")
	o.execute(t, `ALTER TABLE mislaid RENAME TO uncounted`)
	o.expect(t)

	controlled(t, o.world, "fault", fmt.Sprintf(`{"target":%d,"kind":"slow","delayMs":1800}`, chains[0].Facts.ID), new(any))
	stop := o.asking(t, unknownOrder)
	o.expect(t, "CrossgateOrdersSlowFast")
	stop()
	controlled(t, o.world, "fault", fmt.Sprintf(`{"target":%d,"kind":"none"}`, chains[0].Facts.ID), new(any))

	controlled(t, o.world, "fault", fmt.Sprintf(`{"target":%d,"kind":"down"}`, chains[1].Facts.ID), new(any))
	stop = o.asking(t, unknownOrder)
	o.expect(t, "CrossgateChainAway")
	stop()
	controlled(t, o.world, "fault", fmt.Sprintf(`{"target":%d,"kind":"none"}`, chains[1].Facts.ID), new(any))
	o.expect(t)

	o.link.Refuse()
	o.expect(t, "CrossgateDatabaseCutOff "+o.far)
	if err := o.link.Heal(); err != nil {
		t.Fatal(err)
	}
	o.expect(t)
	if err := o.server.Stop(); err != nil {
		t.Fatal(err)
	}
	o.expect(t, "CrossgateDatabaseUnavailable")
	if err := o.server.Resume(); err != nil {
		t.Fatal(err)
	}
	o.expect(t)
	_ = o.second.end(os.Kill)
	o.expect(t, "CrossgateDown "+o.far)
}

// refuseConfigurations gives both gateways a configuration with a mistake, and returns when they have refused it.
func (o *observed) refuseConfigurations(t *testing.T) {
	t.Helper()
	for _, each := range []process{o.first, o.second} {
		right, err := os.ReadFile(each.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(each.config, append(right, "nonsense: true\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both have refused the configuration", func() (string, bool) {
		refused := o.query(t, "crossgate_config_reload_success == 0")
		return fmt.Sprint(refused), len(refused) == 2
	})
}
