package solana

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/mr-tron/base58"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
)

// transaction holds the members of a mined transaction that we read.
type transaction struct {
	Slot        uint64  `json:"slot"`
	BlockTime   *int64  `json:"blockTime"`
	Transaction payload `json:"transaction"`
	Meta        *meta   `json:"meta"`

	message solana.Message
	ran     solana.Transaction // empty if the transaction failed

	aside *order.AsideTransaction // instead of ran if it is not understood; otherwise nil
}

// meta is the outcome of running a transaction.
type meta struct {
	Err             json.RawMessage `json:"err"`
	LogMessages     []string        `json:"logMessages"`
	LoadedAddresses struct {
		Writable []solana.Base58 `json:"writable"`
		Readonly []solana.Base58 `json:"readonly"`
	} `json:"loadedAddresses"`
	InnerInstructions []struct {
		Index        int           `json:"index"`
		Instructions []instruction `json:"instructions"`
	} `json:"innerInstructions"`
}

// instruction is one that another instruction called.
type instruction struct {
	Program     int        `json:"programIdIndex"`
	Accounts    []uint8    `json:"accounts"`
	Data        base58Text `json:"data"`
	StackHeight int        `json:"stackHeight"` // null from older nodes
}

type base58Text []byte

func (b *base58Text) UnmarshalText(text []byte) error {
	const longest = 20 << 10 // characters: a call carries 10 KiB at most, and decoding is quadratic
	if len(text) > longest {
		return errors.New("unterminated base58")
	}
	raw, err := base58.Decode(string(text))
	if len(text) > 0 && err != nil {
		return err
	}
	*b = raw
	return nil
}

func (i instruction) compiled() solana.CompiledInstruction {
	const called = 2 // the least depth that it can have
	return solana.CompiledInstruction{Program: i.Program, Accounts: i.Accounts, Data: i.Data, Depth: max(i.StackHeight, called)}
}

// read decodes what the transaction did, and refuses one that is not tx.
func (t *transaction) read(tx chain.TxHash) error {
	if t.Meta == nil || t.Slot == 0 {
		return errors.New("transaction without its outcome or slot")
	}
	message, err := solana.ParseSigned(t.Transaction)
	if errors.Is(err, solana.ErrVersion) {
		t.aside = &order.AsideTransaction{Tx: tx, Block: t.Slot, Err: err}
		return nil
	}
	if err != nil {
		return err
	}
	if message.Signature != tx {
		return errors.New("not the transaction asked for")
	}
	t.message = message
	if !isNull(t.Meta.Err) {
		return nil
	}
	inner := make(map[int][]solana.CompiledInstruction)
	for _, calls := range t.Meta.InnerInstructions {
		for _, each := range calls.Instructions {
			inner[calls.Index] = append(inner[calls.Index], each.compiled())
		}
	}
	var loaded []chain.Address
	for _, each := range slices.Concat(t.Meta.LoadedAddresses.Writable, t.Meta.LoadedAddresses.Readonly) {
		loaded = append(loaded, each.Address)
	}
	t.ran, err = message.Resolve(loaded, inner, t.Meta.LogMessages)
	return err
}
