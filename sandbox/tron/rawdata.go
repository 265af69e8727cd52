package tron

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/ethereum/go-ethereum/common"
	"google.golang.org/protobuf/encoding/protowire"
)

// rawData is the signed part of a transaction that makes one contract call (github.com/tronprotocol/protocol,
// core/Tron.proto and core/contract/smart_contract.proto).
type rawData struct {
	refBlockBytes, refBlockHash []byte // of a recent block: the last two bytes of its number, bytes 8 to 15 of its hash
	expiration, timestamp       uint64 // UNIX milliseconds
	feeLimit                    uint64 // sun
	owner, contract             common.Address
	value                       uint64 // sun
	data                        []byte
}

const (
	triggerSmartContract = 31 // ContractType
	triggerURL           = "type.googleapis.com/protocol.TriggerSmartContract"
	versionByte          = 0x41 // prefix of an address
)

// encode writes the fields in order of their numbers and omits zero values, as proto3 does.
func (r rawData) encode() []byte {
	trigger := appendText(nil, 1, versioned(r.owner))
	trigger = appendText(trigger, 2, versioned(r.contract))
	trigger = appendText(appendNumber(trigger, 3, r.value), 4, r.data)
	wrapped := appendText(appendText(nil, 1, []byte(triggerURL)), 2, trigger)
	call := appendText(appendNumber(nil, 1, triggerSmartContract), 2, wrapped)
	raw := appendText(appendText(nil, 1, r.refBlockBytes), 4, r.refBlockHash)
	raw = appendText(appendNumber(raw, 8, r.expiration), 11, call)
	return appendNumber(appendNumber(raw, 14, r.timestamp), 18, r.feeLimit)
}

// decodeRawData decodes the signed part of a transaction; ok is false unless it makes exactly one contract call.
func decodeRawData(raw []byte) (r rawData, ok bool) {
	outer, isWell := fieldsOf(raw)
	call, hasCall := fieldsOf(outer.texts[11])
	wrapped, isAny := fieldsOf(call.texts[2])
	trigger, hasTrigger := fieldsOf(wrapped.texts[2])
	ok = isWell && hasCall && isAny && hasTrigger && call.numbers[1] == triggerSmartContract && string(wrapped.texts[1]) == triggerURL &&
		isAddress(trigger.texts[1]) && isAddress(trigger.texts[2])
	return rawData{
		refBlockBytes: outer.texts[1], refBlockHash: outer.texts[4], expiration: outer.numbers[8], timestamp: outer.numbers[14],
		feeLimit: outer.numbers[18], owner: common.BytesToAddress(trigger.texts[1]),
		contract: common.BytesToAddress(trigger.texts[2]), value: trigger.numbers[3], data: trigger.texts[4],
	}, ok
}

// fields are a message's fields by number. The last one wins if a number repeats.
type fields struct {
	texts   map[protowire.Number][]byte
	numbers map[protowire.Number]uint64
}

func fieldsOf(message []byte) (fields, bool) {
	f := fields{map[protowire.Number][]byte{}, map[protowire.Number]uint64{}}
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return f, false
		}
		message = message[length:]
		switch kind {
		case protowire.BytesType:
			f.texts[number], length = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			f.numbers[number], length = protowire.ConsumeVarint(message)
		default:
			length = protowire.ConsumeFieldValue(number, kind, message)
		}
		if length < 0 {
			return f, false
		}
		message = message[length:]
	}
	return f, true
}

func appendText(to []byte, number protowire.Number, text []byte) []byte {
	if len(text) == 0 {
		return to
	}
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), text)
}

func appendNumber(to []byte, number protowire.Number, value uint64) []byte {
	if value == 0 {
		return to
	}
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), value)
}

func versioned(a common.Address) []byte { return append([]byte{versionByte}, a[:]...) }

func isAddress(text []byte) bool {
	return len(text) == 1+common.AddressLength && text[0] == versionByte
}

// json returns the transaction of a call as the HTTP API represents it.
func (r rawData) json() object {
	raw := r.encode()
	value := object{"owner_address": bare(versioned(r.owner)), "contract_address": bare(versioned(r.contract)), "data": bare(r.data)}
	if r.value > 0 {
		value["call_value"] = r.value
	}
	members := object{
		"contract": []object{{
			"type": "TriggerSmartContract", "parameter": object{"type_url": triggerURL, "value": value},
		}},
		"ref_block_bytes": bare(r.refBlockBytes), "ref_block_hash": bare(r.refBlockHash),
		"expiration": r.expiration, "timestamp": r.timestamp,
	}
	if r.feeLimit > 0 {
		members["fee_limit"] = r.feeLimit
	}
	id := sha256.Sum256(raw)
	return object{"visible": false, "txID": bare(id[:]), "raw_data": members, "raw_data_hex": bare(raw)}
}

// on makes a block the one that the call refers to.
func (r *rawData) on(number uint64, id common.Hash) {
	r.refBlockBytes, r.refBlockHash = binary.BigEndian.AppendUint64(nil, number)[6:], id[8:16]
}

// bare returns hex without 0x, as in the HTTP API.
func bare(text []byte) string { return hex.EncodeToString(text) }
