package processes_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/sandboxtest"
)

// troubleIndex has the node of a chain refuse logs, as it did from the start, and then lose receipts. The block is
// requested again a minute later.
func (o *observed) troubleIndex(t *testing.T) {
	t.Helper()
	id := fmt.Sprint(o.spoilt.Facts.ID)
	o.expect(t, "CrossgateIndexBehindFast "+id)

	o.node.spoil(nil)
	o.expect(t)

	o.node.spoil(func(call jsonrpc.Request) string {
		switch call.Method {
		case "eth_getTransactionReceipt", "eth_getBlockReceipts":
			return `"result":null`
		}
		return ""
	})
	const offer = `{"chainId":%s,"takeChainId":137,"giveToken":"USDC","giveAmount":"100","takeToken":"DAI","takeAmount":"99.5"}`
	sandboxtest.Control(t, o.world, "create", fmt.Sprintf(offer, id), new(any))
	// Each quarantined block was waited for, and the minute after which an index is behind is not hurried.
	o.fading = append(o.fading, "CrossgateIndexBehindFast "+id)
	o.expect(t, "CrossgateBlocksQuarantined "+id)
	o.node.spoil(nil)
	o.fading = append(o.fading, "CrossgateBlocksQuarantined "+id)
	o.expect(t)
}

// failRequests makes an origin fail one request in ten.
func (o *observed) failRequests(t *testing.T) {
	t.Helper()
	stop := o.asking(t, o.first, 1, func(i int) string {
		if i%10 == 9 {
			return "/failing"
		}
		return "/working"
	})
	o.expect(t, "CrossgateErrorsFast")
	stop()
	o.expect(t)
}

// giveUpRequests abandons requests, as a load balancer does, before an origin answers.
func (o *observed) giveUpRequests(t *testing.T) {
	t.Helper()
	began := time.Now()
	eventually(t, "requests that were given up are failures", func() (string, bool) {
		o.first.giveUp(t, "/waiting", 1100*time.Millisecond)
		firing := o.firing(t)
		return fmt.Sprint(firing), slices.Contains(firing, "CrossgateErrorsFast")
	})
	t.Logf("CrossgateErrorsFast of requests given up after %.1f s", time.Since(began).Seconds())
	o.expect(t)
}

// loseChain makes the only endpoint of a chain fail, then swaps there as a consequence, then unrelated requests: only
// those are errors in addition to the chain's.
func (o *observed) loseChain(t *testing.T) {
	t.Helper()
	away := fmt.Sprint("CrossgateChainAway ", o.lost.Facts.ID)
	o.fault(t, o.lost, `"kind":"down"`)
	stop := o.asking(t, o.first, 4, unknownOrder)
	o.expect(t, away)
	stop()
	swap := fmt.Sprintf("/v1.0/chain/estimation?chainId=%d&tokenIn=0x%040x&tokenOut=%s&tokenInAmount=", o.lost.Facts.ID, 0, o.lost.Tokens[1].Address.Hex())
	stop = o.asking(t, o.first, 1, func(i int) string { return fmt.Sprint(swap, 1_000_000_000_000_000+i) })
	eventually(t, "swaps fail for want of the chain, faster than the objective allows", func() (string, bool) {
		failed := o.query(t, `crossgate:failed:ratio1h{crossgate_chain_id!=""} > 14.4 * 0.001`)
		return fmt.Sprint(failed), len(failed) == 1
	})
	o.expect(t, away)
	stop()
	stop = o.asking(t, o.first, 1, func(int) string { return "/failing" })
	o.expect(t, away, "CrossgateErrorsFast")
	stop()
	o.fault(t, o.lost, `"kind":"none"`)
	o.expect(t)
}

// loseTargets ends the other environment, and then lets Prometheus find none of its targets, and no targets at all.
func (o *observed) loseTargets(t *testing.T) {
	t.Helper()
	down := "CrossgateDown " + o.far
	_ = o.staging.end(os.Kill)
	o.expect(t, down, "CrossgateDown staging "+o.besides)
	o.scrape(t, map[string][]string{"": {o.near, o.far}})
	o.expect(t, down, "CrossgateGone staging")
	o.scrape(t, nil)
	o.lasting = nil // alerts of gateways that Prometheus no longer knows
	o.expect(t, "CrossgateGone", "CrossgateGone staging")
}

// slowDatabase makes lookups of swaps take a twentieth of a second in the database, which leaves a busy machine time,
// and then more than half a second. There are no more clients than connections, because clients that also wait for a
// connection would exceed a statement's second.
func (o *observed) slowDatabase(t *testing.T) {
	t.Helper()
	const view = `CREATE OR REPLACE VIEW swaps AS SELECT * FROM mislaid WHERE (SELECT pg_sleep(%s)) IS NOT NULL`
	swap := func(i int) string { return fmt.Sprintf("/swap/0x%064x", 1<<40+i) }
	stop := o.asking(t, o.second, 10, swap)
	o.execute(t, `ALTER TABLE swaps RENAME TO mislaid`, fmt.Sprintf(view, "0.05"))
	o.expect(t, "CrossgateDatabaseBusy read")
	stop()
	stop = o.asking(t, o.second, 3, swap)
	o.execute(t, fmt.Sprintf(view, "0.6"))
	o.expect(t, "CrossgateDatabaseSlow postgresql")
	stop()
	o.execute(t, `DROP VIEW swaps`, `ALTER TABLE mislaid RENAME TO swaps`)
	o.expect(t)
}

// slowAnswers makes the three statements for statistics so slow that the answer misses its objective without being
// given up: a small share of the database's statements, but all of the answers.
func (o *observed) slowAnswers(t *testing.T) {
	t.Helper()
	o.execute(t, `ALTER TABLE daily_statistics RENAME TO mislaid`,
		`CREATE VIEW daily_statistics AS SELECT * FROM mislaid WHERE (SELECT pg_sleep(0.36)) IS NOT NULL`)
	stop := o.asking(t, o.first, 1, func(i int) string {
		return fmt.Sprintf("/api/Satistics/getDaily?dateFrom=2025-%02d-%02d&dateTo=2025-12-31", i/28%12+1, i%28+1)
	})
	o.expect(t, "CrossgateOrdersSlowFast")
	stop()
	o.execute(t, `DROP VIEW daily_statistics`, `ALTER TABLE mislaid RENAME TO daily_statistics`)
	o.expect(t)
}

// nameUnknownChain stores an order whose take chain is unknown. Such orders are counted when a configuration is loaded.
func (o *observed) nameUnknownChain(t *testing.T) {
	t.Helper()
	const unknown = 100000777
	id := o.lost.Facts.ID
	o.execute(t, fmt.Sprintf(`UPDATE orders SET take_chain = %d WHERE id = (SELECT id FROM orders WHERE take_chain = %d LIMIT 1)`, unknown, id))
	o.configure(t, "# with an order that is not known\n")
	o.expect(t, fmt.Sprint("CrossgateUnknownChain ", unknown))
	o.execute(t, fmt.Sprintf(`UPDATE orders SET take_chain = %d WHERE take_chain = %d`, id, unknown))
	o.configure(t, "# without it\n")
	o.expect(t)
}

// refuseChanges makes the database read-only, like a standby or a full disk.
func (o *observed) refuseChanges(t *testing.T) {
	t.Helper()
	readOnly := func(value string) {
		o.execute(t, `BEGIN READ WRITE; ALTER DATABASE orders SET default_transaction_read_only = `+value+`; COMMIT`,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'orders' AND pid <> pg_backend_pid()`)
	}
	readOnly("on")
	o.expect(t, "CrossgateDatabaseReadOnly")
	readOnly("off")
	o.expect(t)
}
