package evm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// fromEnvironment returns the number in an environment variable that make soak sets, or usual if it is unset.
func fromEnvironment(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	return must.Get(strconv.ParseUint(text, 10, 64))(t)
}

// TestLiesLeaveNoTrace follows the golden ledgers through two endpoints, one of which tells CROSSGATE_LIES lies of
// every kind in total: every final answer is right, and the liar is named on every chain.
func TestLiesLeaveNoTrace(t *testing.T) {
	recordings, truth := readRecordings(t), readTruth(t)
	isNamed := false
	lies, most := 0, fromEnvironment(t, "CROSSGATE_LIES", 100)
	for seed := uint64(1); lies < int(most); seed++ {
		var said lockedBuffer
		lies += course{rules: []string{"lie:0.3"}, endpoints: 2, seed: seed, honest: true, logs: &said}.run(t, recordings, truth)
		for _, line := range strings.Split(said.String(), "\n") {
			if strings.Contains(line, "provider-2") {
				t.Errorf("seed %d: the honest endpoint is blamed: %s", seed, line)
			}
		}
		isNamed = isNamed || strings.Contains(said.String(), "provider-1")
	}
	if !isNamed {
		t.Error("nobody names the liar")
	}
	t.Logf("%d lies", lies)
}

// lockedBuffer is a buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestProvidersThatLoseLogs follows the growing golden ledgers through providers that lag, lose and forget: in the end
// every order has its right state, and every lock is there. CROSSGATE_SEEDS sets the number of random courses per kind,
// and adds courses with each fault by itself and with both numbers of endpoints; make soak sets it to twenty.
func TestProvidersThatLoseLogs(t *testing.T) {
	recordings, truth := readRecordings(t), readTruth(t)
	seeds := fromEnvironment(t, "CROSSGATE_SEEDS", 1)
	all := []string{"lag:1:0.3", "lag:3:0.3", "empty:0.2", "drop:0.1", "null:0.05"}
	courses := map[string][]string{"all together": all, "all but lost logs": slices.DeleteFunc(slices.Clone(all), isLoss)}
	isLong := os.Getenv("CROSSGATE_SEEDS") != ""
	for _, rule := range all {
		if isLong {
			courses[rule] = []string{rule}
		}
	}
	now := measured.Start(t)
	t.Cleanup(func() { // after the parallel courses
		for name, corrections := range now() {
			if strings.HasPrefix(name, "crossgate.index.corrections{") && corrections > 0 {
				return
			}
		}
		t.Error("no correction was counted")
	})
	for name, rules := range courses {
		for _, endpoints := range []int{1, 2} {
			if !isLong && slices.ContainsFunc(rules, isLoss) != (endpoints == 1) {
				continue // only lost logs with one endpoint, and the rest with two: make soak runs all combinations
			}
			t.Run(fmt.Sprintf("%s, endpoints: %d", name, endpoints), func(t *testing.T) {
				t.Parallel()
				for seed := range seeds {
					course{rules: rules, endpoints: endpoints, seed: seed + 1, logs: io.Discard}.run(t, recordings, truth)
				}
			})
		}
	}
}

// isLoss reports whether a rule loses logs at random.
func isLoss(rule string) bool { return strings.HasPrefix(rule, "drop") }

// course is one way of following the ledgers.
type course struct {
	rules     []string
	endpoints int
	seed      uint64
	honest    bool // the second endpoint is honest
	logs      io.Writer
}

// run follows the ledgers to their ends, compares the result, and returns the number of bad answers.
func (c course) run(t *testing.T, recordings []*recording, truth *goldenTruth) (bad int) {
	t.Helper()
	sources := map[chain.ID]order.Source{}
	var registry []chain.Chain
	var providers []*provider
	for _, recorded := range recordings {
		shared := recorded.growing()
		var endpoints []*upstream.Endpoint
		for i := range c.endpoints {
			rules := c.rules
			if c.honest && i > 0 {
				rules = nil
			}
			p := &provider{recording: shared, rules: rules, random: rand.New(rand.NewPCG(c.seed, uint64(i)+shared.ChainID))}
			providers = append(providers, p)
			endpoints = append(endpoints, endpointOf(t, fmt.Sprintf("provider-%d", i+1), p))
		}
		described := shared.describe()
		registry = append(registry, described)
		sources[described.ID] = evm.New(described, jsonrpc.New(upstream.NewPool(described.ID.String(), endpoints...)))
	}
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	x := query.New(follow.New(db, sources, follow.Options{
		Chains: chain.NewRegistry(registry...), Pace: follow.Pace{Asked: time.Millisecond}, Logger: slog.New(slog.NewTextHandler(c.logs, nil)),
	}), query.Options{})
	stop := runIndex(t, x)
	bare := map[chain.ID]order.Source{} // can only be asked for what is stored
	for id, source := range sources {
		bare[id] = struct{ order.Source }{source}
	}
	stored := query.New(follow.New(db, bare, follow.Options{Chains: chain.NewRegistry(registry...)}), query.Options{})
	awaitProof(t, x, recordings, func(proven map[chain.ID]uint64) { c.compareProven(t, stored, proven, truth) })
	stop()
	c.compare(t, stored, truth)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range providers {
		bad += p.bad
	}
	return bad
}

func runIndex(t *testing.T, x *query.Index) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// awaitProof waits until all recorded blocks are final and read a second time, and calls look now and then meanwhile.
func awaitProof(t *testing.T, x *query.Index, recordings []*recording, look func(proven map[chain.ID]uint64)) {
	t.Helper()
	looked := 0
	until(t, func() bool {
		isAll, proven := true, map[chain.ID]uint64{}
		for _, c := range x.Basis().Chains {
			at := slices.IndexFunc(recordings, func(r *recording) bool { return r.DeBridgeID == c.Chain })
			proven[c.Chain] = c.Proven
			isAll = isAll && x.Of(c.Chain).State().Position.ProvenEnd > recordings[at].Head
		}
		if looked++; looked%50 == 1 {
			look(proven)
		}
		return isAll
	})
}

// compareProven checks the orders whose steps are all in blocks reported as proven: they are right even while the
// providers keep failing. If logs are lost at random, two readings may lose the same one before the provider is caught.
func (c course) compareProven(t *testing.T, x *query.Index, proven map[chain.ID]uint64, truth *goldenTruth) {
	t.Helper()
	if slices.ContainsFunc(c.rules, isLoss) {
		return
	}
	for _, want := range truth.Orders {
		if !want.Record.isIn(proven[want.SourceChainID], proven[want.TakeChainID]) {
			continue
		}
		if found, err := byID(t, x, want.OrderID); err != nil || found.State.String() != want.Record.State {
			t.Errorf("seed %d: order %s is in proven blocks: %+v, %v, want %s", c.seed, want.OrderID, found.Order, err, want.Record.State)
		}
	}
}

// byID retries while the database is slow, as on a busy machine.
func byID(t *testing.T, x *query.Index, id order.ID) (found query.Found, err error) {
	for isLate := true; isLate && t.Context().Err() == nil; isLate = errors.Is(err, store.ErrUnavailable) {
		found, err = x.ByID(t.Context(), id)
	}
	return found, err
}

// compare checks every order and every taker.
func (c course) compare(t *testing.T, x *query.Index, truth *goldenTruth) {
	t.Helper()
	wrong := 0
	for _, want := range truth.Orders {
		found, err := byID(t, x, want.OrderID)
		if err != nil || found.State.String() != want.Record.State || found.Call.String() != want.Record.ExternalCallState {
			wrong++
		}
	}
	locked, told := 0, 0
	for _, want := range truth.Locked {
		got, _, err := x.Locked(t.Context(), want.Taker)
		if err != nil {
			t.Errorf("seed %d: locked for %s: %v", c.seed, want.Taker, err)
		}
		var ids []order.ID
		for _, each := range got {
			for _, token := range each.Tokens {
				for _, target := range token.Targets {
					ids = append(ids, target.Orders...)
				}
			}
		}
		told += len(ids)
		for _, each := range want.Chains {
			for _, token := range each.LockedTokens {
				for _, target := range token.DstChains {
					for _, o := range target.Orders {
						locked++
						if !slices.Contains(ids, o.OrderID) {
							t.Errorf("seed %d: order %s is not told to be locked", c.seed, o.OrderID)
						}
					}
				}
			}
		}
	}
	if wrong > 0 || told != locked {
		t.Errorf("seed %d: %d of %d states wrong; %d orders told to be locked, %d are", c.seed, wrong, len(truth.Orders), told, locked)
	}
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	for !holds() {
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatal("never")
		}
	}
}
