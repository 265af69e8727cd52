package index

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is what replicas on one PostgreSQL need to know of each other.
type cluster struct {
	config *pgx.ConnConfig
	name   string // of this replica, among the holders of leases
}

// replicaName tells replicas apart, also those that a machine starts one after the other.
func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unnamed"
	}
	return fmt.Sprintf("%s/%d/%.6s", host, os.Getpid(), rand.Text())
}

// How long a lease outlives its holder's last word, and how often others try to get it. Together they
// bound the time in which nobody does the job of a replica that died.
const (
	leaseLife     = 8 * time.Second
	leaseRenewal  = 2 * time.Second
	leaseInterval = 2 * time.Second
)

// lease is the right to do a job that one process at a time may do. The zero value is that of a store which
// one process owns.
type lease struct {
	job   string
	epoch int64
}

// clock is the database's, since those of replicas differ.
const clock = `EXTRACT(EPOCH FROM clock_timestamp())`

// claim takes the lease of a job when nobody holds it.
func (s *Store) claim(ctx context.Context, job string) (l lease, taken bool, err error) {
	if s.cluster == nil {
		return lease{}, true, nil
	}
	l = lease{job: job}
	row := s.writer.QueryRowContext(ctx, `INSERT INTO leases (job, holder, epoch, expires)
		VALUES ($1, $2, 1, `+clock+` + $3)
		ON CONFLICT (job) DO UPDATE SET holder = excluded.holder, epoch = leases.epoch + 1, expires = excluded.expires
			WHERE leases.expires < `+clock+`
		RETURNING epoch`, job, s.cluster.name, leaseLife.Seconds())
	err = row.Scan(&l.epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return lease{}, false, nil
	}
	if err != nil {
		return lease{}, false, fmt.Errorf("take lease of %s: %w", job, err)
	}
	return l, true, nil
}

// errLeaseLost says that somebody else holds the lease now.
var errLeaseLost = errors.New("another replica took over")

// check prolongs the lease within a transaction, which ends with errLeaseLost when somebody else holds it: a
// replica that was thought dead cannot write.
func (l lease) check(ctx context.Context, tx interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
},
) error {
	if l == (lease{}) {
		return nil
	}
	prolonged, err := tx.ExecContext(ctx, `UPDATE leases SET expires = `+clock+` + $1 WHERE job = $2 AND epoch = $3`,
		leaseLife.Seconds(), l.job, l.epoch)
	if err = changedOne(prolonged, err); errors.Is(err, errMoved) {
		return errLeaseLost
	}
	return err
}

// keep prolongs the lease until ctx ends, or the lease is somebody else's: then it calls lost. While the
// database does not answer nothing is lost yet, since nobody else can take it either.
func (s *Store) keep(ctx context.Context, l lease, lost func()) {
	if l == (lease{}) {
		return
	}
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := l.check(ctx, s.writer); errors.Is(err, errLeaseLost) {
			lost()
			return
		}
	}
}

// release gives a lease back, so that others need not wait for its end.
func (s *Store) release(ctx context.Context, l lease) error {
	if l == (lease{}) {
		return nil
	}
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // of the end of ctx this is part
	defer cancel()
	_, err := s.writer.ExecContext(ctx, `UPDATE leases SET expires = 0 WHERE job = $1 AND epoch = $2`, l.job, l.epoch)
	if err != nil {
		return fmt.Errorf("give back lease of %s: %w", l.job, err)
	}
	return nil
}
