package creation_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
)

// onSolana returns an order of 10,000 of a token, its instruction, and a state in which the program makes it.
func onSolana() (creation.InstructionOnSolana, creation.State) {
	key := func(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, solana.KeySize)) }
	s := creation.State{
		Chain: chain.Solana, Contracts: chain.Contracts{DlnSource: key(1)}, Paused: new(false), PercentBps: new(uint64(4)), FixedFee: amount(5),
		Destination: new(source), IsUsed: new(false), Input: creation.Token{Balance: amount(10_000)},
	}
	o := creation.OnSolana{
		SolanaCreation: onchain.SolanaCreation{
			GiveAmount: chain.NewAmount(10_000), Take: order.Offer{Chain: 1, Token: token, Amount: chain.NewAmount(1)}, Receiver: maker,
			Authorities: order.Authorities{GivePatch: key(2), Order: maker}, Nonce: new(uint64(7)),
		},
		Maker: key(2), GiveToken: key(3), TokenProgram: solana.TokenProgram,
	}
	draft := o.Instruction(s.Contracts, onchain.ID(creation.Creation{
		GiveToken: o.GiveToken, Take: o.Take, Receiver: o.Receiver, Authorities: o.Authorities,
	}.Terms(chain.Solana, o.Maker, 7, chain.NewAmount(9_996))))
	in := creation.InstructionOnSolana{Asked: o, IsSigned: true, IsFirst: true}
	in.Program, in.Data = draft.Program, draft.Data
	for _, a := range draft.Accounts {
		in.Accounts = append(in.Accounts, a.Address)
	}
	return in, s
}

// TestForecastsOnSolana changes one thing about an instruction or its state. That the rules are those of the program is
// proved by TestForecastsOfMixtures in sandbox/adapters/solana.
func TestForecastsOnSolana(t *testing.T) {
	const others = ", ? other checks of the program and the runtime"
	type asked = creation.InstructionOnSolana
	type state = creation.State
	for name, row := range map[string]struct {
		change func(*asked, *state)
		want   string
	}{
		"nothing":               {func(*asked, *state) {}, others},
		"not read":              {func(in *asked, _ *state) { in.Mistake = creation.ErrMalformed }, "malformed data of a transaction, no id"},
		"not signed":            {func(in *asked, _ *state) { in.IsSigned = false }, "the maker does not sign"},
		"pause unknown":         {func(_ *asked, s *state) { s.Paused = nil }, ", ? pause of the program" + others},
		"paused":                {func(_ *asked, s *state) { s.Paused = new(true) }, "the program is paused"},
		"percentage unknown":    {func(_ *asked, s *state) { s.PercentBps = nil }, ", no id, ? percentage, ? order id" + others},
		"above all":             {func(_ *asked, s *state) { s.PercentBps = new(uint64(10_001)) }, "percentage and affiliate fee exceed the give amount, no id"},
		"no destination":        {func(_ *asked, s *state) { s.Destination = new(chain.Address{}) }, "the program has no DlnDestination for chain 1"},
		"destination unknown":   {func(_ *asked, s *state) { s.Destination = nil }, ", ? DlnDestination of the take chain" + others},
		"destination of Solana": {func(_ *asked, s *state) { s.Destination = new(s.Contracts.DlnSource) }, "the take token has 20 bytes in place of 32"},
		"another account":       {func(in *asked, _ *state) { in.Accounts[3] = in.Program }, "the program refuses the accounts: account 3 is"},
		"another wallet":        {func(in *asked, _ *state) { in.Accounts[5] = in.Program }, others},
		"unknown account":       {func(in *asked, _ *state) { in.Accounts[3] = chain.Address{} }, others},
		"status unknown":        {func(_ *asked, s *state) { s.IsUsed = nil }, ", ? status of the order id" + others},
		"made before":           {func(_ *asked, s *state) { s.IsUsed = new(true) }, "an order with this id exists"},
		"balance short":         {func(_ *asked, s *state) { s.Input.Balance = amount(9_999) }, "the maker's wallet has 9999"},
		"balance unknown":       {func(_ *asked, s *state) { s.Input.Balance = nil }, ", ? balance of the maker's wallet" + others},
		"paid before": {func(in *asked, s *state) {
			in.IsFirst, s.Input.Balance = false, amount(9_999)
		}, ", ? balance of the maker's wallet" + others},
	} {
		in, s := onSolana()
		row.change(&in, &s)
		if got := outcome(creation.JudgeOnSolana(in, s), nil); !strings.HasPrefix(got, strings.TrimPrefix(row.want, ", ")) {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestOfSolana(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*creation.InstructionOnSolana)
		want   error
	}{
		"an order":               {func(*creation.InstructionOnSolana) {}, nil},
		"of another program":     {func(in *creation.InstructionOnSolana) { in.Program = in.Accounts[2] }, creation.ErrOtherFunction},
		"another instruction":    {func(in *creation.InstructionOnSolana) { in.Data[0]++ }, creation.ErrOtherFunction},
		"cut":                    {func(in *creation.InstructionOnSolana) { in.Data = in.Data[:20] }, creation.ErrMalformed},
		"without a 12th account": {func(in *creation.InstructionOnSolana) { in.Accounts = in.Accounts[:11] }, creation.ErrMalformed},
	} {
		in, s := onSolana()
		row.change(&in)
		o, err := creation.OfSolana(in.Instruction, s.Contracts)
		got, asked := [3]chain.Address{o.Maker, o.GiveToken, o.TokenProgram}, [3]chain.Address{in.Asked.Maker, in.Asked.GiveToken, in.Asked.TokenProgram}
		if !errors.Is(err, row.want) || (err == nil) != (got == asked) {
			t.Errorf("%s: %+v, %v, want %v", name, o, err, row.want)
		}
	}
}

// TestCallReceiver: on Solana the program of external calls receives what an order with a call takes.
func TestCallReceiver(t *testing.T) {
	at := chain.Contracts{ExternalCallAdapter: other}
	for family, call := range map[chain.Family][]byte{chain.SVM: nil, chain.EVM: {1}} {
		if got := creation.CallReceiver(chain.Chain{Family: family, Contracts: at}, call); !got.IsAbsent() {
			t.Errorf("of %v with %d bytes: %s, want none", family, len(call), got)
		}
	}
	if got := creation.CallReceiver(chain.Chain{Family: chain.SVM, Contracts: at}, []byte{1}); got != other {
		t.Errorf("on Solana: %s, want %s", got, other)
	}
}
