package solana_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/upstream/solana"
)

var jupiterProgram = wire.MustAccount("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

// otherProgram is DFlow's program, and tip one of Jito's tip accounts.
var (
	otherProgram = wire.MustAccount("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH")
	tip          = wire.MustAccount("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5")
)

// walletOf returns the owner's associated account for a token.
func walletOf(owner, mint chain.Address) chain.Address {
	return wire.ProgramAddress(wire.AssociatedTokenProgram, owner.Bytes(), wire.TokenProgram.Bytes(), mint.Bytes())
}

const versionFlag = 0x80

var guard solana.Guard

// draft is a transaction under construction: keys and compiled instructions.
type draft struct {
	keys         []chain.Address
	instructions []wire.CompiledInstruction
	version      byte
}

func (d draft) seal() []byte {
	raw := append([]byte{1}, make([]byte, wire.SignatureSize)...)
	raw = append(raw, d.version, 1, 0, 1, byte(len(d.keys)))
	for _, key := range d.keys {
		raw = append(raw, key.Bytes()...)
	}
	raw = append(raw, make([]byte, wire.KeySize)...)
	raw = append(raw, byte(len(d.instructions)))
	for _, i := range d.instructions {
		raw = append(raw, byte(i.Program), byte(len(i.Accounts)))
		raw = append(raw, i.Accounts...)
		raw = append(raw, byte(len(i.Data)))
		raw = append(raw, i.Data...)
	}
	return append(raw, 0) // number of address tables
}

func moveLamports(n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, 2), n)
}

// TestMessagesOnSolana alters one thing at a time in a valid transaction.
func TestMessagesOnSolana(t *testing.T) {
	sender, stranger := chain.NewAddress([]byte("the sender's key on Solana......")), chain.NewAddress([]byte("somebody else's key on Solana..."))
	onSolana, _ := chain.Documented().Chain(chain.Solana)
	s := quote.Swap{
		Chain: onSolana, Sender: sender, Recipient: sender,
		In: quote.Side{Address: chain.NativeCoin(chain.SVM), Amount: chain.NewAmount(1000)}, Out: quote.Side{Address: stranger},
	}
	p := quote.Profile{Routers: map[chain.ID]chain.Address{chain.Solana: otherProgram}}
	wrapped, received := walletOf(sender, onSolana.WrappedCoin), walletOf(sender, stranger)
	right := func() draft {
		return draft{
			version: versionFlag,
			keys: []chain.Address{
				sender, wrapped, wire.SystemProgram, wire.TokenProgram, otherProgram, received, stranger,
				wire.AssociatedTokenProgram, wire.ComputeBudgetProgram, tip,
			},
			instructions: []wire.CompiledInstruction{
				{Program: 2, Accounts: []byte{0, 1}, Data: moveLamports(1000)},
				{Program: 3, Accounts: []byte{1}, Data: []byte{17}},
				{Program: 4, Accounts: []byte{0, 1, 5, 200}, Data: []byte("route")},
				{Program: 3, Accounts: []byte{1, 0, 0}, Data: []byte{9}},
				{Program: 7, Accounts: []byte{0, 5, 0, 6, 2, 3}, Data: []byte{1}},
				{Program: 2, Accounts: []byte{0, 9}, Data: moveLamports(5000)},
				{Program: 8, Data: unitLimit(200_000)},
				{Program: 8, Data: unitPrice(5_000_000)},
			},
		}
	}
	wrongDrafts := map[string]func(*draft){
		"no version":                  func(l *draft) { l.version = 0 },
		"a later version":             func(l *draft) { l.version = versionFlag + 1 },
		"another payer":               func(l *draft) { l.keys[0] = stranger },
		"another program":             func(l *draft) { l.keys[2] = stranger },
		"not the venue's program":     func(l *draft) { l.instructions = slices.Delete(l.instructions, 2, 3) },
		"more lamports":               func(l *draft) { l.instructions[0].Data = moveLamports(1001) },
		"lamports twice":              func(l *draft) { l.instructions = append(l.instructions, l.instructions[0]) },
		"a new account":               func(l *draft) { l.instructions[0].Data[0] = 0 },
		"a token transfer":            func(l *draft) { l.instructions[1].Data = []byte{3} },
		"an approval":                 func(l *draft) { l.instructions[1].Data = []byte{4} },
		"lamports to a stranger":      func(l *draft) { l.instructions[0].Accounts[1] = 6 },
		"lamports to a table's":       func(l *draft) { l.instructions[0].Accounts[1] = 200 },
		"a stranger's lamports":       func(l *draft) { l.instructions[0].Accounts[0] = 6 },
		"lamports of several":         func(l *draft) { l.instructions[0].Accounts = append(l.instructions[0].Accounts, 6) },
		"a tip to a stranger":         func(l *draft) { l.instructions[5].Accounts[1] = 6 },
		"a tip of everything":         func(l *draft) { l.instructions[5].Data = moveLamports(1_000_001) },
		"a bid of everything":         func(l *draft) { l.instructions[7].Data = unitPrice(50_000_000) },
		"an account for a stranger":   func(l *draft) { l.instructions[4].Accounts[2] = 6 },
		"an account for a table's":    func(l *draft) { l.instructions[4].Accounts[2] = 200 },
		"the venue's program twice":   func(l *draft) { l.instructions = append(l.instructions, l.instructions[2]) },
		"no account of the recipient": func(l *draft) { l.instructions[2].Accounts[2] = 6 },
		"a stranger as heir":          func(l *draft) { l.instructions[3].Accounts[1] = 1 },
		"an heir from a table":        func(l *draft) { l.instructions[3].Accounts[1] = 200 },
		"no heir":                     func(l *draft) { l.instructions[3].Accounts = nil },
		"a program from a table":      func(l *draft) { l.instructions[2].Program = 200 },
		"a newer token's transfer": func(l *draft) {
			l.keys[6] = wire.Token2022Program
			l.instructions = append(l.instructions, wire.CompiledInstruction{Program: 6, Accounts: []byte{1, 5, 0}, Data: []byte{3}})
		},
		"nothing asked of a token":   func(l *draft) { l.instructions[1].Data = nil },
		"an account without owner":   func(l *draft) { l.instructions[4].Accounts = l.instructions[4].Accounts[:2] },
		"a transfer with more to it": func(l *draft) { l.instructions[0].Data = append(moveLamports(1000), 0) },
		"somebody else who pays": func(l *draft) { // only for an instruction of the venue
			l.keys[0], l.keys[6] = stranger, sender
			l.instructions = l.instructions[2:3]
		},
	}
	for name, change := range wrongDrafts {
		l := right()
		change(&l)
		if err := guard.Check(s, p, quote.Tx{Data: l.seal()}); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
	wrongTxs := map[string]func(*quote.Tx){
		"a contract beside it": func(tx *quote.Tx) { tx.To = stranger },
		"a value beside it":    func(tx *quote.Tx) { tx.Value = chain.NewAmount(1) },
		"signed already":       func(tx *quote.Tx) { tx.Data[5] = 1 },
		"two signatures":       func(tx *quote.Tx) { tx.Data[0] = 2 },
		"a part":               func(tx *quote.Tx) { tx.Data = tx.Data[:200] },
		"nothing":              func(tx *quote.Tx) { tx.Data = nil },
		"too long":             func(tx *quote.Tx) { tx.Data = append(tx.Data, make([]byte, wire.MaxTransaction)...) },
	}
	for name, change := range wrongTxs {
		tx := quote.Tx{Data: right().seal()}
		change(&tx)
		if err := guard.Check(s, p, tx); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
	if err := guard.Check(s, p, quote.Tx{Data: right().seal()}); err != nil {
		t.Errorf("the right one: %v", err)
	}
	s.Recipient = chain.NewAddress([]byte("the recipient's key on Solana..."))
	if err := guard.Check(s, p, quote.Tx{Data: right().seal()}); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("another recipient: %v, want that it is refused", err)
	}
	given := right()
	given.keys = append(given.keys, s.Recipient)
	given.keys[5], given.instructions[4].Accounts[2] = walletOf(s.Recipient, stranger), byte(len(given.keys)-1)
	if err := guard.Check(s, p, quote.Tx{Data: given.seal()}); err != nil {
		t.Errorf("another recipient's account: %v", err)
	}
	s.Recipient, s.Out.Address = chain.Address{}, chain.NativeCoin(chain.SVM)
	fromTable := right()
	fromTable.instructions[2].Accounts = []byte{0, 1}
	fromTable.instructions[4].Accounts[2] = 200
	if err := guard.Check(s, p, quote.Tx{Data: fromTable.seal()}); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("an account for a table's, without a recipient: %v, want that it is refused", err)
	}
	s.Out.Address = stranger
	s.Recipient, s.In.Address = sender, stranger
	if err := guard.Check(s, p, quote.Tx{Data: right().seal()}); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("lamports for a token input: %v, want that it is refused", err)
	}
}

func TestRecordedSolanaTransaction(t *testing.T) {
	var answer struct {
		SwapTransaction string `json:"swapTransaction"`
	}
	recorded.JSON(t, "recorded/chains/jupiter-swap-v6-transaction-2024.json", &answer)
	data := must.Get(base64.StdEncoding.DecodeString(answer.SwapTransaction))(t)
	m := must.Get(wire.ParseUnsigned(data))(t)
	onSolana, _ := chain.Documented().Chain(chain.Solana)
	s := quote.Swap{Chain: onSolana, Sender: m.Accounts[0], Recipient: m.Accounts[0], In: quote.Side{Address: m.Accounts[1], Amount: chain.NewAmount(100202800)}}
	p := quote.Profile{Routers: map[chain.ID]chain.Address{chain.Solana: jupiterProgram}}
	// Its mints are accounts of the message's instructions.
	source, destination := m.Accounts[11], m.Accounts[4]
	for _, mint := range m.Accounts {
		if walletOf(s.Sender, mint) == source {
			s.In.Address = mint
		}
		if walletOf(s.Sender, mint) == destination {
			s.Out.Address = mint
		}
	}
	for _, mint := range []chain.Address{usdcMint, onSolana.WrappedCoin, wire.MustAccount("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")} {
		if walletOf(s.Sender, mint) == source { // which is in a lookup table
			s.In.Address = mint
		}
	}
	if err := guard.Check(s, p, quote.Tx{Data: data}); err != nil {
		t.Errorf("Check = %v, want that it is right", err)
	}
	if _, err := guard.MinOut(s, p, quote.Tx{Data: data}, chain.Amount{}); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("MinOut of terms that stand behind a route = %v, want that it is refused", err)
	}
}
