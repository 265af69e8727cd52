package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// replica identifies this process to the others on one PostgreSQL.
type replica struct {
	config *pgx.ConnConfig
	name   string // as a holder of leases
}

// replicaName returns a name that differs between replicas, even if a machine starts one after the other.
func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unnamed"
	}
	return fmt.Sprintf("%s/%d/%.6s", host, os.Getpid(), rand.Text())
}

// A lease expires leaseLife after its holder last renewed it, which it does every leaseRenewal. LeaseInterval is how
// often others should try to claim it. Together these limit how long a job is not done after a replica has died.
const (
	leaseLife     = 8 * time.Second
	leaseRenewal  = 2 * time.Second
	LeaseInterval = 2 * time.Second
)

// Lease is the right to do a job that one process at a time may do. epoch counts the holders and fences off earlier
// ones: a replica that was presumed dead cannot write. The zero value is always valid.
type Lease struct {
	job   string
	epoch int64
}

// ErrLeaseLost says that another replica has taken over the lease.
var ErrLeaseLost = errors.New("another replica took the lease over")

// clock is the database's clock, since the clocks of replicas differ.
const clock = `EXTRACT(EPOCH FROM clock_timestamp())`

// Claim takes the lease of a job unless another replica holds it. With SQLite it is always granted.
func (db *DB) Claim(ctx context.Context, job string) (l Lease, granted bool, err error) {
	if db.replica == nil {
		return Lease{}, true, nil
	}
	l = Lease{job: job}
	err = db.availability.do(ctx, func() error {
		return db.write().QueryRow(ctx, []any{&l.epoch}, `INSERT INTO leases (job, holder, epoch, expires)
			VALUES ($1, $2, 1, `+clock+` + $3)
			ON CONFLICT (job) DO UPDATE SET holder = excluded.holder, epoch = leases.epoch + 1, expires = excluded.expires
				WHERE leases.expires < `+clock+`
			RETURNING epoch`, job, db.replica.name, leaseLife.Seconds())
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Lease{}, false, nil
	}
	db.writes.note(err)
	if err != nil {
		return Lease{}, false, fmt.Errorf("claim lease of %s: %w", job, withRemedy(err))
	}
	return l, true, nil
}

// renew extends the lease.
func (l Lease) renew(ctx context.Context, r runner) error {
	if l == (Lease{}) {
		return nil
	}
	renewed, err := r.ExecContext(ctx, `UPDATE leases SET expires = `+clock+` + $1 WHERE job = $2 AND epoch = $3`,
		leaseLife.Seconds(), l.job, l.epoch)
	if err != nil {
		return err
	}
	if rows, err := renewed.RowsAffected(); err != nil || rows == 1 {
		return err
	}
	return ErrLeaseLost
}

// Lead runs work under the lease of a job whenever no other replica holds it, until ctx ends. The context passed to
// work also ends when the lease is lost.
func (db *DB) Lead(ctx context.Context, job string, work func(context.Context, Lease)) {
	for ctx.Err() == nil {
		if lease, granted, err := db.Claim(ctx, job); err == nil && granted {
			holding, release := db.Hold(ctx, lease)
			work(holding, lease)
			_ = release() // on failure it expires
		}
		pause(ctx, LeaseInterval)
	}
}

// Hold renews a lease until release is called, which returns the lease so that others need not wait for its expiry. The
// returned context ends with ctx or when the lease is lost. The lease is not lost while the database does not answer:
// other replicas cannot claim it then either.
func (db *DB) Hold(ctx context.Context, l Lease) (holding context.Context, release func() error) {
	holding, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		defer stop()
		db.keepRenewing(holding, l)
	})
	return holding, func() error {
		stop()
		renewing.Wait()
		return db.release(ctx, l)
	}
}

// keepRenewing renews the lease until ctx ends or the lease is lost.
func (db *DB) keepRenewing(ctx context.Context, l Lease) {
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := db.availability.do(ctx, func() error { return l.renew(ctx, db.write()) })
		if errors.Is(err, ErrLeaseLost) {
			return
		}
	}
}

func (db *DB) release(ctx context.Context, l Lease) error {
	if l == (Lease{}) {
		return nil
	}
	const limit = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit) // ctx has usually ended by now
	defer cancel()
	err := db.availability.do(ctx, func() error {
		_, err := db.write().ExecContext(ctx, `UPDATE leases SET expires = 0 WHERE job = $1 AND epoch = $2`, l.job, l.epoch)
		return err
	})
	if err != nil {
		return fmt.Errorf("release lease of %s: %w", l.job, err)
	}
	return nil
}
