// Package evm reads EVM chains over JSON-RPC: order events, transactions, token metadata, contracts.
//
// A Chain implements the domain's small interfaces, most in a file each. Each method takes as few round trips as
// possible: its calls (calls.go) go to the chain's jsonrpc.Client in one batch, and contract calls of several callers
// into one multicall (batcher.go). A HeadSubscription announces heads by WebSocket (heads.go). What swaps need of a
// Chain has package swap.
//
// No endpoint is trusted. It proves that it serves the chain; the newest blocks are read with evidence (evidence.go),
// final ones a second time (verify.go), and differences are settled by receipts that give the root in their block's
// header (receipts_root.go). Receipts are checked against their bloom filter; absence takes two endpoints. The
// history of one order without an index (search.go) is counted against the contract's storage: it is complete, or an
// error.
//
// All of it is safe for concurrent use, and starts no goroutine that outlives its callers.
package evm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// What becomes final is of no hurry: one of taggedHeads calls of Head asks for the finalized block too, and each of
// calls that are taggedEvery apart.
const (
	taggedHeads = 4
	taggedEvery = 15 * time.Second
)

// Chain is one EVM chain, or TRON, which runs the protocol's Solidity contracts and whose nodes answer Ethereum's
// JSON-RPC about them (documentation-en, docs/api/json-rpc), at the newest block only. Safe for concurrent use.
type Chain struct {
	chain chain.Chain
	rpc   *jsonrpc.Client

	isTron bool // the nodes keep the newest state only, and gas costs everybody the same

	newest     atomic.Pointer[header]   // block seen; nil before the first
	finality   atomic.Pointer[finality] // as nodes said last; nil: they know none, or were not asked yet
	heads      atomic.Uint64            // times that Head was called
	taggedAt   atomic.Int64             // UNIX nanoseconds of the last call that asked for the finalized block
	read       readHeaders              // since the newest block
	hasFilters atomic.Bool              // some header had bits in its filter: the chain is not known to leave them empty
	isSealed   atomic.Bool              // headers were seen whose members give their hash
	evident    evident
	faulty     jsonrpc.Faulty
	sources    jsonrpc.Sources // of transactions
	batcher    batcher
}

var _ order.HistorySource = (*Chain)(nil)

// Facts are what the registry knows of the chain.
func (c *Chain) Facts() chain.Chain { return c.chain }

// Client asks endpoints that proved to serve the chain.
func (c *Chain) Client() *jsonrpc.Client { return c.rpc }

// New returns the chain that rpc's endpoints serve; whether they do is found out on first use.
func New(c chain.Chain, rpc *jsonrpc.Client) *Chain {
	made := &Chain{chain: c, isTron: c.Family == chain.TVM}
	made.rpc = rpc.Proving(fmt.Sprintf("chain %d", c.ID), made.chainIDCall())
	return made
}

// chainIDCall is what endpoints prove their identity by: those of another chain must never be believed.
func (c *Chain) chainIDCall() *jsonrpc.Call {
	return jsonrpc.NewCall(new(Quantity), func(id Quantity) error {
		if uint64(id) != c.chain.Native {
			return fmt.Errorf("endpoint serves chain %d, not %d", id, c.chain.Native)
		}
		return nil
	}, "eth_chainId")
}

// finality is the newest final block, and how many blocks before the newest one it was.
type finality struct{ number, depth uint64 }

// Head returns the newest block and the newest final one: what the chain's nodes call finalized; where they do not say
// it, as many blocks back as it was or, if it never was, as the order protocol's validators wait.
func (c *Chain) Head(ctx context.Context) (order.Head, error) {
	ctx = upstream.Following.For(ctx)
	var latest, finalized *header
	calls := []*jsonrpc.Call{headerCall(&latest, "latest")}
	now, known := time.Now(), c.finality.Load()
	isDue := c.heads.Add(1)%taggedHeads == 1 || known == nil || now.Sub(time.Unix(0, c.taggedAt.Load())) >= taggedEvery
	isLacking := c.rpc.Lacks(getBlockByNumber, finalTag)
	if isDue && !isLacking {
		c.taggedAt.Store(now.UnixNano())
		calls = append(calls, c.finalCall(&finalized))
	}
	calls[0].Fresh = true
	_ = c.rpc.Batch(ctx, calls...) // each call has its error
	if err := calls[0].Err; err != nil {
		return order.Head{}, err
	}
	c.sawHead(latest.saidBy(calls[0].By))
	head := order.Head{Latest: latest.block()}
	number := head.Latest.Number
	switch {
	case finalized != nil:
		head.Finalized = min(uint64(finalized.Number), number)
		c.finality.Store(&finality{head.Finalized, number - head.Finalized})
	case known == nil:
		head.Finalized = number - min(number, c.chain.Finality)
	default:
		if head.Finalized = min(known.number, number); isDue || isLacking {
			head.Finalized = max(head.Finalized, number-min(number, max(known.depth, c.chain.Finality)))
		}
	}
	return head, nil
}

// finalCall asks for the newest final block. That it is the first one, or old, is doubted: some nodes do not hear of
// any.
func (c *Chain) finalCall(out **header) *jsonrpc.Call {
	const longAgo = Quantity(time.Hour / time.Second)
	asked := headerCall(out, finalTag)
	asked.Doubt = func(result any) bool {
		h, newest := *result.(**header), c.newest.Load()
		return h.Number == 0 || newest != nil && h.Timestamp+longAgo < newest.Timestamp
	}
	return asked
}

// Newest is the time of the newest block that was seen; zero before the first.
func (c *Chain) Newest() time.Time {
	if newest := c.newest.Load(); newest != nil {
		return time.Unix(int64(newest.Timestamp), 0)
	}
	return time.Time{}
}

// sawHead learns of the newest block. Calls from now on join none that began before it, or before a block that was
// dropped.
func (c *Chain) sawHead(latest *header) {
	c.seeFilter(latest)
	if before := c.newest.Swap(latest); before == nil || before.Hash != latest.Hash {
		c.rpc.Invalidate()
		c.read.forget()
	}
}

// refusedByContract reports whether err is the outcome of running the call, the same on every node.
func refusedByContract(err error) bool {
	return errors.As(err, new(*jsonrpc.Error)) && !errors.As(err, new(*upstream.Error))
}

// Block returns the block that has number now; see order.Source.
func (c *Chain) Block(ctx context.Context, number uint64) (order.Block, error) {
	if read := c.read.of(number); read != nil {
		return read.block(), nil
	}
	var found *header
	since := c.read.since()
	asked := headerCall(&found, Quantity(number))
	if err := c.rpc.All(upstream.Following.For(ctx), asked); err != nil {
		return order.Block{}, err
	}
	if found == nil {
		return order.Block{}, fmt.Errorf("chain %d: block %d: %w", c.chain.ID, number, order.ErrNotFound)
	}
	c.seeFilter(found)
	c.read.keep(found.saidBy(asked.By), since)
	return found.block(), nil
}

func (h *header) block() order.Block {
	return order.Block{Number: uint64(h.Number), Hash: h.Hash, Parent: h.ParentHash, Time: uint64(h.Timestamp)}
}
