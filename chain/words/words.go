// Package words decodes the 32-byte words of the Ethereum contract ABI, by their offsets, in any layout, and as
// strictly as Solidity's contracts do; and encodes them.
package words

import (
	"errors"
	"fmt"
	"math"

	"crossgate/chain"
)

// Size is the length of a word.
const Size = 32

// Reader reads the words of an event, an answer or the arguments of a call. It shares its first error with the readers
// of its parts; after that they return zero.
type Reader struct {
	data    []byte
	mistake *error
}

// New returns a Reader of data.
func New(data []byte) Reader { return Reader{data, new(error)} }

// Err returns the first error, nil if there is none.
func (w Reader) Err() error { return *w.mistake }

// Fail sets the error to err unless there is one.
func (w Reader) Fail(err error) {
	if *w.mistake == nil {
		*w.mistake = err
	}
}

// Word returns the i-th word.
func (w Reader) Word(i int) [Size]byte {
	if w.Err() != nil || len(w.data) < (i+1)*Size {
		w.Fail(fmt.Errorf("word %d is beyond %d bytes", i, len(w.data)))
		return [Size]byte{}
	}
	return [Size]byte(w.data[i*Size:])
}

// Hash returns the i-th word as a hash.
func (w Reader) Hash(i int) chain.Hash { return w.Word(i) }

// Amount returns the i-th word as a number.
func (w Reader) Amount(i int) chain.Amount {
	word := w.Word(i)
	return chain.AmountFromBytes(word[:])
}

// Uint returns the i-th word as a number of an ABI type with the given bits, at most 64.
func (w Reader) Uint(i, bits int) uint64 {
	n, fits := w.Amount(i).Uint64()
	if !fits || (bits < 64 && n>>bits != 0) {
		w.Fail(fmt.Errorf("word %d exceeds %d bits", i, bits))
		return 0
	}
	return n
}

// Bool returns the i-th word as a boolean.
func (w Reader) Bool(i int) bool { return w.Uint(i, 1) == 1 }

// Address returns the i-th word as an address of 20 bytes.
func (w Reader) Address(i int) chain.Address {
	const padding = Size - 20
	word := w.Word(i)
	if [padding]byte(word[:padding]) != [padding]byte{} {
		w.Fail(fmt.Errorf("word %d is not an address", i))
	}
	if w.Err() != nil {
		return chain.Address{}
	}
	return chain.NewAddress(word[padding:])
}

// ErrForeignChain means that a chain ID cannot be that of a chain of the protocol.
var ErrForeignChain = errors.New("chain id exceeds 63 bits")

// ChainID returns the API's number of a chain, or fails with ErrForeignChain.
func (w Reader) ChainID(i int) chain.ID {
	n, fits := w.Amount(i).Uint64()
	if !fits || n>>63 != 0 {
		w.Fail(ErrForeignChain)
		return 0
	}
	return chain.ID(n)
}

// Tail returns a reader of the data that word i points to.
func (w Reader) Tail(i int) Reader {
	offset, fits := w.Amount(i).Uint64()
	if !fits || offset > uint64(len(w.data)) {
		w.Fail(fmt.Errorf("word %d points beyond %d bytes", i, len(w.data)))
		return Reader{nil, w.mistake}
	}
	return Reader{w.data[offset:], w.mistake}
}

// List returns the length of the list that word i points to, and the words after it: one for each member.
func (w Reader) List(i int) (members uint64, rest Reader) {
	tail := w.Tail(i)
	if members = tail.Uint(0, 64); w.Err() != nil {
		return 0, Reader{nil, w.mistake}
	}
	return members, Reader{tail.data[Size:], w.mistake}
}

// ErrNoMemory means that a byte string is so long that Solidity's decoder gives up for lack of memory: with Panic(0x41)
// if it copies the string, without data otherwise.
var ErrNoMemory = errors.New("byte string too long for memory")

// Bytes returns a copy of the byte string that word i points to; it is nil only after an error.
func (w Reader) Bytes(i int) []byte {
	tail := w.Tail(i)
	length, fits := tail.Amount(0).Uint64()
	if w.Err() != nil {
		return nil
	}
	const held = 1 << 16 // bytes of memory in use, at most
	if !fits || length > math.MaxUint64-held {
		w.Fail(fmt.Errorf("%w at word %d", ErrNoMemory, i))
		return nil
	}
	content := tail.data[Size:]
	if length > uint64(len(content)) {
		w.Fail(fmt.Errorf("byte string at word %d is longer than the %d bytes left", i, len(content)))
		return nil
	}
	return append([]byte{}, content[:length]...)
}

// Party returns an address of either chain: a byte string, empty if absent.
func (w Reader) Party(i int) chain.Address { return chain.NewAddress(w.Bytes(i)) }
