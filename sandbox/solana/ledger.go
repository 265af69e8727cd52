package solana

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Chain is a Solana chain in memory.
type Chain struct {
	beginning time.Time

	mu           sync.RWMutex
	head         uint64 // the newest slot with a block
	forks        []fork
	transactions []*recorded // oldest first
	bySignature  map[Signature]*recorded
	byAddress    map[Key][]*recorded
	accounts     map[Key]*held
	tables       map[Key][]Key
	pools        []Pool
}

// recorded is a transaction with what became of it.
type recorded struct {
	slot       uint64
	signatures []Signature
	message    *message
	outcome    outcome
	// before is what the accounts that it wrote held until then.
	before map[Key]*held
}

// New returns a chain that begins at a time, with the programs, tokens and lookup tables in place.
func New(beginning time.Time) *Chain {
	c := &Chain{
		beginning:   beginning,
		head:        next(firstSlot),
		bySignature: map[Signature]*recorded{},
		byAddress:   map[Key][]*recorded{},
		accounts:    map[Key]*held{},
		tables:      map[Key][]Key{},
	}
	c.found()
	return c
}

// Head is the newest slot.
func (c *Chain) Head() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head
}

// finalized is the newest slot that will not be dropped.
func (c *Chain) finalized() uint64 {
	slot := max(c.head-finalizedDepth, firstSlot)
	if isSkipped(slot) {
		slot = previous(slot)
	}
	return slot
}

// Pass lets time pass: the chain makes blocks up to at.
func (c *Chain) Pass(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head = max(c.head, c.slotAt(at))
}

// Mine makes blocks without transactions, beyond what the clock says.
func (c *Chain) Mine(blocks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range blocks {
		c.head = next(c.head)
	}
}

// Reorg drops the blocks of the newest depth slots with their transactions, for as many empty ones and
// one more. Finalized slots cannot be dropped.
func (c *Chain) Reorg(depth uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if depth == 0 || c.head-depth < c.finalized() {
		return fmt.Errorf("depth %d: want 1 to %d slots, the rest is final", depth, c.head-c.finalized())
	}
	keep := c.head - depth
	for len(c.transactions) > 0 {
		newest := c.transactions[len(c.transactions)-1]
		if newest.slot <= keep {
			break
		}
		c.transactions = c.transactions[:len(c.transactions)-1]
		c.forget(newest)
	}
	c.forks = append(c.forks, fork{keep + 1})
	c.head = next(c.head)
	return nil
}

// forget undoes the newest transaction.
func (c *Chain) forget(tx *recorded) {
	for at, before := range tx.before {
		if before == nil {
			delete(c.accounts, at)
			continue
		}
		c.accounts[at] = before
	}
	delete(c.bySignature, tx.signatures[0])
	for _, k := range tx.message.keys() {
		c.byAddress[k] = c.byAddress[k][:len(c.byAddress[k])-1]
	}
}

// maxTransactionBytes is what fits into a packet: 1280 bytes less headers.
const maxTransactionBytes = 1232

// Send signs a transaction, carries it out in the next slot not before at, and keeps it. When a program
// refuses, the transaction is kept as failed and the error says why. The caller holds the lock.
func (c *Chain) send(at time.Time, tx Transaction) (Signature, error) {
	recent := c.head
	m, err := compile(tx, c.blockhash(recent), func(t Key) []Key { return c.tables[t] })
	if err != nil {
		return Signature{}, err
	}
	r := &recorded{slot: max(next(c.head), c.slotAt(at)), message: m}
	if err := r.sign(tx); err != nil {
		return Signature{}, err
	}
	if size := len(r.wire()); size > maxTransactionBytes {
		return Signature{}, fmt.Errorf("transaction of %d bytes, %d fit", size, maxTransactionBytes)
	}
	e := newExecution(c.now, r)
	refusal, err := e.run(tx.Instructions)
	if err != nil {
		return Signature{}, err
	}
	c.keep(e)
	if refusal != nil {
		return r.signatures[0], fmt.Errorf("transaction %s failed: %w", r.signatures[0], refusal)
	}
	return r.signatures[0], nil
}

func (r *recorded) sign(tx Transaction) error {
	signers := append([]Account{tx.Payer}, tx.Signers...)
	text := r.message.bytes()
	for _, k := range r.message.static[:r.message.signed] {
		i := slices.IndexFunc(signers, func(a Account) bool { return a.Key == k })
		if i < 0 {
			return fmt.Errorf("nobody signs for %s", k)
		}
		r.signatures = append(r.signatures, signers[i].sign(text))
	}
	return nil
}

// wire is the transaction as it travels.
func (r *recorded) wire() []byte {
	out := appendLength(nil, len(r.signatures))
	for _, s := range r.signatures {
		out = append(out, s[:]...)
	}
	return append(out, r.message.bytes()...)
}

// now is what an account holds at the head; nil when there is none.
func (c *Chain) now(at Key) *held { return c.accounts[at] }

// keep puts a transaction that has run into its block, which becomes the head.
func (c *Chain) keep(e *execution) {
	r := e.tx
	e.commit(c)
	c.head = r.slot
	c.transactions = append(c.transactions, r)
	c.bySignature[r.signatures[0]] = r
	for _, k := range r.message.keys() {
		c.byAddress[k] = append(c.byAddress[k], r)
	}
}
