package solana

// called is how far the executor has come with an order's external call.
type called struct{ done bool }

// executeCall runs the instructions that an order carries for its receiver, all of them or some.
func executeCall(id [32]byte, keeper Key, fully bool) Instruction {
	meta := callMeta(id)
	return Instruction{
		Program: executorProgram,
		Accounts: []Meta{
			writes(meta), signs(keeper), reads(callWallet(id)), reads(takeOrderState(id)), reads(systemProgram),
		},
		Data: anchor("global", "execute_external_call").raw(id[:]).u8(0),
		run: func(i *invocation) error {
			i.log("Instruction: ExecuteExternalCall")
			if err := i.openCall(id, keeper); err != nil {
				return err
			}
			// The numbers are offset, reward and instructions executed.
			i.emit(anchor("event", "Executed").bool(fully).u64(0).u64(0).u64(1))
			i.update(meta, callData(fully), called{fully})
			return nil
		},
	}
}

// fallBack gives up the call; what was delivered goes to the fallback address.
func fallBack(id [32]byte, t Token, authority Key, amount uint64) Instruction {
	meta, wallet := callMeta(id), callWallet(id)
	return Instruction{
		Program: executorProgram,
		Accounts: []Meta{
			writes(meta), signs(authority), writes(t.wallet(wallet)), reads(wallet), writes(t.wallet(authority)),
			reads(takeOrderState(id)), reads(t.programOr(tokenProgram)), reads(systemProgram),
		},
		Data: anchor("global", "make_fallback").raw(id[:]),
		run: func(i *invocation) error {
			i.log("Instruction: MakeFallback")
			if err := i.openCall(id, authority); err != nil {
				return err
			}
			if err := i.call(t.transfer(t.wallet(wallet), t.wallet(authority), wallet, amount)); err != nil {
				return err
			}
			i.emit(anchor("event", "Fallbacked").u64(amount))
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
		return i.refuse(6002, "WrongCallStatus", "The call has been executed")
	}
	if open {
		return nil
	}
	return i.create(payer, callMeta(id), executorProgram, callData(false), called{})
}

func callData(done bool) []byte { return anchor("account", "ExternalCallMeta").bool(done) }
