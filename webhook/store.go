package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"crossgate/order"
	"crossgate/store"
)

// Hook is a subscriber.
type Hook struct {
	Name, URL    string
	Filter       string   `json:",omitempty"` // in the form of a query of /v1.0/events
	Secrets      []string `json:"-"`          // valid ones, newest first
	IsConfigured bool     // from the file; others were added by operators

	Position     uint64 // of the log: entries up to here are delivered, waiting or dead
	Delivered    uint64
	FailingSince int64  `json:",omitempty"` // UNIX seconds of the first failure since the last delivery; 0: none
	Error        string `json:",omitempty"` // of the last failure
	PausedUntil  int64  `json:",omitempty"` // UNIX seconds; nothing is sent before, as the subscriber asked
	Waiting      uint64 // deliveries that have failed, and those behind them
	Dead         uint64 // deliveries that were given up
}

// Origin returns the subscriber's scheme and host, without the rest of its URL, which may hold a key.
func (h *Hook) Origin() string {
	at, err := url.Parse(h.URL)
	if err != nil {
		return ""
	}
	return at.Scheme + "://" + at.Host
}

type delivery struct {
	position uint64
	order    order.ID
	body     []byte
	attempts int
	due      int64 // UNIX seconds
	isStored bool
	error    string
}

const hookColumns = `name, url, filter, secrets, configured, position, delivered, failing_since, error, paused_until,
	(SELECT COUNT(*) FROM deliveries WHERE webhook = name AND dead = 0), (SELECT COUNT(*) FROM deliveries WHERE webhook = name AND dead = 1)`

// Hooks lists the subscribers by name.
func (d *Deliverer) Hooks(ctx context.Context) ([]*Hook, error) {
	return readHooks(ctx, d.db, ` ORDER BY name`)
}

// hook returns the subscriber with a name, or ErrUnknown.
func hook(ctx context.Context, q store.Reader, name string) (*Hook, error) {
	hooks, err := readHooks(ctx, q, ` WHERE name = $1`, name)
	if err == nil && len(hooks) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return hooks[0], nil
}

func readHooks(ctx context.Context, q store.Reader, which string, args ...any) (hooks []*Hook, err error) {
	err = q.ForEachRow(ctx, func(rows *sql.Rows) error {
		var h Hook
		var secrets []byte
		err := rows.Scan(&h.Name, &h.URL, &h.Filter, &secrets, &h.IsConfigured, &h.Position, &h.Delivered, &h.FailingSince, &h.Error, &h.PausedUntil, &h.Waiting, &h.Dead)
		if err != nil {
			return err
		}
		hooks = append(hooks, &h)
		return json.Unmarshal(secrets, &h.Secrets)
	}, `SELECT `+hookColumns+` FROM webhooks`+which, args...)
	return hooks, err
}

// ErrUnknown means that no subscriber has a name, ErrTaken that another one has it, or that it is in the file.
var (
	ErrUnknown = errors.New("unknown webhook")
	ErrTaken   = errors.New("the name is another webhook's")
)

// isSame reports whether the subscriber is stored as it is here.
func (h *Hook) isSame(stored *Hook) bool {
	return h.Name == stored.Name && h.URL == stored.URL && h.Filter == stored.Filter && h.IsConfigured == stored.IsConfigured &&
		slices.Equal(h.Secrets, stored.Secrets)
}

// Put adds a subscriber, whose deliveries begin now, or changes URL and filter of an existing one if both or neither
// are from the file, and secrets if both are.
func (d *Deliverer) Put(ctx context.Context, h Hook) error {
	newest, _, err := d.feed.Ends(ctx)
	if err != nil {
		return err
	}
	return d.db.Update(ctx, func(tx *store.Tx) error { return put(ctx, tx, h, newest) })
}

func put(ctx context.Context, tx *store.Tx, h Hook, newest uint64) error {
	secrets, err := json.Marshal(h.Secrets)
	if err != nil {
		return err
	}
	return tx.Change(ctx, ErrTaken, `INSERT INTO webhooks (name, url, filter, secrets, configured, position, delivered, failing_since, error, paused_until)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, '', 0) ON CONFLICT (name) DO UPDATE
		SET url = excluded.url, filter = excluded.filter, paused_until = CASE WHEN excluded.url = webhooks.url THEN webhooks.paused_until ELSE 0 END,
			secrets = CASE WHEN excluded.configured = 1 THEN excluded.secrets ELSE webhooks.secrets END
		WHERE webhooks.configured = excluded.configured`,
		h.Name, h.URL, h.Filter, string(secrets), store.Bit(h.IsConfigured), int64(newest))
}

// ownHook returns the subscriber with a name that operators added; ErrTaken if it is in the file.
func ownHook(ctx context.Context, q store.Reader, name string) (*Hook, error) {
	h, err := hook(ctx, q, name)
	if err == nil && h.IsConfigured {
		err = fmt.Errorf("%w: it is in the file", ErrTaken)
	}
	return h, err
}

// Rotate sets and returns a new secret of an operators' subscriber. The previous one stays valid until the next time.
func (d *Deliverer) Rotate(ctx context.Context, name string) (secret string, err error) {
	secret = NewSecret()
	return secret, d.db.Update(ctx, func(tx *store.Tx) error {
		h, err := ownHook(ctx, tx, name)
		if err != nil {
			return err
		}
		secrets, err := json.Marshal([]string{secret, h.Secrets[0]})
		if err != nil {
			return err
		}
		return tx.Change(ctx, ErrUnknown, `UPDATE webhooks SET secrets = $1 WHERE name = $2`, string(secrets), name)
	})
}

// Remove removes a subscriber that operators added, with its deliveries.
func (d *Deliverer) Remove(ctx context.Context, name string) error {
	return d.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := ownHook(ctx, tx, name); err != nil {
			return err
		}
		return remove(ctx, tx, name, false)
	})
}

func remove(ctx context.Context, tx *store.Tx, name string, isConfigured bool) error {
	if err := tx.Change(ctx, ErrUnknown, `DELETE FROM webhooks WHERE name = $1 AND configured = $2`, name, store.Bit(isConfigured)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE webhook = $1`, name)
	return err
}

// Dead is a delivery that was given up.
type Dead struct {
	ID       uint64 // of the event
	Order    order.ID
	Attempts int
	Error    string
	Body     json.RawMessage
}

// Dead lists the oldest dead deliveries of a subscriber, at most 100.
func (d *Deliverer) Dead(ctx context.Context, name string) (dead []Dead, err error) {
	if _, err = hook(ctx, d.db, name); err != nil {
		return nil, err
	}
	dead, err = store.All(ctx, d.db, func(rows *sql.Rows, each *Dead) error {
		return rows.Scan(&each.ID, store.HashColumn(&each.Order), &each.Attempts, &each.Error, (*[]byte)(&each.Body))
	}, `SELECT position, order_id, attempts, error, body FROM deliveries WHERE webhook = $1 AND dead = 1 ORDER BY position LIMIT 100`, name)
	return append([]Dead{}, dead...), err
}

// Resend retries all dead and waiting deliveries of a subscriber immediately, even during a pause that it requested.
func (d *Deliverer) Resend(ctx context.Context, name string) error {
	return d.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Change(ctx, ErrUnknown, `UPDATE webhooks SET paused_until = 0 WHERE name = $1`, name); err != nil {
			return err
		}
		return tx.Change(ctx, nil, `UPDATE deliveries SET dead = 0, attempts = 0, due = 0 WHERE webhook = $1`, name)
	})
}

// waiting returns the deliveries of a subscriber that have failed, and those behind them: of many that are sent again,
// as many of the oldest as a pass may have.
func (d *Deliverer) waiting(ctx context.Context, name string) (all []*delivery, err error) {
	err = d.db.ForEachRow(ctx, func(rows *sql.Rows) error {
		each := &delivery{isStored: true}
		all = append(all, each)
		return rows.Scan(&each.position, store.HashColumn(&each.order), &each.body, &each.attempts, &each.due)
	}, `SELECT position, order_id, body, attempts, due FROM deliveries WHERE webhook = $1 AND dead = 0 ORDER BY position LIMIT $2`, name, mostWaiting+atOnce)
	return all, err
}

type passed struct {
	next      uint64 // position
	sent      []*delivery
	failed    []*delivery // with the attempt, its error, and when the next is due
	dead      []*delivery
	untouched []*delivery // new ones that are behind a failed one, or were not tried
	error     string      // of the last failure

	pausedUntil int64 // UNIX seconds
}

// record stores the results of a pass under the lease: a replica that has lost it changes nothing.
func (d *Deliverer) record(ctx context.Context, under store.Lease, h *Hook, o passed) error {
	var gone, kept [][]any
	for _, each := range o.sent {
		if each.isStored {
			gone = append(gone, []any{h.Name, int64(each.position)})
		}
	}
	keep := func(list []*delivery, dead int) {
		for _, each := range list {
			kept = append(kept, []any{h.Name, int64(each.position), each.order[:], string(each.body), each.attempts, each.due, dead, store.Text(each.error)})
		}
	}
	keep(o.failed, 0)
	keep(o.untouched, 0)
	keep(o.dead, 1)
	failing := h.FailingSince
	switch {
	case len(o.sent) > 0 && o.error == "":
		failing = 0
	case o.error != "" && (failing == 0 || len(o.sent) > 0):
		failing = d.Now().Unix()
	}
	return d.db.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		// This comes first because it holds up a removal. If there was one before, even if the subscriber was added
		// again, no row matches and nothing is stored.
		err := tx.Change(ctx, ErrUnknown, `UPDATE webhooks SET position = $1, delivered = delivered + $2, failing_since = $3,
			error = CASE WHEN $4 = '' THEN error ELSE $4 END, paused_until = $5 WHERE name = $6 AND position = $7`,
			int64(o.next), len(o.sent), failing, store.Text(o.error), o.pausedUntil, h.Name, int64(h.Position))
		if err != nil {
			return err
		}
		if err := tx.ExecEach(ctx, `DELETE FROM deliveries WHERE webhook = $1 AND position = $2`, gone); err != nil {
			return err
		}
		return tx.ExecEach(ctx, `INSERT INTO deliveries (webhook, position, order_id, body, attempts, due, dead, error)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (webhook, position) DO UPDATE
			SET attempts = excluded.attempts, due = excluded.due, dead = excluded.dead, error = excluded.error`, kept)
	})
}
