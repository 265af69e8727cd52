package evm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
)

// recording is a recorded ledger as the nodes of one provider serve it: the chain grows by a few blocks with every
// request for the newest one, and continues with empty blocks after the end of the recording.
type recording struct {
	ledger
	headers  []json.RawMessage
	byHash   map[string]uint64
	inBlocks map[uint64][]string // transaction hashes
	grows    bool

	mu   sync.Mutex
	head uint64
}

// emptyRoot is the root of no receipts (Ethereum yellow paper, KEC(RLP(()))).
const emptyRoot = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"

func readRecording(t *testing.T, native int) *recording {
	t.Helper()
	r := &recording{byHash: map[string]uint64{}, inBlocks: map[uint64][]string{}}
	text := recorded.File(t, fmt.Sprintf("golden/ledgers-A/ledger-A-%d.json", native))
	var raw struct{ Blocks []json.RawMessage }
	must.Do(t, errors.Join(json.Unmarshal(text, &r.ledger), json.Unmarshal(text, &raw)))
	r.headers = raw.Blocks
	for i, text := range raw.Blocks {
		var block struct {
			Hash         string
			Transactions []string
		}
		must.Do(t, json.Unmarshal(text, &block))
		r.byHash[block.Hash], r.inBlocks[uint64(i)] = uint64(i), block.Transactions
	}
	r.logs = r.readLogs(t)
	return r
}

// growing returns the recorded chain at half its length, from which it grows.
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

// at returns a block of the recording, or an empty one beyond its end.
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

func blockOf(receipt json.RawMessage) uint64 {
	var in struct{ BlockNumber string }
	_ = json.Unmarshal(receipt, &in)
	return parseQuantity(in.BlockNumber)
}

// golden holds the ledgers of the golden set, read once, since reading takes a second.
var golden struct {
	once    sync.Once
	ledgers []*recording
}

// readRecordings returns the recorded ledgers, each at its end.
func readRecordings(t *testing.T) (recordings []*recording) {
	t.Helper()
	golden.once.Do(func() {
		for _, native := range []int{1, 137, 146, 8453} {
			golden.ledgers = append(golden.ledgers, readRecording(t, native))
		}
	})
	for _, l := range golden.ledgers {
		recordings = append(recordings, &recording{
			ledger: l.ledger, headers: l.headers, byHash: l.byHash, inBlocks: l.inBlocks, head: l.Head,
		})
	}
	return recordings
}

// readTruth returns the ledgers' outcome.
func readTruth(t *testing.T) *goldenTruth {
	t.Helper()
	truth := new(goldenTruth)
	recorded.JSON(t, "golden/ledgers-A/expected-A.json", truth)
	return truth
}

// goldenTruth is the outcome of the ledgers: orders and locks.
type goldenTruth struct {
	Orders []goldenOrder
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

type goldenOrder struct {
	OrderID                    order.ID
	CreationTxHash             chain.TxHash
	SourceChainID, TakeChainID chain.ID
	TakeChainConfigured        bool
	Record                     goldenRecord
}

// goldenRecord is the final state of an order, and the blocks of its steps.
type goldenRecord struct {
	State, ExternalCallState, FixFee                                                                               string
	CreatedSrcEventMetadata, FulfilledDstEventMetadata, OrderCancelledDstEventMetadata                             *struct{ BlockNumber uint64 }
	SentUnlockDstEventInfo, ClaimedUnlockSrcEventInfo, SentOrderCancelDstEventInfo, ClaimedOrderCancelSrcEventInfo struct {
		TransactionMetadata *struct{ BlockNumber uint64 }
	}
}

// isIn reports whether all steps are in blocks up to the given heights of the two chains.
func (r *goldenRecord) isIn(give, take uint64) bool {
	in := func(step *struct{ BlockNumber uint64 }, height uint64) bool {
		return step == nil || step.BlockNumber <= height
	}
	return in(r.CreatedSrcEventMetadata, give) && in(r.FulfilledDstEventMetadata, take) &&
		in(r.OrderCancelledDstEventMetadata, take) && in(r.SentUnlockDstEventInfo.TransactionMetadata, take) &&
		in(r.ClaimedUnlockSrcEventInfo.TransactionMetadata, give) && in(r.SentOrderCancelDstEventInfo.TransactionMetadata, take) &&
		in(r.ClaimedOrderCancelSrcEventInfo.TransactionMetadata, give)
}

// describe returns the chain as a configuration describes it.
func (r *recording) describe() chain.Chain {
	return chain.Chain{
		ID: r.DeBridgeID, Native: r.ChainID, Family: chain.EVM, BlockTime: time.Millisecond, Finality: 20,
		Contracts: chain.Contracts{
			DlnSource: r.Contracts.DlnSource, DlnDestination: r.Contracts.DlnDestination,
			Gate: r.Contracts.Gate, ExternalCallAdapter: r.Contracts.ExternalCallAdapter,
			Multicall: r.Contracts.Multicall3,
		},
	}
}

// untimed removes the times from logs, as old nodes list them.
func untimed(_, members string) string {
	return strings.ReplaceAll(members, `"blockTimestamp"`, `"unknown"`)
}
