package processes_test

import (
	"fmt"
	"testing"

	"crossgate/sandbox/jsonrpc"
)

// troubleIndex has the node of a chain refuse logs, as it did from the start, and then lose receipts. The block is
// asked for again a minute later.
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
	controlled(t, o.world, "create", fmt.Sprintf(offer, id), new(any))
	o.expect(t, "CrossgateBlocksQuarantined "+id)
	o.node.spoil(nil)
	o.fading = append(o.fading, "CrossgateBlocksQuarantined "+id)
	o.expect(t)
}

// failRequests has an origin fail at one request in ten.
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

// slowDatabase has the database take a tenth of a second to look for swaps, and then more than half of one.
func (o *observed) slowDatabase(t *testing.T) {
	t.Helper()
	const view = `CREATE OR REPLACE VIEW swaps AS SELECT * FROM mislaid WHERE (SELECT pg_sleep(%s)) IS NOT NULL`
	stop := o.asking(t, o.second, 8, func(i int) string { return fmt.Sprintf("/swap/0x%064x", 1<<40+i) })
	o.execute(t, `ALTER TABLE swaps RENAME TO mislaid`, fmt.Sprintf(view, "0.1"))
	o.expect(t, "CrossgateDatabaseBusy read")
	o.execute(t, fmt.Sprintf(view, "0.6"))
	o.expect(t, "CrossgateDatabaseSlow postgresql")
	stop()
	o.execute(t, `DROP VIEW swaps`, `ALTER TABLE mislaid RENAME TO swaps`)
	o.expect(t)
}

// nameUnknownChain has the database hold an order that takes on a chain which is not known. Such orders are counted
// when a configuration is taken over.
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
