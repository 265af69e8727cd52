package solana_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
)

var payer = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func payerKey() chain.Address { return chain.NewAddress(payer.Public().(ed25519.PublicKey)) }

var compareAddresses = cmp.Options{cmp.Comparer(func(a, b chain.Address) bool { return a == b }), cmpopts.EquateEmpty()}

// key returns an account with all bytes equal to b, and keys several consecutive ones.
func key(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, solana.KeySize)) }

func keys(from byte, count int) []chain.Address {
	list := make([]chain.Address, count)
	for i := range list {
		list[i] = key(from + byte(i))
	}
	return list
}

// compact encodes a length of up to two bytes.
func compact(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// message encodes a message whose two instructions use the payer, one static key and, in version 0, accounts from two
// lookup tables.
func message(versioned bool) []byte {
	var m []byte
	if versioned {
		m = append(m, 0x80)
	}
	m = append(m, 1, 0, 1)
	m = append(m, compact(2)...)
	m = append(m, payerKey().Bytes()...)
	m = append(m, key(2).Bytes()...)
	m = append(m, key(0xbb).Bytes()...)
	m = append(m, compact(2)...)
	m = append(m, 1, 2, 0, 1, 3, 'a', 'b', 'c')
	long := slices.Repeat([]byte{7}, 300)
	m = append(m, 1, 1)
	if versioned {
		m = append(m, 4) // a read-only one of the second table
	} else {
		m = append(m, 0)
	}
	m = append(append(m, compact(len(long))...), long...)
	if !versioned {
		return m
	}
	m = append(m, compact(2)...)
	m = append(append(m, key(0xcc).Bytes()...), 1, 9, 0)
	return append(append(m, key(0xcd).Bytes()...), 0, 2, 8, 7)
}

// signedNewer returns a transaction of version 1, with two values of its configuration and the instructions of message.
func signedNewer() []byte {
	m := slices.Concat([]byte{0x81, 1, 0, 1, 0x14, 0, 0, 0}, key(0xbb).Bytes(), []byte{2, 2}, payerKey().Bytes(), key(2).Bytes(), make([]byte, 8),
		[]byte{1, 2, 3, 0, 1, 1, 300 & 0xff, 300 >> 8, 0, 1, 'a', 'b', 'c', 0}, slices.Repeat([]byte{7}, 300))
	return append(m, ed25519.Sign(payer, m)...)
}

func signedBy(key ed25519.PrivateKey, message []byte) []byte {
	return slices.Concat(compact(1), ed25519.Sign(key, message), message)
}

func TestParseSigned(t *testing.T) {
	for name, raw := range map[string][]byte{"legacy": signedBy(payer, message(false)), "version 0": signedBy(payer, message(true)), "version 1": signedNewer()} {
		signature := raw[1:65]
		if name == "version 1" {
			signature = raw[len(raw)-64:]
		}
		m, err := solana.ParseSigned(raw)
		if err != nil || m.FeePayer() != payerKey() || m.Signature != chain.NewTxHash(signature) {
			t.Fatalf("%s: ParseSigned = %+v, %v", name, m, err)
		}
		var lookedUp []chain.Address
		last := payerKey()
		if name == "version 0" {
			lookedUp, last = keys(0xd0, 3), key(0xd2)
		}
		called := solana.CompiledInstruction{Program: 0, Accounts: []uint8{1}, Data: []byte("called"), Depth: 2}
		tx, err := m.Resolve(lookedUp, map[int][]solana.CompiledInstruction{0: {called}}, []string{"log"})
		want := solana.Transaction{
			Instructions: []solana.Instruction{
				{Program: key(2), Accounts: []chain.Address{payerKey(), key(2)}, Data: []byte("abc"), Depth: 1},
				{Program: payerKey(), Accounts: []chain.Address{key(2)}, Data: []byte("called"), Depth: 2},
				{Program: key(2), Accounts: []chain.Address{last}, Data: slices.Repeat([]byte{7}, 300), Depth: 1},
			},
			Logs: []string{"log"},
		}
		if diff := cmp.Diff(want, tx, compareAddresses); err != nil || diff != "" {
			t.Errorf("%s: Resolve: %v (-want +got):\n%s", name, err, diff)
		}
		if _, err := m.Resolve(keys(0xd0, 5), nil, nil); err == nil {
			t.Errorf("%s: Resolve took accounts that the message does not name", name)
		}
	}
}

func TestParseSignedRefuses(t *testing.T) {
	whole := signedBy(payer, message(true))
	for _, whole := range [][]byte{whole, signedNewer()} {
		for length := range whole {
			if _, err := solana.ParseSigned(whole[:length]); err == nil {
				t.Fatalf("ParseSigned took the first %d of %d bytes", length, len(whole))
			}
		}
	}
	other := ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))
	newest, within := signedNewer(), message(true)
	newest[0], within[0] = 0x82, 0x82
	for _, raw := range [][]byte{newest, signedBy(payer, within)} {
		if _, err := solana.ParseSigned(raw); !errors.Is(err, solana.ErrVersion) || err.Error() != solana.ErrVersion.Error()+": 2" {
			t.Errorf("ParseSigned of a transaction of version 2: %v", err)
		}
	}
	for name, raw := range map[string][]byte{
		"another's signature": signedBy(other, message(true)), "more behind it": append(slices.Clone(whole), 0),
		"no signature": append([]byte{0}, message(false)...),
	} {
		if m, err := solana.ParseSigned(raw); err == nil {
			t.Errorf("ParseSigned of a transaction with %s = %+v", name, m)
		}
	}
}

func TestResolveRefusesPositionsBeyondTheAccounts(t *testing.T) {
	m := must.Get(solana.ParseSigned(signedBy(payer, message(false))))(t)
	for _, called := range []solana.CompiledInstruction{{Program: 2}, {Program: -1}, {Accounts: []uint8{2}}} {
		if tx, err := m.Resolve(nil, map[int][]solana.CompiledInstruction{1: {called}}, nil); err == nil {
			t.Errorf("Resolve of %+v = %+v, want an error", called, tx)
		}
	}
}

// FuzzParseSigned parses arbitrary bytes, signed and as they are, and resolves the result.
func FuzzParseSigned(f *testing.F) {
	f.Add(message(false))
	f.Add(message(true))
	f.Add(signedNewer())
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = solana.ParseSigned(raw) // unsigned: it must only return
		m, err := solana.ParseSigned(signedBy(payer, raw))
		if err != nil {
			return
		}
		if tx, err := m.Resolve(make([]chain.Address, m.LookedUp), nil, nil); err == nil && len(tx.Instructions) != len(m.Instructions) {
			t.Errorf("%d instructions resolve to %d", len(m.Instructions), len(tx.Instructions))
		}
	})
}

// waiting returns a transaction without the payer's signature.
func waiting(versioned bool) []byte {
	return slices.Concat(compact(1), make([]byte, solana.SignatureSize), message(versioned))
}

func TestParseUnsigned(t *testing.T) {
	for name, versioned := range map[string]bool{"legacy": false, "version 0": true} {
		m, err := solana.ParseUnsigned(waiting(versioned))
		if err != nil || m.FeePayer() != payerKey() || m.Account(1) != key(2) || !m.Account(2).IsAbsent() {
			t.Errorf("%s: ParseUnsigned = %+v, %v", name, m, err)
		}
	}
	two := waiting(true)
	two[66] = 2 // number of signers
	for name, raw := range map[string][]byte{
		"its signature": signedBy(payer, message(true)), "two signers": two, "more behind it": append(waiting(true), 0),
		"two signatures":     slices.Concat(compact(2), make([]byte, 2*solana.SignatureSize), message(true)),
		"a budget elsewhere": append(bytes.TrimSuffix(signedNewer(), signedNewer()[len(signedNewer())-64:]), make([]byte, 64)...),
		"too many bytes":     append(waiting(true), make([]byte, solana.MaxTransaction)...),
	} {
		if m, err := solana.ParseUnsigned(raw); err == nil {
			t.Errorf("ParseUnsigned of a transaction with %s = %+v", name, m)
		}
	}
}

func FuzzParseUnsigned(f *testing.F) {
	f.Add(waiting(false))
	f.Add(waiting(true))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := solana.ParseUnsigned(raw)
		if err != nil {
			return
		}
		if len(m.Accounts) > solana.MaxTransaction/solana.KeySize || m.Budget().Units > solana.MaxComputeUnits {
			t.Errorf("%d accounts, %d units out of %d bytes", len(m.Accounts), m.Budget().Units, len(raw))
		}
	})
}
