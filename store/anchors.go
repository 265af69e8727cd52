package store

import (
	"context"
	"database/sql"
	"slices"

	"crossgate/chain"
)

// Anchor is a block known to belong to its chain.
type Anchor struct {
	Number uint64
	Hash   chain.Hash
}

// Anchors returns the newest anchor of each chain, without changing anything; none if the table does not exist.
func (l Location) Anchors(ctx context.Context) (newest map[chain.ID]Anchor, err error) {
	newest = make(map[chain.ID]Anchor)
	err = l.using(func(db database) error {
		tables, err := tablesOf(ctx, db, db.dialect)
		if err != nil || !slices.Contains(tables, "anchors") {
			return err
		}
		return forEachRow(ctx, db, func(rows *sql.Rows) error {
			var id chain.ID
			var a Anchor
			err := rows.Scan(&id, &a.Number, HashColumn(&a.Hash))
			newest[id] = a
			return err
		}, `SELECT chain, number, hash FROM anchors a WHERE number = (SELECT MAX(number) FROM anchors WHERE chain = a.chain)`, nil)
	})
	return newest, err
}
