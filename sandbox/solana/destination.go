package solana

import (
	"bytes"
	"math/big"
)

// takeOrder is an order on its take side.
type takeOrder struct {
	id     [32]byte
	from   uint64 // give chain
	status Status
	// holder is the unlock authority, or whoever moved the order on.
	holder  Key
	message Outbound // about it, once sent

	cancelBeneficiary []byte
}

// data lays out TakeOrderState. Only a fulfilled order's account names the order.
func (o takeOrder) data() []byte {
	const size = 112
	data := anchor("account", "TakeOrderState")
	switch o.status {
	case SentUnlock:
		data = data.u8(1).key(o.holder)
	case Cancelled:
		data = data.u8(2).key(o.holder).optional(o.cancelBeneficiary)
	case SentCancel:
		data = data.u8(3).key(o.holder)
	default:
		data = data.u8(4).key(o.holder).raw(o.id[:])
	}
	_, bump := derive(destinationProgram, []byte("TAKE_ORDER_STATE"), o.id[:])
	return sizeTo(size, data.raw(chainSeed(o.from)).u8(bump))
}

// Fulfilment says who fulfils an order and how.
type Fulfilment struct {
	Terms Terms
	Taker Account
	// UnlockAuthority may send the unlock; zero: the taker.
	UnlockAuthority Key
}

// fulfillOrder is the instruction fulfill_order. An order with an external call is delivered to the
// executor.
func (f Fulfilment) fulfillOrder(t Token) Instruction {
	id := f.Terms.ID()
	return Instruction{
		Program: destinationProgram,
		Accounts: []Meta{
			writes(takeOrderState(id)), signs(f.Taker.Key), writes(t.Wallet(f.Taker.Key)), writes(t.Wallet(f.receiver())),
			reads(sourceOn(f.Terms.Give.Chain)), reads(takeOrderPatch(id)),
			reads(t.programOr(tokenProgram)), reads(systemProgram),
		},
		Data: anchor("global", "fulfill_order").order(f.Terms).raw(id[:]).optionalKey(f.UnlockAuthority),
		run:  func(i *invocation) error { return i.fulfil(f, t) },
	}
}

// receiver is who gets what the order asks for.
func (f Fulfilment) receiver() Key {
	if len(f.Terms.ExternalCall) > 0 {
		return callAuthority(f.Terms.ID())
	}
	return keyOf(f.Terms.Receiver)
}

func (i *invocation) fulfil(f Fulfilment, t Token) error {
	i.log("Instruction: FulfillOrder")
	id := f.Terms.ID()
	if err := i.checkOpen(f.Terms); err != nil {
		return err
	}
	authority := f.UnlockAuthority
	if authority == (Key{}) {
		authority = f.Taker.Key
	}
	if allowed := f.Terms.AllowedTaker; len(allowed) > 0 && !bytes.Equal(allowed, f.Taker.Key[:]) {
		return i.refuse(6002, "WrongTaker", "Another taker is allowed")
	}
	o := takeOrder{id: id, from: f.Terms.Give.Chain, status: Fulfilled, holder: authority}
	if err := i.create(f.Taker.Key, takeOrderState(id), destinationProgram, o.data(), o); err != nil {
		return err
	}
	amount := f.Terms.Take.Amount.Uint64()
	if subtrahend, patched := stateOf[uint64](i.account(takeOrderPatch(id))); patched {
		amount -= subtrahend
	}
	if err := i.call(t.transfer(t.Wallet(f.Taker.Key), t.Wallet(f.receiver()), f.Taker.Key, amount)); err != nil {
		return err
	}
	i.emit(anchor("event", "Fulfilled").raw(id[:]).key(f.Taker.Key))
	return nil
}

// checkOpen refuses orders that are not for this chain, or that something has happened to.
func (i *invocation) checkOpen(t Terms) error {
	if t.Take.Chain != ID {
		return i.refuse(6001, "WrongTakeChain", "The order is for another chain")
	}
	if _, known := stateOf[contractOn](i.account(sourceOn(t.Give.Chain))); !known {
		return i.refuse(6000, "NotSupportedChain", "Give chain is not supported")
	}
	if i.account(takeOrderState(t.ID())) != nil {
		return i.refuse(6003, "WrongTakeOrderStatus", "The order is not open")
	}
	return nil
}

// patchTakeOrder lowers what takers must deliver by subtrahend in all.
func patchTakeOrder(t Terms, authority Key, subtrahend uint64) Instruction {
	id := t.ID()
	at := takeOrderPatch(id)
	return Instruction{
		Program: destinationProgram,
		Accounts: []Meta{
			writes(at), reads(takeOrderState(id)), signs(authority), reads(sourceOn(t.Give.Chain)), reads(systemProgram),
		},
		Data: anchor("global", "patch_take_order").order(t).raw(id[:]).u64(subtrahend),
		run: func(i *invocation) error {
			i.log("Instruction: PatchTakeOrder")
			if err := i.checkOpen(t); err != nil {
				return err
			}
			data := anchor("account", "TakeOrderPatch").u64(subtrahend)
			if i.account(at) != nil {
				i.update(at, data, subtrahend)
			} else if err := i.create(authority, at, destinationProgram, data, subtrahend); err != nil {
				return err
			}
			final := new(big.Int).Sub(t.Take.Amount, new(big.Int).SetUint64(subtrahend))
			i.emit(anchor("event", "DecreaseTakeAmount").raw(id[:]).u64(final.Uint64()))
			return nil
		},
	}
}

// cancelOrder marks an order that nobody has fulfilled. Word of it is sent apart.
func cancelOrder(t Terms, canceler Key) Instruction {
	id := t.ID()
	return Instruction{
		Program: destinationProgram,
		Accounts: []Meta{
			writes(takeOrderState(id)), reads(sourceOn(t.Give.Chain)), signs(canceler), reads(systemProgram),
		},
		Data: anchor("global", "cancel_order").order(t).raw(id[:]),
		run: func(i *invocation) error {
			i.log("Instruction: CancelOrder")
			if err := i.checkOpen(t); err != nil {
				return err
			}
			if !bytes.Equal(t.Authority, canceler[:]) {
				return i.refuse(6005, "WrongCancelAuthority", "Another authority may cancel")
			}
			o := takeOrder{
				id: id, from: t.Give.Chain, status: Cancelled, holder: canceler, cancelBeneficiary: t.CancelBeneficiary,
			}
			if err := i.create(canceler, takeOrderState(id), destinationProgram, o.data(), o); err != nil {
				return err
			}
			i.emit(anchor("event", "OrderCancelled"))
			return nil
		},
	}
}

// prepareSend stands before every send in its transaction.
func prepareSend(sender Key) Instruction {
	return Instruction{
		Program:  destinationProgram,
		Accounts: []Meta{signs(sender), reads(destinationSender), reads(systemProgram)},
		Data:     anchor("global", "prepare_send"),
		run: func(i *invocation) error {
			i.log("Instruction: PrepareSend")
			return nil
		},
	}
}

// sendUnlock is the instruction send_unlock for one order, or send_batch_unlock for several, whose
// arguments do not name them: their accounts do.
func sendUnlock(unlocker Key, beneficiary []byte, orders ...takeOrder) Instruction {
	contract, m := sourceOn(orders[0].from), unlockMessage(beneficiary, orders...)
	in := Instruction{Program: destinationProgram}
	if len(orders) == 1 {
		in.Accounts = []Meta{writes(takeOrderState(orders[0].id)), signs(unlocker), reads(contract)}
		in.Data = anchor("global", "send_unlock").raw(orders[0].id[:]).bytes(beneficiary).u64(0)
	} else {
		in.Accounts = []Meta{signs(unlocker), reads(contract)}
		in.Data = anchor("global", "send_batch_unlock").bytes(beneficiary).u64(0)
	}
	in.Accounts = append(in.Accounts, sending(unlocker, orders[0].from)...)
	if len(orders) > 1 {
		for _, o := range orders {
			in.Accounts = append(in.Accounts, writes(takeOrderState(o.id)))
		}
	}
	in.run = func(i *invocation) error {
		if len(orders) == 1 {
			i.log("Instruction: SendUnlock")
		} else {
			i.log("Instruction: SendBatchUnlock")
		}
		return i.sendAbout(m, unlocker, Fulfilled, SentUnlock, "SentUnlock", orders)
	}
	return in
}

// sendOrderCancel sends word of a cancelled order.
func sendOrderCancel(canceler Key, beneficiary []byte, o takeOrder) Instruction {
	m := cancelMessage(beneficiary, o)
	return Instruction{
		Program: destinationProgram,
		Accounts: append([]Meta{writes(takeOrderState(o.id)), signs(canceler), reads(sourceOn(o.from))},
			sending(canceler, o.from)...),
		Data: anchor("global", "send_order_cancel").raw(o.id[:]).bytes(beneficiary).u64(0),
		run: func(i *invocation) error {
			i.log("Instruction: SendOrderCancel")
			if allowed := o.cancelBeneficiary; len(allowed) > 0 && !bytes.Equal(allowed, beneficiary) {
				return i.refuse(6006, "WrongCancelBeneficiary", "Another beneficiary is allowed")
			}
			return i.sendAbout(m, canceler, Cancelled, SentCancel, "SentOrderCancel", []takeOrder{o})
		},
	}
}

// sendAbout sends a message about orders and moves them on, from one status to another.
func (i *invocation) sendAbout(m Outbound, sender Key, from, to Status, event string, orders []takeOrder) error {
	for _, o := range orders {
		now, _ := stateOf[takeOrder](i.account(takeOrderState(o.id)))
		if now.status != from || now.from != orders[0].from {
			return i.refuse(6003, "WrongTakeOrderStatus", "The order is not in the state that this needs")
		}
		if now.holder != sender {
			return i.refuse(6007, "WrongUnlockAuthority", "Another account may send this")
		}
	}
	contract, _ := stateOf[contractOn](i.account(sourceOn(orders[0].from)))
	m.Receiver = contract.address
	sent, err := i.send(m, sender)
	if err != nil {
		return err
	}
	for _, o := range orders {
		now, _ := stateOf[takeOrder](i.account(takeOrderState(o.id)))
		now.status, now.holder, now.message = to, sender, sent
		i.update(takeOrderState(o.id), now.data(), now)
		i.emit(anchor("event", event))
	}
	return nil
}
