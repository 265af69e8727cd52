package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrUnavailable says that the database does not answer at the moment. Errors that wrap it come at once while that
// lasts, and need no line in the log: the outage has one.
var ErrUnavailable = errors.New("database unavailable")

const (
	// slowAfter is how long work may take before the database is probed, and again each time it passes; probeLimit is
	// how long a probe may take, one round trip, and connectLimit that of a probe that has to connect first, which
	// takes six. Together they bound how long a caller waits for a database that does not answer, however long a
	// statement may take on one that does.
	slowAfter    = 300 * time.Millisecond
	probeLimit   = 800 * time.Millisecond
	connectLimit = 1400 * time.Millisecond
	// probePause is between two probes of a database that does not answer.
	probePause = 500 * time.Millisecond
)

// probe finds an entry of an index in each of the tables without which nothing can be answered: a server with a lock on
// one of them, or whose disk stalls, still answers pings.
const probe = `SELECT EXISTS (SELECT 1 FROM events WHERE chain = 0), EXISTS (SELECT 1 FROM orders WHERE number = 0)`

// availability is the circuit breaker of a database. What goes wrong with a connection, or takes long, has the database
// probed on a connection that is for nothing else. When it does not answer, all connections to a PostgreSQL are closed,
// so that whatever waits on one ends, and nothing more is asked until a probe is answered.
type availability struct {
	prober    *sql.DB   // with one connection
	hasTables bool      // otherwise a probe is a ping
	mode      []any     // in which a PostgreSQL is asked: in one round trip
	pools     []*sql.DB // of a PostgreSQL: their idle connections are of no use after an outage
	log       *slog.Logger
	slow      atomic.Int64 // work under way for longer than slowAfter

	mu       sync.Mutex
	away     error // why nothing is asked; nil while the database answers
	open     map[*trackedConn]struct{}
	checking chan struct{}      // closed when the check under way has its first result; nil: none is
	stop     context.CancelFunc // of the check; nil before the first one
	closed   bool
	checks   sync.WaitGroup
}

func newAvailability(prober *sql.DB, log *slog.Logger) *availability {
	return &availability{prober: prober, log: cmp.Or(log, slog.New(slog.DiscardHandler)), open: make(map[*trackedConn]struct{})}
}

// do runs work unless the database is unavailable. It returns soon after the database has stopped answering.
func (a *availability) do(ctx context.Context, work func() error) error {
	if err := a.err(); err != nil {
		return err
	}
	done := make(chan struct{})
	slow := time.AfterFunc(slowAfter, func() { a.watch(done) })
	err := work()
	slow.Stop()
	close(done)
	return a.judge(ctx, err)
}

// watch has the database checked until done is closed.
func (a *availability) watch(done <-chan struct{}) {
	a.slow.Add(1)
	defer a.slow.Add(-1)
	for {
		a.check()
		select {
		case <-done:
			return
		case <-time.After(slowAfter):
		}
	}
}

// judge has the database checked after an error that came of a connection, and returns ErrUnavailable as well if the
// database does not answer.
func (a *availability) judge(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	if isOfConnection(err) {
		a.settle(ctx)
	}
	return errors.Join(a.err(), err)
}

// settle returns when it is known whether the database answers. It looks twice: a server that is being stopped ends its
// connections one after the other, and that for pings may be among the last.
func (a *availability) settle(ctx context.Context) {
	const between = 150 * time.Millisecond
	for look := range 2 {
		select {
		case <-a.check():
		case <-ctx.Done():
			return
		}
		if look > 0 || a.err() != nil || !pause(ctx, between) {
			return
		}
	}
}

// pause lets a time pass. It reports false when ctx ends meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// LogOutages has the beginning and the end of outages logged. It comes before anything is asked.
func (db *DB) LogOutages(log *slog.Logger) { db.availability.log = log }

// err is ErrUnavailable with the reason while the database does not answer.
func (a *availability) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.away
}

// isOfConnection reports whether an error says nothing of the statement: there was no connection, or it broke.
func isOfConnection(err error) bool {
	if server, is := errors.AsType[*pgconn.PgError](err); is {
		return isShutdown(server)
	}
	var ofNetwork net.Error
	return errors.As(err, &ofNetwork) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || isBusy(err)
}

// isShutdown reports whether the server ends or begins to run (57P01 to 57P03), or a pooler has no server (08…).
func isShutdown(e *pgconn.PgError) bool {
	return strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "08")
}

// probe returns why the database does not answer. A server that refuses is there.
func (a *availability) probe(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var hasEvents, hasOrders bool
	var err error
	if a.hasTables {
		err = a.prober.QueryRowContext(limited, probe, a.mode...).Scan(&hasEvents, &hasOrders)
	} else {
		err = a.prober.PingContext(limited)
	}
	if server, is := errors.AsType[*pgconn.PgError](err); is && !isShutdown(server) {
		return nil
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return &net.OpError{Op: "probe", Net: "tables", Err: fmt.Errorf("no answer within %s", limit)}
	}
	return withRemedy(err)
}

// check probes in the background, unless that is under way; known is closed with the result. An outage is watched until
// its end.
func (a *availability) check() (known <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.checking != nil {
		return a.checking
	}
	first := make(chan struct{})
	if a.closed {
		close(first)
		return first
	}
	ctx, stop := context.WithCancel(context.Background())
	a.checking, a.stop = first, stop
	a.checks.Go(func() {
		defer stop()
		known := sync.OnceFunc(func() { close(first) })
		a.run(ctx, known)
		a.mu.Lock()
		a.checking = nil // before it is known: who hears of it and asks again gets a check of his own
		a.mu.Unlock()
		known()
	})
	return first
}

// run probes until the database answers or ctx ends. It calls known once the database does not answer.
func (a *availability) run(ctx context.Context, known func()) {
	began := time.Now()
	for {
		limit := connectLimit
		switch {
		case a.pools == nil: // a file says itself that it is locked
			limit = patience
		case a.prober.Stats().OpenConnections > 0:
			limit = probeLimit
		}
		err := a.probe(ctx, limit)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			a.comeBack(ctx, began)
			return
		}
		a.goAway(ctx, err)
		known()
		if !pause(ctx, probePause) {
			return
		}
	}
}

func (a *availability) goAway(ctx context.Context, why error) {
	a.mu.Lock()
	isNews := a.away == nil
	a.away = fmt.Errorf("%w: %w", ErrUnavailable, why)
	open := a.open
	a.open = make(map[*trackedConn]struct{})
	a.mu.Unlock()
	if isNews {
		a.log.WarnContext(ctx, "database unavailable; nothing is asked of it until it answers", "error", why)
	}
	for c := range open {
		_ = c.Conn.Close() // its user gets an error
	}
}

func (a *availability) comeBack(ctx context.Context, began time.Time) {
	if a.err() == nil {
		return
	}
	for _, pool := range a.pools {
		most := pool.Stats().MaxOpenConnections
		pool.SetMaxIdleConns(-1) // closes them
		pool.SetMaxIdleConns(most)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = nil
	a.log.InfoContext(ctx, "database available again", "after", time.Since(began).Round(time.Millisecond))
}

// trackedConn is a connection that is closed when the database becomes unavailable.
type trackedConn struct {
	net.Conn
	of *availability
}

func (c *trackedConn) Close() error {
	c.of.mu.Lock()
	_, isOpen := c.of.open[c]
	delete(c.of.open, c)
	c.of.mu.Unlock()
	if !isOpen {
		return nil // an outage closed it
	}
	return c.Conn.Close()
}

// dial connects to the database while that is available.
func (a *availability) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := a.err(); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	made, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &trackedConn{made, a}
	a.mu.Lock()
	away := a.away
	if away == nil {
		a.open[c] = struct{}{}
	}
	a.mu.Unlock()
	if away != nil {
		return nil, errors.Join(away, made.Close())
	}
	return c, nil
}

// await returns when the database answers. It waits for a server that cannot be reached, or that is starting, for up to
// limit.
func (a *availability) await(ctx context.Context, limit time.Duration) error {
	began, isLogged := time.Now(), false
	for {
		err := a.probe(ctx, patience)
		waited := time.Since(began)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case limit <= 0 || !isOfConnection(err):
			return err
		case waited >= limit:
			return fmt.Errorf("no answer within %s: %w", limit, err)
		case !isLogged:
			isLogged = true
			a.log.WarnContext(ctx, "waiting for the database", "error", err, "for_up_to", limit)
		}
		pause(ctx, min(limit-waited, probePause))
	}
}

// close ends the check and closes the connection for probes.
func (a *availability) close() error {
	a.mu.Lock()
	a.closed = true
	if a.stop != nil {
		a.stop()
	}
	a.mu.Unlock()
	a.checks.Wait()
	return a.prober.Close()
}
