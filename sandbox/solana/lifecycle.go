package solana

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Order is an order created on Solana.
type Order struct {
	Terms    Terms
	Creation Signature
	Metadata []byte // as the maker's software wrote it
}

// Way is how a transaction is sent; the zero value is a legacy transaction with only the instructions.
type Way struct {
	// Forwarded routes the call through another program.
	Forwarded bool
	// Versioned loads accounts from the address lookup table if possible.
	Versioned bool
	// Priority is the bid per compute unit, in micro-lamports.
	Priority uint64
	// Doomed makes the transaction fail after its instructions.
	Doomed bool
}

// draft wraps the instructions accordingly.
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

// forward wraps a call in one of the forwarder, which has the called program as its last account.
func forward(in Instruction) Instruction {
	accounts := append(slices.Clone(in.Accounts), reads(in.Program))
	return anchorCall(forwarderProgram, "forward", accounts, func(i *invocation) { i.call(in) }, in.Data)
}

// alwaysFail returns a call of the forwarder that fails.
func alwaysFail(payer Key) Instruction {
	return anchorCall(forwarderProgram, "check_balance", []Meta{signs(payer)}, func(i *invocation) {
		i.check(false, 6000, "BalanceTooLow", "The balance is lower than expected")
	})
}

// read returns the state of an account at the head, zero if it has none of that type.
func read[S any](c *Chain, at Key) (state S, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return stateOf[S](c.accounts[at])
}

// Orders returns the orders created here, in order of creation.
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

// Given returns the status of an order on its give side.
func (c *Chain) Given(id [32]byte) Status {
	g, _ := read[giveOrder](c, giveOrderState(id))
	return g.status
}

// Taken returns the status of an order on its take side, and the account that may change it next or did so last.
func (c *Chain) Taken(id [32]byte) (Status, Key) {
	o, _ := read[takeOrder](c, takeOrderState(id))
	return o.status, o.holder
}

// Message returns the message that was sent about an order.
func (c *Chain) Message(id [32]byte) (Outbound, error) {
	o, _ := read[takeOrder](c, takeOrderState(id))
	if o.status != SentUnlock && o.status != SentCancel {
		return Outbound{}, fmt.Errorf("no unlock or cancel of order %x has been sent", id)
	}
	return o.message, nil
}

// submit sends instructions signed by one account.
func (c *Chain) submit(at time.Time, w Way, payer Account, instructions ...Instruction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.send(at, w.draft(payer, instructions...))
	return err
}

// Pay transfers an amount of a token to an account.
func (c *Chain) Pay(at time.Time, from Account, to Key, t Token, amount uint64) (Signature, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pay := t.transfer(t.Wallet(from.Key), t.Wallet(to), from.Key, amount)
	return c.send(at, Way{}.draft(from, t.openWallet(from.Key, to), pay))
}
