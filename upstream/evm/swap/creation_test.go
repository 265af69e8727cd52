package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// creating returns a transaction that creates an order of a coin, and the order that it promises.
func creating(c chain.Chain) (creation.Transaction, creation.Promise) {
	salt := uint64(7)
	made := creation.Creation{
		GiveToken: chain.NativeCoin(chain.EVM), GiveAmount: chain.NewAmount(1000), Salt: &salt, Receiver: somebody,
		Take: order.Offer{Chain: 137, Token: someToken, Amount: chain.NewAmount(9)}, Authorities: order.Authorities{GivePatch: somebody, Order: somebody},
	}
	terms := made.Terms(c.ID, somebody, salt, made.GiveAmount)
	return creation.Transaction{Sender: somebody, To: c.Contracts.DlnSource, Value: chain.NewAmount(1001), Data: made.Data()},
		creation.Promise{ID: onchain.ID(terms), Created: order.Created{Terms: terms, FixFee: chain.NewAmount(1)}}
}

// routed returns the same creation behind the public router.
func routed(c chain.Chain, t creation.Transaction) creation.Transaction {
	t.Data = creation.Swap{TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(1000), Target: t.To, TargetData: t.Data}.Data()
	t.To = c.Contracts.Router
	return t
}

// createdLogs returns the event of an order's creation, as nodes report it.
func createdLogs(t *testing.T, source chain.Address, p creation.Promise) json.RawMessage {
	t.Helper()
	const signature = "CreatedOrder((uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes),bytes32,bytes,uint256,uint256,uint32,bytes)"
	o, who := p.Created.Terms, p.Created.Terms.Authorities
	tuple := words.Tuple{
		o.Nonce, o.Maker.Bytes(), uint64(o.Give.Chain), o.Give.Token.Bytes(), o.Give.Amount, uint64(o.Take.Chain), o.Take.Token.Bytes(), o.Take.Amount,
		o.Receiver.Bytes(), who.GivePatch.Bytes(), who.Order.Bytes(),
		[]byte{},
		[]byte{},
		[]byte{},
	}
	return must.Get(json.Marshal([]simulatedLog{{
		Address: source, Topics: []chain.Hash{chain.Hash(crypto.Keccak256Hash([]byte(signature)))},
		Data: words.Encode(tuple, chain.Hash(p.ID), []byte{}, p.Created.FixFee, 0, 0, []byte{}),
	}}))(t)
}

// TestCreationsMakeThePromisedOrder in each of the next two blocks, and leave nothing in the router; the gas is the
// larger of the two.
func TestCreationsMakeThePromisedOrder(t *testing.T) {
	c := documented(t, 8453)
	tx, promised := creating(c)
	_, other := creating(documented(t, 1))
	logs, others := createdLogs(t, c.Contracts.DlnSource, promised), createdLogs(t, c.Contracts.DlnSource, other)
	const estimate = 0x30000 // see simulated
	for name, row := range map[string]struct {
		tx     creation.Transaction
		second simulatedResult // in the second block
		left   uint64          // gain of the receiver of the transaction
		gas    uint64
		want   error
	}{
		"the promised order":        {tx, simulatedResult{Status: 1, MaxUsedGas: 320_000, Logs: logs}, 1000, 330_000, nil},
		"less gas later":            {tx, simulatedResult{Status: 1, MaxUsedGas: 32_000, Logs: logs}, 1000, estimate, nil},
		"by the router":             {routed(c, tx), simulatedResult{Status: 1, Logs: logs}, 0, estimate, nil},
		"a rest left in the router": {routed(c, tx), simulatedResult{Status: 1, Logs: logs}, 1, 0, quote.ErrRefused},
		"another order later":       {tx, simulatedResult{Status: 1, Logs: others}, 1000, 0, creation.ErrBroken},
		"two orders":                {tx, simulatedResult{Status: 1, Logs: slices.Concat(logs[:len(logs)-1], []byte(","), others[1:])}, 1000, 0, creation.ErrBroken},
		"no order":                  {tx, simulatedResult{Status: 1}, 1000, 0, creation.ErrBroken},
		"events of another form":    {tx, simulatedResult{Status: 1, Logs: json.RawMessage("7")}, 1000, 0, creation.ErrBroken},
		"refused later":             {tx, simulatedResult{Logs: logs}, 1000, 0, quote.ErrReverted},
	} {
		n := &node{answers: simulated(nil), run: func(blocks int) []simulatedResult {
			made := simulatedResult{Status: 1, GasUsed: 100_000, Logs: logs}
			if blocks > 1 {
				made = row.second
			}
			return []simulatedResult{{Status: 1, ReturnData: words.Encode(5)}, made, {Status: 1, ReturnData: words.Encode(5 + row.left)}}
		}}
		gas, err := NewSimulator(n.serve(t, c)).Creation(t.Context(), row.tx, promised)
		if gas != row.gas || !errors.Is(err, row.want) {
			t.Errorf("%s: %d gas, %v, want %d, %v", name, gas, err, row.gas, row.want)
		}
	}
}

// TestCreationsOfOlderNodes: without eth_simulateV1, DlnSource must have the order afterwards; without overrides too,
// whether nodes refuse or ignore them, it must return the order's id to a sender who has the input.
func TestCreationsOfOlderNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		const estimate, exact, poor, refuse, ignore = 0x30000, `"result":"0x3e9"`, `"result":"0x3e8"`, "refuse", "ignore"
		c := documented(t, 8453)
		tx, promised := creating(c)
		id := fmt.Sprintf("0x%x", promised.ID[:])
		after := func(gain, status uint64) string { return fmt.Sprintf("0x%x", words.Encode(5, 0, 5+gain, status)) }
		for name, row := range map[string]struct {
			tx            creation.Transaction
			overrides     string // what a node does with them; empty: it takes them
			answer, coins string // the sender's coins; empty: many
			want          error
		}{
			"the order is there":    {tx, "", after(1000, 1), poor, nil},
			"it is not":             {tx, "", after(1000, 0), poor, creation.ErrBroken},
			"it is claimed":         {tx, "", after(1000, 2), poor, creation.ErrBroken},
			"refused":               {tx, "", "!execution reverted", poor, quote.ErrReverted},
			"a rest in the router":  {routed(c, tx), "", after(1, 1), poor, quote.ErrRefused},
			"the id":                {tx, refuse, id, exact, nil},
			"of who knows what":     {tx, refuse, id, rpctest.Fault(-32601, "the method does not exist"), quote.ErrNotSimulated},
			"another id":            {tx, refuse, nothingWord, "", creation.ErrBroken},
			"of a sender with less": {tx, refuse, id, poor, quote.ErrSenderLacks},
			"behind the router":     {routed(c, tx), refuse, id, "", quote.ErrNotSimulated},
			"the id, ignoring":      {tx, ignore, id, "", nil},
			"with less, ignoring":   {tx, ignore, id, poor, quote.ErrSenderLacks},
			"another id, ignoring":  {tx, ignore, nothingWord, "", creation.ErrBroken},
		} {
			n := &node{answers: simulated(nil), isBare: row.overrides == refuse, contract: func(to, _ string) string {
				if row.overrides == ignore && to == somebody.String() {
					return "0x" // as of any account without code
				}
				return row.answer
			}}
			if row.coins != "" {
				n.answers["eth_getBalance"] = row.coins
			}
			pools := [][]*node{{n}}
			lies := []string{"!execution reverted", nothingWord, after(1000, 0), after(1, 1)} // of a node beside it
			if row.overrides == ignore || row.overrides == "" && row.want != nil {
				lies = nil
			}
			for _, lie := range lies {
				lying := &node{answers: n.answers, isBare: n.isBare, contract: func(string, string) string { return lie }}
				pools = append(pools, []*node{lying, n})
			}
			for i, pool := range pools {
				gas, err := NewSimulator(serveAll(t, c, pool...)).Creation(t.Context(), row.tx, promised)
				if !errors.Is(err, row.want) || err == nil && gas != estimate || errors.Is(err, quote.ErrSenderLacks) != errors.Is(row.want, quote.ErrSenderLacks) {
					t.Errorf("%s, pool %d: %d gas, %v, want %v", name, i, gas, err, row.want)
				}
			}
		}
	})
}

// TestAWalletLeavesTheTransactionItsGas, and the sender what they have, if that is enough.
func TestAWalletLeavesTheTransactionItsGas(t *testing.T) {
	const gas, value = 64_000, 3
	for has, want := range map[uint64]uint64{0: value + gas + gas/32 + walletGas, 1 << 40: 1 << 40} {
		asked := overrides{accounts: map[chain.Address]override{}}.inWallet(new(evm.Payload),
			quote.Simulation{Sender: somebody, Tx: quote.Tx{Value: chain.NewAmount(value)}},
			surroundings{gas: gas, gasPrice: chain.NewAmount(1), coins: chain.NewAmount(has)}, nil, "latest")
		message, accounts := asked.Params[0].(evm.Message), asked.Params[2].(map[chain.Address]override)
		if message.Gas < gas*64/63+walletGas || accounts[somebody].Balance.Amount != chain.NewAmount(want) {
			t.Errorf("of a sender with %d: %d gas and %s, want %d", has, message.Gas, accounts[somebody].Balance.Amount, want)
		}
	}
}
