package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/upstream/jsonrpc"
)

// TestWhatNoNodeRanIsNotSimulated uses nodes that answer null in place of a transaction's outcome, as RPC gateways do
// if their own nodes fail.
func TestWhatNoNodeRanIsNotSimulated(t *testing.T) {
	const ran = `"result":"0x"`
	missing := rpctest.Fault(-32601, "the method does not exist")
	for _, test := range []struct {
		name, simulated, called, pending string // answers to eth_simulateV1, and to eth_call on the newest and the pending block
		ok                               bool
	}{
		{"run", missing, ran, ran, true},
		{"null of a call", missing, `"result":null`, ran, false},
		{"no pending block", missing, ran, rpctest.Fault(-32000, "pending state is not available"), true},
		{"not run on the pending block", missing, ran, rpctest.Fault(-32000, "execution timeout"), false},
		{"null of a simulation", `"result":null`, ran, ran, false},
		{"blocks that are null", `"result":[null,null]`, ran, ran, false},
	} {
		n := &node{answers: simulated(map[string]string{"eth_simulateV1": test.simulated, "eth_call": test.called}), pending: test.pending}
		sender := chain.NewAddress([]byte("the sender's address"))
		got, err := NewSimulator(n.serve(t, documented(t, 8453))).Simulate(t.Context(), quote.Simulation{
			Sender: sender, Recipient: sender, In: chain.NativeCoin(chain.EVM), Out: someToken,
			AmountIn: chain.NewAmount(1), Tx: quote.Tx{To: otherToken, Data: make([]byte, 4), Value: chain.NewAmount(1)},
		})
		if (err == nil) != test.ok || errors.Is(err, quote.ErrReverted) {
			t.Errorf("%s: Simulate() = %+v, %v", test.name, got, err)
		}
	}
}

// TestANodeWithoutBlocksIsPassedOver by a simulation, which begins at the newest block.
func TestANodeWithoutBlocksIsPassedOver(t *testing.T) {
	nodes := []*node{{answers: simulated(map[string]string{"eth_getBlockByNumber": `"result":null`})}, {answers: simulated(nil)}}
	if now, err := NewSimulator(serveAll(t, documented(t, 8453), nodes...)).surroundings(t.Context(), quote.Simulation{Sender: somebody}); err != nil {
		t.Errorf("surroundings = %+v, %v, want those of the other node", now, err)
	}
}

// TestChainsWithoutAContractCancelNothing: some chains lack a gate, and some an adapter of external calls.
func TestChainsWithoutAContractCancelNothing(t *testing.T) {
	bare := documented(t, 5042)
	bare.Contracts.ExternalCallAdapter = chain.Address{}
	s := NewSimulator((&node{}).serve(t, bare))
	if tx, err := s.message(t.Context(), placeholderHolder, 1, []byte{1, 2, 3, 4}); !errors.Is(err, creation.ErrNotHere) {
		t.Errorf("message = %+v, %v, want ErrNotHere", tx, err)
	}
	terms := order.Terms{ExternalCall: []byte{1}}
	if tx, err := s.CancelCall(t.Context(), order.ID{}, terms, chain.NewAmount(1)); !errors.Is(err, creation.ErrNotHere) {
		t.Errorf("CancelCall = %+v, %v, want ErrNotHere", tx, err)
	}
}

// simulated returns the answers needed for a simulation, with more added.
func simulated(more map[string]string) map[string]string {
	all := map[string]string{
		"eth_getBlockByNumber": `"result":{"number":"0x3e8","timestamp":"0x6553f100","miner":"0x0000000000000000000000000000000000000001"}`,
		"eth_gasPrice":         `"result":"0x1"`, "eth_getBalance": fmt.Sprintf(`"result":"0x%x"`, uint64(1e18)), "eth_estimateGas": `"result":"0x30000"`,
	}
	maps.Copy(all, more)
	return all
}

// TestCoinsAreMeasuredByTheMulticall, if the chain has one, for swaps into the coin that pay an account.
func TestCoinsAreMeasuredByTheMulticall(t *testing.T) {
	c := documented(t, 8453)
	c.Contracts.Multicall = thief
	swapped := quote.Simulation{Sender: somebody, Recipient: somebody, In: chain.NativeCoin(chain.EVM), Out: someToken, Tx: quote.Tx{To: otherToken, Data: make([]byte, 4)}}
	balance := func(n int) []byte { return words.Encode(n) }
	for name, row := range map[string]struct {
		change func(*quote.Simulation)
		answer words.List
		want   uint64 // zero: not measured
	}{
		"it pays":         {func(*quote.Simulation) {}, words.List{words.Tuple{true, balance(5)}, words.Tuple{true, []byte{}}, words.Tuple{true, balance(12)}}, 7},
		"two answers":     {func(*quote.Simulation) {}, words.List{words.Tuple{true, balance(5)}, words.Tuple{true, balance(12)}}, 0},
		"a token":         {func(s *quote.Simulation) { s.In = otherToken }, nil, 0},
		"to the coin":     {func(s *quote.Simulation) { s.Out = chain.NativeCoin(chain.EVM) }, nil, 0},
		"behind a router": {func(s *quote.Simulation) { s.Through = thief }, nil, 0},
	} {
		n := &node{contract: func(string, string) string { return fmt.Sprintf("0x%x", words.Encode(row.answer)) }}
		s := swapped
		row.change(&s)
		got, measured := NewSimulator(n.serve(t, c)).CoinOutcome(t.Context(), s)
		if got != chain.NewAmount(row.want) || measured != (row.want > 0) || (n.requests > 0) != (row.answer != nil) {
			t.Errorf("%s: %s, %t after %d requests, want %d", name, got, measured, n.requests, row.want)
		}
	}
}

// TestTheWorseOfTheNextBlocksCounts, behind the public router: less for the recipient, more gas, more left in the
// router. The gas is a node's estimate, unless a simulation's maximum is known; without either, a quarter more than was
// used.
func TestTheWorseOfTheNextBlocksCounts(t *testing.T) {
	c := documented(t, 8453)
	paid := func(by chain.Address, units int) json.RawMessage {
		return must.Get(json.Marshal([]simulatedLog{
			{Address: by, Topics: []chain.Hash{swapExecuted}, Data: words.Encode(0, 0, 0, 0, units)},
			{Address: by, Topics: []chain.Hash{swapExecuted}, Data: words.Encode(0, 0, 0, 0)},
			{Address: by, Topics: []chain.Hash{swapExecuted, swapExecuted}, Data: words.Encode(0, 0, 0, 0, 1)},
		}))(t)
	}
	const first, second = 1, 2
	amount := chain.NewAmount
	for name, row := range map[string]struct {
		received, left [3]int // by blocks
		made           [3]simulatedResult
		estimate       string
		want           quote.Result
	}{
		"the second": {
			[3]int{0, 10, 9},
			[3]int{0, 1, 3},
			[3]simulatedResult{first: {GasUsed: 400, Logs: paid(c.Contracts.Router, 12)}, second: {GasUsed: 800, Logs: paid(c.Contracts.Router, 11)}},
			rpctest.Fault(3, "no"),
			quote.Result{Measured: true, Received: amount(9), Gross: amount(11), Left: amount(3), Gas: 1000},
		},
		"the first": {
			[3]int{0, 9, 10},
			[3]int{0, 3, 1},
			[3]simulatedResult{first: {GasUsed: 800, Logs: paid(somebody, 11)}, second: {GasUsed: 400}},
			`"result":"0x2bc"`,
			quote.Result{Measured: true, Received: amount(9), Left: amount(3), Gas: 700},
		},
		"the gas before refunds": {
			[3]int{0, 9, 10},
			[3]int{},
			[3]simulatedResult{first: {GasUsed: 800, MaxUsedGas: 320}, second: {GasUsed: 800, MaxUsedGas: 3200}},
			`"result":"0x2bc"`,
			quote.Result{Measured: true, Received: amount(9), Gas: 3300},
		},
	} {
		n := &node{answers: simulated(map[string]string{"eth_estimateGas": row.estimate}), run: func(block int) []simulatedResult {
			word := func(n int) simulatedResult { return simulatedResult{Status: 1, ReturnData: words.Encode(n)} }
			row.made[block].Status = 1
			return []simulatedResult{word(7), word(5), row.made[block], word(7 + row.received[block]), word(5 + row.left[block])}
		}}
		s := NewSimulator(n.serve(t, c))
		swapped := quote.Simulation{
			Sender: somebody, Recipient: somebody, In: chain.NativeCoin(chain.EVM), Out: someToken, Through: c.Contracts.Router,
			Tx: quote.Tx{To: c.Contracts.Router, Data: make([]byte, 4)},
		}
		if got, err := s.Simulate(t.Context(), swapped); err != nil || got != row.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, row.want)
		}
		before := n.methods["eth_estimateGas"]
		_, _ = s.Simulate(t.Context(), swapped)
		if isAsked, knows := n.methods["eth_estimateGas"] > before, row.made[second].MaxUsedGas > 0; isAsked == knows {
			t.Errorf("%s: the gas is estimated by a node that reports it: %t", name, isAsked)
		}
	}
}

// TestOneNodeRefusesNoSwap has the first of two nodes return something else than the outcome of a transaction, or tell
// nothing of the token's storage.
func TestOneNodeRefusesNoSwap(t *testing.T) {
	run := func(int) []simulatedResult {
		word := simulatedResult{Status: 1, ReturnData: words.Encode(7)}
		return []simulatedResult{word, {Status: 1, MaxUsedGas: 32}, {Status: 1, ReturnData: words.Encode(9)}}
	}
	slot := func(slot int) func(string, string) string {
		value := probeValue(slot)
		return func(string, string) string { return fmt.Sprintf("0x%x", value) }
	}
	honest := &node{answers: simulated(nil), run: run, contract: slot(3)}
	for name, other := range map[string]*node{
		"no blocks":  {answers: simulated(map[string]string{simulateV1: `"result":[]`}), contract: slot(3)},
		"an error":   {answers: simulated(map[string]string{simulateV1: rpctest.Fault(3, "execution reverted")}), contract: slot(3)},
		"no calls":   {answers: simulated(nil), contract: slot(3), run: func(int) []simulatedResult { return nil }},
		"a failure":  {answers: simulated(nil), contract: slot(3), run: func(n int) []simulatedResult { made := run(n); made[1].Status = 0; return made }},
		"no storage": {answers: simulated(nil), contract: slot(-1), run: run},
		"a revert":   {answers: simulated(nil), contract: func(string, string) string { return "!execution reverted" }, run: run},
		"no price":   {answers: simulated(map[string]string{"eth_gasPrice": rpctest.Fault(3, "execution reverted")}), contract: slot(3), run: run},
	} {
		s := NewSimulator(serveAll(t, documented(t, 8453), other, honest))
		found, err := s.Simulate(t.Context(), quote.Simulation{
			Sender: somebody, Recipient: somebody, In: chain.NativeCoin(chain.EVM), Out: someToken, Tx: quote.Tx{To: otherToken, Data: make([]byte, 4)},
		})
		if want := (quote.Result{Measured: true, Received: chain.NewAmount(2), Gas: 33}); err != nil || found != want {
			t.Errorf("%s by one of two: %+v, %v, want %+v", name, found, err, want)
		}
		if at := must.Get(s.layout(t.Context(), someToken))(t); at.balances == nil || at.allowances == nil {
			t.Errorf("%s by one of two: layout %+v, want that of the other", name, at)
		}
	}
	plain := &node{answers: simulated(map[string]string{"eth_call": `"result":"0x"`})} // as TRON's
	refusing := &node{answers: plain.answers, reverts: otherToken.String()}
	s := NewSimulator(serveAll(t, documented(t, chain.Tron), refusing, plain))
	found, err := s.Simulate(t.Context(), quote.Simulation{
		Sender: somebody, In: chain.NativeCoin(chain.TVM), Out: someToken, Tx: quote.Tx{To: otherToken, Data: make([]byte, 4)},
	})
	if err != nil {
		t.Errorf("a revert by one of two plain nodes: %+v, %v, want the other's result", found, err)
	}
	if all, err := s.Forecast(t.Context(), creation.Transaction{Sender: somebody, To: otherToken, Data: make([]byte, 4)}); !errors.Is(err, creation.ErrOtherFunction) {
		t.Errorf("a revert by one of two plain nodes: %+v, %v, want the other's word that nothing is created", all, err)
	}
	having := &node{answers: simulated(nil), contract: func(string, string) string { return fmt.Sprintf("0x%064x", 1<<40) }}
	refusing = &node{answers: having.answers, contract: having.contract, reverts: fmt.Sprintf("%x", balanceOf.Call(somebody))}
	found, err = NewSimulator(serveAll(t, documented(t, chain.Tron), refusing, having)).Simulate(t.Context(), quote.Simulation{
		Sender: somebody, In: someToken, AmountIn: chain.NewAmount(5), Out: otherToken, Tx: quote.Tx{To: otherToken, Data: make([]byte, 4)},
	})
	if err != nil {
		t.Errorf("no balance by one of two plain nodes: %+v, %v, want the other's result", found, err)
	}
	measuring := &node{answers: simulated(nil), contract: func(string, string) string { return fmt.Sprintf("0x%064x%064x%064x", 5, 1, 12) }}
	refusing = &node{answers: measuring.answers, contract: measuring.contract, reverts: `"to":"` + somebody.String()}
	found, err = NewSimulator(serveAll(t, documented(t, 8453), refusing, measuring)).Simulate(t.Context(), quote.Simulation{
		Sender: somebody, Recipient: somebody, In: chain.NativeCoin(chain.EVM), Out: someToken, Tx: quote.Tx{To: otherToken, Data: make([]byte, 4)},
	})
	if err != nil || found.Received != chain.NewAmount(7) {
		t.Errorf("a revert of the readings by one of two nodes: %+v, %v, want the other's", found, err)
	}
	estimating := &node{answers: simulated(nil)}
	refusing = &node{answers: estimating.answers, reverts: otherToken.String()}
	if gas, err := NewFees(serveAll(t, documented(t, 1), refusing, estimating)).EstimateGas(t.Context(), somebody, quote.Tx{To: otherToken}); err != nil || gas == 0 {
		t.Errorf("a revert by one of two nodes: %d gas, %v, want the other's estimate", gas, err)
	}
}

// TestNothingIsMeasuredByATokenWithoutBalances, in none of the readings.
func TestNothingIsMeasuredByATokenWithoutBalances(t *testing.T) {
	balance := simulatedResult{Status: 1, ReturnData: words.Encode(7)}
	for _, bad := range []simulatedResult{{ReturnData: words.Encode(7)}, {Status: 1}, {Status: 1, ReturnData: make([]byte, 64)}} {
		for _, calls := range [][]simulatedResult{{bad, {Status: 1}, balance}, {balance, {Status: 1}, bad}} {
			if found, err := finding(calls, 1, quote.Simulation{Out: someToken}, surroundings{}, 0); !errors.Is(err, quote.ErrNotSimulated) {
				t.Errorf("of %+v: %+v, %v, want ErrNotSimulated", calls, found, err)
			}
		}
	}
}

// TestLayoutsAreKept as long as they are likely to stay: one that was not found may be the node's fault.
func TestLayoutsAreKept(t *testing.T) {
	for slot, life := range map[int]time.Duration{3: layoutLife, -1: noLayoutLife} {
		value := probeValue(slot)
		n := &node{contract: func(string, string) string { return fmt.Sprintf("0x%x", value) }}
		s, began := NewSimulator(n.serve(t, documented(t, 8453))), time.Now()
		for range 2 {
			found := must.Get(s.layout(t.Context(), someToken))(t)
			isKnown := found.balances != nil && *found.balances == candidates[3] && found.allowances != nil && *found.allowances == candidates[3]
			if left := found.until.Sub(began); isKnown != (slot == 3) || n.requests != 1 || left < life || left > life+time.Minute {
				t.Errorf("layout of the token with slot %d = %+v for %s after %d requests", slot, found, left, n.requests)
			}
		}
		s.layouts.Put(someToken, layout{until: began})
		if must.Get(s.layout(t.Context(), someToken))(t); n.requests != 2 {
			t.Errorf("an expired layout is looked for anew by %d requests", n.requests-1)
		}
	}
}

// TestThePriceOfGasCoversTheNextBlocks, whose base fee may grow by an eighth.
func TestThePriceOfGasCoversTheNextBlocks(t *testing.T) {
	for base, want := range map[string]uint64{`,"baseFeePerGas":"0x8"`: 9, `,"baseFeePerGas":"0x6"`: 7, "": 7} {
		n := &node{answers: simulated(map[string]string{
			"eth_gasPrice": `"result":"0x7"`, "eth_getBlockByNumber": `"result":{"timestamp":"0x6553f100","miner":"0x0000000000000000000000000000000000000001"` + base + `}`,
		})}
		now, err := NewSimulator(n.serve(t, documented(t, 8453))).surroundings(t.Context(), quote.Simulation{Sender: somebody})
		if err != nil || now.gasPrice != chain.NewAmount(want) || len(now.blocks) != simulatedBlocks {
			t.Errorf("base fee %s: %+v, %v, want a price of %d", base, now, err, want)
		}
	}
}

// TestBareNodesRunWhatASenderHas, and only estimate its gas: a token's outcome is not measured.
func TestBareNodesRunWhatASenderHas(t *testing.T) {
	const amount = 5
	for name, row := range map[string]struct {
		has, allowed int
		want         error
	}{
		"enough":       {amount, amount, nil},
		"not approved": {amount, amount - 1, quote.ErrNotSimulated},
		"too little":   {amount - 1, amount, quote.ErrSenderLacks},
		"nothing":      {0, 0, quote.ErrSenderLacks},
	} {
		n := &node{isBare: true, answers: simulated(nil), contract: func(_, data string) string {
			switch {
			case strings.HasPrefix(data, fmt.Sprintf("0x%x", balanceOf[:])):
				return fmt.Sprintf("0x%064x", row.has)
			case strings.HasPrefix(data, fmt.Sprintf("0x%x", allowance[:])):
				return fmt.Sprintf("0x%064x", row.allowed)
			}
			return "0x"
		}}
		found, err := NewSimulator(n.serve(t, documented(t, 8453))).Simulate(t.Context(), quote.Simulation{
			Sender: somebody, Recipient: somebody, In: someToken, Out: otherToken, AmountIn: chain.NewAmount(amount), Spender: thief,
			Tx: quote.Tx{To: thief, Data: make([]byte, 4)},
		})
		if !errors.Is(err, row.want) || err == nil && found != (quote.Result{Gas: 0x30000}) {
			t.Errorf("%s: %+v, %v, want %v", name, found, err, row.want)
		}
	}
}

// TestRefusedOverridesAreRemembered, so that an endpoint that refuses them is not asked for them again.
func TestRefusedOverridesAreRemembered(t *testing.T) {
	tooMany := rpctest.Fault(-32602, "too many arguments, want at most 2")
	refusing := func() *node {
		return &node{answers: simulated(map[string]string{"eth_call": tooMany, "eth_estimateGas": tooMany, "eth_simulateV1": rpctest.Fault(-32601, "the method does not exist")})}
	}
	n, other := refusing(), refusing()
	c := serveAll(t, documented(t, 8453), n, other)
	s := NewSimulator(c)
	_, err := s.layout(t.Context(), someToken)
	if _, isKept := s.layouts.Get(someToken); err != nil || isKept {
		t.Errorf("a layout that no endpoint could look for is kept as unknown: %v", err)
	}
	s.need(t.Context(), quote.Simulation{Sender: somebody}, overrides{accounts: probed(someToken, somebody)})
	for _, method := range []string{"eth_call", "eth_estimateGas"} {
		if !c.Client().Lacks(method, jsonrpc.Overrides) {
			t.Errorf("refused overrides of %s are asked for again", method)
		}
	}
	for has, lacks := range map[[2]string]bool{ // by two nodes; the gas limit is generous: less may do
		{"0x0", "0x0"}: true, {"0x7", "0x7"}: false, {"0x0", "0x7"}: false, {"0x7", "0x0"}: false,
	} {
		n.answers["eth_getBalance"], other.answers["eth_getBalance"] = fmt.Sprintf(`"result":%q`, has[0]), fmt.Sprintf(`"result":%q`, has[1])
		_, err := s.Simulate(t.Context(), quote.Simulation{
			Sender: somebody, Recipient: somebody, In: chain.NativeCoin(chain.EVM), Out: someToken,
			Tx: quote.Tx{To: otherToken, Data: make([]byte, 4), Value: chain.NewAmount(7)},
		})
		if !errors.Is(err, quote.ErrNotSimulated) || errors.Is(err, quote.ErrSenderLacks) != lacks {
			t.Errorf("a sender with %s of 7: %v, want that it is too little: %t", has, err, lacks)
		}
	}
}

// TestForecastOfWhatOthersDo: what a chain does not say is not that it does nothing.
func TestForecastOfWhatOthersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		c := documented(t, 8453)
		_, promised := creating(c)
		made := simulatedResult{Status: 1, Logs: createdLogs(t, c.Contracts.DlnSource, promised)}
		running := func(results ...simulatedResult) *node {
			return &node{answers: simulated(map[string]string{"eth_call": `"result":"0x"`}), run: func(int) []simulatedResult { return results }}
		}
		poor := rpctest.Fault(-32000, "insufficient funds for gas * price + value")
		for name, row := range map[string]struct {
			node *node
			isOf bool // creation.ErrOtherFunction
			made int
		}{
			"down":            {&node{down: true}, false, 0},
			"too poor":        {&node{answers: map[string]string{"eth_getBalance": `"result":"0x0"`, "eth_call": poor, "eth_simulateV1": poor}}, true, 0},
			"an order":        {running(made), false, 1},
			"an order undone": {running(simulatedResult{Logs: made.Logs}), true, 0},
			"another's calls": {running(made, made), true, 0},
			"refused":         {&node{answers: map[string]string{"eth_getBalance": `"result":"0x7"`, "eth_call": refusing}}, false, 1},
		} {
			all, err := NewSimulator(row.node.serve(t, c)).Forecast(t.Context(), creation.Transaction{Sender: somebody, To: someToken, Data: make([]byte, 4)})
			if len(all) != row.made || (err == nil) != (row.made > 0) || errors.Is(err, creation.ErrOtherFunction) != row.isOf {
				t.Errorf("%s: %+v, %v, want %d, of another function: %t", name, all, err, row.made, row.isOf)
			}
			if name == "refused" && (all[0].Refusal == nil || !strings.Contains(all[0].Refusal.Why, "user error")) {
				t.Errorf("%s: %+v, want the contract's words", name, all[0].Refusal)
			}
		}
	})
}

// TestApprovalsAreThoseThatTheTokenTakes: a part of the tokens refuse to change an allowance to another than zero. One
// of two nodes says that all is allowed, or refuses to say.
func TestApprovalsAreThoseThatTheTokenTakes(t *testing.T) {
	const amount = 5
	for _, row := range []struct {
		allowed  uint64
		isStrict bool
		want     []uint64
	}{
		{0, false, []uint64{amount}},
		{0, true, []uint64{amount}},
		{amount, true, nil},
		{amount - 1, false, []uint64{amount}},
		{amount - 1, true, []uint64{0, amount}},
	} {
		n := &node{contract: func(_, data string) string {
			switch {
			case strings.HasPrefix(data, fmt.Sprintf("0x%x", allowance[:])):
				return fmt.Sprintf("0x%064x", row.allowed)
			case row.isStrict && row.allowed > 0:
				return "!execution reverted"
			}
			return "0x"
		}}
		allowing := &node{contract: func(_, data string) string {
			if strings.HasPrefix(data, fmt.Sprintf("0x%x", allowance[:])) {
				return fmt.Sprintf("0x%064x", 1<<40)
			}
			return n.contract("", data)
		}}
		var want []quote.Tx
		for _, units := range row.want {
			want = append(want, quote.Tx{To: someToken, Data: approve.Call(otherToken, chain.NewAmount(units))})
		}
		for _, first := range []*node{allowing, {contract: n.contract, reverts: fmt.Sprintf("0x%x", allowance[:])}} {
			c := serveAll(t, documented(t, 8453), first, n)
			got, err := NewSimulator(c).Approvals(t.Context(), somebody, someToken, otherToken, chain.NewAmount(amount))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%+v: %v, %v, want %v", row, got, err, want)
			}
		}
		calls := overrides{approve: true}.transaction(quote.Simulation{}, surroundings{allowed: chain.NewAmount(row.allowed)})
		if isReset := row.allowed > 0; (len(calls) == 3) != isReset {
			t.Errorf("%+v: %d calls in place of the transaction", row, len(calls))
		}
	}
}

// TestSharesOfTheInputArePaid to all who have one, but for what is lost to rounding; one who has both gets both.
func TestSharesOfTheInputArePaid(t *testing.T) {
	first, second := quote.NewAffiliate(100, somebody), quote.NewAffiliate(50, thief)
	both := quote.NewAffiliate(50, somebody)
	word := func(n uint64) simulatedResult {
		raw := chain.NewAmount(n).Bytes32()
		return simulatedResult{Status: 1, ReturnData: raw[:]}
	}
	for name, row := range map[string]struct {
		second quote.Affiliate
		gained [2]uint64
		ok     bool
	}{
		"whole":              {second, [2]uint64{1000, 500}, true},
		"rounded":            {second, [2]uint64{998, 498}, true},
		"less than rounding": {second, [2]uint64{997, 500}, false},
		"no second one":      {second, [2]uint64{1000, 0}, false},
		"both of one":        {both, [2]uint64{1500, 1500}, true},
		"one of both":        {both, [2]uint64{1000, 1000}, false},
	} {
		s := quote.Simulation{In: someToken, Out: otherToken, AmountIn: chain.NewAmount(100_000), Shares: []quote.Affiliate{first, row.second}}
		_, err := finding([]simulatedResult{
			word(0), word(7), word(8), {Status: 1}, word(3), word(7 + row.gained[0]), word(8 + row.gained[1]),
		}, 3, s, surroundings{}, 0)
		if row.ok && err != nil || !row.ok && !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v, want that it passes: %t", name, err, row.ok)
		}
	}
}

// TestTokensThatDoNotArriveAreFound: a token that takes a share of transfers, and one that refuses an account. If it
// refuses all, the sender may be at fault.
func TestTokensThatDoNotArriveAreFound(t *testing.T) {
	for name, row := range map[string]struct {
		arrives uint64
		refuses []chain.Address
		want    error
	}{
		"all of it":  {1000, nil, nil},
		"a part":     {999, nil, quote.ErrRefused},
		"an account": {1000, []chain.Address{somebody}, quote.ErrReverted},
		"every one":  {1000, []chain.Address{somebody, placeholderSpender}, nil},
	} {
		n := &node{answers: simulated(nil), contract: func(to, data string) string {
			isRefused := slices.ContainsFunc(row.refuses, func(a chain.Address) bool {
				return strings.Contains(data, fmt.Sprintf("%x", transfer.Call(a, chain.NewAmount(1000))))
			})
			switch {
			case isRefused:
				return "!execution reverted: blocked"
			case to == someToken.String():
				return fmt.Sprintf("0x%064x", 1<<40)
			}
			return fmt.Sprintf("0x%064x%064x%064x", 5, 1, 5+row.arrives)
		}}
		s := NewSimulator(n.serve(t, documented(t, 8453)))
		if err := s.Delivers(t.Context(), someToken, somebody, chain.NewAmount(1000)); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}

// TestContractsSignNothing: of a contract wallet the maker is unknown, but an account that runs a delegate has a key.
func TestContractsSignNothing(t *testing.T) {
	c := documented(t, 8453)
	for code, warns := range map[string]bool{"0x": false, "0xef0100" + strings.Repeat("11", 20): false, "0x6001": true} {
		n := &node{answers: map[string]string{"eth_getCode": `"result":"` + code + `"`}}
		if warns {
			n.answers["eth_getBalance"] = `"result":"0x7"`
		}
		s := NewSimulator(n.serve(t, c))
		all, err := s.Forecast(t.Context(), creation.Transaction{Sender: somebody, To: c.Contracts.DlnSource, Data: creation.Creation{}.Data()})
		if err == nil && slices.Contains(all[0].Unknown, "balance of the native coin") == warns {
			t.Errorf("of code %s it is not known: %q", code, all[0].Unknown)
		}
		isWarning := func(w creation.Warning) bool { return w.Code == creation.MakerNotSender }
		if err != nil || len(all) != 1 || slices.ContainsFunc(all[0].Warnings, isWarning) != warns {
			t.Errorf("of code %s: %+v, %v, want a warning: %t", code, all, err, warns)
		}
	}
}

// TestABalanceIsNotNothingByOneWord has a node that knows nothing of what another one has.
func TestABalanceIsNotNothingByOneWord(t *testing.T) {
	having := func(has int, code string) *node {
		return &node{answers: map[string]string{
			"eth_getBalance": fmt.Sprintf(`"result":"0x%x"`, has), "eth_call": fmt.Sprintf(`"result":"0x%064x"`, has), "eth_getCode": `"result":"` + code + `"`,
		}}
	}
	c := serveAll(t, documented(t, 8453), having(0, "0x"), having(7, "0x07"))
	if code, err := NewSimulator(c).Code(t.Context(), someToken); err != nil || len(code) == 0 {
		t.Errorf("Code = %x, %v, want that of the node that has it", code, err)
	}
	s := NewSimulator(c)
	all, err := s.Forecast(t.Context(), creation.Transaction{Sender: somebody, To: c.Facts().Contracts.DlnSource, Data: creation.Creation{}.Data()})
	if err != nil || !slices.ContainsFunc(all[0].Warnings, func(w creation.Warning) bool { return w.Code == creation.MakerNotSender }) {
		t.Errorf("Forecast = %+v, %v, want a warning that the sender is a contract", all, err)
	}
	refusing := having(7, "0x07")
	refusing.answers["eth_call"] = rpctest.Fault(3, "execution reverted")
	for _, s := range []*Simulator{s, NewSimulator(serveAll(t, documented(t, 8453), refusing, having(7, "0x07")))} {
		for _, token := range []chain.Address{chain.NativeCoin(chain.EVM), someToken} {
			if has, err := s.Balance(t.Context(), token, otherToken); err != nil || has != chain.NewAmount(7) {
				t.Errorf("Balance of %s = %s, %v, want 7", token, has, err)
			}
		}
	}
	for _, nodes := range [][]*node{{having(9, "0x"), having(7, "0x")}, {having(6, "0x"), having(7, "0x"), having(7, "0x")}} {
		s := NewSimulator(serveAll(t, documented(t, 8453), nodes...))
		for _, token := range []chain.Address{chain.NativeCoin(chain.EVM), someToken} {
			if has, err := s.Balance(t.Context(), token, otherToken); err != nil || has != chain.NewAmount(7) {
				t.Errorf("Balance of %s by %d endpoints = %s, %v, want 7", token, len(nodes), has, err)
			}
		}
	}
}
