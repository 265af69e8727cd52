package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
)

// Backfill reads the history of the chains from before they were followed into c's database, until all is read or ctx
// ends. A gateway may use the database meanwhile. report is called with each step, on several goroutines.
func Backfill(ctx context.Context, c config.Config, log *slog.Logger, report func(index.Progress)) error {
	return withIndex(ctx, c, log, func(x *index.Index) error { return x.Backfill(ctx, report) })
}

// EstimateBackfill returns what Backfill would read of every chain.
func EstimateBackfill(ctx context.Context, c config.Config, log *slog.Logger) (estimates []index.BackfillEstimate, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		estimates = x.EstimateBackfill(ctx)
		return ctx.Err()
	})
	return estimates, err
}

// IndexStatus returns how far each chain has been indexed in c's database, which must be there.
func IndexStatus(ctx context.Context, c config.Config, log *slog.Logger) (status []index.Status, err error) {
	at := Database(c)
	switch found, err := at.Schema(ctx); {
	case err != nil:
		return nil, err
	case found.Version == 0:
		return nil, fmt.Errorf("database %s: nothing is in it yet; crossgate serve makes it", at)
	}
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		status, err = x.Status(ctx)
		return err
	})
	return status, err
}

// AuditIndex compares the orders of a selection in c's database with the chains. A gateway may use the database
// meanwhile. report is called with each step, on several goroutines.
func AuditIndex(
	ctx context.Context, c config.Config, log *slog.Logger, of index.Selection, report func(index.Progress),
) (audits []index.Audit, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		audits, err = x.Audit(ctx, of, report)
		return err
	})
	return audits, err
}

// RepairIndex corrects the orders of a selection in c's database where the chains have them otherwise. A gateway may
// use the database meanwhile. report is called with each step, on several goroutines.
func RepairIndex(
	ctx context.Context, c config.Config, log *slog.Logger, of index.Selection, report func(index.Progress),
) (repairs []index.Repair, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		repairs, err = x.Repair(ctx, of, report)
		return err
	})
	return repairs, err
}

// RepairBlocks has blocks verified again and c's database corrected; see index.RepairBlocks. A gateway may use the
// database meanwhile. report is called with each step, on several goroutines.
func RepairBlocks(
	ctx context.Context, c config.Config, log *slog.Logger, id chain.ID, first, last uint64, report func(index.Progress),
) (repairs []index.Repair, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		repairs, err = x.RepairBlocks(ctx, id, first, last, report)
		return err
	})
	return repairs, err
}

// WithdrawIndex withdraws what blocks of a chain from a number on said from c's database; see index.Withdraw.
func WithdrawIndex(
	ctx context.Context, c config.Config, log *slog.Logger, id chain.ID, from uint64,
) (came index.Withdrawal, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		came, err = x.Withdraw(ctx, id, from)
		return err
	})
	return came, err
}

// ImportOrders verifies orders of a taker on their chains and stores them in c's database. A gateway may use the
// database meanwhile. report is called with each step, on several goroutines.
func ImportOrders(
	ctx context.Context, c config.Config, log *slog.Logger, taker chain.Address, ids []order.ID, report func(index.Progress),
) (came index.Imported, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		came, err = x.Import(ctx, taker, ids, report)
		return err
	})
	return came, err
}

// Database names the database of c.
func Database(c config.Config) store.Location {
	return store.Location{Postgres: c.Index.Postgres.Reveal(), Path: c.Index.Path}
}

// withIndex opens the order index of c for as long as work takes. What that spends of monthly plans is added to the
// database, for a gateway that runs beside it.
func withIndex(ctx context.Context, c config.Config, log *slog.Logger, work func(*index.Index) error) error {
	p, err := build(c, log, nil)
	if err != nil {
		return err
	}
	defer p.close()
	store, err := openStore(ctx, c.Index, 0, log)
	if err != nil {
		return err
	}
	plans := newPlanBook(store, func() []*endpoint { return p.endpoints }, log)
	plans.update(ctx)
	stopCounting := plans.start(ctx)
	err = work(p.index(store, c.Index, log, nil))
	stopCounting()
	return errors.Join(err, store.Close())
}
