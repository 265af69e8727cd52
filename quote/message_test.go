package quote

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

var jupiterProgram = solanaProgram("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

// letter is a transaction in the making: keys and what the instructions say.
type letter struct {
	keys         []chain.Address
	instructions []instruction
	version      byte
}

func (l letter) seal() []byte {
	raw := append([]byte{1}, make([]byte, signatureLength)...)
	raw = append(raw, l.version, 1, 0, 1, byte(len(l.keys)))
	for _, key := range l.keys {
		raw = append(raw, key.Bytes()...)
	}
	raw = append(raw, make([]byte, keyLength)...)
	raw = append(raw, byte(len(l.instructions)))
	for _, i := range l.instructions {
		raw = append(raw, i.program, byte(len(i.accounts)))
		raw = append(raw, i.accounts...)
		raw = append(raw, byte(len(i.data)))
		raw = append(raw, i.data...)
	}
	return append(raw, 0) // no address tables
}

func moveLamports(n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, transferLamports), n)
}

// TestMessagesOnSolana changes one thing at a time in a transaction that is right.
func TestMessagesOnSolana(t *testing.T) {
	sender, stranger := chain.NewAddress([]byte("the sender's key on Solana......")), chain.NewAddress([]byte("somebody else's key on Solana..."))
	solana, _ := chain.Documented().Chain(chain.Solana)
	s := Swap{
		Chain: solana, Sender: sender, Recipient: sender,
		In: Side{Address: chain.NativeCoin(chain.SVM), Amount: chain.NewAmount(1000)}, Out: Side{Address: stranger},
	}
	p := Profile{Routers: map[chain.ID]chain.Address{chain.Solana: jupiterProgram}}
	right := func() letter {
		return letter{
			version: versionBit,
			keys:    []chain.Address{sender, stranger, systemProgram, tokenProgram, jupiterProgram},
			instructions: []instruction{
				{program: 2, accounts: []byte{0, 1}, data: moveLamports(1000)},
				{program: 3, accounts: []byte{1}, data: []byte{syncNative}},
				{program: 4, accounts: []byte{0, 1, 200}, data: []byte("route")},
				{program: 3, accounts: []byte{1, 0, 0}, data: []byte{closeAccount}},
			},
		}
	}
	wrongLetters := map[string]func(*letter){
		"no version":              func(l *letter) { l.version = 0 },
		"a later version":         func(l *letter) { l.version = versionBit + 1 },
		"another payer":           func(l *letter) { l.keys[0] = stranger },
		"another program":         func(l *letter) { l.keys[2] = stranger },
		"not the venue's program": func(l *letter) { l.instructions = slices.Delete(l.instructions, 2, 3) },
		"more lamports":           func(l *letter) { l.instructions[0].data = moveLamports(1001) },
		"lamports twice":          func(l *letter) { l.instructions = append(l.instructions, l.instructions[0]) },
		"a new account":           func(l *letter) { l.instructions[0].data[0] = 0 },
		"a token transfer":        func(l *letter) { l.instructions[1].data = []byte{3} },
		"an approval":             func(l *letter) { l.instructions[1].data = []byte{4} },
		"a stranger as heir":      func(l *letter) { l.instructions[3].accounts[1] = 1 },
		"an heir from a table":    func(l *letter) { l.instructions[3].accounts[1] = 200 },
		"no heir":                 func(l *letter) { l.instructions[3].accounts = nil },
		"a program from a table":  func(l *letter) { l.instructions[2].program = 200 },
	}
	for name, change := range wrongLetters {
		l := right()
		change(&l)
		if err := guard(s, p, Tx{Data: l.seal()}); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
	wrongTxs := map[string]func(*Tx){
		"a contract beside it": func(tx *Tx) { tx.To = stranger },
		"a value beside it":    func(tx *Tx) { tx.Value = chain.NewAmount(1) },
		"signed already":       func(tx *Tx) { tx.Data[5] = 1 },
		"two signatures":       func(tx *Tx) { tx.Data[0] = 2 },
		"a part":               func(tx *Tx) { tx.Data = tx.Data[:200] },
		"nothing":              func(tx *Tx) { tx.Data = nil },
		"too long":             func(tx *Tx) { tx.Data = append(tx.Data, make([]byte, largestMessage)...) },
	}
	for name, change := range wrongTxs {
		tx := Tx{Data: right().seal()}
		change(&tx)
		if err := guard(s, p, tx); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
	if err := guard(s, p, Tx{Data: right().seal()}); err != nil {
		t.Errorf("the right one: %v", err)
	}
	s.Recipient = chain.NewAddress([]byte("the recipient's key on Solana..."))
	if err := guard(s, p, Tx{Data: right().seal()}); !errors.Is(err, ErrRefused) {
		t.Errorf("another recipient: %v, want that it is refused", err)
	}
	s.Recipient, s.In.Address = sender, stranger
	if err := guard(s, p, Tx{Data: right().seal()}); !errors.Is(err, ErrRefused) {
		t.Errorf("lamports for a token input: %v, want that it is refused", err)
	}
}

// kiosk is a venue on Solana.
type kiosk struct {
	profile Profile
	sealed  []byte
}

func (k kiosk) Profile() Profile { return k.profile }

func (k kiosk) Quote(context.Context, Swap) (Quote, error) {
	return Quote{AmountOut: chain.NewAmount(2000), Minimum: chain.NewAmount(1991)}, nil
}

func (k kiosk) Build(context.Context, Swap, Quote) (Tx, error) { return Tx{Data: k.sealed}, nil }

func TestSwapsOnSolana(t *testing.T) {
	sender, mint := chain.NewAddress([]byte("the sender's key on Solana......")), chain.NewAddress([]byte("the mint of some token.........."))
	sealed := letter{
		version: versionBit, keys: []chain.Address{sender, jupiterProgram},
		instructions: []instruction{{program: 1, data: []byte("route")}},
	}.seal()
	e := New(Options{
		Registry: chain.Documented(),
		Tokens: token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented(), Own: map[token.Key]token.Token{
			{Chain: chain.Solana, Address: mint}: {Decimals: 6, Symbol: "SOME"},
		}}),
		Venues: []Venue{kiosk{Profile{Name: "kiosk", Routers: map[chain.ID]chain.Address{chain.Solana: jupiterProgram}}, sealed}},
	})
	slippage := decimal.RequireFromString("0.5")
	got, err := e.Estimate(t.Context(), Request{
		Chain: chain.Solana, TokenIn: chain.NativeCoin(chain.SVM), TokenOut: mint, AmountIn: chain.NewAmount(1000),
		Sender: sender, Recipient: sender, SlippagePercent: &slippage,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Tx.Data, sealed) || !got.Tx.To.IsAbsent() || got.MinOut != chain.NewAmount(1991) {
		t.Errorf("transaction %+v, minimum %s; want the venue's, and its minimum of 1991", got.Tx, got.MinOut)
	}
}

func TestRecordedSolanaTransaction(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "shared", "recorded", "chains", "jupiter-swap-v6-transaction-2024.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("recorded transaction of Jupiter not present: %v; it is in the folder shared, which lies beside the repository", err)
	}
	var recorded struct {
		SwapTransaction string `json:"swapTransaction"`
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(recorded.SwapTransaction)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMessage(data)
	if err != nil {
		t.Fatal(err)
	}
	solana, _ := chain.Documented().Chain(chain.Solana)
	s := Swap{Chain: solana, Sender: m.keys[0], Recipient: m.keys[0], In: Side{Address: m.keys[1], Amount: chain.NewAmount(100202800)}}
	if err := guard(s, Profile{Routers: map[chain.ID]chain.Address{chain.Solana: jupiterProgram}}, Tx{Data: data}); err != nil {
		t.Errorf("guard = %v, want that it is right", err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(letter{version: versionBit, keys: []chain.Address{jupiterProgram}, instructions: []instruction{{program: 0, data: []byte("x")}}}.seal())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := readMessage(raw); err == nil && len(m.keys) > largestMessage/keyLength {
			t.Errorf("%d keys out of %d bytes", len(m.keys), len(raw))
		}
	})
}
