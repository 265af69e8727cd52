package solana

import "slices"

// transactionOptions say how to show transactions.
type transactionOptions struct {
	history
	Encoding   string `json:"encoding"`
	MaxVersion *int   `json:"maxSupportedTransactionVersion"`
}

func (c *Chain) getTransaction(signature Signature, o transactionOptions) (any, error) {
	t := c.bySignature[signature]
	if t == nil || t.slot > o.slot {
		return nil, nil
	}
	shown, err := t.show(o)
	if err != nil {
		return nil, err
	}
	shown["slot"], shown["blockTime"] = t.slot, c.timeOf(t.slot)
	return shown, nil
}

// show returns the transaction as clients see it, unless the client does not support its version.
func (t *transaction) show(o transactionOptions) (object, error) {
	isVersioned := t.Message.IsVersioned()
	if isVersioned && o.MaxVersion == nil {
		return nil, refuse(codeUnsupportedVersion, "Transaction version (0) is not supported by the requesting client. "+
			`Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0`)
	}
	shown := object{"meta": t.meta(), "transaction": t.spelledOut()}
	switch {
	case isVersioned:
		shown["version"] = 0
	case o.MaxVersion != nil:
		shown["version"] = "legacy"
	}
	if o.Encoding == "" || o.Encoding == "json" {
		return shown, nil
	}
	wire, err := t.wire()
	if err == nil {
		shown["transaction"], err = encode(wire, o.Encoding)
	}
	return shown, err
}

// showAccounts returns the transaction with its accounts only, including those from lookup tables.
func (t *transaction) showAccounts() object {
	static, loaded := t.parts()
	keys := []object{}
	for i, key := range append(slices.Clone(static), loaded...) {
		source := "transaction"
		if i >= len(static) {
			source = "lookupTable"
		}
		keys = append(keys, object{"pubkey": key, "signer": i < len(t.Signatures), "source": source, "writable": t.isWritable(key)})
	}
	return object{
		"transaction": object{"accountKeys": keys, "signatures": t.Signatures},
		"meta":        object{"err": t.outcome.failure(), "status": t.outcome.status(), "fee": t.outcome.fee},
	}
}

// spelledOut returns the transaction with the decoded message.
func (t *transaction) spelledOut() object {
	m := t.Message
	instructions := make([]compiled, len(m.Instructions))
	for i, in := range m.Instructions {
		instructions[i] = compiled{in, 1}
	}
	static, _ := t.parts()
	message := object{
		"accountKeys": static, "header": m.Header, "instructions": instructions, "recentBlockhash": m.RecentBlockhash,
	}
	if m.IsVersioned() {
		message["addressTableLookups"] = orEmpty(m.AddressTableLookups)
	}
	return object{"message": message, "signatures": t.Signatures}
}

// orEmpty returns a list that JSON does not encode as null.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

func (o *outcome) status() object {
	if failure := o.failure(); failure != nil {
		return object{"Err": failure}
	}
	return object{"Ok": nil}
}

// meta returns the transaction's outcome.
func (t *transaction) meta() object {
	const costBeside = 1500 // signatures and account locks
	o, written := &t.outcome, t.Message.NumWritableLookups()
	_, loaded := t.parts()
	return object{
		"computeUnitsConsumed": o.units, "costUnits": o.units + costBeside, "fee": o.fee,
		"err": o.failure(), "status": o.status(), "logMessages": o.logs,
		"innerInstructions": o.innerInstructions(), "rewards": []any{},
		"preBalances": o.lamportsBefore, "postBalances": o.lamportsAfter,
		"preTokenBalances": showBalances(o.tokensBefore), "postTokenBalances": showBalances(o.tokensAfter),
		"loadedAddresses": object{"writable": orEmpty(loaded[:written]), "readonly": orEmpty(loaded[written:])},
	}
}

func (o *outcome) innerInstructions() []object {
	shown := []object{}
	for i, inner := range o.inner {
		if len(inner) > 0 {
			shown = append(shown, object{"index": i, "instructions": inner})
		}
	}
	return shown
}

func showBalances(balances []tokenBalance) []object {
	shown := make([]object, len(balances))
	for i, b := range balances {
		t, err := TokenAt(b.mint)
		if err != nil {
			panic(err.Error()) // the sandbox creates no other accounts
		}
		shown[i] = object{
			"accountIndex": b.index, "mint": b.mint, "owner": b.owner, "programId": b.program,
			"uiTokenAmount": t.uiTokenAmount(b.amount),
		}
	}
	return shown
}

func (c *Chain) confirmation(slot uint64) string {
	if slot <= c.finalized() {
		return finalized
	}
	return confirmed
}

type signatureOptions struct {
	history
	Limit  *int      `json:"limit"`
	Before Signature `json:"before"`
	Until  Signature `json:"until"`
}

// getSignaturesForAddress lists an account's transactions, newest first. Before and until need not involve the account.
// If before is unknown, the list is empty.
func (c *Chain) getSignaturesForAddress(address Key, o signatureOptions) (any, error) {
	const most = 1000
	limit := most
	if o.Limit != nil {
		limit = *o.Limit
	}
	if limit < 1 || limit > most {
		return nil, invalid("Invalid limit; max %d", most)
	}
	infos, before, until := []object{}, c.bySignature[o.Before], c.bySignature[o.Until]
	if before == nil && !o.Before.IsZero() {
		return infos, nil
	}
	for _, t := range slices.Backward(c.byAddress[address]) { // each transaction has its own slot
		switch {
		case before != nil && t.slot >= before.slot, t.slot > o.slot:
			continue
		case until != nil && t.slot <= until.slot || len(infos) == limit:
			return infos, nil
		}
		infos = append(infos, object{
			"signature": t.Signatures[0], "slot": t.slot, "blockTime": c.timeOf(t.slot), "err": t.outcome.failure(), "memo": nil,
			"confirmationStatus": c.confirmation(t.slot),
		})
	}
	return infos, nil
}

type statusOptions struct {
	Search bool `json:"searchTransactionHistory"`
}

func (c *Chain) getSignatureStatuses(signatures []Signature, o statusOptions) (any, error) {
	const most, recent = 256, 150
	if len(signatures) > most {
		return nil, invalid("Too many inputs provided; max %d", most)
	}
	values := make([]any, len(signatures))
	for i, signature := range signatures {
		t := c.bySignature[signature]
		if t == nil || !o.Search && t.slot+recent < c.head {
			continue
		}
		var confirmations any = c.head - t.slot
		if t.slot <= c.finalized() {
			confirmations = nil // fully confirmed
		}
		values[i] = object{
			"slot": t.slot, "confirmations": confirmations, "err": t.outcome.failure(), "status": t.outcome.status(),
			"confirmationStatus": c.confirmation(t.slot),
		}
	}
	return at(c.head, values), nil
}
