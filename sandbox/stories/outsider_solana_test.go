package stories_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/mr-tron/base58"
)

// outsiderSolana is Solana as an outsider sees it: every transaction of the protocol's programs, taken
// apart into the calls that ran.
type outsiderSolana struct {
	t      *testing.T
	client *rpc.Client
	// What the world says of the chain's programs.
	source, destination, gate string
	coinDecimals              int

	transactions []*solanaTransaction // those that succeeded, oldest first
	hashes       map[uint64]string    // of blocks, by slot
}

// solanaTransaction is a transaction as nodes answer with encoding json.
type solanaTransaction struct {
	Slot        uint64
	BlockTime   int64
	Transaction struct {
		Signatures []string
		Message    struct {
			AccountKeys  []string
			Instructions []solanaInstruction
		}
	}
	Meta struct {
		InnerInstructions []struct {
			Index        int
			Instructions []solanaInstruction
		}
		LoadedAddresses struct{ Writable, Readonly []string }
		LogMessages     []string
	}

	calls []*solanaCall
}

type solanaInstruction struct {
	Accounts       []int
	Data           string
	ProgramIDIndex int `json:"programIdIndex"`
}

// solanaCall is one program run once.
type solanaCall struct {
	program  string
	accounts []string
	data     []byte
	events   [][]byte
}

// executor carries external calls out; the world does not name it.
const executor = "exe59FS5cojZkPJVDFDV8RnXCC7wd6yoBjsUtqH7Zai"

func dialSolana(t *testing.T, url, source, destination, gate string, coinDecimals int) *outsiderSolana {
	t.Helper()
	client, err := rpc.DialContext(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s := &outsiderSolana{
		t: t, client: client, source: source, destination: destination, gate: gate, coinDecimals: coinDecimals,
		hashes: map[uint64]string{},
	}
	seen := map[string]bool{}
	for _, program := range []string{source, destination, executor} {
		var listed []struct {
			Signature string
			Err       any
		}
		s.call(&listed, "getSignaturesForAddress", program, map[string]any{"commitment": "confirmed"})
		for _, each := range listed {
			if each.Err == nil && !seen[each.Signature] {
				seen[each.Signature] = true
				s.transactions = append(s.transactions, s.transaction(each.Signature))
			}
		}
	}
	slices.SortStableFunc(s.transactions, func(a, b *solanaTransaction) int { return int(a.Slot) - int(b.Slot) })
	return s
}

func (s *outsiderSolana) call(into any, method string, params ...any) {
	s.t.Helper()
	if err := s.client.CallContext(context.Background(), into, method, params...); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
}

func (s *outsiderSolana) transaction(signature string) *solanaTransaction {
	s.t.Helper()
	tx := &solanaTransaction{}
	s.call(tx, "getTransaction", signature, map[string]any{
		"encoding": "json", "commitment": "confirmed", "maxSupportedTransactionVersion": 0,
	})
	loaded := tx.Meta.LoadedAddresses
	keys := slices.Concat(tx.Transaction.Message.AccountKeys, loaded.Writable, loaded.Readonly)
	ran := func(in solanaInstruction) {
		data, err := base58.Decode(in.Data)
		if err != nil && in.Data != "" {
			s.t.Fatal(err)
		}
		call := &solanaCall{program: keys[in.ProgramIDIndex], data: data}
		for _, account := range in.Accounts {
			call.accounts = append(call.accounts, keys[account])
		}
		tx.calls = append(tx.calls, call)
	}
	for i, outer := range tx.Transaction.Message.Instructions {
		ran(outer)
		for _, inner := range tx.Meta.InnerInstructions {
			if inner.Index == i {
				for _, each := range inner.Instructions {
					ran(each)
				}
			}
		}
	}
	tx.attachEvents(s.t)
	return tx
}

// attachEvents gives each call the events that it logged: calls open in the sequence in which they ran.
func (tx *solanaTransaction) attachEvents(t *testing.T) {
	t.Helper()
	opened := 0
	var open []*solanaCall
	for _, line := range tx.Meta.LogMessages {
		words := strings.Fields(line)
		switch {
		case len(words) == 4 && words[0] == "Program" && words[2] == "invoke":
			if tx.calls[opened].program != words[1] {
				t.Fatalf("%s: call %d is of %s, the log says %s", tx.signature(), opened, tx.calls[opened].program, words[1])
			}
			open = append(open, tx.calls[opened])
			opened++
		case len(words) == 3 && words[0] == "Program" && words[2] == "success":
			open = open[:len(open)-1]
		case strings.HasPrefix(line, "Program data: "):
			event, err := base64.StdEncoding.DecodeString(words[2])
			if err != nil {
				t.Fatal(err)
			}
			last := open[len(open)-1]
			last.events = append(last.events, event)
		}
	}
	if opened != len(tx.calls) || len(open) != 0 {
		t.Fatalf("%s: %d of %d calls logged, %d without an end", tx.signature(), opened, len(tx.calls), len(open))
	}
}

func (tx *solanaTransaction) signature() string { return tx.Transaction.Signatures[0] }

// is reports whether the call is an instruction that its program knows by name.
func (c *solanaCall) is(program, name string) bool {
	return c.program == program && bytes.HasPrefix(c.data, mark("global", name))
}

func (c *solanaCall) arguments() *borshBytes { return &borshBytes{c.data[8:]} }

// event returns the content of the call's event with a name.
func (c *solanaCall) event(name string) *borshBytes {
	for _, event := range c.events {
		if content, is := bytes.CutPrefix(event, mark("event", name)); is {
			return &borshBytes{content}
		}
	}
	return nil
}

// mark is what Anchor begins instructions and events with.
func mark(kind, name string) []byte {
	hash := sha256.Sum256([]byte(kind + ":" + name))
	return hash[:8]
}

// borshBytes are read from the front. What is not there panics, and fails the test.
type borshBytes struct{ rest []byte }

func (b *borshBytes) take(n uint32) []byte {
	taken := b.rest[:n:n]
	b.rest = b.rest[n:]
	return taken
}

func (b *borshBytes) u32() uint32       { return binary.LittleEndian.Uint32(b.take(4)) }
func (b *borshBytes) u64() uint64       { return binary.LittleEndian.Uint64(b.take(8)) }
func (b *borshBytes) amount() *big.Int  { return new(big.Int).SetUint64(b.u64()) }
func (b *borshBytes) word() *big.Int    { return new(big.Int).SetBytes(b.take(32)) }
func (b *borshBytes) hash() common.Hash { return common.BytesToHash(b.take(32)) }
func (b *borshBytes) key() []byte       { return b.take(32) }
func (b *borshBytes) bytes() []byte     { return b.take(b.u32()) }
func (b *borshBytes) isSome() bool      { return b.take(1)[0] == 1 }
func (b *borshBytes) text() string      { return strings.TrimRight(string(b.bytes()), "\x00") }
func (b *borshBytes) optional() []byte  { return b.maybe(b.bytes) }
func (b *borshBytes) maybeKey() []byte  { return b.maybe(b.key) }

func (b *borshBytes) maybe(read func() []byte) []byte {
	if b.isSome() {
		return read()
	}
	return nil
}

func (b *borshBytes) order() *tuple {
	return &tuple{
		MakerOrderNonce: b.u64(), MakerSrc: b.bytes(),
		GiveChainId: b.word(), GiveTokenAddress: b.bytes(), GiveAmount: b.word(),
		TakeChainId: b.word(), TakeTokenAddress: b.bytes(), TakeAmount: b.word(),
		ReceiverDst: b.bytes(), GivePatchAuthoritySrc: b.bytes(), OrderAuthorityAddressDst: b.bytes(),
		AllowedTakerDst: b.optional(), AllowedCancelBeneficiarySrc: b.optional(), ExternalCall: b.maybeKey(),
	}
}

func (s *outsiderSolana) eventJSON(tx *solanaTransaction) map[string]any {
	s.t.Helper()
	if _, known := s.hashes[tx.Slot]; !known {
		var block struct{ Blockhash string }
		s.call(&block, "getBlock", tx.Slot, map[string]any{
			"commitment": "confirmed", "transactionDetails": "none", "rewards": false, "maxSupportedTransactionVersion": 0,
		})
		s.hashes[tx.Slot] = block.Blockhash
	}
	return map[string]any{
		"transactionHash": chainHashJSON(s.decode(tx.signature()), solanaID),
		"blockNumber":     json.Number(fmt.Sprint(tx.Slot)),
		"blockHash":       chainHashJSON(s.decode(s.hashes[tx.Slot]), solanaID),
		"blockTimeStamp":  json.Number(fmt.Sprint(tx.BlockTime)),
		"initiator":       addressJSON(s.decode(tx.Transaction.Message.AccountKeys[0]), solanaID),
	}
}

func (s *outsiderSolana) decode(text string) []byte {
	s.t.Helper()
	raw, err := base58.Decode(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// solanaAccount is an account with encoding base64.
type solanaAccount struct{ Data [2]string }

func (a solanaAccount) bytes(t *testing.T) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(a.Data[0])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// describe adds what the chain holds of a mint: decimals in its account, names in the one account of
// Metaplex that names the mint, or else in the mint's own extension.
func (s *outsiderSolana) describe(t *testing.T, mint string, out map[string]any) {
	t.Helper()
	if bytes.Equal(s.decode(mint), make([]byte, 32)) {
		out["decimals"] = json.Number(fmt.Sprint(s.coinDecimals))
		return
	}
	const metaplex, decimalsAt, extensionsAt, mintAt = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s", 44, 166, 33
	var found struct{ Value solanaAccount }
	s.call(&found, "getAccountInfo", mint, map[string]any{"encoding": "base64"})
	account := found.Value.bytes(t)
	out["decimals"] = json.Number(fmt.Sprint(account[decimalsAt]))

	var named []struct{ Account solanaAccount }
	s.call(&named, "getProgramAccounts", metaplex, map[string]any{
		"encoding": "base64", "filters": []any{map[string]any{"memcmp": map[string]any{"offset": mintAt, "bytes": mint}}},
	})
	var names *borshBytes
	if len(named) == 1 {
		names = &borshBytes{named[0].Account.bytes(t)[1:]}
	} else if len(account) > extensionsAt {
		names = extension(account[extensionsAt:])
	}
	if names != nil {
		names.take(2 * 32) // who may change them, and the mint
		out["name"], out["symbol"] = names.text(), names.text()
	}
}

// extension finds the metadata among a mint's extensions: kind and length in two bytes each, content.
func extension(extensions []byte) *borshBytes {
	const tokenMetadata = 19
	for b := (&borshBytes{extensions}); len(b.rest) > 0; {
		kind, length := binary.LittleEndian.Uint16(b.take(2)), binary.LittleEndian.Uint16(b.take(2))
		if content := b.take(uint32(length)); kind == tokenMetadata {
			return &borshBytes{content}
		}
	}
	return nil
}
