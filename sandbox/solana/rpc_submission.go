package solana

import (
	"encoding/base64"
	"fmt"

	"github.com/mr-tron/base58"
)

// simulationOptions are how a client wants a transaction tried.
type simulationOptions struct {
	commitmentOption
	Encoding     string `json:"encoding"`
	Verify       bool   `json:"sigVerify"`
	ReplacesHash bool   `json:"replaceRecentBlockhash"`
	ShowsInner   bool   `json:"innerInstructions"`
	Accounts     *struct {
		Encoding  string   `json:"encoding"`
		Addresses []string `json:"addresses"`
	} `json:"accounts"`
}

// simulated is what a trial shows.
type simulated struct {
	Accounts    []*accountOut `json:"accounts"` // null when nobody asked
	Err         any           `json:"err"`
	Inner       []innerOut    `json:"innerInstructions"` // null when nobody asked
	LoadedBytes int           `json:"loadedAccountsDataSize"`
	Logs        []string      `json:"logs"`
	Replacement any           `json:"replacementBlockhash,omitempty"`
	ReturnData  any           `json:"returnData"`
	Units       uint64        `json:"unitsConsumed"`
}

func (c *Chain) simulateTransaction(p params) (any, error) {
	var o simulationOptions
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	if o.Verify && o.ReplacesHash {
		return nil, invalid("sigVerify may not be used with replaceRecentBlockhash")
	}
	tx, err := p.transaction(0, o.Encoding)
	if err != nil {
		return nil, err
	}
	slot, err := c.slot(o.Commitment)
	if err != nil {
		return nil, err
	}
	if o.ReplacesHash {
		tx.message.blockhash = c.blockhash(slot)
	}
	e, err := c.trial(tx, checks{signatures: o.Verify, blockhash: !o.ReplacesHash}, func(k Key) *held { return c.accountAt(k, slot) })
	if err != nil {
		return nil, err
	}
	value, err := e.look(o)
	if o.ReplacesHash {
		value.Replacement = c.latest(slot)
	}
	return at(slot, value), err
}

// transaction reads the transaction at a place in the spelling that the client names.
func (p params) transaction(at int, encoding string) (*recorded, error) {
	var text string
	if err := p.read(at, &text, false); err != nil {
		return nil, err
	}
	decode := base58.Decode
	switch encoding {
	case "", "base58":
	case "base64":
		decode = base64.StdEncoding.DecodeString
	default:
		return nil, invalid("unsupported encoding: %s. Supported encodings: base58, base64", encoding)
	}
	if most := base64.StdEncoding.EncodedLen(maxTransactionBytes); len(text) > most+most/8 { // base58 is longer by that
		return nil, invalid("transaction too large: %d characters", len(text))
	}
	raw, err := decode(text)
	if err != nil {
		return nil, invalid("invalid %s encoding: %v", encoding, err)
	}
	tx, err := readTransaction(raw)
	if err != nil {
		return nil, invalid("invalid transaction: %v", err)
	}
	return tx, nil
}

// look shows what the trial came to.
func (e *execution) look(o simulationOptions) (simulated, error) {
	out := simulated{Err: e.tx.failure(), Logs: e.outcome.logs, Units: e.outcome.units}
	if out.Logs == nil {
		out.Logs = []string{}
	}
	for _, k := range e.tx.message.keys() {
		if content := e.state(k); content != nil {
			out.LoadedBytes += len(content.data)
		}
	}
	if o.ShowsInner {
		out.Inner = e.tx.meta().InnerInstructions
	}
	if o.Accounts == nil {
		return out, nil
	}
	if most := len(e.tx.message.keys()); len(o.Accounts.Addresses) > most {
		return out, invalid("Too many accounts provided; max %d", most)
	}
	if encoding := o.Accounts.Encoding; encoding != "" && encoding != "base64" {
		return out, invalid("the sandbox shows accounts of a simulation as base64, not as %q", encoding)
	}
	for _, text := range o.Accounts.Addresses {
		k, err := ParseKey(text)
		if err != nil {
			return out, invalid("Invalid param: WrongSize")
		}
		shown, err := e.after(k)
		if err != nil {
			return out, err
		}
		out.Accounts = append(out.Accounts, shown)
	}
	return out, nil
}

// after is an account as the transaction leaves it; nil when it fails, or there is none.
func (e *execution) after(k Key) (*accountOut, error) {
	content := e.account(k)
	if e.tx.failure() != nil || content == nil {
		return nil, nil
	}
	return content.look(accountOptions{Encoding: "base64"})
}

// sendTransaction carries a transaction out in the next slot. One that would fail is refused beforehand, unless the
// client does without: then it fails on the chain, or is never heard of again.
func (c *Chain) sendTransaction(p params) (any, error) {
	var o struct {
		Encoding string `json:"encoding"`
		Skip     bool   `json:"skipPreflight"`
	}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	tx, err := p.transaction(0, o.Encoding)
	if err != nil {
		return nil, err
	}
	if known := c.bySignature[tx.signatures[0]]; known != nil {
		return nil, preflight("This transaction has already been processed", simulated{Err: "AlreadyProcessed", Logs: []string{}})
	}
	e, err := c.trial(tx, checks{signatures: true, blockhash: true}, c.now)
	if err != nil {
		return nil, err
	}
	failure := tx.failure()
	if failure != nil && !o.Skip {
		shown, err := e.look(simulationOptions{})
		if err != nil {
			return nil, err
		}
		return nil, preflight(fmt.Sprint(failure), shown)
	}
	if tx.outcome.rejected == nil {
		c.keep(e)
	}
	return tx.signatures[0], nil
}

func preflight(why string, shown simulated) error {
	return &rpcError{Code: codePreflight, Message: "Transaction simulation failed: " + why, Data: shown}
}

// latest is the blockhash of a slot and for how long it serves.
func (c *Chain) latest(slot uint64) any {
	hash := c.blockhash(slot)
	return map[string]any{"blockhash": base58.Encode(hash[:]), "lastValidBlockHeight": height(slot) + hashLife}
}
