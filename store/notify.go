package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Notify sends payloads to all replicas subscribed to a channel, including this one, when the transaction is committed.
// PostgreSQL limits each payload to less than 8000 bytes. With SQLite, Notify does nothing.
func (tx *Tx) Notify(ctx context.Context, channel string, payloads ...string) error {
	if !tx.isReplicated {
		return nil
	}
	return tx.ExecEach(ctx, `SELECT pg_notify($1, $2)`, Arguments(payloads, func(text string) []any { return []any{channel, text} }))
}

// Notify sends a payload outside of transactions, as Tx.Notify does within one. PostgreSQL only.
func (db *DB) Notify(ctx context.Context, channel, payload string) error {
	_, err := db.QueryRow(ctx, []any{new(int)}, `SELECT 1 FROM pg_notify($1, $2)`, channel, payload)
	return err
}

// Subscription receives the notifications of channels on its own connection.
type Subscription struct {
	connection   *pgx.Conn
	availability *availability
}

// Subscribe returns once the server sends notifications; earlier ones are lost. PostgreSQL only.
func (db *DB) Subscribe(ctx context.Context, channels ...string) (s Subscription, err error) {
	err = db.availability.do(ctx, func() error {
		connection, err := pgx.ConnectConfig(ctx, db.replica.config.Copy())
		if err != nil {
			return err
		}
		s = Subscription{connection, db.availability}
		for _, channel := range channels {
			if _, err := connection.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
				s.Close(ctx)
				return err
			}
		}
		return nil
	})
	return s, err
}

// Next waits for the next notification. It returns ErrUnavailable if the database becomes unavailable meanwhile.
func (s Subscription) Next(ctx context.Context) (channel, payload string, err error) {
	heard, err := s.connection.WaitForNotification(ctx)
	if err != nil {
		return "", "", s.availability.judge(ctx, err)
	}
	return heard.Channel, heard.Payload, nil
}

// Close ends the subscription, even if ctx has ended.
func (s Subscription) Close(ctx context.Context) {
	_ = s.connection.Close(context.WithoutCancel(ctx)) // nothing was written to it
}
