package solana

// The executor program, as its clients describe it: IDL of extcall_program 1.1.1 in @debridge-finance/dln-client.

// called is how far the executor has come with an order's external call.
type called struct{ done bool }

func callMeta(id [32]byte) Key { return pda(executorProgram, []byte("META"), id[:]) }

// callAuthority owns what was delivered for the call, in its associated token account.
func callAuthority(id [32]byte) Key { return pda(executorProgram, []byte("AUTH"), id[:]) }

// executeCall runs the instructions that an order carries for its receiver, all of them or some.
func executeCall(id [32]byte, t Token, keeper Key, fully bool) Instruction {
	meta, authority := callMeta(id), callAuthority(id)
	total := uint64(2)
	if fully {
		total = 1
	}
	return Instruction{
		Program: executorProgram,
		Accounts: []Meta{
			writes(meta), writes(pda(executorProgram, []byte("STORAGE"), id[:], keeper[:])), writes(t.Wallet(authority)),
			writes(authority), signs(keeper), writes(t.Wallet(keeper)), reads(t.programOr(tokenProgram)), reads(systemProgram),
		},
		Data: anchor("global", "execute_extcall").raw(id[:]).u64(1).bytes(nil),
		run: func(i *invocation) error {
			i.log("Instruction: ExecuteExtcall")
			if err := i.openCall(id, keeper); err != nil {
				return err
			}
			i.emit(anchor("event", "Executed").bool(fully).u64(1).u64(1).u64(total))
			i.update(meta, callData(fully), called{fully})
			return nil
		},
	}
}

// fallBack gives up the call; what was delivered goes to whoever signs that.
func fallBack(id [32]byte, t Token, by Key, amount uint64) Instruction {
	meta, authority := callMeta(id), callAuthority(id)
	return Instruction{
		Program: executorProgram,
		Accounts: []Meta{
			writes(meta), reads(authority), writes(t.Wallet(authority)), signs(by), writes(t.Wallet(by)),
			reads(systemProgram), reads(t.programOr(tokenProgram)),
		},
		Data: anchor("global", "make_fallback").raw(id[:]),
		run: func(i *invocation) error {
			i.log("Instruction: MakeFallback")
			if err := i.openCall(id, by); err != nil {
				return err
			}
			if err := i.call(t.transfer(t.Wallet(authority), t.Wallet(by), authority, amount)); err != nil {
				return err
			}
			i.emit(anchor("event", "Fallbacked").u64(0)) // instructions executed
			i.update(meta, callData(true), called{true})
			return nil
		},
	}
}

// openCall makes the call's account when the executor first hears of it.
func (i *invocation) openCall(id [32]byte, payer Key) error {
	if order, _ := stateOf[takeOrder](i.account(takeOrderState(id))); order.status == Absent || order.status == Cancelled {
		return i.refuse(6001, "OrderNotFulfilled", "Nothing has been delivered to the executor")
	}
	call, open := stateOf[called](i.account(callMeta(id)))
	if call.done {
		return i.refuse(6002, "WrongCallStatus", "The call is over")
	}
	if open {
		return nil
	}
	return i.create(payer, callMeta(id), executorProgram, callData(false), called{})
}

func callData(done bool) []byte { return anchor("account", "ExternalCallMeta").bool(done) }
