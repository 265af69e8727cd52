package solana

import "time"

// The executor program, as its clients describe it: IDL of extcall_program 1.1.1 in @debridge-finance/dln-client.

// externalCall records whether the executor is done with an order's external call.
type externalCall struct{ done bool }

func (e externalCall) data() []byte { return anchor("account", "ExternalCallMeta", e.done) }

func callMeta(id [32]byte) Key { return pda(executorProgram, "META", id[:]) }

// callAuthority owns what was delivered for the call, in its associated token account.
func callAuthority(id [32]byte) Key { return pda(executorProgram, "AUTH", id[:]) }

// ExecuteCall runs the instructions that a fulfilled order carries for its receiver, all of them or only the first.
func (c *Chain) ExecuteCall(at time.Time, t Terms, by Account, fully bool) error {
	const first = uint64(1)
	token, err := t.taken()
	if err != nil {
		return err
	}
	id, keeper := t.ID(), by.Key
	meta, authority := callMeta(id), callAuthority(id)
	total := uint64(2)
	if fully {
		total = 1
	}
	return c.submit(at, Way{}, by, anchorCall(executorProgram, "execute_extcall", []Meta{
		writes(meta), writes(pda(executorProgram, "STORAGE", id[:], keeper[:])), writes(token.Wallet(authority)),
		writes(authority), signs(keeper), writes(token.Wallet(keeper)), reads(token.programOrDefault()), reads(systemProgram),
	}, func(i *invocation) {
		i.openCall(id, keeper)
		i.emit("Executed", fully, first, first, total)
		i.update(meta, externalCall{fully}.data(), externalCall{fully})
	}, id, first, []byte(nil)))
}

// FallBack abandons the external call of a fulfilled order and pays what was delivered to the account that asks for it.
func (c *Chain) FallBack(at time.Time, t Terms, by Account) error {
	const executed = uint64(0) // instructions
	token, err := t.taken()
	if err != nil {
		return err
	}
	id, meta, authority := t.ID(), callMeta(t.ID()), callAuthority(t.ID())
	from, to := token.Wallet(authority), token.Wallet(by.Key)
	return c.submit(at, Way{}, by, anchorCall(executorProgram, "make_fallback", []Meta{
		writes(meta), reads(authority), writes(from), signs(by.Key), writes(to),
		reads(systemProgram), reads(token.programOrDefault()),
	}, func(i *invocation) {
		i.openCall(id, by.Key)
		i.call(token.transfer(from, to, authority, t.TakeAmount.Uint64()))
		i.emit("Fallbacked", executed)
		i.update(meta, externalCall{true}.data(), externalCall{true})
	}, id))
}

// openCall creates the call's account on first use.
func (i *invocation) openCall(id [32]byte, payer Key) {
	order, _ := stateOf[takeOrder](i.account(takeOrderState(id)))
	isDelivered := order.status != Absent && order.status != Cancelled
	i.check(isDelivered, 6001, "OrderNotFulfilled", "Nothing has been delivered to the executor")
	call, isOpen := stateOf[externalCall](i.account(callMeta(id)))
	i.check(!call.done, 6002, "WrongCallStatus", "The call is over")
	if !isOpen {
		i.create(payer, callMeta(id), executorProgram, externalCall{}.data(), externalCall{})
	}
}
