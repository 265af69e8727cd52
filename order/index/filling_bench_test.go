package index

import (
	"context"
	"sync"
	"testing"
	"time"

	"crossgate/order/list"
	"crossgate/store"
)

// BenchmarkOlderDeliveryTimes fills in the delivery times of 1,000,000 orders that lack them, as after the upgrade to
// schema 21, while the newest orders are listed all the time: how long it takes, and the longest that a list took
// meanwhile.
//
//	go test -timeout 60m -run '^$' -bench OlderDeliveryTimes -benchtime 1x ./order/index
func BenchmarkOlderDeliveryTimes(b *testing.B) {
	orders := listSize()
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		b.Run(name, func(b *testing.B) {
			db, v := open(b), newInvented(41)
			fillList(b, db, v, orders)
			settle(b, db)
			execute(b, db, `INSERT INTO order_values
				SELECT id, 1, give_chain, take_chain, id, id, id, id, 1, 0, 1, NULL, NULL, NULL, NULL, NULL FROM order_list`)
			s := orderStore{DB: db}
			for b.Loop() {
				execute(b, db, `UPDATE order_values SET delivered_after = NULL WHERE delivered_after IS NOT NULL`)
				execute(b, db, `INSERT INTO delivery_time_filling (next_id) SELECT id FROM order_values ORDER BY id LIMIT 1`)
				began := time.Now()
				longest := whileListing(b, s, func(ctx context.Context) { New(db, nil, quietly(Options{})).fillIn(ctx) })
				b.ReportMetric(time.Since(began).Seconds(), "s")
				b.ReportMetric(float64(longest.Milliseconds()), "longest-list-ms")
			}
			var filled int
			_, err := db.QueryRow(b.Context(), []any{&filled}, `SELECT COUNT(*) FROM order_values WHERE delivered_after IS NOT NULL`)
			if err != nil || filled < orders/4 {
				b.Errorf("%d orders have their delivery time, %v", filled, err)
			}
		})
	}
}

// whileListing lists the newest orders again and again until work is done, and returns the longest that a list took.
func whileListing(b *testing.B, s orderStore, work func(context.Context)) (longest time.Duration) {
	ctx, cancel := context.WithCancel(b.Context())
	var lists sync.WaitGroup
	lists.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			if _, err := s.list(b.Context(), list.Orders, list.Filter{}, 0, 25); err != nil {
				b.Error(err)
				return
			}
			longest = max(longest, time.Since(began))
		}
	})
	work(ctx)
	cancel()
	lists.Wait()
	return longest
}
