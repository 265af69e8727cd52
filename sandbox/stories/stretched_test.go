package stories_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/sandbox/jsonrpc"
)

const stretched = 1000 // blocks for each of a recorded ledger

// stretchedChain is a recorded chain that is a thousand times as long: each block of the ledger stands a thousand after
// the one before it, with empty ones between, each of which names its parent. The server that replays the ledger
// answers what is not about those.
type stretchedChain struct {
	replay          string // address of that server
	head, finalized uint64 // of the ledger, as are the blocks
	blocks          []map[string]any
}

// stretch serves a stretched chain until the test ends and returns its address.
func stretch(t *testing.T, l *ledger) string {
	t.Helper()
	var recorded struct{ Blocks []map[string]any }
	readGolden(t, filepath.Join(golden, "ledgers-A", fmt.Sprintf("ledger-A-%d.json", l.ChainID)), &recorded)
	c := &stretchedChain{replay: l.rpc, head: l.Head, finalized: l.Finalized, blocks: recorded.Blocks}
	failed := func(error) *jsonrpc.Error { return &jsonrpc.Error{Code: -32603, Message: "internal error"} }
	server := httptest.NewServer(&jsonrpc.Node{
		Call: c.call, ContentType: "application/json", MaxBytes: 1 << 20, Failed: failed,
		Malformed: func(bool) *jsonrpc.Error {
			return &jsonrpc.Error{Code: jsonrpc.InvalidRequest, Message: "invalid request"}
		},
	})
	t.Cleanup(server.Close)
	return server.URL
}

func (c *stretchedChain) call(ctx context.Context, r jsonrpc.Request) (any, error) {
	switch r.Method {
	case "eth_getBlockByNumber", "eth_getBlockByHash", "eth_getBlockReceipts":
		number, known := c.number(bareText(r.Params[0]))
		switch isBetween := number%stretched != 0; {
		case !known:
			return json.RawMessage("null"), nil
		case r.Method != "eth_getBlockReceipts":
			return c.block(number), nil
		case isBetween:
			return []any{}, nil
		}
		r.Params[0] = quotedText(hexutil.EncodeUint64(number / stretched))
	case "eth_call", "eth_getCode", "eth_getBalance":
		number, known := c.number(bareText(r.Params[1]))
		if !known {
			return nil, &jsonrpc.Error{Code: -32000, Message: "header not found"}
		}
		r.Params[1] = quotedText(hexutil.EncodeUint64(number / stretched))
	case "eth_getLogs":
		filter, isEmpty, err := c.shrunk(r.Params[0])
		if isEmpty || err != nil {
			return []any{}, err
		}
		r.Params[0] = filter
	case "eth_blockNumber":
		return hexutil.EncodeUint64(c.head * stretched), nil
	}
	return c.ask(ctx, r)
}

// number finds a block by its number, its tag or its hash.
func (c *stretchedChain) number(block string) (number uint64, known bool) {
	const hashLength = 66
	switch block {
	case "latest":
		return c.head * stretched, true
	case "finalized":
		return c.finalized * stretched, true
	}
	if len(block) != hashLength {
		number, err := hexutil.DecodeUint64(block)
		return number, err == nil && number <= c.head*stretched
	}
	if digits, isBetween := strings.CutPrefix(block, betweenPrefix); isBetween {
		number, err := hexutil.DecodeUint64("0x" + cmp.Or(strings.TrimLeft(digits, "0"), "0"))
		return number, err == nil
	}
	at := slices.IndexFunc(c.blocks, func(b map[string]any) bool { return b["hash"] == block })
	return uint64(max(at, 0)) * stretched, at >= 0
}

// betweenPrefix begins the hashes of blocks between those of the ledger, which end with their numbers.
const betweenPrefix = "0xbe73ee"

func (c *stretchedChain) hash(number uint64) any {
	if number%stretched == 0 {
		return c.blocks[number/stretched]["hash"]
	}
	return fmt.Sprintf("%s%058x", betweenPrefix, number)
}

func (c *stretchedChain) block(number uint64) map[string]any {
	at, past := number/stretched, number%stretched
	block := maps.Clone(c.blocks[at])
	if past > 0 {
		begins, ends := timeOf(block), timeOf(c.blocks[at+1])
		block["timestamp"] = hexutil.EncodeUint64(begins + (ends-begins)*past/stretched)
		block["transactions"], block["logsBloom"] = []any{}, "0x"+strings.Repeat("0", 512)
		block["transactionsRoot"], block["receiptsRoot"] = types.EmptyTxsHash, types.EmptyReceiptsHash
	}
	block["number"], block["hash"] = hexutil.EncodeUint64(number), c.hash(number)
	if number > 0 {
		block["parentHash"] = c.hash(number - 1)
	}
	return block
}

func timeOf(block map[string]any) uint64 {
	return hexutil.MustDecodeUint64(block["timestamp"].(string))
}

// shrunk is a filter of logs as the ledger's server takes it; empty where it holds no block of the ledger.
func (c *stretchedChain) shrunk(raw json.RawMessage) (filter json.RawMessage, isEmpty bool, err error) {
	var f map[string]any
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, false, &jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: err.Error()}
	}
	from, isRange := f["fromBlock"].(string)
	if !isRange {
		return raw, strings.HasPrefix(f["blockHash"].(string), betweenPrefix), nil
	}
	first, firstKnown := c.number(from)
	last, lastKnown := c.number(f["toBlock"].(string))
	if !firstKnown {
		return nil, true, nil
	}
	if !lastKnown {
		last = c.head * stretched
	}
	first, last = (first+stretched-1)/stretched, last/stretched
	f["fromBlock"], f["toBlock"] = hexutil.EncodeUint64(first), hexutil.EncodeUint64(last)
	filter, err = json.Marshal(f)
	return filter, first > last, err
}

var blockNumber = regexp.MustCompile(`"blockNumber":"(0x[0-9a-f]+)"`)

// ask has the ledger's server answer, and moves what the answer holds.
func (c *stretchedChain) ask(ctx context.Context, r jsonrpc.Request) (any, error) {
	sent, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": r.Method, "params": r.Params})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.replay, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body = blockNumber.ReplaceAllFunc(body, func(found []byte) []byte {
		number := hexutil.MustDecodeUint64(string(blockNumber.FindSubmatch(found)[1]))
		return fmt.Appendf(nil, `"blockNumber":%q`, hexutil.EncodeUint64(number*stretched))
	})
	var answer struct {
		Result json.RawMessage
		Error  *jsonrpc.Error
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	return answer.Result, nil
}

func bareText(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

func quotedText(text string) json.RawMessage { return json.RawMessage(strconv.Quote(text)) }

// stretch moves the events of a record to where a stretched chain has them.
func (r *goldenRecord) stretch(t *testing.T) {
	t.Helper()
	for _, e := range []*goldenEvent{
		r.CreatedSrcEventMetadata, r.FulfilledDstEventMetadata, r.OrderCancelledDstEventMetadata,
		r.SentUnlockDstEventInfo.TransactionMetadata, r.ClaimedUnlockSrcEventInfo.TransactionMetadata,
		r.SentOrderCancelDstEventInfo.TransactionMetadata, r.ClaimedOrderCancelSrcEventInfo.TransactionMetadata,
	} {
		if e == nil {
			continue
		}
		number, err := strconv.ParseUint(e.BlockNumber.String(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		e.BlockNumber = json.Number(strconv.FormatUint(number*stretched, 10))
	}
}
