package solana

// The executor program, as its clients describe it: IDL of extcall_program 1.1.1 in @debridge-finance/dln-client.

// externalCall is how far the executor has come with an order's external call.
type externalCall struct{ done bool }

func (e externalCall) data() []byte { return anchor("account", "ExternalCallMeta", e.done) }

func callMeta(id [32]byte) Key { return pda(executorProgram, "META", id[:]) }

// callAuthority owns what was delivered for the call, in its associated token account.
func callAuthority(id [32]byte) Key { return pda(executorProgram, "AUTH", id[:]) }

// executeCall runs the instructions that an order carries for its receiver, all of them or some.
func executeCall(id [32]byte, t Token, keeper Key, fully bool) Instruction {
	const first = uint64(1)
	meta, authority := callMeta(id), callAuthority(id)
	total := uint64(2)
	if fully {
		total = 1
	}
	return anchorCall(executorProgram, "execute_extcall", []Meta{
		writes(meta), writes(pda(executorProgram, "STORAGE", id[:], keeper[:])), writes(t.Wallet(authority)),
		writes(authority), signs(keeper), writes(t.Wallet(keeper)), reads(t.programOrDefault()), reads(systemProgram),
	}, func(i *invocation) {
		i.openCall(id, keeper)
		i.emit("Executed", fully, first, first, total)
		i.update(meta, externalCall{fully}.data(), externalCall{fully})
	}, id, first, []byte(nil))
}

// fallBack gives up the call; what was delivered goes to whoever signs that.
func fallBack(id [32]byte, t Token, by Key, amount uint64) Instruction {
	const executed = uint64(0) // instructions
	meta, authority := callMeta(id), callAuthority(id)
	return anchorCall(executorProgram, "make_fallback", []Meta{
		writes(meta), reads(authority), writes(t.Wallet(authority)), signs(by), writes(t.Wallet(by)),
		reads(systemProgram), reads(t.programOrDefault()),
	}, func(i *invocation) {
		i.openCall(id, by)
		i.call(t.transfer(t.Wallet(authority), t.Wallet(by), authority, amount))
		i.emit("Fallbacked", executed)
		i.update(meta, externalCall{true}.data(), externalCall{true})
	}, id)
}

// openCall makes the call's account when the executor first hears of it.
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
