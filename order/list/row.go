package list

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/store"
)

const columns = `key, id, cell, referral_code, give_token, take_token, fulfiller, unlock_authority, give_amount, take_amount,
	maker, creator, receiver, give_authority, order_authority, affiliate, usd`

// Updates write as few columns as possible: an index costs something only if one of its columns is written.
const (
	insertRow   = `INSERT INTO listed (` + columns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	updateState = `UPDATE listed SET cell = $2, fulfiller = $3, unlock_authority = $4 WHERE key = $1`
	deleteRow   = `DELETE FROM listed WHERE key = $1`
	updateValue = `UPDATE listed SET usd = $2 WHERE key = $1`
	insertCount = `INSERT INTO listed_counts (subject, period, cell, listed) VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject, period, cell) DO UPDATE SET listed = listed_counts.listed + excluded.listed`
)

// periodSeconds is the length of the periods by which rows are counted.
const periodSeconds = 1 << 21

// Row is the listed row of an order or swap. Bytes are stored as strings so that rows are comparable.
type Row struct {
	key        int64 // 0 until written
	terms      terms
	cell       int64
	fulfilment [2]int64 // numbers of fulfiller and unlock authority; 0 before fulfilment
	usd        int64    // unvalued until set by Value

	addresses [4]chain.Address // tokens, fulfiller and unlock authority, stored as numbers
}

// unvalued is stored for an unknown value.
const unvalued = -1

// terms are the columns that stay the same during an order's life.
type terms struct {
	at, referral int64
	people       [6]string // maker, creator, receiver, both authorities, affiliate's beneficiary; or same
	amounts      [2]string // by side
	tokens       [2]int64  // by side, as numbers
}

// same is stored for the maker's address as creator, receiver or give authority, and for the receiver's as order
// authority.
const same = "="

// keyBits is how many bits of an ID a key contains.
const keyBits = 31

// firstKey returns the smallest key of rows at or after a time.
func firstKey(at uint64) int64 { return int64(min(min(at, 1<<32)<<keyBits, math.MaxInt64)) }

// clampedTime limits a time to the range of keys.
func clampedTime(at uint64) uint64 { return min(at, 1<<32-1) }

func keyOf(at int64, id order.ID) int64 {
	return firstKey(uint64(at)+1) - 1 - int64(binary.BigEndian.Uint32(id[:])>>1)
}

// tradeTypes are stored as their indexes; do not reorder.
var tradeTypes = []string{"", "Market"}

// A cell combines the filtered columns that have few values in one number, which takes less space in indexes. Chain IDs
// are stored modulo chainValues, which exceeds those of all known chains.
const (
	chainValues = 1 << 27
	fewValues   = 1 << 3 // number of values of states, calls and trade types
	ofSwaps     = 7      // in place of a trade type
)

func cellOf(give, take chain.ID, state order.State, call order.ExternalCallState, tradeType string) int64 {
	cell := int64(give)%chainValues*chainValues + int64(take)%chainValues
	return ((cell*fewValues+int64(state))*fewValues+int64(call))*fewValues + int64(slices.Index(tradeTypes, tradeType))
}

// OfOrder returns the row of an order whose creation is known.
func OfOrder(o *order.Order) *Row {
	created, t := o.Created, o.Terms
	m, _ := onchain.ParseMetadata(created.Fact.Metadata) // empty if the metadata is unknown
	r := &Row{
		usd:  unvalued,
		cell: cellOf(t.Give.Chain, t.Take.Chain, o.State, o.Call, m.OrderTradeType),
		terms: terms{
			int64(clampedTime(created.At.Time)), int64(created.Fact.ReferralCode), people(created.Fact.Affiliate,
				t.Maker, created.At.Initiator, t.Receiver, t.Authorities.GivePatch, t.Authorities.Order),
			amounts(o.GiveFinal, o.TakeFinal),
			[2]int64{},
		},
		addresses: [4]chain.Address{t.Give.Token, t.Take.Token},
	}
	if o.Fulfilled != nil {
		r.addresses[2], r.addresses[3] = o.Fulfilled.Fact.Taker, o.Fulfilled.Fact.UnlockAuthority
	}
	return r
}

// OfSwap returns the row of a swap: fulfilled, with its chain on both sides, and the caller of the router as maker.
func OfSwap(s order.Swap) *Row {
	return &Row{
		usd:  unvalued,
		cell: cellOf(s.At.Chain, s.At.Chain, order.StateFulfilled, order.NoExtCall, "") + ofSwaps,
		terms: terms{
			int64(clampedTime(s.At.Time)), int64(s.Fact.ReferralCode), people(s.Fact.Affiliate,
				s.Fact.Sender, s.Fact.Sender, s.Fact.Recipient, chain.Address{}, chain.Address{}),
			amounts(s.Fact.AmountIn, s.Fact.Received()),
			[2]int64{},
		},
		addresses: [4]chain.Address{s.Fact.TokenIn, s.Fact.TokenOut},
	}
}

func people(affiliate *order.Affiliate, all ...chain.Address) (p [6]string) {
	if affiliate != nil {
		all = append(all, affiliate.Beneficiary)
	}
	for i, each := range all {
		p[i] = string(each.Bytes())
	}
	for i, like := range [...]int{1: 0, 2: 0, 3: 0, 4: 2} {
		if i > 0 && !all[i].IsAbsent() && all[i] == all[like] {
			p[i] = same
		}
	}
	return p
}

func amounts(given, taken chain.Amount) [2]string {
	return [2]string{string(amountKey(given)), string(amountKey(taken))}
}

// amountKey encodes an amount as bytes that sort by amount.
func amountKey(a chain.Amount) []byte {
	raw := a.AppendTo(nil)
	return append([]byte{byte(len(raw))}, raw...)
}

// change collects changes to rows and counts, as arguments of statements.
type change struct {
	gone, added, moved, valued [][]any
	counts                     map[counted]int64
}

// replace adds the changes that turn one version of a row into another; nil: it is not listed.
func (c *change) replace(id order.ID, from, to *Row) {
	if from != nil {
		c.count(from, -1)
		if to != nil {
			to.usd = from.usd
		}
	}
	if to != nil {
		c.count(to, 1)
	}
	switch {
	case from == nil && to == nil:
	case from == nil:
		c.added = append(c.added, to.arguments(id))
	case to == nil || from.terms != to.terms:
		c.gone = append(c.gone, []any{from.key})
		if to != nil {
			c.added = append(c.added, to.arguments(id))
		}
	case from.fulfilment != to.fulfilment || from.cell != to.cell:
		c.moved = append(c.moved, []any{from.key, to.cell, to.fulfilment[0], to.fulfilment[1]})
	}
}

// numbers returns the fields for the numbers of the row's addresses.
func (r *Row) numbers() [4]*int64 {
	return [4]*int64{&r.terms.tokens[0], &r.terms.tokens[1], &r.fulfilment[0], &r.fulfilment[1]}
}

// arguments returns the arguments of insertRow.
func (r *Row) arguments(id order.ID) []any {
	t := r.terms
	all := []any{keyOf(t.at, id), id[:], r.cell, t.referral}
	for _, number := range r.numbers() {
		all = append(all, *number)
	}
	for _, each := range slices.Concat(t.amounts[:], t.people[:]) {
		all = append(all, []byte(each))
	}
	return append(all, r.usd)
}

// Replace stores rows of orders and swaps in place of their current ones; nil removes a row.
func Replace(ctx context.Context, tx *store.Tx, rows map[order.ID]*Row) error {
	if len(rows) == 0 {
		return nil
	}
	ids := slices.SortedFunc(maps.Keys(rows), chain.Hash.Compare)
	known, err := known(ctx, tx, ids)
	if err != nil {
		return err
	}
	var addresses []chain.Address
	for _, r := range rows {
		if r != nil {
			addresses = append(addresses, r.addresses[:]...)
		}
	}
	numbers, err := tx.AddressNumbers(ctx, addresses...)
	if err != nil {
		return err
	}
	c := change{counts: map[counted]int64{}}
	for _, id := range ids {
		if r := rows[id]; r != nil {
			for i, number := range r.numbers() {
				*number = numbers[r.addresses[i]]
			}
		}
		c.replace(id, known[id], rows[id])
	}
	if err = tx.ExecEach(ctx, deleteRow, c.gone); err == nil {
		err = c.place(ctx, tx)
	}
	slices.SortFunc(c.added, func(a, b []any) int { return cmp.Compare(a[0].(int64), b[0].(int64)) }) // in index order
	if err == nil {
		err = tx.ExecAll(ctx,
			store.Step{Statement: insertRow, Rows: c.added},
			store.Step{Statement: updateState, Rows: c.moved},
			store.Step{Statement: insertCount, Rows: c.countRows()},
		)
	}
	return err
}

// Value stores the values of listed orders in millionths of a USD; nil: unknown.
func Value(ctx context.Context, tx *store.Tx, worth map[order.ID]*int64) error {
	ids := slices.SortedFunc(maps.Keys(worth), chain.Hash.Compare)
	rows, err := known(ctx, tx, ids)
	if err != nil {
		return err
	}
	c := change{counts: map[counted]int64{}}
	for _, id := range ids {
		usd := *cmp.Or(worth[id], new(int64(unvalued)))
		if r := rows[id]; r != nil && r.usd != usd {
			c.countValue(r, -1)
			r.usd = usd
			c.countValue(r, 1)
			c.valued = append(c.valued, []any{r.key, usd})
		}
	}
	return tx.ExecAll(ctx, store.Step{Statement: updateValue, Rows: c.valued}, store.Step{Statement: insertCount, Rows: c.countRows()})
}

// place assigns unused keys to the rows to be added.
func (c *change) place(ctx context.Context, tx *store.Tx) error {
	placed := map[int64]bool{}
	for left := c.added; len(left) > 0; {
		keys := make([]int64, len(left))
		for i, row := range left {
			keys[i] = row[0].(int64)
		}
		taken := map[int64]bool{}
		err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
			var key int64
			err := rows.Scan(&key)
			taken[key] = true
			return err
		}, `SELECT key FROM listed WHERE key = ANY($1)`, keys)
		if err != nil {
			return err
		}
		var moved [][]any
		for i, row := range left {
			if key := keys[i]; taken[key] || placed[key] {
				row[0], moved = key-1, append(moved, row)
			} else {
				placed[key] = true
			}
		}
		left = moved
	}
	return nil
}

// known returns the stored rows of orders and swaps; the result may include others whose IDs share a prefix.
func known(ctx context.Context, tx *store.Tx, ids []order.ID) (map[order.ID]*Row, error) {
	rows := make(map[order.ID]*Row, len(ids))
	err := tx.ForEachRow(ctx, func(found *sql.Rows) error {
		var id order.ID
		r := &Row{}
		into := []any{&r.key, store.HashColumn(&id), &r.cell, &r.terms.referral}
		for _, number := range r.numbers() {
			into = append(into, number)
		}
		for _, texts := range [][]string{r.terms.amounts[:], r.terms.people[:]} {
			for i := range texts {
				into = append(into, &texts[i])
			}
		}
		err := found.Scan(append(into, &r.usd)...)
		r.terms.at = r.key >> keyBits
		rows[id] = r
		return err
	}, `SELECT `+columns+` FROM listed WHERE `+store.PrefixOf(`id`)+` = ANY($1)`, store.Prefixes(ids))
	return rows, err
}
