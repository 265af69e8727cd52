package solana

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Order is an order that was created here.
type Order struct {
	Terms    Terms
	Creation Signature
	Metadata []byte // as the maker's software wrote it
}

// Way is how a transaction travels; the zero value is a legacy transaction of the instructions alone.
type Way struct {
	// Forwarded has another program make the call.
	Forwarded bool
	// Versioned takes what it can from the address lookup table.
	Versioned bool
	// Priority is what is bid for a compute unit, in micro-lamports.
	Priority uint64
	// Doomed lets the transaction fail behind its instructions.
	Doomed bool
}

// draft is the instructions on their way.
func (w Way) draft(payer Account, instructions ...Instruction) draft {
	if w.Forwarded {
		last := len(instructions) - 1
		instructions[last] = forward(instructions[last])
	}
	if w.Doomed {
		instructions = append(instructions, alwaysFail(payer.Key))
	}
	if w.Priority > 0 {
		const limit = 400_000
		instructions = budgeted(limit, w.Priority, instructions...)
	}
	d := draft{payer: payer, instructions: instructions}
	if w.Versioned {
		d.table = orderTable
	}
	return d
}

// forward has the forwarder make a call, with the program at the end of its accounts.
func forward(in Instruction) Instruction {
	accounts := append(slices.Clone(in.Accounts), reads(in.Program))
	return anchorCall(forwarderProgram, "forward", accounts, func(i *invocation) { i.call(in) }, in.Data)
}

// alwaysFail is a call of the forwarder that fails.
func alwaysFail(payer Key) Instruction {
	return anchorCall(forwarderProgram, "check_balance", []Meta{signs(payer)}, func(i *invocation) {
		i.check(false, 6000, "BalanceTooLow", "The balance is lower than expected")
	})
}

// read is the state of an account at the head, zero when there is none of that kind.
func read[S any](c *Chain, at Key) (state S, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return stateOf[S](c.accounts[at])
}

// Orders are those created here, in the order of their creation.
func (c *Chain) Orders() []Order {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var found []giveOrder
	for _, content := range c.accounts {
		if g, ok := stateOf[giveOrder](content); ok {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b giveOrder) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.terms.Nonce, b.terms.Nonce))
	})
	orders := make([]Order, len(found))
	for i, g := range found {
		orders[i] = Order{g.terms, g.created, g.metadata}
	}
	return orders
}

// Given is the status of an order on its give side.
func (c *Chain) Given(id [32]byte) Status {
	g, _ := read[giveOrder](c, giveOrderState(id))
	return g.status
}

// Taken is the status of an order on its take side, and who may move it on or did so last.
func (c *Chain) Taken(id [32]byte) (Status, Key) {
	o, _ := read[takeOrder](c, takeOrderState(id))
	return o.status, o.holder
}

// Message is what was sent about an order.
func (c *Chain) Message(id [32]byte) (Outbound, error) {
	o, _ := read[takeOrder](c, takeOrderState(id))
	if o.status != SentUnlock && o.status != SentCancel {
		return Outbound{}, fmt.Errorf("no unlock or cancel of order %x has been sent", id)
	}
	return o.message, nil
}

// submit sends instructions of one signer.
func (c *Chain) submit(at time.Time, w Way, payer Account, instructions ...Instruction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.send(at, w.draft(payer, instructions...))
	return err
}

// Pay sends an amount of a token to somebody.
func (c *Chain) Pay(at time.Time, from Account, to Key, t Token, amount uint64) (Signature, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pay := t.transfer(t.Wallet(from.Key), t.Wallet(to), from.Key, amount)
	return c.send(at, Way{}.draft(from, t.openWallet(from.Key, to), pay))
}
