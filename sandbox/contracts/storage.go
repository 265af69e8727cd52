package contracts

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// variable is the place of a state variable in storage: size bytes of a slot, offset bytes from its right end.
type variable struct {
	Slot   uint64 `json:"slot"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
}

// State is a contract's storage, written by variable name. It lets genesis place contracts ready for use, without
// constructors and setup transactions.
type State struct {
	contract *Contract
	slots    map[common.Hash]common.Hash
}

// NewState returns an empty storage for c.
func (c *Contract) NewState() *State {
	return &State{contract: c, slots: map[common.Hash]common.Hash{}}
}

// Contract returns the contract that the storage belongs to.
func (s *State) Contract() *Contract { return s.contract }

// Slots returns the storage in genesis form.
func (s *State) Slots() map[common.Hash]common.Hash { return s.slots }

// Set writes a variable, or the element of a mapping under keys, outermost first. Values and keys are uint64, *big.Int,
// bool, common.Address or common.Hash; values also string and []byte. Layout:
// https://docs.soliditylang.org/en/latest/internals/layout_in_storage.html
func (s *State) Set(name string, value any, keys ...any) *State {
	v, ok := s.contract.storage[name]
	if !ok {
		panic(fmt.Sprintf("contract %s has no variable %s", s.contract.Name, name))
	}
	slot := word(v.Slot)
	for _, key := range keys {
		slot = crypto.Keccak256Hash(word(key).Bytes(), slot.Bytes())
	}
	switch value := value.(type) {
	case string:
		s.setBytes(slot, []byte(value))
	case []byte:
		s.setBytes(slot, value)
	default:
		if len(keys) > 0 {
			v.Offset, v.Size = 0, common.HashLength
		}
		s.setWord(slot, v, word(value))
	}
	return s
}

// setWord writes the rightmost bytes of value to the variable's part of the slot.
func (s *State) setWord(slot common.Hash, v variable, value common.Hash) {
	held := s.slots[slot]
	end := common.HashLength - v.Offset
	copy(held[end-v.Size:end], value[common.HashLength-v.Size:])
	s.slots[slot] = held
}

// setBytes writes bytes or a string: up to 31 bytes in the slot itself, more at the slot's hash.
func (s *State) setBytes(slot common.Hash, value []byte) {
	if len(value) < common.HashLength {
		var short common.Hash
		copy(short[:], value)
		short[common.HashLength-1] = byte(2 * len(value))
		s.slots[slot] = short
		return
	}
	s.slots[slot] = word(uint64(2*len(value) + 1))
	at := crypto.Keccak256Hash(slot.Bytes()).Big()
	for i := 0; i < len(value); i += common.HashLength {
		var part common.Hash
		copy(part[:], value[i:])
		s.slots[common.BigToHash(at)] = part
		at = new(big.Int).Add(at, common.Big1)
	}
}

func word(value any) common.Hash {
	switch value := value.(type) {
	case uint64:
		return common.BigToHash(new(big.Int).SetUint64(value))
	case *big.Int:
		return common.BigToHash(value)
	case bool:
		if value {
			return word(uint64(1))
		}
		return common.Hash{}
	case common.Address:
		return common.BytesToHash(value.Bytes())
	case common.Hash:
		return value
	}
	panic(fmt.Sprintf("%T cannot be written to contract storage", value))
}
