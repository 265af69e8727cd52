// Package evm reads EVM chains over JSON-RPC: order events, transactions, token metadata, contracts.
//
// A Chain implements the domain's small interfaces, mostly in a file each. Each method takes as few round trips as
// possible: its calls (calls.go) go to the chain's jsonrpc.Client in one batch, and contract calls of several callers
// into one multicall (batcher.go). A HeadSubscription announces heads by WebSocket (heads.go). Package swap adds what
// swaps need of a Chain.
//
// No endpoint is trusted. Each proves that it serves the chain; the newest blocks are read with evidence (evidence.go),
// final ones a second time (verify.go), and differences are settled by receipts that hash to the root in their block's
// header (receipts_root.go). Receipts are checked against their bloom filter; absence takes two endpoints. The history
// of one order without an index (search.go) is checked against the contract's storage: it is complete, or an error.
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

// Finality is not urgent: one of taggedHeads calls of Head also asks for the finalized block, and so does any call at
// least taggedEvery after the last one that did.
const (
	taggedHeads = 4
	taggedEvery = 15 * time.Second
)

// Chain is one EVM chain, or TRON, which runs the protocol's Solidity contracts and whose nodes answer Ethereum's
// JSON-RPC about them (documentation-en, docs/api/json-rpc), at the newest block only. Safe for concurrent use.
type Chain struct {
	chain chain.Chain
	rpc   *jsonrpc.Client

	isTron bool // nodes keep only the newest state, and gas costs everybody the same

	newest     atomic.Pointer[header]   // newest block seen; nil before the first
	finality   atomic.Pointer[finality] // as last reported by nodes; nil: not reported yet
	heads      atomic.Uint64            // calls of Head so far
	taggedAt   atomic.Int64             // when the finalized block was last asked for, UNIX nanoseconds
	read       readHeaders              // headers read since the newest block was seen
	hasFilters atomic.Bool              // some header had bits in its filter: the chain does not leave them empty
	isSealed   atomic.Bool              // some header's members hashed to its hash
	evident    evident
	faulty     jsonrpc.Faulty
	sources    jsonrpc.Sources // of transactions
	batcher    batcher
}

var _ order.Reader = (*Chain)(nil)

// Facts returns the registry's facts about the chain.
func (c *Chain) Facts() chain.Chain { return c.chain }

// Client returns a client of the endpoints that proved to serve the chain.
func (c *Chain) Client() *jsonrpc.Client { return c.rpc }

// New returns the chain that rpc's endpoints serve; they must prove that on first use.
func New(c chain.Chain, rpc *jsonrpc.Client) *Chain {
	made := &Chain{chain: c, isTron: c.Family == chain.TVM}
	made.read.known.Limit = mostReadHeaders
	made.rpc = rpc.Proving(fmt.Sprintf("chain %d", c.ID), made.chainIDCall())
	return made
}

// chainIDCall returns the call by which endpoints prove their identity: those of another chain must never be believed.
func (c *Chain) chainIDCall() *jsonrpc.Call {
	return jsonrpc.NewCall(new(Quantity), func(id Quantity) error {
		if uint64(id) != c.chain.Native {
			return fmt.Errorf("endpoint serves chain %d, not %d", id, c.chain.Native)
		}
		return nil
	}, "eth_chainId")
}

// finality is the newest final block, and how many blocks below the newest one it was.
type finality struct{ number, depth uint64 }

// Head returns the newest block and the newest final one: the block that the chain's nodes call finalized; if they
// report none, as many blocks back as it last was or, if it never was, as the order protocol's validators wait for.
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

// finalCall returns a call for the newest final block. The first block, or an old one, is doubted: some nodes do not
// learn of finality.
func (c *Chain) finalCall(out **header) *jsonrpc.Call {
	const longAgo = Quantity(time.Hour / time.Second)
	asked := headerCall(out, finalTag)
	asked.Doubt = func(result any) bool {
		h, newest := *result.(**header), c.newest.Load()
		return h.Number == 0 || newest != nil && h.Timestamp+longAgo < newest.Timestamp
	}
	return asked
}

// Newest returns the time of the newest block that was seen; zero before the first.
func (c *Chain) Newest() time.Time {
	if newest := c.newest.Load(); newest != nil {
		return time.Unix(int64(newest.Timestamp), 0)
	}
	return time.Time{}
}

// sawHead records the newest block. If it is a new one, calls from now on join none that began before, and no header
// that was read before is used again.
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

// Block returns the block that currently has number; see order.Source.
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

var _ order.AnchoredSource = (*Chain)(nil)

// Testify implements order.AnchoredSource.
func (c *Chain) Testify(ctx context.Context, number uint64, most int) map[string]order.Block {
	return jsonrpc.Alone(upstream.Background.For(ctx), c.rpc, most, func(ctx context.Context, alone *jsonrpc.Client) (order.Block, error) {
		var found *header
		if err := alone.All(ctx, existingHeaderCall(&found, Quantity(number))); err != nil {
			return order.Block{}, err
		}
		return found.block(), nil
	})
}

// Anchor implements order.AnchoredSource.
func (c *Chain) Anchor(block order.Block, atOnce bool) {
	if block.Hash.IsAbsent() {
		c.rpc.Anchor(nil, atOnce)
		return
	}
	c.rpc.Anchor(jsonrpc.NewCall(new(*header), func(h *header) error {
		switch {
		case h == nil:
			return &upstream.Error{Class: upstream.Rejected, Err: errors.New("node lacks the anchor")}
		case uint64(h.Number) != block.Number || h.Hash != block.Hash:
			return fmt.Errorf("%w: its block %d is %s, not %s", order.ErrOtherBranch, h.Number, h.Hash, block.Hash)
		}
		return nil
	}, getBlockByNumber, Quantity(block.Number), false), atOnce)
}

// Suspend implements order.AnchoredSource.
func (c *Chain) Suspend(cause error) { c.rpc.Suspend(cause) }
