package evm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox/contracts"
	node "crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/sandboxtest"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
)

// stall is Ethereum in a sandbox, with Uniswap V2's router as the venue and a sender without funds.
type stall struct {
	chain     *evm.Chain
	simulator *swap.Simulator
	router    *swap.Router
	public    chain.Address // the public router's
	tokens    map[string]chain.Address
	user      common.Address
}

// venueRouter is Uniswap V2's router on Ethereum (github.com/Uniswap/docs, deployments).
var venueRouter = common.HexToAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D")

func openStall(t *testing.T, between func(node string) http.Handler) *stall {
	t.Helper()
	world := sandboxtest.Shared(t)
	ethereum := world.Chains()[0]
	pool := pooltest.At(t, ethereum.RPC)
	if between != nil {
		pool = pooltest.Of(t, between(ethereum.RPC))
	}
	c := evm.New(ethereum.Facts, jsonrpc.New(pool))
	s := &stall{c, swap.NewSimulator(c), swap.NewRouter(c), ethereum.Facts.Contracts.Router, map[string]chain.Address{"coin": chain.NativeCoin(chain.EVM)}, world.Accounts()[0].Address}
	for i, token := range ethereum.Tokens {
		s.tokens[token.Symbol] = chain.NewAddress(token.Address.Bytes())
		if i == 0 {
			s.tokens["wrapped"] = s.tokens[token.Symbol]
		}
	}
	return s
}

// swap returns a call of the venue's router for a recipient.
func (s *stall) swap(in, out string, amount, least int64, recipient chain.Address) quote.Tx {
	to, deadline := common.BytesToAddress(recipient.Bytes()), big.NewInt(1<<40)
	path := []common.Address{common.BytesToAddress(s.tokens[in].Bytes()), common.BytesToAddress(s.tokens[out].Bytes())}
	tx := quote.Tx{To: chain.NewAddress(venueRouter.Bytes())}
	switch {
	case in == "coin":
		path[0] = common.BytesToAddress(s.tokens["wrapped"].Bytes())
		tx.Value = chain.NewAmount(uint64(amount))
		tx.Data = contracts.PoolRouter.Pack("swapExactETHForTokens", big.NewInt(least), path, to, deadline)
	case out == "coin":
		path[1] = common.BytesToAddress(s.tokens["wrapped"].Bytes())
		tx.Data = contracts.PoolRouter.Pack("swapExactTokensForETH", big.NewInt(amount), big.NewInt(least), path, to, deadline)
	default:
		tx.Data = contracts.PoolRouter.Pack("swapExactTokensForTokens", big.NewInt(amount), big.NewInt(least), path, to, deadline)
	}
	return tx
}

// routed wraps a venue's call into one of the public router.
func (s *stall) routed(in, out string, amount int64, least uint64, venue quote.Tx) quote.Tx {
	return s.router.Wrap(quote.RouterSwap{
		TokenIn: s.tokens[in], AmountIn: chain.NewAmount(uint64(amount)), VenueRouter: venue.To, VenueData: venue.Data,
		TokenOut: s.tokens[out], MinOut: chain.NewAmount(least), SurplusShareBps: 10_000, Recipient: payee,
	})
}

var (
	nobody = chain.NewAddress(common.HexToAddress("0x1111111111111111111111111111111111111111").Bytes())
	payee  = chain.NewAddress(common.HexToAddress("0x2222222222222222222222222222222222222222").Bytes())
)

func (s *stall) trial(in, out string, amount int64, tx quote.Tx, through chain.Address) quote.Simulation {
	return quote.Simulation{
		Sender: nobody, Recipient: payee, In: s.tokens[in], Out: s.tokens[out], AmountIn: chain.NewAmount(uint64(amount)),
		Tx: tx, Spender: tx.To, Through: through,
	}
}

func TestSimulationGivesTheSenderWhatTheSwapTakes(t *testing.T) {
	s := openStall(t, nil)
	public := s.public
	for _, row := range []struct {
		in, out string
		amount  int64
	}{
		{"coin", "USDC", 1e17},
		{"USDC", "coin", 250e6},
		{"USDC", "DAI", 250e6},
		{"wrapped", "USDC", 1e17},
		{"MKR", "coin", 1e17}, // a token from before its kind was settled
	} {
		direct, err := s.simulator.Simulate(t.Context(), s.trial(row.in, row.out, row.amount, s.swap(row.in, row.out, row.amount, 1, payee), chain.Address{}))
		if err != nil {
			t.Errorf("%s to %s: %v", row.in, row.out, err)
			continue
		}
		if !direct.Measured || direct.Received.IsZero() || direct.Gas < 60_000 || direct.Gas > 300_000 {
			t.Errorf("%s to %s: found %+v, want an outcome and its gas", row.in, row.out, direct)
		}
		tx := s.routed(row.in, row.out, row.amount, 1, s.swap(row.in, row.out, row.amount, 1, public))
		routed, err := s.simulator.Simulate(t.Context(), s.trial(row.in, row.out, row.amount, tx, public))
		if err != nil {
			t.Errorf("%s to %s through the public router: %v", row.in, row.out, err)
			continue
		}
		fee := direct.Received.MulDiv(8, 10_000)
		if routed.Gross != direct.Received || routed.Received != direct.Received.Sub(fee) || !routed.Left.IsZero() {
			t.Errorf("%s to %s through the public router: found %+v, want %s less 8 basis points", row.in, row.out, routed, direct.Received)
		}
	}
}

// TestSimulationTellsWhatGasIsNeeded compares with the node's own search for the lowest limit, which is exact to 1.5 %.
// Once a node has reported the gas in a simulation, it is not asked to search any more.
func TestSimulationTellsWhatGasIsNeeded(t *testing.T) {
	node := &oldNode{asked: map[string]int{}, simulates: true}
	s := openStall(t, func(url string) http.Handler { node.behind = url; return node })
	user := chain.NewAddress(s.user.Bytes())
	const amount = 1e17
	venue := s.swap("coin", "USDC", amount, 1, s.public)
	for _, tx := range []quote.Tx{s.swap("coin", "USDC", amount, 1, payee), s.routed("coin", "USDC", amount, 1, venue)} {
		tried := s.trial("coin", "USDC", amount, tx, chain.Address{})
		tried.Sender = user
		found := must.Get(s.simulator.Simulate(t.Context(), tried))(t)
		estimate := must.Get(swap.NewFees(s.chain).EstimateGas(t.Context(), user, tx))(t)
		if found.Gas < estimate*98/100 || found.Gas > estimate*115/100 {
			t.Errorf("gas = %d, want about the node's estimate of %d", found.Gas, estimate)
		}
	}
	if n := node.asked["eth_estimateGas"]; n != 3 {
		t.Errorf("%d estimates were asked for, want this test's two and one beside the first simulation", n)
	}
}

func TestBalancesAreOfTheNewestBlock(t *testing.T) {
	s := openStall(t, nil)
	sandboxUser := chain.NewAddress(s.user.Bytes())
	for symbol, want := range map[string]string{"coin": "10000000000000000000000", "USDC": "5000000000000"} {
		if got, err := s.simulator.Balance(t.Context(), s.tokens[symbol], sandboxUser); err != nil || got.String() != want {
			t.Errorf("balance of %s = %s, %v, want %s", symbol, got, err, want)
		}
		if got, err := s.simulator.Balance(t.Context(), s.tokens[symbol], nobody); err != nil || !got.IsZero() {
			t.Errorf("balance of %s of nobody = %s, %v", symbol, got, err)
		}
	}
}

func TestSimulationNamesWhatFails(t *testing.T) {
	s := openStall(t, nil)
	public := s.public
	const in, out, amount = "USDC", "WBTC", 250e6
	stranger := quote.Tx{To: payee, Data: []byte{1, 2, 3, 4}}
	for _, row := range []struct {
		name, want string
		tx         quote.Tx
	}{
		{"too high a minimum", "SwapOutcomeTooLow(", s.routed(in, out, amount, 1<<63, s.swap(in, out, amount, 1, public))},
		{"a venue that keeps the outcome", "SwapEmptyResult(", s.routed(in, out, amount, 1, s.swap(in, out, amount, 1, payee))},
		{"a venue's own minimum", "CallFailed(target 0x7a250d5630b4cf539739df2c5dacb4c659f2488d, data error 0x", s.routed(in, out, amount, 1, s.swap(in, out, amount, 1<<62, public))},
		{"a venue that is not listed", "NotSupportedRouter()", s.routed(in, out, amount, 1, stranger)},
	} {
		_, err := s.simulator.Simulate(t.Context(), s.trial(in, out, amount, row.tx, public))
		if !errors.Is(err, quote.ErrReverted) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want a revert with %s", row.name, err, row.want)
		}
	}
}

// wary is the code of a contract that reverts in what looks like a simulation: a zero gas price, more than ten million
// gas, or a caller with 2^76 wei, which is 75,000 coins. warier also requires a base fee and randomness, which plain
// calls get from the newest block.
var (
	wary   = common.FromHex("3a15" + "62989680" + "5a1117" + "3331604c1c151517" + "6015" + "57" + "00" + "5b60006000fd")
	warier = common.FromHex("3a15" + "481517" + "441517" + "62989680" + "5a1117" + "3331604c1c151517" + "601b" + "57" + "00" + "5b60006000fd")
)

// TestContractsTakeASimulationForATransaction calls a wary contract in place of the venue's router, for a sender
// without funds and for one with enough, also by a plain call of an old node.
func TestContractsTakeASimulationForATransaction(t *testing.T) {
	for _, simulates := range []bool{true, false} {
		node := &oldNode{asked: map[string]int{}, simulates: simulates, codes: map[common.Address][]byte{venueRouter: wary}}
		if simulates {
			node.codes[venueRouter] = warier
		}
		s := openStall(t, func(url string) http.Handler { node.behind = url; return node })
		for _, sender := range []chain.Address{nobody, chain.NewAddress(s.user.Bytes())} {
			trial := s.trial("coin", "USDC", 1e17, s.swap("coin", "USDC", 1e17, 1, payee), chain.Address{})
			trial.Sender = sender
			if _, err := s.simulator.Simulate(t.Context(), trial); err != nil {
				t.Errorf("simulates %v: the contract knew it for one: %v", simulates, err)
			}
		}
	}
}

// greedy is the code of a contract that reverts with less than three million gas, like a swap on a chain with large
// units of gas.
var greedy = common.FromHex("622dc6c0" + "5a10" + "600a57" + "00" + "5b60006000fd")

// TestSimulationOffersTheGasThatASwapNeeds calls a contract that needs twice the usual gas, which its venue omits or
// understates, also by a plain call of an old node.
func TestSimulationOffersTheGasThatASwapNeeds(t *testing.T) {
	for _, simulates := range []bool{true, false} {
		node := &oldNode{asked: map[string]int{}, simulates: simulates, codes: map[common.Address][]byte{venueRouter: greedy}}
		s := openStall(t, func(url string) http.Handler { node.behind = url; return node })
		for _, stated := range []uint64{0, 100_000} {
			trial := s.trial("coin", "USDC", 1e17, s.swap("coin", "USDC", 1e17, 1, payee), chain.Address{})
			trial.Gas = stated
			if got, err := s.simulator.Simulate(t.Context(), trial); err != nil || simulates && got.Gas == 0 {
				t.Errorf("simulates %t, its venue states %d: %+v, %v, want that it succeeds", simulates, stated, got, err)
			}
		}
	}
}

// TestSimulationIsOfTwoBlocks calls a contract that reverts in every second block.
func TestSimulationIsOfTwoBlocks(t *testing.T) {
	// NUMBER, PUSH1 1, AND, PUSH1 parity, EQ, PUSH1 11, JUMPI, STOP, JUMPDEST, revert
	for _, parity := range []byte{0, 1} {
		moody := common.FromHex(fmt.Sprintf("43600116"+"60%02x14"+"600b57"+"00"+"5b60006000fd", parity))
		node := &oldNode{asked: map[string]int{}, simulates: true, codes: map[common.Address][]byte{venueRouter: moody}}
		s := openStall(t, func(url string) http.Handler { node.behind = url; return node })
		tx := s.swap("coin", "USDC", 1e17, 1, payee)
		if _, err := s.simulator.Simulate(t.Context(), s.trial("coin", "USDC", 1e17, tx, chain.Address{})); !errors.Is(err, quote.ErrReverted) {
			t.Errorf("parity %d: %v, want ErrReverted", parity, err)
		}
	}
}

// oldNode forwards JSON-RPC except for what it does not support.
type oldNode struct {
	behind    string
	asked     map[string]int
	simulates bool                      // but it has eth_simulateV1
	drops     bool                      // it ignores state overrides
	refuses   bool                      // it rejects state overrides
	codes     map[common.Address][]byte // that replace contracts' own, if a call may override state
}

func (n *oldNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const mostBytes = 1 << 20
	behind := node.At(n.behind)
	node.Each(w, r, mostBytes, func(one *http.Request, call node.Request, _ int) *node.Recorder {
		n.asked[call.Method]++
		if call.Method == "eth_simulateV1" && !n.simulates {
			return node.Answer(call, `"error":{"code":-32601,"message":"the method eth_simulateV1 does not exist/is not available"}`)
		}
		text, err := io.ReadAll(one.Body)
		if err != nil {
			return node.Answer(call, `"result":null`)
		}
		if n.refuses && bytes.Count(text, []byte(`"balance"`))+bytes.Count(text, []byte(`"code"`))+bytes.Count(text, []byte(`"stateDiff"`)) > 0 {
			return node.Answer(call, `"error":{"code":-32602,"message":"too many arguments, want at most 2"}`)
		}
		text = n.overridden(text)
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return node.Record(behind, one)
	})
}

// overridden returns the call with the node's codes added to its state overrides.
func (n *oldNode) overridden(call json.RawMessage) json.RawMessage {
	var asked map[string]any
	if len(n.codes) == 0 && !n.drops || json.Unmarshal(call, &asked) != nil {
		return call
	}
	params, _ := asked["params"].([]any)
	if n.drops && len(params) == 3 {
		asked["params"] = params[:2]
	}
	var states []map[string]any
	switch method := asked["method"]; {
	case method == "eth_simulateV1":
		for _, block := range params[0].(map[string]any)["blockStateCalls"].([]any) {
			if accounts, has := block.(map[string]any)["stateOverrides"].(map[string]any); has {
				states = append(states, accounts)
			}
		}
	case len(params) == 3 && (method == "eth_call" || method == "eth_estimateGas"):
		states = append(states, params[2].(map[string]any))
	}
	for _, state := range states {
		for at, code := range n.codes {
			state[at.Hex()] = map[string]any{"code": "0x" + common.Bytes2Hex(code)}
		}
	}
	changed, err := json.Marshal(asked)
	if err != nil {
		return call
	}
	return changed
}
