package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"crossgate/store"
)

// tally is how the statistics change by orders that are counted anew.
type tally struct {
	rows     map[dayOfPair]*figures
	creators map[creatorOfPair]map[int64]int64 // orders by day
	tokens   map[tokenOfChain]int64            // orders
}

type dayOfPair struct {
	pair
	day int64
}

type creatorOfPair struct {
	creator string // bytes
	pair
}

type tokenOfChain struct {
	chain   int64
	address string // bytes
}

// figures are a row of daily_statistics, in the sequence of figureColumns.
type figures [14]int64

var figureColumns = []string{
	"created", "fulfilled", "active", "unpriced", "given", "given_orders", "taken", "taken_orders", "fee", "fee_orders",
	"affiliate", "affiliate_orders", "creators", "new_creators",
}

// Places of figures that are not counted order by order.
const (
	creatorsAt    = 12
	newCreatorsAt = 13
)

func newTally() *tally {
	return &tally{
		rows: make(map[dayOfPair]*figures), creators: make(map[creatorOfPair]map[int64]int64), tokens: make(map[tokenOfChain]int64),
	}
}

// row is the change of a row.
func (t *tally) row(of dayOfPair) *figures {
	if t.rows[of] == nil {
		t.rows[of] = &figures{}
	}
	return t.rows[of]
}

// add adds what an order contributes so many times: 1, or -1 for what it contributed before.
func (t *tally) add(c contribution, times int64) {
	row := t.row(dayOfPair{c.pair, c.day})
	for i, n := range []int64{1, c.fulfilled, c.active, c.unpriced} {
		row[i] += times * n
	}
	for i, value := range []*int64{c.Given, c.Taken, c.Fee, c.Affiliate} {
		if value != nil {
			row[4+2*i] += times * *value
			row[5+2*i] += times
		}
	}
	for _, of := range []pair{c.pair, allPairs} {
		key := creatorOfPair{c.creator, of}
		if t.creators[key] == nil {
			t.creators[key] = make(map[int64]int64)
		}
		t.creators[key][c.day] += times
	}
	tokens := map[tokenOfChain]bool{{c.take, c.takeToken}: true}
	if c.swapped != "" {
		tokens[tokenOfChain{c.give, c.swapped}] = true
	} else {
		tokens[tokenOfChain{c.give, c.giveToken}] = true
	}
	for each := range tokens {
		t.tokens[each] += times
	}
}

// store changes the statistics.
func (t *tally) store(ctx context.Context, tx *store.Tx) error {
	for _, step := range []func(context.Context, *store.Tx) error{t.storeCreators, t.storeRows, t.storeTokens} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (t *tally) storeRows(ctx context.Context, tx *store.Tx) error {
	var changed, empty [][]any
	for of, row := range t.rows {
		if *row == (figures{}) {
			continue
		}
		arguments := []any{of.day, of.give, of.take}
		empty = append(empty, arguments[:3:3])
		for _, n := range row {
			arguments = append(arguments, n)
		}
		changed = append(changed, arguments)
	}
	sums := make([]string, len(figureColumns))
	for i, column := range figureColumns {
		sums[i] = fmt.Sprintf("%s = daily_statistics.%s + excluded.%s", column, column, column)
	}
	err := tx.ExecEach(ctx, `INSERT INTO daily_statistics (day, give_chain, take_chain, `+strings.Join(figureColumns, ", ")+`)
		VALUES (`+store.Placeholders(1, 3+len(figureColumns))+`)
		ON CONFLICT (day, give_chain, take_chain) DO UPDATE SET `+strings.Join(sums, ", "), changed)
	if err != nil {
		return err
	}
	return tx.ExecEach(ctx, `DELETE FROM daily_statistics WHERE day = $1 AND give_chain = $2 AND take_chain = $3
		AND created = 0 AND creators = 0`, empty)
}

// storeCreators changes who created how many orders on which day, and with that who was new when.
func (t *tally) storeCreators(ctx context.Context, tx *store.Tx) error {
	var changed, fewer [][]any
	for key, days := range t.creators {
		for day, by := range days {
			if by == 0 {
				delete(days, day)
			}
		}
		if len(days) == 0 {
			continue
		}
		known, err := daysOf(ctx, tx, key)
		if err != nil {
			return err
		}
		first, wasThere := firstOf(known)
		for day, by := range days {
			arguments := []any{store.Blob([]byte(key.creator)), key.give, key.take, day}
			if by < 0 {
				fewer = append(fewer, arguments[:4:4])
			}
			changed = append(changed, append(arguments, by))
			row := t.row(dayOfPair{key.pair, day})
			switch before := known[day]; {
			case before == 0:
				row[creatorsAt]++
			case before+by == 0:
				row[creatorsAt]--
			}
			known[day] += by
		}
		if wasThere {
			t.row(dayOfPair{key.pair, first})[newCreatorsAt]--
		}
		if first, isThere := firstOf(known); isThere {
			t.row(dayOfPair{key.pair, first})[newCreatorsAt]++
		}
	}
	err := tx.ExecEach(ctx, `INSERT INTO order_creators (creator, give_chain, take_chain, day, orders) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (creator, give_chain, take_chain, day) DO UPDATE SET orders = order_creators.orders + excluded.orders`, changed)
	if err != nil {
		return err
	}
	return tx.ExecEach(ctx, `DELETE FROM order_creators WHERE creator = $1 AND give_chain = $2 AND take_chain = $3 AND day = $4
		AND orders = 0`, fewer)
}

// daysOf returns how many orders somebody created on each day.
func daysOf(ctx context.Context, tx *store.Tx, key creatorOfPair) (map[int64]int64, error) {
	days := make(map[int64]int64)
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var day, orders int64
		err := rows.Scan(&day, &orders)
		days[day] = orders
		return err
	}, `SELECT day, orders FROM order_creators WHERE creator = $1 AND give_chain = $2 AND take_chain = $3`,
		store.Blob([]byte(key.creator)), key.give, key.take)
	return days, err
}

// firstOf returns the first day with orders.
func firstOf(days map[int64]int64) (first int64, found bool) {
	for day, orders := range days {
		if orders > 0 && (!found || day < first) {
			first, found = day, true
		}
	}
	return first, found
}

func (t *tally) storeTokens(ctx context.Context, tx *store.Tx) error {
	var changed, fewer [][]any
	for key, by := range t.tokens {
		if by == 0 {
			continue
		}
		arguments := []any{key.chain, store.Blob([]byte(key.address))}
		if by < 0 {
			fewer = append(fewer, arguments[:2:2])
		}
		changed = append(changed, append(arguments, by))
	}
	err := tx.ExecEach(ctx, `INSERT INTO order_tokens (chain, address, orders) VALUES ($1, $2, $3)
		ON CONFLICT (chain, address) DO UPDATE SET orders = order_tokens.orders + excluded.orders`, changed)
	if err != nil {
		return err
	}
	return tx.ExecEach(ctx, `DELETE FROM order_tokens WHERE chain = $1 AND address = $2 AND orders = 0`, fewer)
}
