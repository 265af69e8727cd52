package solana

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mr-tron/base58"
)

// transactionOptions are how a client wants transactions shown.
type transactionOptions struct {
	Encoding   string `json:"encoding"`
	Commitment string `json:"commitment"`
	MaxVersion *int   `json:"maxSupportedTransactionVersion"`
}

func (c *Chain) getTransaction(p params) (any, error) {
	signature, err := p.signature(0)
	if err != nil {
		return nil, err
	}
	var o transactionOptions
	if len(p) > 1 && json.Unmarshal(p[1], &o.Encoding) != nil {
		if err := p.read(1, &o, true); err != nil {
			return nil, err
		}
	}
	newest, err := c.settledSlot(o.Commitment)
	if err != nil {
		return nil, err
	}
	tx := c.bySignature[signature]
	if tx == nil || tx.slot > newest {
		return nil, nil
	}
	shown, err := tx.look(o)
	if err != nil {
		return nil, err
	}
	shown.Slot, shown.BlockTime = &tx.slot, new(c.timeOf(tx.slot))
	return shown, nil
}

// signature reads a transaction's.
func (p params) signature(at int) (Signature, error) {
	var text string
	if err := p.read(at, &text, false); err != nil {
		return Signature{}, err
	}
	s, err := parseSignature(text)
	if err != nil {
		return Signature{}, invalid("Invalid param: WrongSize")
	}
	return s, nil
}

func parseSignature(text string) (Signature, error) {
	const longest = 88
	if len(text) > longest {
		return Signature{}, fmt.Errorf("%d characters are no signature", len(text))
	}
	raw, err := base58.Decode(text)
	if err != nil || len(raw) != len(Signature{}) {
		return Signature{}, fmt.Errorf("%q is not base58 of 64 bytes", text)
	}
	return Signature(raw), nil
}

// shown is a transaction as clients see it.
type shown struct {
	BlockTime   *int64  `json:"blockTime,omitempty"`
	Meta        metaOut `json:"meta"`
	Slot        *uint64 `json:"slot,omitempty"`
	Transaction any     `json:"transaction"`
	Version     any     `json:"version,omitempty"` // only for clients that name what they support
}

type metaOut struct {
	ComputeUnitsConsumed uint64            `json:"computeUnitsConsumed"`
	CostUnits            uint64            `json:"costUnits"`
	Err                  any               `json:"err"`
	Fee                  uint64            `json:"fee"`
	InnerInstructions    []innerOut        `json:"innerInstructions"`
	LoadedAddresses      loadedOut         `json:"loadedAddresses"`
	LogMessages          []string          `json:"logMessages"`
	PostBalances         []uint64          `json:"postBalances"`
	PostTokenBalances    []tokenBalanceOut `json:"postTokenBalances"`
	PreBalances          []uint64          `json:"preBalances"`
	PreTokenBalances     []tokenBalanceOut `json:"preTokenBalances"`
	Rewards              []any             `json:"rewards"`
	Status               map[string]any    `json:"status"`
}

type innerOut struct {
	Index        int              `json:"index"`
	Instructions []instructionOut `json:"instructions"`
}

type instructionOut struct {
	Accounts     []int  `json:"accounts"`
	Data         string `json:"data"`
	ProgramIndex int    `json:"programIdIndex"`
	StackHeight  *int   `json:"stackHeight"`
}

type loadedOut struct {
	Readonly []Key `json:"readonly"`
	Writable []Key `json:"writable"`
}

type tokenBalanceOut struct {
	AccountIndex int       `json:"accountIndex"`
	Mint         Key       `json:"mint"`
	Owner        Key       `json:"owner"`
	ProgramID    Key       `json:"programId"`
	Amount       amountOut `json:"uiTokenAmount"`
}

type amountOut struct {
	Amount   string   `json:"amount"`
	Decimals int      `json:"decimals"`
	Number   *float64 `json:"uiAmount"`
	Text     string   `json:"uiAmountString"`
}

// look shows the transaction, unless its version is beyond what the client says it supports.
func (r *recorded) look(o transactionOptions) (*shown, error) {
	if r.message.versioned && o.MaxVersion == nil {
		return nil, &rpcError{Code: codeUnsupportedVersion, Message: "Transaction version (0) is not supported by the requesting client. " +
			`Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0`}
	}
	out := &shown{Meta: r.meta()}
	if o.MaxVersion != nil {
		out.Version = "legacy"
		if r.message.versioned {
			out.Version = 0
		}
	}
	switch o.Encoding {
	case "", "json":
		out.Transaction = r.json()
	case "base64":
		out.Transaction = []string{base64.StdEncoding.EncodeToString(r.wire()), "base64"}
	case "base58":
		out.Transaction = []string{base58.Encode(r.wire()), "base58"}
	default:
		return nil, invalid("the sandbox shows transactions as json, base64 and base58, not as %q", o.Encoding)
	}
	return out, nil
}

// failure is why the transaction failed, as the runtime says it; nil when it did not.
func (r *recorded) failure() any {
	switch {
	case r.outcome.rejected != nil:
		return r.outcome.rejected
	case r.outcome.refusal == nil:
		return nil
	}
	return map[string]any{"InstructionError": []any{r.outcome.failed, r.outcome.refusal.look()}}
}

func (r *recorded) status() map[string]any {
	if err := r.failure(); err != nil {
		return map[string]any{"Err": err}
	}
	return map[string]any{"Ok": nil}
}

func (r *recorded) meta() metaOut {
	const costBeside = 1500 // signatures and locks of accounts
	out := metaOut{
		ComputeUnitsConsumed: r.outcome.units, CostUnits: r.outcome.units + costBeside,
		Err: r.failure(), Status: r.status(), Fee: r.outcome.fee, LogMessages: r.outcome.logs,
		PreBalances: r.outcome.lamportsBefore, PostBalances: r.outcome.lamportsAfter,
		PreTokenBalances: balancesOut(r.outcome.tokensBefore), PostTokenBalances: balancesOut(r.outcome.tokensAfter),
		InnerInstructions: []innerOut{}, Rewards: []any{},
		LoadedAddresses: loadedOut{Readonly: []Key{}, Writable: []Key{}},
	}
	out.LoadedAddresses.Writable = append(out.LoadedAddresses.Writable, r.message.loadedWritable...)
	out.LoadedAddresses.Readonly = append(out.LoadedAddresses.Readonly, r.message.loadedReadonly...)
	for i, inner := range r.outcome.inner {
		if len(inner) > 0 {
			out.InnerInstructions = append(out.InnerInstructions, innerOut{i, instructionsOut(inner)})
		}
	}
	return out
}

func instructionsOut(instructions []compiled) []instructionOut {
	out := make([]instructionOut, len(instructions))
	for i, in := range instructions {
		out[i] = instructionOut{
			Accounts: make([]int, len(in.accounts)), Data: base58.Encode(in.data),
			ProgramIndex: in.program, StackHeight: &instructions[i].height,
		}
		for n, account := range in.accounts {
			out[i].Accounts[n] = int(account)
		}
	}
	return out
}

func balancesOut(balances []tokenBalance) []tokenBalanceOut {
	out := make([]tokenBalanceOut, len(balances))
	for i, b := range balances {
		t, err := tokenOf(b.mint)
		if err != nil {
			panic(err.Error()) // the sandbox makes no other accounts
		}
		text := uiAmount(b.amount, t.Decimals)
		amount := amountOut{Amount: strconv.FormatUint(b.amount, 10), Decimals: t.Decimals, Text: text}
		if b.amount > 0 {
			number, _ := strconv.ParseFloat(text, 64)
			amount.Number = &number
		}
		out[i] = tokenBalanceOut{b.index, b.mint, b.owner, b.program, amount}
	}
	return out
}

// json is the transaction with its message spelled out.
func (r *recorded) json() any {
	m := r.message
	message := map[string]any{
		"accountKeys": m.static,
		"header": map[string]int{
			"numRequiredSignatures": m.signed, "numReadonlySignedAccounts": m.readonlySigned,
			"numReadonlyUnsignedAccounts": m.readonlyUnsigned,
		},
		"instructions":    instructionsOut(m.instructions),
		"recentBlockhash": base58.Encode(m.blockhash[:]),
	}
	if m.versioned {
		lookups := []map[string]any{}
		for _, l := range m.lookups {
			lookups = append(lookups, map[string]any{
				"accountKey": l.table, "writableIndexes": numbers(l.writable), "readonlyIndexes": numbers(l.readonly),
			})
		}
		message["addressTableLookups"] = lookups
	}
	return map[string]any{"message": message, "signatures": r.signatures}
}

// numbers are bytes as JSON shows them in an array.
func numbers(raw []byte) []int {
	out := make([]int, len(raw))
	for i, b := range raw {
		out[i] = int(b)
	}
	return out
}

type signatureInfo struct {
	BlockTime    int64     `json:"blockTime"`
	Confirmation string    `json:"confirmationStatus"`
	Err          any       `json:"err"`
	Memo         *string   `json:"memo"`
	Signature    Signature `json:"signature"`
	Slot         uint64    `json:"slot"`
}

func (c *Chain) confirmation(slot uint64) string {
	if slot <= c.finalized() {
		return finalizedDefault
	}
	return confirmed
}

func (c *Chain) getSignaturesForAddress(p params) (any, error) {
	const most = 1000
	address, err := p.key(0)
	if err != nil {
		return nil, err
	}
	o := struct {
		commitmentOption
		Limit  int    `json:"limit"`
		Before string `json:"before"`
		Until  string `json:"until"`
	}{Limit: most}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	if o.Limit < 1 || o.Limit > most {
		return nil, invalid("Invalid limit; max %d", most)
	}
	newest, err := c.settledSlot(o.Commitment)
	if err != nil {
		return nil, err
	}
	infos, began := []signatureInfo{}, o.Before == ""
	for _, text := range []string{o.Before, o.Until} {
		if _, err := parseSignature(text); text != "" && err != nil {
			return nil, invalid("Invalid param: WrongSize")
		}
	}
	for _, tx := range slices.Backward(c.byAddress[address]) {
		signature := tx.signatures[0]
		if !began {
			began = signature.String() == o.Before
			continue
		}
		if tx.slot > newest {
			continue
		}
		if signature.String() == o.Until || len(infos) == o.Limit {
			break
		}
		infos = append(infos, signatureInfo{c.timeOf(tx.slot), c.confirmation(tx.slot), tx.failure(), nil, signature, tx.slot})
	}
	return infos, nil
}

func (c *Chain) getSignatureStatuses(p params) (any, error) {
	const most, recent = 256, 150
	var texts []string
	if err := p.read(0, &texts, false); err != nil {
		return nil, err
	}
	if len(texts) > most {
		return nil, invalid("Too many inputs provided; max %d", most)
	}
	var o struct {
		Search bool `json:"searchTransactionHistory"`
	}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		signature, err := parseSignature(text)
		if err != nil {
			return nil, invalid("Invalid param: WrongSize")
		}
		tx := c.bySignature[signature]
		if tx == nil || !o.Search && tx.slot+recent < c.head {
			continue
		}
		var confirmations any = c.head - tx.slot
		if tx.slot <= c.finalized() {
			confirmations = nil // as many as there can be
		}
		values[i] = map[string]any{
			"slot": tx.slot, "confirmations": confirmations, "err": tx.failure(), "status": tx.status(),
			"confirmationStatus": c.confirmation(tx.slot),
		}
	}
	return at(c.head, values), nil
}
