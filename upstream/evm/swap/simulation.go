package swap

import (
	"encoding/json"
	"fmt"
	"slices"

	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const simulateV1 = "eth_simulateV1"

// simulatedBlock is a block of eth_simulateV1.
type simulatedBlock struct {
	Header   *blockOverride  `json:"blockOverrides,omitempty"`
	Accounts json.RawMessage `json:"stateOverrides,omitempty"`
	Calls    json.RawMessage `json:"calls"` // of evm.Message
}

// simulatedRun is the result of eth_simulateV1: calls by block.
type simulatedRun []struct{ Calls []simulatedResult }

// last returns the calls of the last block.
func (r simulatedRun) last() []simulatedResult { return r[len(r)-1].Calls }

// simulation returns a call for the results of calls in the last of blocks. Endpoints whose answer lacks some are
// passed over; that one of the calls fails takes a second endpoint.
func simulation(out *simulatedRun, blocks []simulatedBlock, calls int) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, nil, simulateV1, simulatedChain{blocks}, "latest")
	asked.Accept = func(result any) error {
		if run := *result.(*simulatedRun); len(run) != len(blocks) || len(run.last()) != calls {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("%w: it returned another number of calls", quote.ErrNotSimulated)}
		}
		return nil
	}
	asked.Doubt, asked.Same = failsIn, func(a, b any) bool { return failsIn(a) == failsIn(b) }
	return asked
}

// failsIn reports whether a call fails in a simulation that is pointed to.
func failsIn(result any) bool {
	return slices.ContainsFunc(result.(*simulatedRun).last(), func(r simulatedResult) bool { return r.Status != 1 })
}

// simulatedChain holds the blocks that eth_simulateV1 makes.
type simulatedChain struct {
	Blocks []simulatedBlock `json:"blockStateCalls"`
}
