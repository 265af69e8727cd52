package onchain_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// compareSolana lets cmp compare the unexported fields of package chain.
var compareSolana = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
	cmpopts.EquateEmpty(),
}

// fromSolana and toSolana are recorded orders.
func fromSolana(tb testing.TB) recordedOrder { return recordedOrders(tb)[1] }
func toSolana(tb testing.TB) recordedOrder   { return recordedOrders(tb)[0] }

// wrapper is a program that calls the protocol's programs.
func wrapper(calls ...call) call { return call{program: key(0x77), data: []byte{1}, calls: calls} }

func createWithNonce(tb testing.TB, o recordedOrder) call {
	referral := uint32(30195)
	affiliate := &order.Affiliate{Beneficiary: key(0xaf), Amount: chain.NewAmount(4936889)}
	return call{
		program: solanaContracts.DlnSource, accounts: keys(1, 12),
		data: tagged(tb, "828362be28ce4432").creation(o.Terms, affiliate, &referral).u64(o.Terms.Nonce).bytes([]byte("metadata")),
		events: [][]byte{
			tagged(tb, "6a574ae6207847d2").terms(o.Terms).u64(15_000_000).u64(493688),
			tagged(tb, "bb291b490c3f0d54").raw(o.ID[:]),
		},
	}
}

func createdWithNonce(o recordedOrder) order.Created {
	return order.Created{
		Terms: o.Terms, FixFee: chain.NewAmount(15_000_000), PercentFee: chain.NewAmount(493688), ReferralCode: 30195,
		Affiliate: &order.Affiliate{Beneficiary: key(0xaf), Amount: chain.NewAmount(4936889)}, Metadata: []byte("metadata"),
	}
}

func fulfil(tb testing.TB, o recordedOrder) call {
	data := tagged(tb, "3dd627f841d49924").terms(o.Terms).raw(o.ID[:])
	return call{
		program: solanaContracts.DlnDestination, accounts: keys(1, 8), data: data.some().raw(key(0x55).Bytes()),
		events: [][]byte{tagged(tb, "d2ae83d528b6536e").raw(o.ID[:]).raw(key(2).Bytes())},
	}
}

// sending is the gate's part of an instruction that sends a message.
func sending(tb testing.TB, submission chain.Hash) call {
	return call{
		program: solanaContracts.Gate, data: tagged(tb, "66fb14bb414b0c45"),
		events: [][]byte{tagged(tb, "1584ef4092efa644").raw([]byte{1}).raw(submission[:]).raw(make([]byte, 40))},
	}
}

func sendUnlock(tb testing.TB, id order.ID, submission chain.Hash) call {
	return call{
		program: solanaContracts.DlnDestination, accounts: keys(1, 21),
		data:   tagged(tb, "c572c4f9aa4badcc").raw(id[:]).bytes([]byte("beneficiary of 20 by")).u64(0),
		calls:  []call{sending(tb, submission)},
		events: [][]byte{tagged(tb, "505f1b66dda2b118")},
	}
}

// claim executes a message: the gate calls the source program.
func claim(tb testing.TB, discriminator, event string, id order.ID, submission chain.Hash) call {
	accounts := keys(1, 13)
	accounts[0] = solana.ProgramAddress(solanaContracts.Gate, []byte("SUBMISSION"), submission[:])
	return call{
		program: solanaContracts.Gate, data: tagged(tb, "a059e5339d3ed9ae").raw([]byte("arguments that say nothing")),
		calls: []call{{
			program: solanaContracts.DlnSource, accounts: accounts,
			data: tagged(tb, discriminator).raw(id[:]), events: [][]byte{tagged(tb, event)},
		}},
		events: [][]byte{tagged(tb, "191a34d8b161d4d5").raw(submission[:]).u32(0)},
	}
}

// TestDecodeSolanaReadsEveryInstruction decodes the fact of each instruction, both as an outer instruction and when
// called by another program.
func TestDecodeSolanaReadsEveryInstruction(t *testing.T) {
	from, to := fromSolana(t), toSolana(t)
	message := hash("message")
	plain := from
	withCall := from
	withCall.Terms.ExternalCall = []byte("external call")
	withCall.ID = onchain.ID(withCall.Terms)
	hashed := to
	hashed.Terms.ExternalCallHash = hash("external call")
	hashed.ID = onchain.ID(hashed.Terms)
	beneficiary := chain.NewAddress([]byte("beneficiary of 20 by"))
	dst := solanaContracts.DlnDestination
	cutGivenUp := givenUp(t, to.ID, "make_fallback")
	cutGivenUp.accounts = cutGivenUp.accounts[:3]
	tests := []struct {
		name string
		call call
		id   order.ID
		want order.Fact
	}{
		{"create_order_with_nonce", createWithNonce(t, from), from.ID, createdWithNonce(from)},
		{"create_order_with_nonce, external call", createWithNonce(t, withCall), withCall.ID, createdWithNonce(withCall)},
		{
			"create_order", call{
				program: solanaContracts.DlnSource, accounts: keys(1, 12),
				data: tagged(t, "8d3625cfedd2fad7").creation(plain.Terms, nil, nil),
				events: [][]byte{
					tagged(t, "6a574ae6207847d2").terms(plain.Terms).u64(1).u64(2),
					tagged(t, "bb291b490c3f0d54").raw(plain.ID[:]),
				},
			}, plain.ID, order.Created{Terms: plain.Terms, FixFee: chain.NewAmount(1), PercentFee: chain.NewAmount(2)},
		},
		{
			"patch_order_give", call{
				program: solanaContracts.DlnSource, data: tagged(t, "40bc81ff40818b66").raw(from.ID[:]).u64(7),
				events: [][]byte{tagged(t, "06bd714e8b328845").u64(107).u64(8)},
			}, from.ID, order.GiveIncreased{Final: chain.NewAmount(107), FinalPercentFee: chain.NewAmount(8)},
		},
		{
			"claim_unlock", claim(t, "5951b44f8e9042fb", "c82da7fb31e85b0d", from.ID, message), from.ID,
			order.Claimed{Kind: order.Unlock, Beneficiary: key(9), Submission: message},
		},
		{
			"claim_order_cancel", claim(t, "13617eeecc8d454c", "62b00866d3f53cb6", from.ID, message), from.ID,
			order.Claimed{Kind: order.Cancel, Beneficiary: key(9), Submission: message},
		},
		{"fulfill_order", fulfil(t, to), to.ID, order.Fulfilled{Terms: to.Terms, Taker: key(2), UnlockAuthority: key(0x55)}},
		{
			"fulfill_order without authority, call known by hash", call{
				program: dst, accounts: keys(1, 8), data: tagged(t, "3dd627f841d49924").terms(hashed.Terms).raw(hashed.ID[:]).none(),
				events: [][]byte{tagged(t, "d2ae83d528b6536e").raw(hashed.ID[:]).raw(key(2).Bytes())},
			}, hashed.ID, order.Fulfilled{Terms: hashed.Terms, Taker: key(2), UnlockAuthority: key(2)},
		},
		{
			"send_unlock", sendUnlock(t, to.ID, message), to.ID,
			order.Sent{Kind: order.Unlock, Beneficiary: beneficiary, Submission: message},
		},
		{
			"send_batch_unlock", call{
				program: dst, accounts: append(keys(1, 20), key(0x99), onchain.TakeOrderAccount(solanaContracts, to.ID)),
				data:   tagged(t, "2c0d9c04eb26b7e9").bytes(beneficiary.Bytes()).u64(0),
				calls:  []call{sending(t, message)},
				events: [][]byte{tagged(t, "505f1b66dda2b118"), tagged(t, "505f1b66dda2b118")},
			}, to.ID, order.Sent{Kind: order.Unlock, Beneficiary: beneficiary, Submission: message},
		},
		{
			"cancel_order", call{
				program: dst, accounts: keys(1, 4), data: tagged(t, "5f81edf00831df84").terms(to.Terms).raw(to.ID[:]),
				events: [][]byte{tagged(t, "6c388044a871a8ef")},
			}, to.ID, order.Cancelled{},
		},
		{
			"send_order_cancel", call{
				program: dst, accounts: keys(1, 21), data: tagged(t, "28c80b44d62db5ac").raw(to.ID[:]).bytes(beneficiary.Bytes()).u64(0),
				calls: []call{sending(t, message)}, events: [][]byte{tagged(t, "4ecd73f8c78aea2a")},
			}, to.ID, order.Sent{Kind: order.Cancel, Beneficiary: beneficiary, Submission: message},
		},
		{
			"patch_take_order", call{
				program: dst, data: tagged(t, "8f7b85f934616f72").terms(to.Terms).raw(to.ID[:]).u64(5),
				events: [][]byte{tagged(t, "07db294fe93f1400").raw(to.ID[:]).u64(95)},
			}, to.ID, order.TakeDecreased{Final: chain.NewAmount(95)},
		},
		{"call executed", executed(t, to.ID, 1), to.ID, order.ExternalCall{Step: order.CallExecuted}},
		{"call begun", executed(t, to.ID, 0), to.ID, order.ExternalCall{Step: order.CallBegun}},
		{
			"call given up", givenUp(t, to.ID, "make_fallback"), to.ID,
			order.ExternalCall{Step: order.CallFallenBack, By: key(0x33)},
		},
		{
			"call given up by an instruction that is not known", givenUp(t, to.ID, "make_fallback_faster"), to.ID,
			order.ExternalCall{Step: order.CallFallenBack},
		},
		{"call given up, accounts cut", cutGivenUp, to.ID, order.ExternalCall{Step: order.CallFallenBack}},
	}
	for _, test := range tests {
		for where, tx := range map[string]solana.Transaction{"outer": run(test.call), "inner": run(wrapper(), wrapper(test.call))} {
			got, err := onchain.DecodeSolana(solanaContracts, tx, of(test.id))
			if err != nil || len(got) != 1 || got[0].Order != test.id {
				t.Errorf("%s, %s: DecodeSolana = %+v, %v, want one fact of %s", test.name, where, got, err, test.id)
				continue
			}
			if diff := cmp.Diff(test.want, got[0].Fact, compareSolana); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", test.name, where, diff)
			}
		}
	}
}

func executed(tb testing.TB, id order.ID, whole byte) call {
	return call{
		program: solanaContracts.ExternalCallAdapter, accounts: []chain.Address{key(1), onchain.CallAccount(solanaContracts, id)},
		events: [][]byte{tagged(tb, "08e88b84c52d1da4").raw([]byte{whole}).u64(1).u64(2).u64(3)},
	}
}

// givenUp is an instruction of the executor that falls back from an order's call on behalf of account 0x33.
func givenUp(tb testing.TB, id order.ID, name string) call {
	discriminator := sha256.Sum256([]byte("global:" + name))
	return call{
		program:  solanaContracts.ExternalCallAdapter,
		accounts: []chain.Address{onchain.CallAccount(solanaContracts, id), key(0x31), key(0x32), key(0x33), key(0x34), key(0x35), key(0x36)},
		data:     tagged(tb, hex.EncodeToString(discriminator[:8])).raw(id[:]),
		events:   [][]byte{tagged(tb, "f6d911053241e66d").u64(0)},
	}
}

func TestDecodeSolanaTellsSubmissionsApart(t *testing.T) {
	first, second := hash("first"), hash("second")
	tx := run(
		sendUnlock(t, first, hash("message 1")), sendUnlock(t, second, hash("message 2")),
		claim(t, "5951b44f8e9042fb", "c82da7fb31e85b0d", first, hash("message 3")),
		claim(t, "5951b44f8e9042fb", "c82da7fb31e85b0d", second, hash("message 4")),
	)
	got, err := onchain.DecodeSolana(solanaContracts, tx, nobody)
	if err != nil || len(got) != 4 {
		t.Fatalf("DecodeSolana = %+v, %v, want four facts", got, err)
	}
	for i, found := range got {
		var submission chain.Hash
		switch fact := found.Fact.(type) {
		case order.Sent:
			submission = fact.Submission
		case order.Claimed:
			submission = fact.Submission
		}
		if want := hash("message " + string(rune('1'+i))); submission != want {
			t.Errorf("%T of order %s has submission %s, want %s", found.Fact, found.Order, submission, want)
		}
		if i > 0 && found.LogIndex <= got[i-1].LogIndex {
			t.Errorf("position %d comes after %d", found.LogIndex, got[i-1].LogIndex)
		}
	}
}

func TestDecodeSolanaBelievesNoOtherProgram(t *testing.T) {
	o := fromSolana(t)
	create := createWithNonce(t, o)
	foreign := create
	foreign.program = key(0x66)
	quoting := call{program: key(0x66), data: []byte{1}, events: create.events}
	claim := claim(t, "5951b44f8e9042fb", "c82da7fb31e85b0d", o.ID, hash("message"))
	claim.calls[0].events = nil
	for name, tx := range map[string]solana.Transaction{
		"a program of the same form": run(foreign),
		"a program's event":          run(quoting),
		"a claim that did nothing":   run(claim),
		"nothing":                    run(),
	} {
		if got, err := onchain.DecodeSolana(solanaContracts, tx, nobody); err != nil || len(got) != 0 {
			t.Errorf("DecodeSolana of %s = %+v, %v, want nothing", name, got, err)
		}
	}
}

// TestDecodeSolanaReadsEventsBehindCalls logs events after the instruction's calls, and lines of another program that
// look like the runtime's.
func TestDecodeSolanaReadsEventsBehindCalls(t *testing.T) {
	o := fromSolana(t)
	create := createWithNonce(t, o)
	create.calls = []call{{program: key(0x11), data: []byte{3}}, {program: key(0x11), data: []byte{3}}}
	tx := run(create)
	tx.Logs = slices.Insert(tx.Logs, 4, "Program log: x\nProgram "+solanaContracts.DlnSource.Format(chain.SVM)+" success")
	got, err := onchain.DecodeSolana(solanaContracts, tx, nobody)
	if err != nil || len(got) != 1 {
		t.Errorf("DecodeSolana = %+v, %v, want the creation", got, err)
	}
	// Precompiled programs do not log anything.
	tx.Instructions = slices.Insert(tx.Instructions, 0, solana.Instruction{Program: key(0x22), Depth: 1})
	if got, err = onchain.DecodeSolana(solanaContracts, tx, nobody); err != nil || len(got) != 1 {
		t.Errorf("DecodeSolana with a precompiled program = %+v, %v, want the creation", got, err)
	}
}

func TestDecodeSolanaRefusesWhatCannotBe(t *testing.T) {
	o := fromSolana(t)
	wrongID := createWithNonce(t, o)
	wrongID.events[1][12]++
	wrongDelivery := toSolana(t)
	wrongDelivery.ID[0]++
	short := createWithNonce(t, o)
	short.data = short.data[:len(short.data)-1]
	otherCall := o
	otherCall.Terms.ExternalCall = []byte("external call")
	otherCall.ID = onchain.ID(otherCall.Terms)
	otherBytes := createWithNonce(t, otherCall)
	otherBytes.data = []byte(strings.Replace(string(otherBytes.data), "external call", "external wall", 1))
	newer := createWithNonce(t, o)
	newer.data = tagged(t, "0102030405060708")
	for name, each := range map[string]call{
		"an id that the terms do not give": wrongID, "another's delivery": fulfil(t, wrongDelivery), "data that breaks off": short,
		"a call of another hash": otherBytes, "an unknown instruction that creates": newer,
	} {
		if got, err := onchain.DecodeSolana(solanaContracts, run(each), nobody); err == nil || errors.Is(err, onchain.ErrLogsCut) {
			t.Errorf("DecodeSolana of %s = %+v, %v, want an error", name, got, err)
		}
	}
}

func TestDecodeSolanaWithLogsThatBreakOff(t *testing.T) {
	from, to := fromSolana(t), toSolana(t)
	whole := run(fulfil(t, to), createWithNonce(t, from))
	if onchain.IsCut(solanaContracts, whole) {
		t.Error("whole logs are cut")
	}
	for cut := range whole.Logs {
		tx := whole
		tx.Logs = append(slices.Clone(whole.Logs[:cut]), "Log truncated")
		// Shorter lines may follow the truncation; they must not be trusted.
		tx.Logs = append(tx.Logs, "Program "+solanaContracts.DlnSource.Format(chain.SVM)+" success")
		got, err := onchain.DecodeSolana(solanaContracts, tx, nobody)
		if !onchain.IsCut(solanaContracts, tx) {
			t.Errorf("logs of %d lines are not cut", cut)
		}
		if len(got) == 0 || got[0].Order != to.ID {
			t.Fatalf("logs of %d lines: DecodeSolana = %+v, %v, want the fulfilment, which the instruction tells", cut, got, err)
		}
		if created := len(got) == 2; created == errors.Is(err, onchain.ErrLogsCut) {
			t.Errorf("logs of %d lines: DecodeSolana = %d facts, %v", cut, len(got), err)
		}
	}
}

// TestDecodeSolanaWithoutCalledInstructions uses a node that hides what a program called: its logs are not attributed
// to a later instruction of the same program.
func TestDecodeSolanaWithoutCalledInstructions(t *testing.T) {
	called, other := fromSolana(t), fromSolana(t)
	other.Terms.Nonce++
	other.ID = onchain.ID(other.Terms)
	tx := run(wrapper(createWithNonce(t, called)), createWithNonce(t, other))
	tx.Instructions = slices.DeleteFunc(tx.Instructions, func(i solana.Instruction) bool { return i.Depth > 1 })
	got, err := onchain.DecodeSolana(solanaContracts, tx, nobody)
	if len(got) > 0 || !errors.Is(err, onchain.ErrLogsCut) || !onchain.IsCut(solanaContracts, tx) {
		t.Errorf("DecodeSolana = %+v, %v, want no creation, since its logs cannot be told", got, err)
	}
}

func TestDecodeSolanaIgnoresChainsThatCannotBe(t *testing.T) {
	o := toSolana(t)
	for place, value := range map[int]byte{0: 0xff, 24: 0x80} { // beyond 64 bits, and beyond 63
		each := fulfil(t, o)
		each.data[8+8+4+20+place] = value // of the give chain: after discriminator, nonce, and maker with its length
		if got, err := onchain.DecodeSolana(solanaContracts, run(each, sendUnlock(t, o.ID, hash("message"))), nobody); err != nil || len(got) != 1 {
			t.Errorf("DecodeSolana = %+v, %v, want the unlock alone", got, err)
		}
	}
}

func TestDecodeSolanaReadsTheOrderThatACallNames(t *testing.T) {
	empty := executed(t, toSolana(t).ID, 1)
	empty.events[0] = empty.events[0][:8]
	if got, err := onchain.DecodeSolana(solanaContracts, run(empty), of(toSolana(t).ID)); err != nil || len(got) != 0 {
		t.Errorf("an event without content: DecodeSolana = %+v, %v, want nothing", got, err)
	}
	id := toSolana(t).ID
	each := executed(t, id, 1)
	for data, want := range map[string]int{string(id[:]): 1, strings.Repeat("x", 32): 0, "": 0} {
		each.data = tagged(t, "0102030405060708").raw([]byte(data))
		if got, err := onchain.DecodeSolana(solanaContracts, run(each), nobody); err != nil || len(got) != want {
			t.Errorf("DecodeSolana with arguments %x = %+v, %v, want %d facts", data, got, err, want)
		}
	}
}

func TestUnnamedOrdersAreThoseOfBatches(t *testing.T) {
	batch := call{program: solanaContracts.DlnDestination, accounts: keys(1, 23), data: tagged(t, "2c0d9c04eb26b7e9").bytes(nil).u64(0)}
	tx := run(sendUnlock(t, order.ID{}, chain.Hash{}), wrapper(batch))
	if diff := cmp.Diff(keys(21, 3), onchain.UnnamedOrders(solanaContracts, tx), compareSolana); diff != "" {
		t.Errorf("UnnamedOrders (-want +got):\n%s", diff)
	}
}
