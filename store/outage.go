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

// ErrUnavailable says that the database does not answer at the moment. Calls then fail fast with errors that wrap it.
// They need not be logged: the outage is.
var ErrUnavailable = errors.New("database unavailable")

const (
	// slowAfter is how long a call may take before the database is probed, and the interval of further probes while it
	// lasts. probeLimit is how long a probe may take, one round trip; connectLimit applies if it has to connect first,
	// which takes six. Together they limit how long a caller waits for a database that does not answer, however long
	// statements may take on one that does.
	slowAfter    = 300 * time.Millisecond
	probeLimit   = 800 * time.Millisecond
	connectLimit = 1400 * time.Millisecond
	// probePause is the time between two probes of a database that does not answer.
	probePause = 500 * time.Millisecond
)

// probe looks for one index entry in each table that every answer needs: a server with a lock on one of them, or with a
// stalled disk, still answers pings.
const probe = `SELECT EXISTS (SELECT 1 FROM events WHERE chain = 0), EXISTS (SELECT 1 FROM orders WHERE number = 0)`

// availability is the circuit breaker of a database. After a connection error, or if a call takes long, it probes the
// database on a dedicated connection. Without an answer it closes all connections to a PostgreSQL, so that callers
// waiting on them fail, and rejects calls until a probe succeeds.
type availability struct {
	prober    *sql.DB   // has one connection
	hasTables bool      // if false, a probe is a ping
	mode      []any     // query mode of probes of a PostgreSQL: one round trip
	pools     []*sql.DB // of a PostgreSQL: their idle connections are useless after an outage
	log       *slog.Logger
	slow      atomic.Int64 // calls that have been running for longer than slowAfter

	mu       sync.Mutex
	away     error // why calls are rejected; nil while the database answers
	open     map[*trackedConn]struct{}
	checking chan struct{}      // closed when the running check has its first result; nil: none is running
	stop     context.CancelFunc // ends the check; nil before the first one
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

// watch checks the database repeatedly until done is closed.
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

// judge checks the database after a connection error, and adds ErrUnavailable to the error if the database does not
// answer.
func (a *availability) judge(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	if isOfConnection(err) {
		a.settle(ctx)
	}
	return errors.Join(a.err(), err)
}

// settle waits until it is known whether the database answers. It checks twice: a server that is shutting down ends its
// connections one by one, and the one for probes may be among the last.
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

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// err returns ErrUnavailable with the reason while the database does not answer.
func (a *availability) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.away
}

// isOfConnection reports whether an error is not about the statement: there was no connection, or it broke.
func isOfConnection(err error) bool {
	if server, is := errors.AsType[*pgconn.PgError](err); is {
		return isShutdown(server)
	}
	var ofNetwork net.Error
	return errors.As(err, &ofNetwork) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || isBusy(err)
}

// isShutdown reports whether the server is stopping or starting (57P01 to 57P03), or a pooler has no server (08…).
func isShutdown(e *pgconn.PgError) bool {
	return strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "08")
}

// probe returns why the database does not answer. A server that rejects the probe does answer.
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

// check probes in the background, unless a check is running; known is closed with the result. The check goes on until
// an outage ends.
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
		a.checking = nil // before known is closed: a caller that then checks again gets a new check
		a.mu.Unlock()
		known()
	})
	return first
}

// run probes until the database answers or ctx ends. It calls known as soon as the database does not answer.
func (a *availability) run(ctx context.Context, known func()) {
	began := time.Now()
	for {
		limit := connectLimit
		switch {
		case a.pools == nil: // a file reports by itself that it is locked
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
		a.log.WarnContext(ctx, "database unavailable; not queried until it responds", "error", why)
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
		pool.SetMaxIdleConns(-1) // closes idle connections
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
		return nil // already closed by an outage
	}
	return c.Conn.Close()
}

// dial connects to the database unless it is unavailable.
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

// await waits until the database answers. It retries for up to limit if a server is unreachable or starting.
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

// close ends the check and closes the probe connection.
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
