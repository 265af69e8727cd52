package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// TokenList is what is stored of a public token list beside its tokens.
type TokenList struct {
	ETag    string    // of the answer that was taken over; empty: it has none, or not all of it could be checked
	Read    time.Time // when the list was fetched last
	Changes int64     // how often its tokens were replaced
}

// TokenLists returns the lists that are stored, by name.
func (db *DB) TokenLists(ctx context.Context) (lists map[string]TokenList, err error) {
	lists = make(map[string]TokenList)
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var name string
		var l TokenList
		var read int64
		err := rows.Scan(&name, &l.ETag, &read, &l.Changes)
		l.Read = time.Unix(read, 0)
		lists[name] = l
		return err
	}, `SELECT name, etag, read, changes FROM token_lists`)
	if err != nil {
		return nil, fmt.Errorf("read token lists: %w", err)
	}
	return lists, nil
}

// ListedTokens returns the tokens of a list.
func (db *DB) ListedTokens(ctx context.Context, list string) (tokens map[token.Key]token.Token, err error) {
	tokens = make(map[token.Key]token.Token)
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var address chain.Address
		var id chain.ID
		var t token.Token
		err := rows.Scan(&id, AddressColumn(&address), &t.Decimals, &t.Name, &t.Symbol, &t.LogoURI)
		tokens[token.Key{Chain: id, Address: address}] = t
		return err
	}, `SELECT chain, address, decimals, name, symbol, logo FROM listed_tokens WHERE list = $1`, list)
	if err != nil {
		return nil, fmt.Errorf("read tokens of list %s: %w", list, err)
	}
	return tokens, nil
}

// KeepTokenList stores when a list was read that has not changed.
func (db *DB) KeepTokenList(ctx context.Context, l Lease, list string, read time.Time) error {
	err := db.UpdateUnder(ctx, l, func(tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE token_lists SET read = $1 WHERE name = $2`, read.Unix(), list)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep token list %s: %w", list, err)
	}
	return nil
}

// ReplaceTokenList stores a list and its tokens in the place of what it was.
func (db *DB) ReplaceTokenList(ctx context.Context, l Lease, list, etag string, read time.Time, tokens map[token.Key]token.Token) error {
	rows := make([][]any, 0, len(tokens))
	for key, t := range tokens {
		rows = append(rows, []any{list, key.Chain, Blob(key.Address.Bytes()), int(t.Decimals), t.Name, t.Symbol, t.LogoURI})
	}
	err := db.UpdateUnder(ctx, l, func(tx *Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO token_lists (name, etag, read, changes) VALUES ($1, $2, $3, 1)
			ON CONFLICT (name) DO UPDATE SET etag = excluded.etag, read = excluded.read, changes = token_lists.changes + 1`,
			list, etag, read.Unix())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM listed_tokens WHERE list = $1`, list); err != nil {
			return err
		}
		return tx.ExecEach(ctx, `INSERT INTO listed_tokens (list, chain, address, decimals, name, symbol, logo)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, rows)
	})
	if err != nil {
		return fmt.Errorf("store token list %s: %w", list, err)
	}
	return nil
}
