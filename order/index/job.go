package index

import (
	"log/slog"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// job is work on one chain: from where it is read, into which store, and under which lease. All but the lease stays as
// it is.
type job struct {
	chain    chain.ID
	facts    chain.Chain // of it; its id alone where the registry does not hold it
	source   order.Source
	store    orderStore
	lease    store.Lease // that the work is done under; set by whoever does it
	observer Observer
	logger   *slog.Logger
}

func newJob(db *store.DB, id chain.ID, source order.Source, o Options) job {
	known, _ := o.Chains.Chain(id)
	known.ID = id
	return job{
		chain: id, facts: known, source: source, store: orderStore{db, o.WithoutSwaps},
		observer: o.Observer, logger: o.Logger.With("chain", id),
	}
}

// report passes changes on, unless replicas notify each other through the database.
func (j *job) report(changes []Change) {
	if !j.store.IsReplicated() && len(changes) > 0 {
		j.observer.OrdersChanged(changes)
	}
}
