package solana

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// takeOrder is an order on its take side.
type takeOrder struct {
	id     [32]byte
	from   uint64 // give chain
	status Status
	// holder is the unlock authority, or the account that last changed the order's status.
	holder  Key
	message Outbound // about the order, once sent

	cancelBeneficiary []byte
}

// takeOrderSize is what the program allocates for an order, in bytes.
const takeOrderSize = 112

// data encodes a TakeOrderState. Only a fulfilled order's account contains the order ID.
func (o takeOrder) data() []byte {
	var kind uint8
	var content raw
	switch o.status {
	case SentUnlock:
		kind = 1
	case Cancelled:
		kind, content = 2, borsh(optional(o.cancelBeneficiary))
	case SentCancel:
		kind = 3
	default:
		kind, content = 4, o.id[:]
	}
	_, bump := derive(destinationProgram, []byte("TAKE_ORDER_STATE"), o.id[:])
	return padTo(takeOrderSize, anchor("account", "TakeOrderState", kind, o.holder, content, numberWord(o.from), bump))
}

// Fulfilment says who fulfils an order and how.
type Fulfilment struct {
	Terms Terms
	Taker Account
	// UnlockAuthority may send the unlock; zero: the taker.
	UnlockAuthority Key
}

func (f Fulfilment) receiver() Key { return keyOf(f.Terms.Receiver) }

// hasCall reports whether the executor gets what the order takes.
func (f Fulfilment) hasCall() bool { return len(f.Terms.ExternalCall) > 0 }

// Fulfil delivers what an order takes.
func (c *Chain) Fulfil(at time.Time, w Way, f Fulfilment) error {
	t, err := f.Terms.taken()
	if err != nil {
		return err
	}
	instructions := []Instruction{f.fulfillOrder(t)}
	if !t.isNative() && !f.hasCall() {
		instructions = slices.Insert(instructions, 0, t.openWallet(f.Taker.Key, f.receiver()))
	}
	return c.submit(at, w, f.Taker, instructions...)
}

// Expenses returns what fulfilling an order, and sending a message about it, currently cost a taker in lamports:
// signatures, the rent of the accounts that are opened, and the message fee.
func (c *Chain) Expenses(t Terms) (fulfilling, unlocking uint64) {
	fulfilling = lamportsPerSignature + rent(takeOrderSize)
	c.mu.RLock()
	defer c.mu.RUnlock()
	token, err := t.taken()
	f := Fulfilment{Terms: t}
	if f.hasCall() {
		fulfilling += rent(callSize)
	}
	if err == nil && !token.isNative() && (f.hasCall() || c.now(token.Wallet(f.receiver())) == nil) {
		fulfilling += rent(tokenAccountSize)
	}
	return fulfilling, lamportsPerSignature + messageFee
}

// ClaimExpenses returns the cost of claiming a message here in lamports: two signatures, and the rent of its account.
func (*Chain) ClaimExpenses() uint64 { return 2*lamportsPerSignature + rent(submissionSize) }

// taken returns the token that the order takes.
func (t Terms) taken() (Token, error) {
	mint := keyOf(t.TakeToken)
	if mint == Native.Mint {
		return Native, nil
	}
	return TokenAt(mint)
}

// fulfillOrder returns the instruction fulfill_order.
func (f Fulfilment) fulfillOrder(t Token) Instruction {
	id, taker := f.Terms.ID(), f.Taker.Key
	receiver := writes(t.Wallet(f.receiver()))
	var executor []Meta // further accounts
	if f.hasCall() {
		receiver = reads(f.receiver())
		executor = []Meta{
			reads(executorState), writes(callMeta(id)), writes(callWallet(id, t)), reads(t.Mint), reads(instructionsSysvar),
		}
	}
	return anchorCall(destinationProgram, "fulfill_order", append([]Meta{
		writes(takeOrderState(id)), signs(taker), writes(t.Wallet(taker)), receiver,
		reads(sourceOn(f.Terms.Give().Chain)), reads(takeOrderPatch(id)), reads(t.programOrDefault()), reads(systemProgram),
	}, executor...), func(i *invocation) { i.fulfil(f, t) }, f.Terms.borsh(), id, optionalKey(f.UnlockAuthority))
}

func (i *invocation) fulfil(f Fulfilment, t Token) {
	id, taker, allowed := f.Terms.ID(), f.Taker.Key, f.Terms.AllowedTaker
	i.checkOpen(f.Terms)
	i.check(len(allowed) == 0 || bytes.Equal(allowed, taker[:]), 6002, "WrongTaker", "Another taker is allowed")
	o := takeOrder{id: id, from: f.Terms.Give().Chain, status: Fulfilled, holder: f.UnlockAuthority}
	if o.holder == (Key{}) {
		o.holder = taker
	}
	i.create(taker, takeOrderState(id), destinationProgram, o.data(), o)
	subtrahend, _ := stateOf[uint64](i.account(takeOrderPatch(id)))
	if amount := f.Terms.TakeAmount.Uint64() - subtrahend; f.hasCall() {
		i.require(f.receiver() == Executor, errWrongProgram)
		i.call(f.openCall(t, amount))
	} else {
		i.call(t.transfer(t.Wallet(taker), t.Wallet(f.receiver()), taker, amount))
	}
	i.emit("Fulfilled", id, taker)
}

// checkOpen fails for orders of another take chain, and for orders that have already been changed here.
func (i *invocation) checkOpen(t Terms) {
	_, isConnected := stateOf[foreignContract](i.account(sourceOn(t.Give().Chain)))
	i.check(t.Take().Chain == ID, 6001, "WrongTakeChain", "The order is for another chain")
	i.check(isConnected, 6000, "NotSupportedChain", "Give chain is not supported")
	i.check(i.account(takeOrderState(t.ID())) == nil, 6003, "WrongTakeOrderStatus", "The order is not open")
}

// PatchTake lowers the take amount of an open order by subtrahend in total.
func (c *Chain) PatchTake(at time.Time, t Terms, authority Account, subtrahend uint64) error {
	id := t.ID()
	patch := takeOrderPatch(id)
	return c.submit(at, Way{}, authority, anchorCall(destinationProgram, "patch_take_order", []Meta{
		writes(patch), reads(takeOrderState(id)), signs(authority.Key), reads(sourceOn(t.Give().Chain)), reads(systemProgram),
	}, func(i *invocation) {
		i.checkOpen(t)
		data := anchor("account", "TakeOrderPatch", subtrahend)
		if i.account(patch) == nil {
			i.create(authority.Key, patch, destinationProgram, data, subtrahend)
		}
		i.update(patch, data, subtrahend)
		i.emit("DecreaseTakeAmount", id, t.TakeAmount.Uint64()-subtrahend)
	}, t.borsh(), id, subtrahend))
}

// Cancel marks an unfulfilled order as cancelled; SendCancel sends the message about it.
func (c *Chain) Cancel(at time.Time, t Terms, canceler Account) error {
	return c.submit(at, Way{}, canceler, cancelOrder(t, canceler.Key))
}

func cancelOrder(t Terms, canceler Key) Instruction {
	id := t.ID()
	return anchored(destinationProgram, "cancel_order", []Meta{
		writes(takeOrderState(id)), reads(sourceOn(t.Give().Chain)), signs(canceler), reads(systemProgram),
	}, t.borsh(), id)
}

func (i *invocation) cancelOrder(accounts []Meta, data []byte) {
	var args orderArgs
	i.read(data, &args)
	t, canceler := args.terms(), accounts[2]
	id := t.ID()
	i.check(id == [32]byte(args.ID), 6004, "WrongOrderId", "The order has another id")
	i.checkAddress(accounts[0], takeOrderState(id))
	i.checkAddress(accounts[1], sourceOn(t.Give().Chain))
	i.checkSigner(canceler)
	i.checkOpen(t)
	i.check(bytes.Equal(t.Authority, canceler.Key[:]), 6005, "WrongCancelAuthority", "Another authority may cancel")
	o := takeOrder{id: id, from: t.Give().Chain, status: Cancelled, holder: canceler.Key}
	o.cancelBeneficiary = t.CancelBeneficiary
	i.create(canceler.Key, takeOrderState(id), destinationProgram, o.data(), o)
	i.emit("OrderCancelled")
}

// preparing is the number of accounts of prepare_send: IDL of dln_dst in @debridge-finance/dln-client 8.3.6.
const preparing = 10

// prepareSend returns the instruction that must precede the sending of a message in its transaction.
func prepareSend(sender Key, about takeOrder) Instruction {
	return anchored(destinationProgram, "prepare_send", []Meta{
		reads(takeOrderState(about.id)), writes(destinationSender), writes(senderWallet), signs(sender),
		writes(bridgedMint.Wallet(sender)), reads(chainSupport(about.from)), reads(debridgeState),
		reads(systemProgram), reads(tokenProgram), reads(instructionsSysvar),
	})
}

func (i *invocation) prepareSend(accounts []Meta, _ []byte) {
	i.checkSigner(accounts[3])
	i.checkAddress(accounts[1], destinationSender)
	i.prepared = true
}

// SendUnlock sends one message for all of the orders, which must have the same give chain.
func (c *Chain) SendUnlock(at time.Time, unlocker Account, beneficiary []byte, ids ...[32]byte) error {
	orders := make([]takeOrder, len(ids))
	for i, id := range ids {
		var known bool
		if orders[i], known = read[takeOrder](c, takeOrderState(id)); !known {
			return fmt.Errorf("order %x has not been fulfilled here", id)
		}
	}
	w := Way{Versioned: len(ids) > 1}
	return c.submit(at, w, unlocker, prepareSend(unlocker.Key, orders[0]), sendUnlock(unlocker.Key, beneficiary, orders...))
}

// sendUnlock returns the instruction send_unlock for one order, or send_batch_unlock for several. The batch's arguments
// do not list the orders; its accounts do.
func sendUnlock(unlocker Key, beneficiary []byte, orders ...takeOrder) Instruction {
	const noFee = uint64(0)
	from := orders[0].from
	accounts := append([]Meta{signs(unlocker), reads(sourceOn(from))}, unlockMessage(beneficiary, orders...).sending()...)
	if len(orders) == 1 {
		accounts = append([]Meta{writes(takeOrderState(orders[0].id))}, accounts...)
		return anchored(destinationProgram, "send_unlock", accounts, orders[0].id, beneficiary, noFee)
	}
	for _, o := range orders {
		accounts = append(accounts, writes(takeOrderState(o.id)))
	}
	return anchored(destinationProgram, "send_batch_unlock", accounts, beneficiary, noFee)
}

// sendArgs are the arguments of a message about one order, sendBatchArgs those for several.
type sendArgs struct {
	ID          common.Hash
	Beneficiary []byte
	Fee         uint64 // for the execution
}

type sendBatchArgs struct {
	Beneficiary []byte
	Fee         uint64
}

func (i *invocation) sendUnlock(accounts []Meta, data []byte) {
	var args sendArgs
	i.read(data, &args)
	i.checkAddress(accounts[0], takeOrderState(args.ID))
	i.sendUnlocks(accounts[1], accounts[2:], args.Beneficiary, accounts[:1])
}

func (i *invocation) sendBatchUnlock(accounts []Meta, data []byte) {
	var args sendBatchArgs
	i.read(data, &args)
	i.sendUnlocks(accounts[0], accounts[1:], args.Beneficiary, accounts[2+sendingCount:])
}

func (i *invocation) sendUnlocks(unlocker Meta, context []Meta, beneficiary []byte, states []Meta) {
	orders := i.takeOrders(states)
	i.sendAbout(unlockMessage(beneficiary, orders...), unlocker, context, Fulfilled, SentUnlock, "SentUnlock", orders)
}

// takeOrders returns the orders that accounts hold, and fails if one of them holds none.
func (i *invocation) takeOrders(states []Meta) []takeOrder {
	i.check(len(states) > 0, 3005, "AccountNotEnoughKeys", "Not enough account keys given to the instruction")
	orders := make([]takeOrder, len(states))
	for n, m := range states {
		var known bool
		orders[n], known = stateOf[takeOrder](i.account(m.Key))
		i.check(known, 3012, "AccountNotInitialized", "The program expected this account to be already initialized")
	}
	return orders
}

// SendCancel sends the message about a cancelled order, for a refund to beneficiary.
func (c *Chain) SendCancel(at time.Time, id [32]byte, canceler Account, beneficiary []byte) error {
	o, _ := read[takeOrder](c, takeOrderState(id))
	o.id = id
	accounts := []Meta{writes(takeOrderState(id)), signs(canceler.Key), reads(sourceOn(o.from))}
	accounts = append(accounts, cancelMessage(beneficiary, o).sending()...)
	send := anchored(destinationProgram, "send_order_cancel", accounts, id, beneficiary, uint64(0))
	return c.submit(at, Way{}, canceler, prepareSend(canceler.Key, o), send)
}

func (i *invocation) sendOrderCancel(accounts []Meta, data []byte) {
	var args sendArgs
	i.read(data, &args)
	i.checkAddress(accounts[0], takeOrderState(args.ID))
	orders := i.takeOrders(accounts[:1])
	allowed := orders[0].cancelBeneficiary
	isAllowed := len(allowed) == 0 || bytes.Equal(allowed, args.Beneficiary)
	i.check(isAllowed, 6006, "WrongCancelBeneficiary", "Another beneficiary is allowed")
	m := cancelMessage(args.Beneficiary, orders[0])
	i.sendAbout(m, accounts[1], accounts[2:], Cancelled, SentCancel, "SentOrderCancel", orders)
}

// sendAbout sends a message about orders and changes their status from one to another. The context is the account of
// the destination contract, followed by the accounts for sending.
func (i *invocation) sendAbout(m Outbound, sender Meta, context []Meta, from, to Status, event string, orders []takeOrder) {
	i.checkSigner(sender)
	i.check(i.prepared, 6008, "SendIsNotPrepared", "The transaction must prepare the sending before")
	for _, o := range orders {
		isReady := o.status == from && o.from == orders[0].from
		i.check(isReady, 6003, "WrongTakeOrderStatus", "The order is not in the state that this needs")
		i.check(o.holder == sender.Key, 6007, "WrongUnlockAuthority", "Another account may send this")
	}
	i.checkAddress(context[0], sourceOn(m.To))
	for n, want := range m.sending() {
		i.checkAddress(context[1+n], want.Key)
	}
	contract, _ := stateOf[foreignContract](i.account(context[0].Key))
	m.Receiver = contract.address
	sent := i.send(m, sender.Key)
	for _, o := range orders {
		o.status, o.holder, o.message = to, sender.Key, sent
		i.update(takeOrderState(o.id), o.data(), o)
		i.emit(event)
	}
}
