// Package seal computes the hashes that Ethereum's blocks and transactions are known by, so that what nodes answer can
// be checked against them.
package seal

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
)

// Hashed members, in the sequence of Ethereum's consensus (yellow paper, section 4; EIP-1559, 4399, 4788, 4844,
// 4895, 7685; for transactions EIP-155, 2718, 2930, 1559, 4844, 7702). # marks integers, which have no leading zeros.
var (
	headerMembers = "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom #difficulty #number #gasLimit " +
		"#gasUsed #timestamp extraData mixHash nonce #baseFeePerGas withdrawalsRoot #blobGasUsed #excessBlobGas " +
		"parentBeaconBlockRoot requestsHash"
	headerRequired = 15

	transactionMembers = map[string]string{
		"0x0": "#nonce #gasPrice #gas to #value input",
		"0x1": "#chainId #nonce #gasPrice #gas to #value input accessList",
		"0x2": "#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList",
		"0x3": "#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList #maxFeePerBlobGas blobVersionedHashes",
		"0x4": "#chainId #nonce #maxPriorityFeePerGas #maxFeePerGas #gas to #value input accessList authorizationList",
	}
	nestedMembers = map[string]string{"accessList": "address storageKeys", "authorizationList": "#chainId address #nonce #yParity #r #s"}
)

var errNoMember = errors.New("member is missing")

// jsonMembers are those of an object.
type jsonMembers map[string]json.RawMessage

// items are members for RLP; those behind the first required ones end with the first that is missing.
func (m jsonMembers) items(names string, required int) ([]any, error) {
	var items []any
	for i, name := range strings.Fields(names) {
		plain, isNumber := strings.CutPrefix(name, "#")
		text, has := m[plain]
		if !has && i >= required {
			break
		}
		item, err := itemOf(plain, text, isNumber)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// itemOf is a member for RLP: bytes, or a list of what it lists.
func itemOf(name string, text json.RawMessage, isNumber bool) (any, error) {
	var list []json.RawMessage
	var value *string
	switch {
	case len(text) == 0:
		return nil, errNoMember
	case text[0] == '[':
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		items := make([]any, len(list))
		for i, each := range list {
			var err error
			if items[i], err = itemOf(name, each, isNumber); err != nil {
				return nil, err
			}
		}
		return items, nil
	case text[0] == '{':
		var members jsonMembers
		if err := json.Unmarshal(text, &members); err != nil {
			return nil, err
		}
		names := nestedMembers[name]
		return members.items(names, len(names))
	}
	if err := json.Unmarshal(text, &value); err != nil || value == nil {
		return []byte{}, err // null: a transaction that creates a contract is for no address
	}
	digits := strings.TrimPrefix(*value, "0x")
	if isNumber {
		digits = strings.TrimLeft(digits, "0")
		digits = strings.Repeat("0", len(digits)%2) + digits
	}
	return hex.DecodeString(digits)
}

// HeaderHash is the hash of a header in JSON; an error where it lacks a member. Chains that hash otherwise, or more,
// have another hash than this.
func HeaderHash(text []byte) (hash chain.Hash, err error) {
	var members jsonMembers
	if err := json.Unmarshal(text, &members); err != nil {
		return hash, err
	}
	items, err := members.items(headerMembers, headerRequired)
	return hashOf(nil, items), err
}

// Signer returns who signed a transaction in JSON, and its hash; an error where its type is not known, or has no
// signature.
func Signer(text []byte) (signer chain.Address, hash chain.Hash, err error) {
	var m jsonMembers
	if err := json.Unmarshal(text, &m); err != nil {
		return signer, hash, err
	}
	kind := "0x0"
	if text, has := m["type"]; has {
		if err := json.Unmarshal(text, &kind); err != nil {
			return signer, hash, err
		}
	}
	unsigned, err := m.items(transactionMembers[kind], len(transactionMembers[kind]))
	if err != nil || len(unsigned) == 0 {
		return signer, hash, cmp.Or(err, errNoMember)
	}
	signature, err := m.items("#v #r #s", 3)
	if err != nil {
		return signer, hash, err
	}
	var parts [3][]byte
	for i, part := range signature {
		parts[i], _ = part.([]byte) // a list, which it is not to be, signs nothing
	}
	prefix := strings.TrimPrefix(strings.TrimPrefix(kind, "0x"), "0")
	raw, _ := hex.DecodeString(strings.Repeat("0", len(prefix)%2) + prefix)
	hash = hashOf(raw, append(unsigned[:len(unsigned):len(unsigned)], signature...))
	v := new(big.Int).SetBytes(parts[0]).Uint64()
	switch {
	case len(raw) > 0:
	case v >= 35: // EIP-155: the chain's id is signed too
		unsigned = append(unsigned, (v-35)/2, uint64(0), uint64(0))
		v = (v - 35) % 2
	default:
		v -= 27
	}
	digest := hashOf(raw, unsigned)
	key, err := crypto.Ecrecover(digest[:], append(append(padded(parts[1]), padded(parts[2])...), byte(v)))
	if err != nil {
		return signer, hash, err
	}
	return chain.NewAddress(crypto.Keccak256(key[1:])[12:]), hash, nil
}

// padded is an integer of 32 bytes; a longer one stays, and signs nothing.
func padded(number []byte) []byte { return append(make([]byte, max(32-len(number), 0)), number...) }

// hashOf is the hash of a list in RLP behind a transaction's type.
func hashOf(kind []byte, items []any) chain.Hash {
	var text bytes.Buffer
	text.Write(kind)
	if err := rlp.Encode(&text, items); err != nil {
		return chain.Hash{}
	}
	return chain.Hash(crypto.Keccak256Hash(text.Bytes()))
}
