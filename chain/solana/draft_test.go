package solana_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
)

func reads(b byte) solana.DraftAccount { return solana.DraftAccount{Address: key(b)} }

func writes(b byte) solana.DraftAccount { return solana.DraftAccount{Address: key(b), Writable: true} }

// draft calls two programs, one of them also in a table, with accounts from the message and two tables.
func draft() solana.Draft {
	signer := solana.DraftAccount{Address: payerKey(), Signer: true}
	return solana.Draft{
		FeePayer: payerKey(), Blockhash: [solana.KeySize]byte{0xbb},
		Instructions: []solana.DraftInstruction{
			{Program: key(2), Accounts: []solana.DraftAccount{reads(0xd0), signer, writes(3), reads(4)}, Data: []byte("abc")},
			{Program: key(0xd1), Accounts: []solana.DraftAccount{writes(4), writes(0xd2), reads(0xe1), writes(0xe0), reads(2)}},
		},
		Tables: []solana.LookupTable{
			{Address: key(0xcc), Holds: keys(0xd0, 3)},
			{Address: key(0xcd), Holds: append(keys(0xd0, 1), keys(0xe0, 2)...)},
			{Address: key(0xce), Holds: keys(0xf0, 3)},
		},
	}
}

// instructions returns the instructions of draft, once its lookup tables are resolved.
func instructions() []solana.Instruction {
	return []solana.Instruction{
		{Program: key(2), Accounts: []chain.Address{key(0xd0), payerKey(), key(3), key(4)}, Data: []byte("abc"), Depth: 1},
		{Program: key(0xd1), Accounts: []chain.Address{key(4), key(0xd2), key(0xe1), key(0xe0), key(2)}, Depth: 1},
	}
}

func TestCompileIsReadAsItWasDrafted(t *testing.T) {
	m := must.Get(solana.ParseUnsigned(must.Get(draft().Compile())(t)))(t)
	if m.FeePayer() != payerKey() || !cmp.Equal(m.Accounts, []chain.Address{payerKey(), key(3), key(4), key(2), key(0xd1)}, compareAddresses) {
		t.Errorf("the message itself has %v", m.Accounts)
	}
	lookedUp := []chain.Address{key(0xd2), key(0xe0), key(0xd0), key(0xe1)} // writable ones of both tables first
	got, err := m.Resolve(lookedUp, nil, nil)
	if diff := cmp.Diff(instructions(), got.Instructions, compareAddresses); err != nil || diff != "" {
		t.Errorf("Resolve: %v (-want +got):\n%s", err, diff)
	}
}

// TestMessagesAreTakenApart recompiles a parsed message, as it is and with another instruction.
func TestMessagesAreTakenApart(t *testing.T) {
	raw := must.Get(draft().Compile())(t)
	m := must.Get(solana.ParseUnsigned(raw))(t)
	lookedUp := []chain.Address{key(0xd2), key(0xe0), key(0xd0), key(0xe1)}
	d := must.Get(m.Draft(lookedUp))(t)
	if again, err := d.Compile(); err != nil || !slices.Equal(again, raw) {
		t.Errorf("Draft().Compile() = %x, %v, want %x", again, err, raw)
	}
	// 0xd0 is called and 0xe1 written now: the message itself takes one out of its table.
	d.Instructions = append(d.Instructions, solana.DraftInstruction{Program: key(0xd0), Accounts: []solana.DraftAccount{writes(2), writes(6), writes(0xe1)}})
	raw = must.Get(d.Compile())(t)
	m = must.Get(solana.ParseUnsigned(raw))(t)
	got, err := m.Resolve([]chain.Address{key(0xd2), key(0xe1), key(0xe0)}, nil, nil)
	want := append(instructions(), solana.Instruction{Program: key(0xd0), Accounts: []chain.Address{key(2), key(6), key(0xe1)}, Depth: 1})
	if diff := cmp.Diff(want, got.Instructions, compareAddresses); err != nil || diff != "" {
		t.Errorf("Resolve: %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]chain.Address{payerKey(), key(2), key(3), key(4), key(6)}, m.Written(), compareAddresses); diff != "" {
		t.Errorf("written accounts (-want +got):\n%s", diff)
	}
	if _, err := m.Draft(lookedUp); err == nil {
		t.Error("a message with other accounts from lookup tables was taken apart")
	}
	m.Instructions[0].Accounts[0] = 200
	if _, err := m.Draft(lookedUp[:3]); err == nil {
		t.Error("an account that the message does not have is drafted")
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, change := range map[string]func(*solana.Draft){
		"a second signer": func(d *solana.Draft) { d.Instructions[0].Accounts[0].Signer = true },
		"another's new account": func(d *solana.Draft) {
			d.Instructions = append(d.Instructions, solana.OpenTokenAccount(key(9), solana.TokenProgram, key(8)))
		},
		"no program":     func(d *solana.Draft) { d.Instructions[0].Program = chain.Address{} },
		"an EVM account": func(d *solana.Draft) { d.Instructions[0].Accounts[0].Address = chain.NewAddress(make([]byte, 20)) },
		"too many bytes": func(d *solana.Draft) { d.Instructions[0].Data = make([]byte, solana.MaxTransaction) },
		"too many accounts": func(d *solana.Draft) {
			d.Tables = []solana.LookupTable{{Address: key(0xcc), Holds: keys(0, 256)}}
			for i := range 256 {
				d.Instructions[0].Accounts = append(d.Instructions[0].Accounts, reads(byte(i)))
			}
		},
	} {
		d := draft()
		change(&d)
		if raw, err := d.Compile(); err == nil {
			t.Errorf("a draft with %s was compiled: %x", name, raw)
		}
	}
}

func TestUnitLimitIsLoweredAlone(t *testing.T) {
	d := draft()
	asked := solana.Budget{Units: 500_000, Price: 7, Priced: true}
	d.Instructions = append(asked.Instructions(), d.Instructions...)
	raw := must.Get(d.Compile())(t)
	for units, want := range map[uint64]uint64{600_000: 500_000, 1234: 1234} {
		before := slices.Clone(raw)
		lowered, err := solana.LowerUnitLimit(raw, units)
		if err != nil || !slices.Equal(raw, before) {
			t.Fatalf("LowerUnitLimit: %v, or it changed what it was given", err)
		}
		d.Instructions = append(solana.Budget{Units: want, Price: 7}.Instructions(), d.Instructions[2:]...)
		if wanted, err := d.Compile(); err != nil || !slices.Equal(lowered, wanted) {
			t.Errorf("at most %d: %x, %v, want a limit of %d and nothing else changed", units, lowered, err, want)
		}
	}
	if _, err := solana.LowerUnitLimit(raw[1:], 1); err == nil {
		t.Error("what is no transaction was changed")
	}
}

// TestBudgets covers instructions of the compute budget program that set neither limit nor price, and impossible limits.
func TestBudgets(t *testing.T) {
	for data, want := range map[string]solana.Budget{
		"": {Units: 400_000}, "\x00\x01\x00\x00\x00\x01\x00\x00\x00": {Units: 400_000}, "\x01\x00\x00\x04\x00": {Units: 400_000},
		"\x03\x07\x00\x00\x00": {Units: 400_000}, "\x03\x07\x00\x00\x00\x00\x00\x00\x00": {Units: 400_000, Price: 7, Priced: true},
		"\x02\x10\x27\x00\x00": {Units: 10_000}, "\x02\xff\xff\xff\xff": {Units: solana.MaxComputeUnits},
	} {
		d := draft() // of two instructions
		d.Instructions = append(d.Instructions, solana.DraftInstruction{Program: solana.ComputeBudgetProgram, Data: []byte(data)})
		if got := must.Get(solana.ParseUnsigned(must.Get(d.Compile())(t)))(t).Budget(); got != want {
			t.Errorf("%x: %+v, want %+v", data, got, want)
		}
	}
}

// TestAddUnits covers drafts with and without a limit of compute units.
func TestAddUnits(t *testing.T) {
	for _, row := range []struct{ units, want uint64 }{{100_000, 130_000}, {1_390_000, solana.MaxComputeUnits}, {0, 0}} {
		d := draft()
		if row.units > 0 {
			d.Instructions = append(solana.Budget{Units: row.units, Price: 7}.Instructions(), d.Instructions...)
		}
		d.AddUnits(30_000)
		var said solana.Budget
		for _, i := range d.Instructions {
			if i.Program == solana.ComputeBudgetProgram {
				said.Read(i.Data)
			}
		}
		if said.Units != row.want || said.Priced != (row.units > 0) {
			t.Errorf("%d units and 30,000 more are %+v, want %d", row.units, said, row.want)
		}
	}
}
