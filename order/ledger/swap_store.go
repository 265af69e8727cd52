package ledger

import (
	"context"
	"database/sql"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Swaps within a chain are events like those of orders: they are read, withdrawn and corrected together. They have a
// table of their own, since one event describes all of a swap and lists use its columns.

const swapColumns = `chain, block, log_index, block_hash, block_time, tx, id,
	sender, recipient, token_in, amount_in, token_out, amount_out, fee, affiliate, affiliate_fee, referral_code`

const insertSwap = `INSERT INTO swaps (` + swapColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`

// swapRow returns the arguments of insertSwap.
func swapRow(s order.Swap) []any {
	affiliate, share := []byte(nil), ""
	if a := s.Fact.Affiliate; a != nil {
		affiliate, share = a.Beneficiary.Bytes(), a.Amount.String()
	}
	return []any{
		int64(s.At.Chain), int64(s.At.Block), int64(s.At.LogIndex), s.At.BlockHash[:], int64(s.At.Time),
		store.Blob(s.At.Tx.Bytes()), s.ID[:],
		store.Blob(s.Fact.Sender.Bytes()), store.Blob(s.Fact.Recipient.Bytes()),
		store.Blob(s.Fact.TokenIn.Bytes()), s.Fact.AmountIn.String(), store.Blob(s.Fact.TokenOut.Bytes()), s.Fact.AmountOut.String(),
		s.Fact.Fee.String(), store.Blob(affiliate), share, int64(s.Fact.ReferralCode),
	}
}

func scanSwap(rows *sql.Rows, s *order.Swap) error {
	var affiliate order.Affiliate
	var share string
	fact := &s.Fact
	err := rows.Scan(&s.At.Chain, &s.At.Block, &s.At.LogIndex, store.HashColumn(&s.At.BlockHash), &s.At.Time,
		store.TxHashColumn(&s.At.Tx), store.HashColumn(&s.ID), store.AddressColumn(&fact.Sender), store.AddressColumn(&fact.Recipient),
		store.AddressColumn(&fact.TokenIn), store.AmountColumn(&fact.AmountIn),
		store.AddressColumn(&fact.TokenOut), store.AmountColumn(&fact.AmountOut), store.AmountColumn(&fact.Fee),
		store.AddressColumn(&affiliate.Beneficiary), &share, &fact.ReferralCode)
	if err == nil && share != "" {
		fact.Affiliate = &affiliate
		affiliate.Amount, err = chain.ParseAmount(share)
	}
	return err
}

// SwapsIn returns the swaps that a transaction made, in log order.
func (l Ledger) SwapsIn(ctx context.Context, id chain.ID, tx chain.TxHash) ([]order.Swap, error) {
	return store.All(ctx, l, scanSwap, `SELECT `+swapColumns+` FROM swaps WHERE `+txPrefix+` = $1 AND tx = $2 AND chain = $3 ORDER BY block, log_index`,
		store.Prefix(tx.Bytes()), tx.Bytes(), int64(id))
}

// SwapsByID returns the stored swaps among ids; the result may include others whose IDs share a prefix.
func (l Ledger) SwapsByID(ctx context.Context, ids []order.ID) (map[order.ID]*order.Swap, error) {
	known := make(map[order.ID]*order.Swap, len(ids))
	if len(ids) == 0 {
		return known, nil
	}
	swaps, err := store.All(ctx, l, scanSwap, `SELECT `+swapColumns+` FROM swaps WHERE `+store.PrefixOf(`id`)+` = ANY($1)`, store.Prefixes(ids))
	for i := range swaps {
		known[swaps[i].ID] = &swaps[i]
	}
	return known, err
}

// eventsOfSwaps runs a statement that returns swaps, and returns their events.
func eventsOfSwaps(ctx context.Context, q store.Reader, query string, args ...any) ([]order.Event, error) {
	swaps, err := store.All(ctx, q, scanSwap, query, args...)
	events := make([]order.Event, len(swaps))
	for i, s := range swaps {
		events[i] = s.Event()
	}
	return events, err
}

// Parted separates the events of orders from swaps.
func Parted(events []order.Event) (ofOrders []order.Event, swaps []order.Swap) {
	for _, e := range events {
		if s, is := e.Swap(); is {
			swaps = append(swaps, s)
			continue
		}
		ofOrders = append(ofOrders, e)
	}
	return ofOrders, swaps
}
