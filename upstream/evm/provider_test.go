package evm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// recording is a recorded ledger as the nodes of one provider serve it: the chain grows by a few blocks each time
// somebody asks for the newest one, and goes on with empty blocks where the recording ends.
type recording struct {
	ledger
	headers  []json.RawMessage
	byHash   map[string]uint64
	inBlocks map[uint64][]string // hashes of transactions
	grows    bool

	mu   sync.Mutex
	head uint64
}

// emptyRoot is the root of no receipts (Ethereum yellow paper, KEC(RLP(()))).
const emptyRoot = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"

func readRecording(t *testing.T, path string) *recording {
	t.Helper()
	r := &recording{byHash: map[string]uint64{}, inBlocks: map[uint64][]string{}}
	readJSON(t, path, &r.ledger)
	var raw struct{ Blocks []json.RawMessage }
	readJSON(t, path, &raw)
	r.headers = raw.Blocks
	for i, text := range raw.Blocks {
		var block struct {
			Hash         string
			Transactions []string
		}
		if err := json.Unmarshal(text, &block); err != nil {
			t.Fatal(err)
		}
		r.byHash[block.Hash], r.inBlocks[uint64(i)] = uint64(i), block.Transactions
	}
	r.logs = r.readLogs(t)
	return r
}

// growing returns the recorded chain at half its length, to grow from there.
func (r *recording) growing() *recording {
	grown := &recording{
		ledger: r.ledger, headers: r.headers, byHash: maps.Clone(r.byHash), inBlocks: r.inBlocks,
		grows: true, head: uint64(len(r.headers)) / 2,
	}
	for number := uint64(len(r.headers)); number < uint64(len(r.headers))+1500; number++ {
		grown.byHash[blockHash(number)] = number
	}
	return grown
}

// at returns a block of the recording, or an empty one after its end.
func (r *recording) at(number uint64) string {
	if number < uint64(len(r.headers)) {
		return string(r.headers[number])
	}
	parent := blockHash(number - 1)
	if number == uint64(len(r.headers)) {
		parent = r.Blocks[number-1].Hash
	}
	last := parseQuantity(r.Blocks[len(r.Blocks)-1].Timestamp)
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x","logsBloom":"0x%0512x","receiptsRoot":%q,"transactions":[]}`,
		number, blockHash(number), parent, last+number, 0, emptyRoot)
}

// untimed takes the times out of logs, as old nodes list them.
func untimed(_, members string) string {
	return strings.ReplaceAll(members, `"blockTimestamp"`, `"unknown"`)
}

// TestCallsForABlock counts what reading one new block costs. A block without orders took a list of logs and a header
// before: its header, which the head brought, says now that there are none, and of others the time.
func TestCallsForABlock(t *testing.T) {
	for name, alter := range map[string]func(method, members string) string{"times told": nil, "times not told": untimed} {
		t.Run(name, func(t *testing.T) { countCallsForABlock(t, alter) })
	}
}

func countCallsForABlock(t *testing.T, alter func(method, members string) string) {
	recordings, _ := readRecordings(t)
	for _, recorded := range recordings {
		recorded.head = recorded.Head
		p := &provider{recording: recorded, calls: map[string]int{}, alter: alter}
		c := evm.New(recorded.describe(t), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "provider", p))))
		quiet, telling := uint64(0), uint64(0)
		for recorded.head = 1; recorded.head < recorded.Head; recorded.head++ {
			if _, err := c.Head(t.Context()); err != nil {
				t.Fatal(err)
			}
			clear(p.calls)
			events, err := c.Events(t.Context(), recorded.head, recorded.head)
			if err != nil {
				t.Fatal(err)
			}
			txs := map[chain.TxHash]bool{}
			for _, e := range events {
				txs[e.At.Tx] = true
			}
			want := map[string]int{}
			if len(events) > 0 {
				telling++
				want = map[string]int{"eth_getLogs": 1, "eth_getTransactionReceipt": len(txs)}
			} else if len(p.calls) > 0 {
				continue // before the first filter with a bit, or another contract's log that looks like one
			} else {
				quiet++
			}
			if len(p.calls) > 0 && !maps.Equal(p.calls, want) {
				t.Errorf("block %d with %d events took %v, want %v", recorded.head, len(events), p.calls, want)
			}
		}
		if quiet < 50 || telling < 20 {
			t.Errorf("chain %d: %d blocks were read without a call, %d with events", recorded.ChainID, quiet, telling)
		}
	}
}

// TestCallsForARange counts what reading a range of old blocks costs, and what proving it adds: one list, and the header
// that an endpoint which lags does not have.
func TestCallsForARange(t *testing.T) {
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	p := &provider{recording: recorded, calls: map[string]int{}}
	c := evm.New(recorded.describe(t), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "provider", p))))
	for recorded.head = 100; recorded.head < recorded.Head; recorded.head++ { // some of these have filters with bits
		if _, err := c.Head(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	clear(p.calls)
	events, err := c.Events(t.Context(), 0, 200)
	if err != nil || len(events) == 0 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	txs := map[chain.TxHash]bool{}
	for _, e := range events {
		txs[e.At.Tx] = true
	}
	if want := map[string]int{"eth_getLogs": 1, "eth_getBlockByNumber": 1, "eth_getTransactionReceipt": len(txs)}; !maps.Equal(p.calls, want) {
		t.Errorf("reading 201 blocks took %v, want %v", p.calls, want)
	}
	clear(p.calls)
	verdict, err := c.Verify(t.Context(), 0, 200, events)
	if err != nil || len(verdict.Events) != len(events) || len(verdict.Wrong) > 0 {
		t.Errorf("Verify() = %d events, %v, %v, want the same %d", len(verdict.Events), verdict.Wrong, err, len(events))
	}
	if want := map[string]int{"eth_getLogs": 1, "eth_getBlockByNumber": 1}; !maps.Equal(p.calls, want) {
		t.Errorf("proving 201 blocks took %v, want %v", p.calls, want)
	}
}

// provider is a balancer in front of nodes that serve a recording badly, after rules as those of bad-provider.mjs.
type provider struct {
	*recording
	rules []string
	alter func(method, members string) string // nil: nothing is altered by design
	// refuses returns the error that a call gets, empty for none; nil: nothing is refused by design
	refuses func(c nodeCall) string

	mu     sync.Mutex
	random *rand.Rand
	bad    int            // answers that were spoiled
	calls  map[string]int // by method; nil: not counted
}

// chance reports whether a rule applies now, with its arguments.
func (p *provider) chance(name string) (arguments []string, applies bool) {
	for _, rule := range p.rules {
		parts := strings.Split(rule, ":")
		odds, _ := strconv.ParseFloat(parts[len(parts)-1], 64)
		if parts[0] == name && p.random.Float64() < odds {
			p.bad++
			return parts[1:], true
		}
	}
	return nil, false
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw[0] == '{' {
		var c nodeCall
		_ = json.Unmarshal(raw, &c)
		fmt.Fprint(w, p.object(c))
		return
	}
	var calls []nodeCall
	_ = json.Unmarshal(raw, &calls)
	objects := make([]string, len(calls))
	for i, c := range calls {
		objects[i] = p.object(c)
	}
	fmt.Fprintf(w, "[%s]", strings.Join(objects, ","))
}

func (p *provider) object(c nodeCall) string {
	if p.calls != nil {
		p.calls[c.Method]++
	}
	members := ""
	if p.refuses != nil {
		members = p.refuses(c)
	}
	if members == "" {
		members = p.result(c)
	}
	if p.alter != nil {
		members = p.alter(c.Method, members)
	}
	if _, lies := p.chance("lie"); lies {
		members = p.lie(c.Method, members)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.ID, members)
}

// lie changes a result: what is listed is emptied, shortened, altered, or comes from elsewhere.
func (p *provider) lie(method, members string) string {
	var told struct{ Result any }
	_ = json.Unmarshal([]byte("{"+members+"}"), &told)
	switch result := told.Result.(type) {
	case []any:
		if len(result) > 0 && method == "eth_getLogs" {
			told.Result = p.lieOfLogs(result)
		} else if len(result) > 0 {
			told.Result = result[:p.random.IntN(len(result))]
		}
	case map[string]any:
		switch {
		case method == "eth_getTransactionReceipt" && p.random.IntN(2) == 0:
			told.Result = nil
		case result["logsBloom"] != nil && p.random.IntN(2) == 0:
			result["logsBloom"] = "0x" + strings.Repeat("0", 512)
		case result["logsBloom"] != nil:
			result["logsBloom"] = flipped(result["logsBloom"].(string), p.random.IntN(512))
		}
	}
	text, _ := json.Marshal(told.Result)
	return `"result":` + string(text)
}

func (p *provider) lieOfLogs(logs []any) []any {
	at := p.random.IntN(len(logs))
	changed := maps.Clone(logs[at].(map[string]any))
	switch p.random.IntN(6) {
	case 0:
		return []any{}
	case 1:
		return slices.Delete(slices.Clone(logs), at, at+1)
	case 2:
		return logs[:at]
	case 3: // altered
		data := changed["data"].(string)
		changed["data"] = flipped(data, p.random.IntN(max(len(data)-2, 1)))
	case 4: // of a transaction that there is not
		changed["transactionHash"] = "0x" + strings.Repeat("0d", 32)
	case 5: // of another fork
		changed["blockHash"] = "0x" + strings.Repeat("f0", 32)
	}
	logs = slices.Clone(logs)
	logs[at] = changed
	return logs
}

// flipped changes one bit of a hex text, in the digit at a place.
func flipped(text string, place int) string {
	digits := []byte(text)
	if place += 2; place >= len(digits) {
		return text
	}
	value, _ := strconv.ParseUint(string(digits[place]), 16, 8)
	digits[place] = strconv.FormatUint(value^1, 16)[0]
	return string(digits)
}

func (p *provider) result(c nodeCall) string {
	head := p.newest(c.Method == "eth_getBlockByNumber" && unquote(c.Params[0]) == "latest")
	switch c.Method {
	case "eth_chainId":
		return fmt.Sprintf(`"result":"0x%x"`, p.ChainID)
	case "eth_blockNumber":
		return fmt.Sprintf(`"result":"0x%x"`, head)
	case "eth_getBlockByNumber":
		return p.block(unquote(c.Params[0]), head)
	case "eth_getBlockByHash":
		if number, known := p.byHash[unquote(c.Params[0])]; known && number <= head {
			return `"result":` + p.at(number)
		}
		return `"result":null`
	case "eth_getTransactionReceipt":
		if _, isNull := p.chance("null"); isNull {
			return `"result":null`
		}
		if receipt, known := p.Receipts[unquote(c.Params[0])]; known && blockOf(receipt) <= head {
			return `"result":` + string(receipt)
		}
		return `"result":null`
	case "eth_getBlockReceipts":
		return p.receiptsOf(unquote(c.Params[0]), head)
	case "eth_getLogs":
		return p.search(c.Params[0], head)
	}
	return fault(-32601, "the method "+c.Method+" does not exist")
}

// newest is the number of the newest block, after the growth that asking for it brings.
func (p *provider) newest(isAsked bool) uint64 {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	switch {
	case !isAsked || !p.grows:
	case p.head < uint64(len(p.headers)):
		p.head += 1 + p.random.Uint64N(7)
	default: // nothing happens any more
		p.head += 1 + p.random.Uint64N(100)
	}
	return p.head
}

func blockOf(receipt json.RawMessage) uint64 {
	var in struct{ BlockNumber string }
	_ = json.Unmarshal(receipt, &in)
	return parseQuantity(in.BlockNumber)
}

func (p *provider) block(tag string, head uint64) string {
	number := head
	switch tag {
	case "latest":
	case "finalized":
		number = head - min(head, 20)
	default:
		number = parseQuantity(tag)
	}
	if _, isNull := p.chance("null"); isNull || number > head {
		return `"result":null`
	}
	return `"result":` + p.at(number)
}

func (p *provider) receiptsOf(hash string, head uint64) string {
	number, known := p.byHash[hash]
	if !known || number > head {
		return `"result":null`
	}
	receipts := make([]string, len(p.inBlocks[number]))
	for i, tx := range p.inBlocks[number] {
		receipts[i] = string(p.Receipts[tx])
	}
	return `"result":[` + strings.Join(receipts, ",") + `]`
}

func (p *provider) search(param json.RawMessage, head uint64) string {
	var filter struct {
		FromBlock, ToBlock, BlockHash string
		Address                       []string
		Topics                        [][]string
	}
	_ = json.Unmarshal(param, &filter)
	from, to := p.byHash[filter.BlockHash], p.byHash[filter.BlockHash]
	if filter.BlockHash == "" {
		from, to = parseQuantity(filter.FromBlock), parseQuantity(filter.ToBlock)
		if _, isEmpty := p.chance("empty"); isEmpty {
			return `"result":[]`
		}
		if behind, lags := p.chance("lag"); lags {
			blocks, _ := strconv.ParseUint(behind[0], 10, 64)
			to = min(to, head-min(head, blocks))
		}
	}
	found := []string{}
	for _, l := range p.logs {
		in := slices.ContainsFunc(filter.Address, func(a string) bool { return strings.EqualFold(a, l.address) })
		if l.block < from || l.block > min(to, head) || !in || len(filter.Topics) > 0 && !slices.Contains(filter.Topics[0], l.topic) {
			continue
		}
		if _, isDropped := p.chance("drop"); !isDropped {
			found = append(found, string(l.raw))
		}
	}
	return `"result":[` + strings.Join(found, ",") + `]`
}

// golden are the ledgers of the golden set and what they lead to, read once: that takes a second.
var golden struct {
	once    sync.Once
	ledgers []*recording
	truth   goldenTruth
}

// readRecordings returns the recorded ledgers, each at its end, and what they lead to.
func readRecordings(t *testing.T) (recordings []*recording, truth *goldenTruth) {
	t.Helper()
	folder := goldenFolder(t)
	golden.once.Do(func() {
		paths, err := filepath.Glob(filepath.Join(folder, "ledger-A-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		readJSON(t, filepath.Join(folder, "expected-A.json"), &golden.truth)
		for _, path := range paths {
			golden.ledgers = append(golden.ledgers, readRecording(t, path))
		}
	})
	for _, l := range golden.ledgers {
		recordings = append(recordings, &recording{
			ledger: l.ledger, headers: l.headers, byHash: l.byHash, inBlocks: l.inBlocks, head: l.Head,
		})
	}
	return recordings, &golden.truth
}

// fromEnvironment reads how much of something a test is to do, for make soak; usual where nothing is said.
func fromEnvironment(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLiesLeaveNoTrace follows the golden ledgers through two endpoints of which one lies in every way, CROSSGATE_LIES
// times in all: no final answer is wrong, and on every chain the liar is named.
func TestLiesLeaveNoTrace(t *testing.T) {
	recordings, truth := readRecordings(t)
	isNamed := false
	lies, most := 0, fromEnvironment(t, "CROSSGATE_LIES", 100)
	for seed := uint64(1); lies < int(most); seed++ {
		var said lockedBuffer
		lies += course{rules: []string{"lie:0.3"}, endpoints: 2, seed: seed, honest: true, logs: &said}.run(t, recordings, truth)
		for _, line := range strings.Split(said.String(), "\n") {
			if strings.Contains(line, "provider-2") {
				t.Errorf("seed %d: the honest endpoint is blamed: %s", seed, line)
			}
		}
		isNamed = isNamed || strings.Contains(said.String(), "provider-1")
	}
	if !isNamed {
		t.Error("nobody names the liar")
	}
	t.Logf("%d lies", lies)
}

// lockedBuffer is a buffer that several may write to.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestProvidersThatLoseLogs follows the golden ledgers, which grow meanwhile, through providers that lag, lose and
// forget: in the end every order is in its right state, and everything that is locked is locked.
// CROSSGATE_SEEDS says how many random courses each kind takes; make soak has it take twenty.
func TestProvidersThatLoseLogs(t *testing.T) {
	recordings, truth := readRecordings(t)
	seeds := fromEnvironment(t, "CROSSGATE_SEEDS", 1)
	all := []string{"lag:1:0.3", "lag:3:0.3", "empty:0.2", "drop:0.1", "null:0.05"}
	courses := map[string][]string{"all together": all}
	for _, rule := range all {
		courses[rule] = []string{rule}
	}
	corrections := countingCorrections(t)
	t.Cleanup(func() { // after the courses, which are taken side by side
		if corrections() == 0 {
			t.Error("no correction was counted")
		}
	})
	isLong := os.Getenv("CROSSGATE_SEEDS") != ""
	for name, rules := range courses {
		for _, endpoints := range []int{1, 2} {
			if !isLong && endpoints == 2 && len(rules) == 1 {
				continue // make soak has it
			}
			t.Run(fmt.Sprintf("%s, endpoints: %d", name, endpoints), func(t *testing.T) {
				t.Parallel()
				for seed := range seeds {
					course{rules: rules, endpoints: endpoints, seed: seed + 1, logs: io.Discard}.run(t, recordings, truth)
				}
			})
		}
	}
}

// countingCorrections has this process measure, until the test ends, and returns what tells how many events second
// readings have corrected since.
func countingCorrections(t *testing.T) (count func() int64) {
	t.Helper()
	reader, before := metric.NewManualReader(), otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	return func() (total int64) {
		var measured metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &measured); err != nil {
			t.Error(err)
		}
		for _, scope := range measured.ScopeMetrics {
			for _, m := range scope.Metrics {
				sum, isSum := m.Data.(metricdata.Sum[int64])
				if !isSum || m.Name != "crossgate.index.corrections" {
					continue
				}
				for _, point := range sum.DataPoints {
					total += point.Value
				}
			}
		}
		return total
	}
}

// goldenTruth is what orders and locks the ledgers lead to.
type goldenTruth struct {
	Orders []struct {
		OrderID                    order.ID
		CreationTxHash             chain.TxHash
		SourceChainID, TakeChainID chain.ID
		Record                     goldenRecord
	}
	Locked []struct {
		Taker  chain.Address
		Chains []struct {
			LockedTokens []struct {
				DstChains []struct {
					Orders []struct{ OrderID order.ID }
				}
			}
		}
	}
}

// goldenRecord is what an order ends as, and where its steps are.
type goldenRecord struct {
	State, ExternalCallState                                                                                       string
	CreatedSrcEventMetadata, FulfilledDstEventMetadata, OrderCancelledDstEventMetadata                             *struct{ BlockNumber uint64 }
	SentUnlockDstEventInfo, ClaimedUnlockSrcEventInfo, SentOrderCancelDstEventInfo, ClaimedOrderCancelSrcEventInfo struct {
		TransactionMetadata *struct{ BlockNumber uint64 }
	}
}

// isIn reports whether all steps are in blocks up to heights of the two chains.
func (r *goldenRecord) isIn(give, take uint64) bool {
	in := func(step *struct{ BlockNumber uint64 }, height uint64) bool {
		return step == nil || step.BlockNumber <= height
	}
	return in(r.CreatedSrcEventMetadata, give) && in(r.FulfilledDstEventMetadata, take) &&
		in(r.OrderCancelledDstEventMetadata, take) && in(r.SentUnlockDstEventInfo.TransactionMetadata, take) &&
		in(r.ClaimedUnlockSrcEventInfo.TransactionMetadata, give) && in(r.SentOrderCancelDstEventInfo.TransactionMetadata, take) &&
		in(r.ClaimedOrderCancelSrcEventInfo.TransactionMetadata, give)
}

// course is one way that the ledgers are followed.
type course struct {
	rules     []string
	endpoints int
	seed      uint64
	honest    bool // the second endpoint is
	logs      io.Writer
}

// run follows the ledgers to their ends and compares, and returns how many answers were spoiled.
func (c course) run(t *testing.T, recordings []*recording, truth *goldenTruth) (bad int) {
	t.Helper()
	sources := map[chain.ID]order.Source{}
	var registry []chain.Chain
	var providers []*provider
	for _, recorded := range recordings {
		shared := recorded.growing()
		var endpoints []*upstream.Endpoint
		for i := range c.endpoints {
			rules := c.rules
			if c.honest && i > 0 {
				rules = nil
			}
			p := &provider{recording: shared, rules: rules, random: rand.New(rand.NewPCG(c.seed, uint64(i)+shared.ChainID))}
			providers = append(providers, p)
			endpoints = append(endpoints, endpointOf(t, fmt.Sprintf("provider-%d", i+1), p))
		}
		described := shared.describe(t)
		registry = append(registry, described)
		sources[described.ID] = evm.New(described, jsonrpc.New(upstream.NewPool(described.ID.String(), endpoints...)))
	}
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	x := index.New(db, sources, index.Options{
		Chains: chain.NewRegistry(registry...), Pace: index.Pace{Asked: time.Millisecond}, Logger: slog.New(slog.NewTextHandler(c.logs, nil)),
	})
	stop := runIndex(t, x)
	bare := map[chain.ID]order.Source{} // cannot be asked for more than is stored
	for id, source := range sources {
		bare[id] = struct{ order.Source }{source}
	}
	stored := index.New(db, bare, index.Options{Chains: chain.NewRegistry(registry...)})
	awaitProof(t, x, recordings, func(proven map[chain.ID]uint64) { c.compareProven(t, stored, proven, truth) })
	stop()
	c.compare(t, stored, truth)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range providers {
		bad += p.bad
	}
	return bad
}

// describe is what a configuration says of the chain.
func (r *recording) describe(t *testing.T) chain.Chain {
	t.Helper()
	return chain.Chain{
		ID: r.DeBridgeID, Native: r.ChainID, Family: chain.EVM, BlockTime: time.Millisecond, Finality: 20,
		Contracts: chain.Contracts{
			DlnSource: address(t, r.Contracts.DlnSource), DlnDestination: address(t, r.Contracts.DlnDestination),
			Gate: address(t, r.Contracts.Gate), ExternalCallAdapter: address(t, r.Contracts.ExternalCallAdapter),
			Multicall: address(t, r.Contracts.Multicall3),
		},
	}
}

func runIndex(t *testing.T, x *index.Index) (stop func()) {
	t.Helper()
	ctx, cancel := contextOf(t)
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// awaitProof returns when everything that the recordings hold is final and proven; meanwhile it has looked at what is.
func awaitProof(t *testing.T, x *index.Index, recordings []*recording, look func(proven map[chain.ID]uint64)) {
	t.Helper()
	looked := 0
	until(t, func() bool {
		isAll, proven := true, map[chain.ID]uint64{}
		for _, c := range x.Basis().Chains {
			at := slices.IndexFunc(recordings, func(r *recording) bool { return r.DeBridgeID == c.Chain })
			proven[c.Chain] = c.Proven
			isAll = isAll && c.Proven >= recordings[at].Head
		}
		if looked++; looked%50 == 1 {
			look(proven)
		}
		return isAll
	})
}

// compareProven looks at the orders all steps of which are in blocks that are told to be proven: they are right while the
// providers go on to fail. Where logs are lost at random, two readings may lose the same one until the provider is found out.
func (c course) compareProven(t *testing.T, x *index.Index, proven map[chain.ID]uint64, truth *goldenTruth) {
	t.Helper()
	if slices.ContainsFunc(c.rules, func(rule string) bool { return strings.HasPrefix(rule, "drop") }) {
		return
	}
	for _, want := range truth.Orders {
		if !want.Record.isIn(proven[want.SourceChainID], proven[want.TakeChainID]) {
			continue
		}
		if found, err := x.ByID(t.Context(), want.OrderID); err != nil || found.State.String() != want.Record.State {
			t.Errorf("seed %d: order %s is in proven blocks: %+v, %v, want %s", c.seed, want.OrderID, found.Order, err, want.Record.State)
		}
	}
}

// compare looks at every order and every taker.
func (c course) compare(t *testing.T, x *index.Index, truth *goldenTruth) {
	t.Helper()
	wrong := 0
	for _, want := range truth.Orders {
		found, err := x.ByID(t.Context(), want.OrderID)
		if err != nil || found.State.String() != want.Record.State || found.Call.String() != want.Record.ExternalCallState {
			wrong++
		}
	}
	locked, told := 0, 0
	for _, want := range truth.Locked {
		got, _, err := x.Locked(t.Context(), want.Taker)
		if err != nil {
			t.Errorf("seed %d: locked for %s: %v", c.seed, want.Taker, err)
		}
		var ids []order.ID
		for _, each := range got {
			for _, token := range each.Tokens {
				for _, target := range token.Targets {
					ids = append(ids, target.Orders...)
				}
			}
		}
		told += len(ids)
		for _, each := range want.Chains {
			for _, token := range each.LockedTokens {
				for _, target := range token.DstChains {
					for _, o := range target.Orders {
						locked++
						if !slices.Contains(ids, o.OrderID) {
							t.Errorf("seed %d: order %s is not told to be locked", c.seed, o.OrderID)
						}
					}
				}
			}
		}
	}
	if wrong > 0 || told != locked {
		t.Errorf("seed %d: %d of %d states wrong; %d orders told to be locked, %d are", c.seed, wrong, len(truth.Orders), told, locked)
	}
}

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// until returns when a condition holds, which other goroutines bring about.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	for !holds() {
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatal("never")
		}
	}
}
