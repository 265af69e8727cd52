package solana

import (
	"encoding/base64"
	"fmt"

	"github.com/mr-tron/base58"

	"crossgate/sandbox/jsonrpc"
)

// simulationOptions say how to simulate a transaction.
type simulationOptions struct {
	view
	Encoding     string `json:"encoding"`
	Verify       bool   `json:"sigVerify"`
	ReplacesHash bool   `json:"replaceRecentBlockhash"`
	ShowsInner   bool   `json:"innerInstructions"`
	Accounts     *struct {
		Encoding  string `json:"encoding"`
		Addresses []Key  `json:"addresses"`
	} `json:"accounts"`
}

func (c *Chain) simulateTransaction(text string, o simulationOptions) (any, error) {
	if o.Verify && o.ReplacesHash {
		return nil, invalid("sigVerify may not be used with replaceRecentBlockhash")
	}
	t, err := decodeTransaction(text, o.Encoding)
	if err != nil {
		return nil, err
	}
	if o.ReplacesHash {
		t.Message.RecentBlockhash = c.blockhash(o.slot)
	}
	wanted := checks{signatures: o.Verify, blockhash: !o.ReplacesHash}
	e, err := c.simulate(t, wanted, func(k Key) *account { return c.accountAt(k, o.slot) })
	if err != nil {
		return nil, err
	}
	shown := e.show()
	if o.ReplacesHash {
		shown["replacementBlockhash"] = c.latest(o.slot)
	}
	if o.ShowsInner {
		shown["innerInstructions"] = e.outcome.innerInstructions()
	}
	if o.Accounts != nil {
		shown["accounts"], err = e.showAfter(o.Accounts.Addresses, o.Accounts.Encoding)
	}
	return at(o.slot, shown), err
}

// decodeTransaction decodes a transaction in the encoding that the client names.
func decodeTransaction(text, encoding string) (*transaction, error) {
	decode := base58.Decode
	switch encoding {
	case "", "base58":
	case "base64":
		decode = base64.StdEncoding.DecodeString
	default:
		return nil, invalid("unsupported encoding: %s. Supported encodings: base58, base64", encoding)
	}
	if most := base64.StdEncoding.EncodedLen(maxTransactionBytes); len(text) > most+most/8 { // base58 is longer
		return nil, invalid("transaction too large: %d characters", len(text))
	}
	raw, err := decode(text)
	if err != nil {
		return nil, invalid("invalid %s encoding: %v", encoding, err)
	}
	t, err := readTransaction(raw)
	if err != nil {
		return nil, invalid("invalid transaction: %v", err)
	}
	return t, nil
}

// show returns the result of the simulation. Members that clients must ask for are null.
func (e *execution) show() object {
	loaded := 0
	for _, k := range e.tx.keys() {
		if content := e.state(k); content != nil {
			loaded += len(content.data)
		}
	}
	return object{
		"err": e.outcome.failure(), "logs": orEmpty(e.outcome.logs), "unitsConsumed": e.outcome.units,
		"loadedAccountsDataSize": loaded, "accounts": nil, "innerInstructions": nil, "returnData": nil,
	}
}

// showAfter returns accounts as the transaction leaves them; null if it failed or there is no such account.
func (e *execution) showAfter(keys []Key, encoding string) ([]any, error) {
	if most := len(e.tx.keys()); len(keys) > most {
		return nil, invalid("Too many accounts provided; max %d", most)
	}
	if encoding != "" && encoding != "base64" {
		return nil, invalid("the sandbox shows accounts of a simulation as base64, not as %q", encoding)
	}
	shown := make([]any, len(keys))
	for i, k := range keys {
		content := e.account(k)
		if content == nil || e.outcome.failure() != nil {
			continue
		}
		var err error
		if shown[i], err = content.show(accountOptions{Encoding: "base64"}); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

type sendOptions struct {
	Encoding string `json:"encoding"`
	Skip     bool   `json:"skipPreflight"`
}

// sendTransaction executes a transaction in the next slot. A transaction that would fail is rejected in preflight. If
// the client skips that, it fails on the chain or disappears.
func (c *Chain) sendTransaction(text string, o sendOptions) (any, error) {
	t, err := decodeTransaction(text, o.Encoding)
	if err != nil {
		return nil, err
	}
	if c.bySignature[t.Signatures[0]] != nil {
		t.outcome.rejected = "AlreadyProcessed"
		nothing := func(Key) *account { return nil }
		return nil, preflight("This transaction has already been processed", newExecution(nothing, t))
	}
	e, err := c.simulate(t, checks{signatures: true, blockhash: true}, c.now)
	if err != nil {
		return nil, err
	}
	if failure := e.outcome.failure(); failure != nil && !o.Skip {
		return nil, preflight(fmt.Sprint(failure), e)
	}
	if e.outcome.rejected == nil {
		c.keep(e)
	}
	return t.Signatures[0], nil
}

func preflight(why string, e *execution) error {
	return &jsonrpc.Error{Code: codePreflight, Message: "Transaction simulation failed: " + why, Data: e.show()}
}
