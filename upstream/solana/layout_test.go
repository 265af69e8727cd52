package solana_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	wire "crossgate/chain/solana"
	"crossgate/quote"
)

// Indexes of accounts in the messages of TestJupiterInstructions.
const (
	payer, spent, received, other, program = 0, 1, 2, 3, 4
)

// jupiterCall is an instruction of Jupiter's under construction: the indexes of its accounts, and its data.
type jupiterCall struct {
	accounts []byte
	name     string
	amount   uint64
	quoted   uint64
	slippage uint16
	fee      uint64
	isShort  bool // data ends after the amount
}

// terms encodes the amounts of a call, with a fee of feeBytes bytes.
func (c jupiterCall) terms(feeBytes int) []byte {
	data := binary.LittleEndian.AppendUint64(nil, c.amount)
	data = binary.LittleEndian.AppendUint64(data, c.quoted)
	data = binary.LittleEndian.AppendUint16(data, c.slippage)
	data = append(data, binary.LittleEndian.AppendUint64(nil, c.fee)[:feeBytes]...)
	if c.isShort {
		data = data[:8]
	}
	return data
}

// TestJupiterInstructions alters one thing at a time in each of Jupiter's instructions that the guard accepts.
func TestJupiterInstructions(t *testing.T) {
	const quoted, least = 2_000_000, 1_990_000 // after 50 basis points
	route := []byte("route plan")
	for _, row := range []struct {
		name                                string
		accounts                            []byte
		user, source, destination, redirect int // indexes in accounts; redirect is -1 if there is none
		data                                func(jupiterCall) []byte
	}{
		{
			"route_v2",
			[]byte{payer, spent, received, other, other, other, other, program, other},
			0, 1, 2, 7,
			func(c jupiterCall) []byte { return append(c.terms(4), route...) },
		},
		{
			"shared_accounts_route_v2",
			[]byte{other, payer, spent, other, other, received, other},
			1, 2, 5, -1,
			func(c jupiterCall) []byte { return append(append([]byte{7}, c.terms(4)...), route...) },
		},
	} {
		minimum := func(change func(*jupiterCall)) (chain.Amount, error) {
			c := jupiterCall{accounts: slices.Clone(row.accounts), name: row.name, amount: 1000, quoted: quoted, slippage: 50}
			change(&c)
			number := sha256.Sum256([]byte("global:" + c.name))
			data := append(number[:8:8], row.data(c)...)
			if c.isShort {
				data = append(number[:8:8], c.terms(0)...)
			}
			return minimumOf(jupiterProgram, wire.CompiledInstruction{Program: program, Accounts: c.accounts, Data: data}, least)
		}
		if got, err := minimum(func(*jupiterCall) {}); err != nil || got != chain.NewAmount(least) {
			t.Errorf("%s: the minimum is %s, %v, want %d", row.name, got, err, least)
		}
		changes := map[string]func(*jupiterCall){
			"another sender's swap":  func(c *jupiterCall) { c.accounts[row.user] = other },
			"another source":         func(c *jupiterCall) { c.accounts[row.source] = other },
			"another destination":    func(c *jupiterCall) { c.accounts[row.destination] = other },
			"too few accounts":       func(c *jupiterCall) { c.accounts = c.accounts[:row.destination] },
			"another amount":         func(c *jupiterCall) { c.amount++ },
			"less than is wanted":    func(c *jupiterCall) { c.quoted -= 2 },
			"more slippage":          func(c *jupiterCall) { c.slippage++ },
			"slippage above all":     func(c *jupiterCall) { c.slippage, c.quoted = 10_001, 1<<60 },
			"a platform's fee":       func(c *jupiterCall) { c.fee = 1 },
			"another instruction":    func(c *jupiterCall) { c.name = "set_token_ledger" },
			"terms behind the route": func(c *jupiterCall) { c.name = "route" },
			"a share of a surplus":   func(c *jupiterCall) { c.fee = 1 << 16 },
			"no amounts":             func(c *jupiterCall) { c.isShort = true },
		}
		if row.redirect >= 0 {
			changes["another destination in the end"] = func(c *jupiterCall) { c.accounts[row.redirect] = other }
		}
		for name, change := range changes {
			if got, err := minimum(change); !errors.Is(err, quote.ErrRefused) {
				t.Errorf("%s with %s: %s, %v, want that it is refused", row.name, name, got, err)
			}
		}
	}
}

// minimumOf returns the minimum that the guard reads from an instruction by which the payer swaps 1000 of a token.
func minimumOf(called chain.Address, i wire.CompiledInstruction, wanted uint64) (chain.Amount, error) {
	onSolana, _ := chain.Documented().Chain(chain.Solana)
	sender, stranger := chain.NewAddress([]byte("the sender's key on Solana......")), chain.NewAddress([]byte("somebody else's key on Solana..."))
	s := quote.Swap{
		Chain: onSolana, Sender: sender, Recipient: sender,
		In: quote.Side{Address: usdcMint, Amount: chain.NewAmount(1000)}, Out: quote.Side{Address: stranger},
	}
	d := draft{
		version:      versionFlag,
		keys:         []chain.Address{sender, walletOf(sender, usdcMint), walletOf(sender, stranger), stranger, called},
		instructions: []wire.CompiledInstruction{i},
	}
	p := quote.Profile{Routers: map[chain.ID]chain.Address{chain.Solana: called}}
	return guard.MinOut(s, p, quote.Tx{Data: d.seal()}, chain.NewAmount(wanted))
}

// TestDFlowInstructions alters one thing at a time in the parts of DFlow's instructions that the guard reads.
func TestDFlowInstructions(t *testing.T) {
	const quoted, least = 2_000_000, 1_990_000 // after 50 basis points
	number := func(name string) []byte {
		hash := sha256.Sum256([]byte("global:" + name))
		return hash[:8]
	}
	swap := swapCall(1000, quoted, 50, 0)
	// route is a swap with other actions before its pool.
	route := func(actions int, first ...byte) []byte {
		data := binary.LittleEndian.AppendUint32(number("swap"), uint32(actions))
		return append(append(data, first...), swap[12:]...)
	}
	named := []byte{other, other, other, payer, received, other, other, other, program}
	minimum := func(accounts, data []byte) (chain.Amount, error) {
		return minimumOf(otherProgram, wire.CompiledInstruction{Program: program, Accounts: accounts, Data: data}, least)
	}
	for name, data := range map[string][]byte{
		"swap":                           swap,
		"swap2":                          append(append(number("swap2"), swap[8:]...), 0),
		"a record and an opened account": route(3, append(append([]byte{38}, 1, 2, 3, 4), 60)...),
		"a choice among pools":           route(2, 31, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 232, 3, 0, 0, 0, 0, 0, 0, 0),
		"bounds of legs":                 route(3, append(append([]byte{48, 2, 0, 0, 0}, make([]byte, 16)...), 45)...),
		"a footer behind it":             append(slices.Clone(swap), swap[len(swap)-12:]...),
	} {
		if got, err := minimum(named, data); err != nil || got != chain.NewAmount(least) {
			t.Errorf("%s: the minimum is %s, %v, want %d", name, got, err, least)
		}
	}
	for _, name := range []string{"swap_with_destination", "swap_with_destination_native"} {
		data := append(number(name), swap[8:]...)
		if got, err := minimum(named, data); err != nil || got != chain.NewAmount(least) {
			t.Errorf("%s: the minimum is %s, %v, want %d", name, got, err, least)
		}
		if got, err := minimum([]byte{other, other, other, payer, other, received}, data); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s to another: %s, %v, want that it is refused", name, got, err)
		}
	}
	for name, data := range map[string][]byte{
		"a minimum of one":               swapCall(1000, 1, 50, 0),
		"a good footer behind a bad one": append(swapCall(1000, 1, 50, 0), swap[len(swap)-12:]...),
		"more of the input":              swapCall(1001, quoted, 50, 0),
		"more slippage":                  swapCall(1000, quoted, 51, 0),
		"slippage above all":             swapCall(1000, 1<<60, 10_001, 0),
		"a fee of a platform":            swapCall(1000, quoted, 50, 1),
		"a share of the surplus":         append(append(number("swap2"), swap[8:]...), 1),
		"a fee as an action":             route(2, 35, 1, 0, 0, 0, 0, 0, 0, 0),
		"a sponsor":                      route(2, 50),
		"an unknown action":              route(2, 200),
		"an unknown candidate":           route(2, 31, 1, 0, 0, 0, 13, 232, 3, 0, 0, 0, 0, 0, 0, 0),
		"actions without end":            append(number("swap"), 255, 255, 255, 255),
		"an order":                       append(number("open_order"), swap[8:]...),
		"no terms":                       swap[:len(swap)-12],
		"nothing":                        nil,
	} {
		if got, err := minimum(named, data); !errors.Is(err, quote.ErrRefused) {
			t.Errorf("%s: %s, %v, want that it is refused", name, got, err)
		}
	}
	if got, err := minimum([]byte{other, other, other, other}, swap); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("another's swap: %s, %v, want that it is refused", got, err)
	}
}
