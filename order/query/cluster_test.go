package query

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// runIndex runs an index until the end of the test, or until stop.
func runIndex(t *testing.T, x *Index) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func indexedTo(t *testing.T, store *store.DB, id chain.ID) uint64 {
	t.Helper()
	position, _, err := ledger.Ledger{DB: store}.Checkpoint(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return position.Block
}

// TestReplicaThatLostItsLeaseCannotWrite covers a replica that was presumed dead and comes back.
func TestReplicaThatLostItsLeaseCannotWrite(t *testing.T) {
	url, ledger := newDatabase(t), newTestChain(1)
	old, young := openReplica(t, url), openReplica(t, url)
	stalled := newFollower(old, 1, ledger, quietly(follow.Options{}))
	var taken bool
	var err error
	if stalled.Lease, taken, err = old.Claim(t.Context(), "follow 1"); err != nil || !taken {
		t.Fatalf("claim = %v, %v", taken, err)
	}
	catchUp(t, stalled)
	if _, taken, _ := young.Claim(t.Context(), "follow 1"); taken {
		t.Fatal("two replicas hold one lease")
	}
	execute(t, young, `UPDATE leases SET expires = 0`)
	if _, taken, err := young.Claim(t.Context(), "follow 1"); err != nil || !taken {
		t.Fatalf("claim of a lease that ran out = %v, %v", taken, err)
	}
	ledger.mine([]told{newDeal(1, 1, 137).created()})
	if err := stalled.CatchUp(t.Context()); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the old holder wrote: %v", err)
	}
	if o := stored(t, young, newDeal(1, 1, 137).id); o != nil {
		t.Error("what the old holder read is stored")
	}
}

// TestGracefulEndHandsOverAtOnce: a replica that ends releases its lease instead of letting it expire.
func TestGracefulEndHandsOverAtOnce(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	p := plan{Start: time.Now(), First: 10, Last: 20_000, Every: 10 * time.Millisecond}
	first, second := openReplica(t, url), openReplica(t, url)
	stop := runIndex(t, p.index(first, p.chains()))
	must.Await(t, "the chain to be followed", func() bool { return indexedTo(t, first, 1) > 10 })
	stop()
	if _, taken, err := second.Claim(t.Context(), "follow 1"); err != nil || !taken {
		t.Errorf("claim after the holder ended = %v, %v", taken, err)
	}
}

// TestReplicasHearOfChangedOrders follows a chain on one replica and listens on another.
func TestReplicasHearOfChangedOrders(t *testing.T) {
	url := newDatabase(t)
	d, l := newDeal(1, 1, 1), newTestChain(1)
	heard := make(chan []order.Change, 16)
	listening := newIndex(openReplica(t, url), nil, quietly(follow.Options{Observer: observed{changed: func(c []order.Change) { heard <- c }}}))
	runIndex(t, listening)
	if first := <-heard; first != nil {
		t.Fatalf("at first: %v, want that anything may have changed", first)
	}
	f := newFollower(openReplica(t, url), 1, l, quietly(follow.Options{}))
	creation := l.mine([]told{d.created(), d.fulfilled()})[0]
	catchUp(t, f)
	want := []order.Change{{Order: d.id, Creation: creation, Taker: taker}}
	if diff := cmp.Diff(want, <-heard, compare); diff != "" {
		t.Errorf("after the creation (-want +got):\n%s", diff)
	}
	l.drop(1)
	l.mine()
	catchUp(t, f)
	if diff := cmp.Diff(want, <-heard, compare); diff != "" {
		t.Errorf("after the reorg (-want +got):\n%s", diff)
	}
}

// TestReplicasHearOfDemand has one replica look at a chain once an hour, and asks another one about the chain's orders.
func TestReplicasHearOfDemand(t *testing.T) {
	t.Parallel()
	url, l := newDatabase(t), newTestChain(1)
	replica := func() *Index {
		return newIndex(openReplica(t, url), map[chain.ID]order.Source{1: l}, quietly(follow.Options{Pace: follow.Pace{Asked: time.Hour}}))
	}
	leader, other := replica(), replica()
	runIndex(t, leader)
	must.Await(t, "the chain to be followed", func() bool { return !lagOf(leader, 1).Level.IsZero() })
	leader.Followers[0].Demand.Orders.Store(0) // at first everything counts as asked about
	runIndex(t, other)
	l.mine()
	before := indexedTo(t, leader.DB, 1)
	other.AskedAbout(1)
	must.Await(t, "the leader to read on", func() bool { return indexedTo(t, leader.DB, 1) > before })
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// TestServesWhileItsDatabaseIsAway makes PostgreSQL unavailable in every realistic way, and brings it back.
func TestServesWhileItsDatabaseIsAway(t *testing.T) {
	t.Parallel()
	newDatabase(t) // skips the test without PostgreSQL
	database := must.Get(postgrestest.Start())(t)
	link := must.Get(database.NewLink())(t)
	t.Cleanup(func() {
		must.Do(t, errors.Join(link.Close(), database.Remove()))
	})
	log := &lines{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	address := link.To(create(t, database, "orders"))
	db := must.Get(store.OpenPostgres(t.Context(), address, store.PostgresOptions{Logger: logger}))(t)
	t.Cleanup(func() { db.Close() })
	w := newWorld()
	x := newIndex(db, map[chain.ID]order.Source{1: w.give, 137: w.take, 10: w.aside}, follow.Options{
		Chains: evmChains(1, 137, 10), Pace: follow.Pace{Asked: 10 * time.Millisecond}, Logger: logger,
	})
	runIndex(t, x)
	must.Await(t, "both chains to be level", func() bool { return !lagOf(x, 1).Level.IsZero() && !lagOf(x, 137).Level.IsZero() })
	w.fulfil()
	must.Await(t, "the lock", func() bool { return lockedOrders(t, x) == 1 })
	log.take()
	for _, way := range []struct {
		name       string
		take, give func() error
	}{
		{"stopped", database.Stop, database.Resume},
		{"standing still", database.Suspend, database.Continue},
		{"cut off", func() error { link.Lose(); return nil }, link.Heal},
	} {
		t.Run(way.name, func(t *testing.T) {
			must.Do(t, way.take())
			w.take.mine()
			w.answersWithoutStore(t, x)
			stopped := lagOf(x, 137)
			must.Do(t, way.give())
			must.Await(t, "the chain to be followed again", func() bool { return lagOf(x, 137).Indexed > stopped.Indexed })
			must.Await(t, "the lock again", func() bool { return lockedOrders(t, x) == 1 })
			said := log.take()
			if strings.Count(said, "\n") != 2 || !strings.Contains(said, "database unavailable;") || !strings.Contains(said, "database available again") {
				t.Errorf("the log tells of the outage:\n%swant one line at its beginning and one at its end", said)
			}
		})
	}
}

// answersWithoutStore makes queries of every kind, within the time of a request.
func (w *world) answersWithoutStore(t *testing.T, x *Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	found, _, err := x.Find(ctx, w.creation)
	if err != nil || len(found) != 1 || found[0].State != order.StateFulfilled {
		t.Errorf("Find = %v, %v, want the order from its chains", found, err)
	}
	looking := newFollower(x.DB, 137, w.take, x.Chains.Options)
	epoch := looking.Basis().Epoch
	if err := looking.CatchUp(ctx); !errors.Is(err, store.ErrUnavailable) || epoch.HasEnded() {
		t.Errorf("a look at the chain: %v, epoch over: %v; want ErrUnavailable, and what the chain said to hold", err, epoch.HasEnded())
	}
	if _, err := x.ByID(ctx, w.deal.id); !errors.Is(err, ErrUnavailable) {
		t.Errorf("ByID: %v, want ErrUnavailable", err)
	}
	_, _, err = x.Locked(ctx, taker)
	if !errors.Is(err, ErrUnavailable) || errors.As(err, new(*UnreachableError)) {
		t.Errorf("Locked: %v, want ErrUnavailable", err)
	}
}
