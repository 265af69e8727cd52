// Package seal computes the hashes that identify Ethereum's blocks and transactions, so that nodes' answers can be
// checked against them.
package seal

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
	"crossgate/internal/rawjson"
)

// member is a member of a JSON object that is hashed.
type member struct {
	name     string
	isNumber bool // hashed without leading zeros
}

// Hashed members, in the order of Ethereum's consensus (yellow paper, section 4; EIP-1559, 4399, 4788, 4844, 4895,
// 7685; for transactions EIP-155, 2718, 2930, 1559, 4844, 7702).
var (
	headerMembers = membersOf("parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom #difficulty #number #gasLimit " +
		"#gasUsed #timestamp extraData mixHash nonce #baseFeePerGas withdrawalsRoot #blobGasUsed #excessBlobGas " +
		"parentBeaconBlockRoot requestsHash")
	headerRequired = 15

	transactionMembers = map[string][]member{
		"0x0": membersOf("#nonce #gasPrice #gas to #value input"),
		"0x1": membersOf("#chainId #nonce #gasPrice #gas to #value input accessList"),
		"0x2": membersOf("#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList"),
		"0x3": membersOf("#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList #maxFeePerBlobGas blobVersionedHashes"),
		"0x4": membersOf("#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList authorizationList"),
	}
	nestedMembers = map[string][]member{
		"accessList": membersOf("address storageKeys"), "authorizationList": membersOf("#chainId address #nonce #yParity #r #s"),
	}
	signatureMembers = membersOf("#v #r #s")
	typeMember       = membersOf("type")
)

// membersOf returns the members with names; # marks integers.
func membersOf(names string) (members []member) {
	for _, name := range strings.Fields(names) {
		plain, isNumber := strings.CutPrefix(name, "#")
		members = append(members, member{plain, isNumber})
	}
	return members
}

// valuesOf returns the values of an object's members, the last one of each name, nil if there is none. A name that
// differs in case, which JSON decodes into the same place, empties the value; an escaped name makes all values nil.
func valuesOf(object []byte, members []member) [][]byte {
	values := make([][]byte, len(members))
	for rest := rawjson.Text(object); rest.Take('{') || rest.Take(','); {
		name := bytes.Trim(rest.Value(), `"`)
		rest.Take(':')
		value := rest.Value()
		if bytes.IndexByte(name, '\\') >= 0 {
			return make([][]byte, len(members))
		}
		if i := slices.IndexFunc(members, func(m member) bool { return strings.EqualFold(m.name, string(name)) }); i >= 0 {
			if values[i] = value; members[i].name != string(name) {
				values[i] = []byte{}
			}
		}
	}
	return values
}

var errNoMember = errors.New("member is missing")

// list is an RLP list that is being written.
type list struct {
	rlp.EncoderBuffer
	scratch []byte
}

// newList begins a list, with enough scratch for the longest member of a header.
func newList() *list {
	l := &list{EncoderBuffer: rlp.NewEncoderBuffer(nil), scratch: make([]byte, 0, len(Bloom{}))}
	l.List()
	return l
}

// add writes the values of members. After the first required ones it stops at the first that is missing.
func (l *list) add(members []member, values [][]byte, required int) error {
	for i, m := range members {
		if values[i] == nil && i >= required {
			break
		}
		if err := l.addOne(m, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// addOne writes a value: bytes, or a list for an array or object.
func (l *list) addOne(m member, text []byte) (err error) {
	switch {
	case len(text) == 0:
		return errNoMember
	case text[0] == '[':
		nested := l.List()
		for rest := rawjson.Text(text); err == nil && (rest.Take('[') || rest.Take(',')); {
			if value := rest.Value(); len(value) > 0 {
				err = l.addOne(m, value)
			}
		}
		l.ListEnd(nested)
	case text[0] == '{':
		members := nestedMembers[m.name]
		nested := l.List()
		err = l.add(members, valuesOf(text, members), len(members))
		l.ListEnd(nested)
	default:
		l.scratch, err = m.appendBytes(l.scratch[:0], text)
		l.WriteBytes(l.scratch)
	}
	return err
}

// appendBytes appends the bytes that a JSON string holds in hexadecimal digits.
func (m member) appendBytes(raw, text []byte) ([]byte, error) {
	if string(text) == "null" {
		return raw, nil // a transaction that creates a contract has no recipient
	}
	if len(text) < len(`""`) || text[0] != '"' || text[len(text)-1] != '"' {
		return raw, errors.New("member is not a text")
	}
	digits, odd := bytes.TrimPrefix(text[1:len(text)-1], []byte("0x")), error(nil)
	if m.isNumber {
		digits = bytes.TrimLeft(digits, "0")
	}
	if m.isNumber && len(digits)%2 == 1 {
		raw, odd = hex.AppendDecode(raw, []byte{'0', digits[0]})
		digits = digits[1:]
	}
	raw, err := hex.AppendDecode(raw, digits)
	return raw, cmp.Or(odd, err)
}

// hash ends the list and hashes it, preceded by a transaction's type.
func (l *list) hash(kind []byte) chain.Hash {
	l.ListEnd(0)
	l.scratch = l.AppendToBytes(append(l.scratch[:0], kind...))
	_ = l.Flush() // to nowhere
	return chain.Hash(crypto.Keccak256Hash(l.scratch))
}

// HeaderHash returns the hash of a header in JSON, or an error if it lacks a member. The hash differs from the block's
// on chains that hash differently, or more.
func HeaderHash(text []byte) (chain.Hash, error) {
	l := newList()
	err := l.add(headerMembers, valuesOf(text, headerMembers), headerRequired)
	return l.hash(nil), err
}

// Signer returns the signer of a transaction in JSON, and its hash, or an error if its type is unknown, or has no
// signature.
func Signer(text []byte) (signer chain.Address, hash chain.Hash, err error) {
	kind := "0x0"
	if named := valuesOf(text, typeMember)[0]; named != nil {
		kind = string(bytes.Trim(named, `"`))
	}
	members := transactionMembers[kind]
	if members == nil {
		return signer, hash, errNoMember
	}
	values, signature := valuesOf(text, members), valuesOf(text, signatureMembers)
	unsigned, signed := newList(), newList()
	err = cmp.Or(unsigned.add(members, values, len(members)), signed.add(members, values, len(members)), signed.add(signatureMembers, signature, len(signature)))
	if err != nil {
		return signer, hash, err
	}
	var parts [3][]byte
	for i, part := range signature {
		parts[i], _ = signatureMembers[i].appendBytes(nil, part) // a list, which would be wrong, signs nothing
	}
	raw, _ := member{isNumber: true}.appendBytes(nil, []byte(`"`+kind+`"`))
	hash = signed.hash(raw)
	v := new(big.Int).SetBytes(parts[0]).Uint64()
	switch {
	case len(raw) > 0:
	case v >= 35: // EIP-155: the chain's id is signed too
		unsigned.WriteUint64((v - 35) / 2)
		unsigned.WriteUint64(0)
		unsigned.WriteUint64(0)
		v = (v - 35) % 2
	default:
		v -= 27
	}
	digest := unsigned.hash(raw)
	key, err := crypto.Ecrecover(digest[:], append(append(padded(parts[1]), padded(parts[2])...), byte(v)))
	if err != nil {
		return signer, hash, err
	}
	return chain.NewAddress(crypto.Keccak256(key[1:])[12:]), hash, nil
}

// padded returns an integer padded to 32 bytes; a longer one is returned unchanged, and signs nothing.
func padded(number []byte) []byte { return append(make([]byte, max(32-len(number), 0)), number...) }
