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
		orders[i] = Order{g.terms, g.created}
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
func (c *Chain) submit(at time.Time, w Way, payer Account, instructions ...Instruction) (Signature, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send(at, w.draft(payer, instructions...))
}

// Create makes orders, all in one transaction. A doomed way leaves a failed transaction and no order.
func (c *Chain) Create(at time.Time, w Way, creations ...Creation) ([]Order, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maker, payer := creations[0].Maker, creations[0].Payer
	if payer.Key == (Key{}) {
		payer = maker
	}
	var instructions []Instruction
	orders := make([]Order, len(creations))
	for n, o := range creations {
		if o.Give.Mint == Tokens[0].Mint {
			instructions = append(instructions, wrap(maker.Key, o.Amount)...)
		}
		nonce := o.Nonce
		if nonce == 0 {
			nonce, _ = stateOf[uint64](c.accounts[makerNonces(maker.Key)])
		}
		orders[n] = Order{Terms: o.terms(nonce)}
		instructions = append(instructions, o.createOrder(nonce))
	}
	d := w.draft(payer, instructions...)
	d.signers = []Account{maker}
	signature, err := c.send(at, d)
	if err != nil && !w.Doomed {
		return nil, fmt.Errorf("create order: %w", err)
	}
	for n := range orders {
		orders[n].Creation = signature
	}
	return orders, nil
}

// PatchGive adds to what an open order gives.
func (c *Chain) PatchGive(at time.Time, id [32]byte, maker Account, addition uint64) error {
	g, known := read[giveOrder](c, giveOrderState(id))
	if !known {
		return fmt.Errorf("order %x was not created here", id)
	}
	_, err := c.submit(at, Way{}, maker, patchOrderGive(g, addition))
	return err
}

// PatchTake lowers what an open order takes by subtrahend in all.
func (c *Chain) PatchTake(at time.Time, t Terms, authority Account, subtrahend uint64) error {
	_, err := c.submit(at, Way{}, authority, patchTakeOrder(t, authority.Key, subtrahend))
	return err
}

// Fulfil delivers what an order asks for.
func (c *Chain) Fulfil(at time.Time, w Way, f Fulfilment) error {
	t, err := f.Terms.taken()
	if err != nil {
		return err
	}
	instructions := []Instruction{f.fulfillOrder(t)}
	if !t.isNative() {
		instructions = slices.Insert(instructions, 0, t.openWallet(f.Taker.Key, f.receiver()))
	}
	_, err = c.submit(at, w, f.Taker, instructions...)
	return err
}

// taken is the token that the order asks for.
func (t Terms) taken() (Token, error) {
	mint := keyOf(t.Take.Token)
	if mint == Native.Mint {
		return Native, nil
	}
	return tokenOf(mint)
}

// SendUnlock sends one message for all of the orders, which must have one give chain.
func (c *Chain) SendUnlock(at time.Time, unlocker Account, beneficiary []byte, ids ...[32]byte) error {
	orders := make([]takeOrder, len(ids))
	for i, id := range ids {
		var known bool
		if orders[i], known = read[takeOrder](c, takeOrderState(id)); !known {
			return fmt.Errorf("order %x has not been fulfilled here", id)
		}
	}
	w := Way{Versioned: len(ids) > 1}
	_, err := c.submit(at, w, unlocker, prepareSend(unlocker.Key), sendUnlock(unlocker.Key, beneficiary, orders...))
	return err
}

// Cancel marks an order that nobody has fulfilled; SendCancel sends word of it.
func (c *Chain) Cancel(at time.Time, t Terms, canceler Account) error {
	_, err := c.submit(at, Way{}, canceler, cancelOrder(t, canceler.Key))
	return err
}

// SendCancel sends word of a cancelled order, for a refund to beneficiary.
func (c *Chain) SendCancel(at time.Time, id [32]byte, canceler Account, beneficiary []byte) error {
	o, _ := read[takeOrder](c, takeOrderState(id))
	o.id = id
	_, err := c.submit(at, Way{}, canceler, prepareSend(canceler.Key), sendOrderCancel(canceler.Key, beneficiary, o))
	return err
}

// Claim lets a message in and carries its calls out, in two transactions or together in one.
func (c *Chain) Claim(at time.Time, keeper Account, m Inbound, together bool) error {
	orders := make([]giveOrder, len(m.Orders))
	for i, id := range m.Orders {
		var known bool
		if orders[i], known = read[giveOrder](c, giveOrderState(id)); !known {
			return fmt.Errorf("order %x was not created here", id)
		}
	}
	instructions := []Instruction{m.receive(keeper.Key)}
	if !together {
		if _, err := c.submit(at, Way{}, keeper, instructions...); err != nil {
			return err
		}
		instructions = nil
	}
	if t := orders[0].token; !t.isNative() {
		instructions = append(instructions, t.openWallet(keeper.Key, m.Beneficiary))
	}
	_, err := c.submit(at, Way{Versioned: true}, keeper, append(instructions, m.execute(keeper.Key, orders))...)
	return err
}

// ExecuteCall runs the external call of a fulfilled order, fully or in part.
func (c *Chain) ExecuteCall(at time.Time, t Terms, keeper Account, fully bool) error {
	token, err := t.taken()
	if err == nil {
		_, err = c.submit(at, Way{}, keeper, executeCall(t.ID(), token, keeper.Key, fully))
	}
	return err
}

// FallBack gives the external call of a fulfilled order up; what was delivered goes to whoever does it.
func (c *Chain) FallBack(at time.Time, t Terms, by Account) error {
	token, err := t.taken()
	if err == nil {
		_, err = c.submit(at, Way{}, by, fallBack(t.ID(), token, by.Key, t.Take.Amount.Uint64()))
	}
	return err
}

// Pay sends an amount of a token to somebody.
func (c *Chain) Pay(at time.Time, from Account, to Key, t Token, amount uint64) (Signature, error) {
	return c.submit(at, Way{}, from, t.openWallet(from.Key, to), t.transfer(t.Wallet(from.Key), t.Wallet(to), from.Key, amount))
}
