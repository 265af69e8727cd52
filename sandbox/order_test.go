package sandbox

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// packed is the order id's preimage, written from the protocol's description and not from its contracts.
func packed(o solana.Terms) []byte {
	field := func(out, value []byte) []byte { return append(append(out, byte(len(value))), value...) }
	number := func(out []byte, value *big.Int) []byte { return append(out, common.BigToHash(value).Bytes()...) }
	out := binary.BigEndian.AppendUint64(nil, o.Nonce)
	out = field(out, o.Maker)
	out = number(out, o.GiveChain)
	out = field(out, o.GiveToken)
	out = number(out, o.GiveAmount)
	out = number(out, o.TakeChain)
	out = field(out, o.TakeToken)
	out = number(out, o.TakeAmount)
	for _, right := range [][]byte{
		o.Receiver, o.PatchAuthority, o.Authority, o.AllowedTaker, o.CancelBeneficiary,
	} {
		out = field(out, right)
	}
	if len(o.ExternalCall) == 0 {
		return append(out, 0)
	}
	return append(append(out, 1), crypto.Keccak256(o.ExternalCall)...)
}

func TestOrderIDsAreTheHashOfTheTerms(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		if got := crypto.Keccak256Hash(packed(o.terms)); got != o.ID {
			t.Errorf("%s: hash of the packed terms = %s, want the announced id %s", o.Title, got, o.ID)
		}
	}
}

// Topics as they are published, so that this reader shares nothing with the contracts' artifacts.
var stages = map[string]struct {
	status int // of its side
	give   bool
	idWord int
}{
	"0xfc8703fd57380f9dd234a89dce51333782d49c5902f307b02f03e014d18fe471": {1, true, 1},
	"0x47ef43a379911343a1cc752617be7096d678feac64600f0f94e63062722735af": {1, true, 1},
	"0x33fff3d864e92b6e1ef9e830196fc019c946104ea621b833aaebd3c3e84b2f6f": {2, true, 0},
	"0x7d7d1c5b3eadbe275ceb358e65cd57410b35997187258dbaaae42ab6e1405fd8": {3, true, 0},
	"0xc164aca37b9805a1c9027b6f32260a069723a82926f6e9ece4926e4dd3ea8ecf": {1, false, 1},
	"0xd281ee92bab1446041582480d2c0a9dc91f855386bb27ea295faac1e992f7fe4": {1, false, 1},
	"0x37a01d7dc38e924008cf4f2fa3d2ec1f45e7ae3c8292eb3e7d9314b7ad10e2fc": {2, false, 0},
	"0xc756fd0227d1d70cec0ead41b16a90a1cac618da1d612cb5d0b72d93301369de": {3, false, 1},
}

func TestStatesAgreeWithTheLogs(t *testing.T) {
	w := untouched
	give, take := map[common.Hash]int{}, map[common.Hash]int{}
	generations := map[string]int{}
	for _, c := range w.Chains() {
		for _, log := range logsOverHTTP(t, c) {
			topic := log.Topics[0].Hex()
			stage, known := stages[topic]
			if !known {
				continue
			}
			generations[topic]++
			id := common.BytesToHash(log.Data[32*stage.idWord : 32*(stage.idWord+1)])
			side := take
			if stage.give {
				side = give
			}
			side[id] = max(side[id], stage.status)
		}
	}
	for topic := range stages {
		if generations[topic] < 2 {
			t.Errorf("%d logs with topic %s, want several", generations[topic], topic)
		}
	}
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		giveStatus, takeStatus, err := w.statuses(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		// Solana's side of an order has no such logs.
		if o.GiveChain() != chain.Solana && int(giveStatus) != give[o.ID] {
			t.Errorf("%s: the contract of the give chain says %d, logs %d", o.Title, giveStatus, give[o.ID])
		}
		if o.TakeChain() != chain.Solana && int(takeStatus) != take[o.ID] {
			t.Errorf("%s: the contract of the take chain says %d, logs %d", o.Title, takeStatus, take[o.ID])
		}
		delete(give, o.ID)
	}
	if len(give) > 0 {
		t.Errorf("%d orders in the logs that the world does not show", len(give))
	}
}

// logsOverHTTP reads every log of the two contracts as the gateway would.
func logsOverHTTP(t *testing.T, c *Chain) []types.Log {
	t.Helper()
	client, err := ethclient.DialContext(t.Context(), c.RPC)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	logs, err := client.FilterLogs(t.Context(), ethereum.FilterQuery{Addresses: []common.Address{c.dlnSource(), c.dlnDestination()}, FromBlock: new(big.Int)})
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

func TestEscrowHoldsExactlyWhatIsOwed(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Chains() {
		for _, token := range append([]Token{c.coin()}, c.Tokens...) {
			owed := c.readBig(t, contracts.DlnSource, c.dlnSource(), "collectedFee", token.Address)
			for _, o := range orders {
				if o.GiveChain() == c.Facts.ID {
					owed.Add(owed, c.owedFor(t, o, token))
				}
			}
			var held *big.Int
			if token.Address == (common.Address{}) {
				if held, err = c.node.client.BalanceAt(t.Context(), c.dlnSource(), nil); err != nil {
					t.Fatal(err)
				}
			} else {
				held = c.readBig(t, contracts.Token, token.Address, "balanceOf", c.dlnSource())
			}
			if held.Cmp(owed) != 0 {
				t.Errorf("chain %s: escrow holds %s %s, owes %s", c.Facts.ID, held, token.Symbol, owed)
			}
		}
	}
}

// owedFor is what the escrow of an open order holds of a token.
func (c *Chain) owedFor(t *testing.T, o Order, token Token) *big.Int {
	t.Helper()
	values, err := c.read(t.Context(), contracts.DlnSource, c.dlnSource(), "giveOrders", o.ID)
	if err != nil {
		t.Fatal(err)
	}
	owed := new(big.Int)
	if giveStates[values[0].(uint8)] != order.StateCreated {
		return owed
	}
	if token.Address == (common.Address{}) {
		owed.Add(owed, values[2].(*big.Int)) // nativeFixFee
	}
	if common.BigToAddress(values[1].(*big.Int)) == token.Address {
		for _, part := range []int{4, 5, 7} { // percentFee, giveAmount, affiliateAmount
			owed.Add(owed, values[part].(*big.Int))
		}
		owed.Add(owed, c.readBig(t, contracts.DlnSource, c.dlnSource(), "givePatches", o.ID))
	}
	return owed
}

func (c *Chain) readBig(t *testing.T, contract *contracts.Contract, at common.Address, method string, args ...any) *big.Int {
	t.Helper()
	values, err := c.read(t.Context(), contract, at, method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return values[0].(*big.Int)
}

func TestTakersAreOwedOnSeveralChainsInSeveralTokens(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, taker := range w.Takers() {
		var gives, takes []chain.ID
		var tokens []string
		for _, o := range orders {
			_, status, err := w.statuses(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			state, err := w.State(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if status == 0 || !state.IsLocked() {
				continue
			}
			_, owner, err := w.taken(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if common.BytesToAddress(owner) == taker.Address {
				gives, takes = append(gives, o.GiveChain()), append(takes, o.TakeChain())
				tokens = append(tokens, o.GiveChain().String()+string(o.terms.GiveToken))
			}
		}
		for what, count := range map[string]int{
			"give chains": distinct(gives), "take chains": distinct(takes), "give tokens": distinct(tokens),
		} {
			if count < 2 {
				t.Errorf("%s has locked orders on %d %s, want several", taker.Name, count, what)
			}
		}
	}
}

func distinct[T ~uint64 | ~string](values []T) int {
	slices.Sort(values)
	return len(slices.Compact(values))
}

func TestSeveralOrdersShareTransactions(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	created := map[chain.TxHash]int{}
	for _, o := range orders {
		created[o.CreationTx]++
	}
	counts := map[int]int{}
	for _, count := range created {
		counts[count]++
	}
	if counts[3] == 0 || counts[2] == 0 {
		t.Errorf("transactions by number of orders = %v, want one with two and one with three", counts)
	}
}

func TestOtherTransactionsCreatedNoOrder(t *testing.T) {
	w := untouched
	var statuses []uint64
	for _, o := range w.OtherTransactions() {
		c, onEVM := w.Chain(o.Chain)
		if !onEVM {
			continue
		}
		receipt, err := c.node.client.TransactionReceipt(t.Context(), common.BytesToHash(o.Hash.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		created, err := ordersOf(types.Receipts{receipt})
		if err != nil || len(created) > 0 {
			t.Errorf("%s announced %v, %v", o.Title, created, err)
		}
		statuses = append(statuses, receipt.Status)
	}
	if !slices.Contains(statuses, types.ReceiptStatusFailed) || !slices.Contains(statuses, types.ReceiptStatusSuccessful) {
		t.Errorf("statuses = %v, want one that failed and one that did not", statuses)
	}
}

// Unlocks of one batch name one submission; the claim that pays them names it too, behind its ClaimedUnlock logs.
func TestClaimsFollowTheirUnlocks(t *testing.T) {
	w := untouched
	claimed := map[common.Hash]int{}
	for _, c := range w.Chains() {
		logs, err := c.logs(t.Context(), c.gate(), contracts.DeBridgeGate.Topic("Claimed"))
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			claimed[common.BytesToHash(log.Data[:32])]++
			receipt, err := c.node.client.TransactionReceipt(t.Context(), log.TxHash)
			if err != nil {
				t.Fatal(err)
			}
			before := receipt.Logs[slices.IndexFunc(receipt.Logs, func(l *types.Log) bool { return l.Index == log.Index })-1]
			if before.Topics[0] != contracts.DeBridgeGate.Topic("AutoRequestExecuted") {
				t.Errorf("log before Claimed in %s has topic %s, want AutoRequestExecuted", log.TxHash, before.Topics[0])
			}
		}
	}
	sent := map[common.Hash]int{}
	for _, c := range w.Chains() {
		logs, err := c.logs(t.Context(), c.dlnDestination(), contracts.DlnDestination.Topic("SentOrderUnlock"))
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			sent[common.BytesToHash(log.Data[64:96])]++
		}
	}
	var batched, paid int
	for submission, count := range sent {
		if count >= 3 {
			batched++
		}
		paid += claimed[submission]
	}
	if batched < 2 || paid < 4 {
		t.Errorf("%d batches of three unlocks, %d unlock messages claimed, want 2 and several", batched, paid)
	}
}
