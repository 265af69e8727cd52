package store

import (
	"context"
	"database/sql"

	"crossgate/chain"
	"crossgate/token"
)

// Tokens returns the metadata stored by SaveTokens; tokens without any are omitted.
func (db *DB) Tokens(ctx context.Context, keys []token.Key) (known map[token.Key]token.Reading, err error) {
	byChain := map[chain.ID][][]byte{}
	for _, key := range keys {
		byChain[key.Chain] = append(byChain[key.Chain], Blob(key.Address.Bytes()))
	}
	known = make(map[token.Key]token.Reading, len(keys))
	for id, addresses := range byChain {
		err := db.ForEachRow(ctx, func(rows *sql.Rows) error {
			var address chain.Address
			r := token.Reading{Decimals: new(uint8)}
			err := rows.Scan(AddressColumn(&address), r.Decimals, &r.Name, &r.Symbol, &r.IsSingle)
			known[token.Key{Chain: id, Address: address}] = r
			return err
		}, `SELECT address, decimals, name, symbol, is_single FROM tokens WHERE chain = $1 AND address = ANY($2)`, id, addresses)
		if err != nil {
			return known, err
		}
	}
	return known, nil
}

// SaveTokens stores the metadata of tokens that have decimals; contracts without them may be deployed later. It
// replaces stored metadata only if that came from a single endpoint.
func (db *DB) SaveTokens(ctx context.Context, readings map[token.Key]token.Reading) error {
	var rows [][]any
	for key, r := range readings {
		if r.Decimals != nil {
			rows = append(rows, []any{key.Chain, Blob(key.Address.Bytes()), int(*r.Decimals), r.Name, r.Symbol, r.IsSingle})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return db.Update(ctx, func(tx *Tx) error {
		return tx.ExecEach(ctx, `INSERT INTO tokens (chain, address, decimals, name, symbol, is_single) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (chain, address) DO UPDATE SET decimals = excluded.decimals, name = excluded.name,
				symbol = excluded.symbol, is_single = excluded.is_single WHERE tokens.is_single`, rows)
	})
}

// OrderedTokens returns the metadata of the tokens of a chain that occur in orders; at most most of them, those in the
// most orders.
func (db *DB) OrderedTokens(ctx context.Context, id chain.ID, most int) (known map[chain.Address]token.Token, err error) {
	known = make(map[chain.Address]token.Token)
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var address chain.Address
		var t token.Token
		err := rows.Scan(AddressColumn(&address), &t.Decimals, &t.Name, &t.Symbol, &t.IsSingle)
		known[address] = t
		return err
	}, `SELECT tokens.address, decimals, name, symbol, is_single FROM tokens
		JOIN (SELECT address, SUM(orders) AS orders FROM order_tokens WHERE chain = $1 GROUP BY address) AS used
		ON used.address = tokens.address WHERE tokens.chain = $1 ORDER BY orders DESC, tokens.address LIMIT $2`, id, most)
	if err != nil {
		return nil, err
	}
	return known, nil
}
