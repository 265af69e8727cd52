package solana

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Chain is a Solana chain in memory. Its methods may be called from any goroutine.
type Chain struct {
	beginning time.Time

	mu           sync.RWMutex
	head         uint64   // the newest slot with a block
	forks        []uint64 // first slots of the reorgs, which change block hashes from there on
	transactions []*transaction
	bySignature  map[Signature]*transaction
	byAddress    map[Key][]*transaction
	accounts     map[Key]*account
	tables       map[Key]solana.PublicKeySlice // address lookup tables
	pools        []Pool
	announce     func() // called after each transaction; may be nil
}

// New returns a chain that begins at the given time, with the programs, tokens and lookup tables in place.
func New(beginning time.Time) *Chain {
	c := &Chain{
		beginning:   beginning,
		head:        next(firstSlot),
		bySignature: map[Signature]*transaction{},
		byAddress:   map[Key][]*transaction{},
		accounts:    map[Key]*account{},
		tables:      map[Key]solana.PublicKeySlice{},
	}
	c.genesis()
	return c
}

// Copy returns an independent chain that continues from here. Transactions and accounts are immutable and shared.
func (c *Chain) Copy() *Chain {
	c.mu.RLock()
	defer c.mu.RUnlock()
	copied := &Chain{
		beginning: c.beginning, head: c.head, forks: slices.Clone(c.forks), transactions: slices.Clone(c.transactions),
		bySignature: maps.Clone(c.bySignature), byAddress: map[Key][]*transaction{},
		accounts: maps.Clone(c.accounts), tables: maps.Clone(c.tables), pools: slices.Clone(c.pools),
	}
	for k, all := range c.byAddress {
		copied.byAddress[k] = slices.Clone(all)
	}
	return copied
}

// Head returns the newest slot.
func (c *Chain) Head() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head
}

// finalized returns the newest slot that no reorg drops.
func (c *Chain) finalized() uint64 { return finalizedAt(c.head) }

// finalizedAt returns the newest slot that no reorg drops, for a node with the given newest slot.
func finalizedAt(newest uint64) uint64 {
	slot := max(newest-finalizedDepth, firstSlot)
	if isSkipped(slot) {
		slot = previous(slot)
	}
	return slot
}

// Pass advances the chain to the slot of a time.
func (c *Chain) Pass(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head = max(c.head, c.slotAt(at))
}

// Mine adds blocks without transactions, ahead of the clock.
func (c *Chain) Mine(blocks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range blocks {
		c.head = next(c.head)
	}
}

// Reorg replaces the blocks of the newest depth slots, with their transactions, by empty ones and adds one more. It
// cannot drop finalized slots.
func (c *Chain) Reorg(depth uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if depth == 0 || c.head-depth < c.finalized() {
		return fmt.Errorf("depth %d: want 1 to %d slots, the rest is final", depth, c.head-c.finalized())
	}
	keep := c.head - depth
	for last := len(c.transactions) - 1; last >= 0 && c.transactions[last].slot > keep; last-- {
		c.undo(c.transactions[last])
		c.transactions = c.transactions[:last]
	}
	c.forks = append(c.forks, keep+1)
	c.head = next(c.head)
	return nil
}

// undo reverts the newest transaction's effects.
func (c *Chain) undo(t *transaction) {
	for at, before := range t.before {
		if before == nil {
			delete(c.accounts, at)
			continue
		}
		c.accounts[at] = before
	}
	delete(c.bySignature, t.Signatures[0])
	for _, k := range t.keys() {
		c.byAddress[k] = c.byAddress[k][:len(c.byAddress[k])-1]
	}
}

// send signs a transaction, runs it in the next slot not before at, and keeps it. If a program fails, the transaction
// is kept as failed, and the error has the reason. The caller holds the lock.
func (c *Chain) send(at time.Time, d draft) (Signature, error) {
	t, err := d.compile(c.blockhash(c.head), c.tables)
	if err != nil {
		return Signature{}, err
	}
	t.slot = max(next(c.head), c.slotAt(at))
	if err := t.sign(d); err != nil {
		return Signature{}, err
	}
	if _, err := t.wire(); err != nil {
		return Signature{}, err
	}
	e := newExecution(c.now, t)
	if err := e.run(d.instructions); err != nil {
		return Signature{}, err
	}
	c.keep(e)
	if failed := t.outcome.err; failed != nil {
		return t.Signatures[0], fmt.Errorf("transaction %s failed: %w", t.Signatures[0], failed)
	}
	return t.Signatures[0], nil
}

// Announce sets a function to call after each transaction, under the ledger's lock: it must return immediately.
func (c *Chain) Announce(tell func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.announce = tell
}

// keep adds an executed transaction to its block, which becomes the head.
func (c *Chain) keep(e *execution) {
	t := e.tx
	e.commit(c)
	c.head = t.slot
	c.transactions = append(c.transactions, t)
	c.bySignature[t.Signatures[0]] = t
	for _, k := range t.keys() {
		c.byAddress[k] = append(c.byAddress[k], t)
	}
	if c.announce != nil {
		c.announce()
	}
}
