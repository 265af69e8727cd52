package solana

import (
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

// transaction is the instructions on their way.
func (w Way) transaction(payer Account, signers []Account, instructions ...Instruction) Transaction {
	if w.Forwarded {
		last := len(instructions) - 1
		instructions[last] = forward(instructions[last])
	}
	if w.Doomed {
		instructions = append(instructions, refuseAlways(payer.Key))
	}
	if w.Priority > 0 {
		const limit = 400_000
		instructions = budgeted(limit, w.Priority, instructions...)
	}
	tx := Transaction{Payer: payer, Signers: signers, Instructions: instructions, Versioned: w.Versioned}
	if w.Versioned {
		tx.Tables = []Key{lookupTable}
	}
	return tx
}

// forward has the forwarder make a call, with the program at the end of its accounts.
func forward(in Instruction) Instruction {
	return Instruction{
		Program:  forwarderProgram,
		Accounts: append(slices.Clone(in.Accounts), reads(in.Program)),
		Data:     anchor("global", "forward").bytes(in.Data),
		run: func(i *invocation) error {
			i.log("Instruction: Forward")
			return i.call(in)
		},
	}
}

// refuseAlways is a call of the forwarder that fails.
func refuseAlways(payer Key) Instruction {
	return Instruction{
		Program:  forwarderProgram,
		Accounts: []Meta{signs(payer)},
		Data:     anchor("global", "check_balance"),
		run: func(i *invocation) error {
			i.log("Instruction: CheckBalance")
			return i.refuse(6000, "BalanceTooLow", "The balance is lower than expected")
		},
	}
}

// Create makes orders, all in one transaction. A doomed way leaves a failed transaction and no order.
func (c *Chain) Create(at time.Time, w Way, creations ...Creation) ([]Order, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maker := creations[0].Maker
	payer, signers := maker, []Account(nil)
	if creations[0].Payer.Key != (Key{}) {
		payer, signers = creations[0].Payer, []Account{maker}
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
	signature, err := c.send(at, w.transaction(payer, signers, instructions...))
	if err != nil && !w.Doomed {
		return nil, fmt.Errorf("create order: %w", err)
	}
	for n := range orders {
		orders[n].Creation = signature
	}
	return orders, nil
}

// Fulfil delivers what an order asks for.
func (c *Chain) Fulfil(at time.Time, w Way, f Fulfilment) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := taken(f.Terms)
	if err != nil {
		return err
	}
	var instructions []Instruction
	if t.Mint != systemProgram {
		instructions = append(instructions, t.openWallet(f.Taker.Key, f.receiver()))
	}
	instructions = append(instructions, f.fulfillOrder(t))
	if _, err := c.send(at, w.transaction(f.Taker, nil, instructions...)); err != nil {
		return fmt.Errorf("fulfil order %x: %w", f.Terms.ID(), err)
	}
	return nil
}

// taken is the token that an order asks for.
func taken(t Terms) (Token, error) {
	mint := keyOf(t.Take.Token)
	if mint == systemProgram {
		return Native, nil
	}
	return tokenOf(mint)
}

// SendUnlock sends one message for all of the orders, which must have one give chain.
func (c *Chain) SendUnlock(at time.Time, unlocker Account, beneficiary []byte, ids ...[32]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	orders := make([]takeOrder, len(ids))
	for i, id := range ids {
		order, known := stateOf[takeOrder](c.accounts[takeOrderState(id)])
		if !known {
			return fmt.Errorf("order %x has not been fulfilled here", id)
		}
		orders[i] = order
	}
	w := Way{Versioned: len(ids) > 1}
	tx := w.transaction(unlocker, nil, prepareSend(unlocker.Key), sendUnlock(unlocker.Key, beneficiary, orders...))
	if _, err := c.send(at, tx); err != nil {
		return fmt.Errorf("send unlock: %w", err)
	}
	return nil
}

// Cancel marks an order that nobody has fulfilled; SendCancel sends word of it.
func (c *Chain) Cancel(at time.Time, t Terms, canceler Account) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.send(at, Way{}.transaction(canceler, nil, cancelOrder(t, canceler.Key))); err != nil {
		return fmt.Errorf("cancel order %x: %w", t.ID(), err)
	}
	return nil
}

// SendCancel sends word of a cancelled order, for a refund to beneficiary.
func (c *Chain) SendCancel(at time.Time, id [32]byte, canceler Account, beneficiary []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	order, _ := stateOf[takeOrder](c.accounts[takeOrderState(id)])
	order.id = id
	tx := Way{}.transaction(canceler, nil, prepareSend(canceler.Key), sendOrderCancel(canceler.Key, beneficiary, order))
	if _, err := c.send(at, tx); err != nil {
		return fmt.Errorf("send cancel of order %x: %w", id, err)
	}
	return nil
}

// Claim lets a message in and carries its calls out, in two transactions or together in one.
func (c *Chain) Claim(at time.Time, keeper Account, m Inbound, together bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var orders []giveOrder
	for _, id := range m.Orders {
		g, known := stateOf[giveOrder](c.accounts[giveOrderState(id)])
		if !known {
			return fmt.Errorf("order %x was not created here", id)
		}
		orders = append(orders, g)
	}
	receive, execute := m.receive(keeper.Key), []Instruction{m.execute(keeper.Key, orders)}
	if t := orders[0].token; t.Mint != systemProgram {
		execute = []Instruction{t.openWallet(keeper.Key, m.Beneficiary), execute[0]}
	}
	versioned := Way{Versioned: true}
	steps := []Transaction{versioned.transaction(keeper, nil, append([]Instruction{receive}, execute...)...)}
	if !together {
		steps = []Transaction{Way{}.transaction(keeper, nil, receive), versioned.transaction(keeper, nil, execute...)}
	}
	for _, tx := range steps {
		if _, err := c.send(at, tx); err != nil {
			return fmt.Errorf("claim message %x: %w", m.Submission, err)
		}
	}
	return nil
}

// PatchGive adds to what an open order gives.
func (c *Chain) PatchGive(at time.Time, id [32]byte, maker Account, addition uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, known := stateOf[giveOrder](c.accounts[giveOrderState(id)])
	if !known {
		return fmt.Errorf("order %x was not created here", id)
	}
	if _, err := c.send(at, Way{}.transaction(maker, nil, patchOrderGive(g, addition))); err != nil {
		return fmt.Errorf("patch give amount of order %x: %w", id, err)
	}
	return nil
}

// PatchTake lowers what an open order takes by subtrahend in all.
func (c *Chain) PatchTake(at time.Time, t Terms, authority Account, subtrahend uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.send(at, Way{}.transaction(authority, nil, patchTakeOrder(t, authority.Key, subtrahend))); err != nil {
		return fmt.Errorf("patch take amount of order %x: %w", t.ID(), err)
	}
	return nil
}

// ExecuteCall runs the external call of a fulfilled order, fully or in part.
func (c *Chain) ExecuteCall(at time.Time, t Terms, keeper Account, fully bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	token, err := taken(t)
	if err != nil {
		return err
	}
	if _, err := c.send(at, Way{}.transaction(keeper, nil, executeCall(t.ID(), token, keeper.Key, fully))); err != nil {
		return fmt.Errorf("execute external call of order %x: %w", t.ID(), err)
	}
	return nil
}

// FallBack gives the external call of a fulfilled order up; what was delivered goes to whoever does it.
func (c *Chain) FallBack(at time.Time, t Terms, by Account) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	token, err := taken(t)
	if err != nil {
		return err
	}
	if _, err := c.send(at, Way{}.transaction(by, nil, fallBack(t.ID(), token, by.Key, t.Take.Amount.Uint64()))); err != nil {
		return fmt.Errorf("fall back from the call of order %x: %w", t.ID(), err)
	}
	return nil
}

// Pay sends an amount of a token to somebody.
func (c *Chain) Pay(at time.Time, from Account, to Key, t Token, amount uint64) (Signature, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send(at, Way{}.transaction(from, nil, t.openWallet(from.Key, to), t.transfer(t.Wallet(from.Key), t.Wallet(to), from.Key, amount)))
}
