package onchain

import (
	"errors"
	"fmt"

	"crossgate/chain"
)

const wordSize = 32

// words reads the contract ABI's 32-byte words. Readers of one log share the first mistake, and read zero after it.
type words struct {
	data    []byte
	mistake *error
}

func newWords(data []byte) words { return words{data, new(error)} }

func (w words) err() error { return *w.mistake }

func (w words) fail(err error) {
	if *w.mistake == nil {
		*w.mistake = err
	}
}

// word returns the i-th word.
func (w words) word(i int) [wordSize]byte {
	if w.err() != nil || len(w.data) < (i+1)*wordSize {
		w.fail(fmt.Errorf("word %d is beyond %d bytes", i, len(w.data)))
		return [wordSize]byte{}
	}
	return [wordSize]byte(w.data[i*wordSize:])
}

func (w words) hash(i int) chain.Hash { return w.word(i) }

func (w words) amount(i int) chain.Amount {
	word := w.word(i)
	return chain.AmountFromBytes(word[:])
}

// uint returns a number that its ABI type bounds to the given bits, at most 64.
func (w words) uint(i, bits int) uint64 {
	n, fits := w.amount(i).Uint64()
	if !fits || (bits < 64 && n>>bits != 0) {
		w.fail(fmt.Errorf("word %d exceeds %d bits", i, bits))
		return 0
	}
	return n
}

func (w words) bool(i int) bool { return w.uint(i, 1) == 1 }

// address returns the 20 bytes of an ABI address.
func (w words) address(i int) chain.Address {
	const padding = wordSize - 20
	word := w.word(i)
	if [padding]byte(word[:padding]) != [padding]byte{} {
		w.fail(fmt.Errorf("word %d is not an address", i))
	}
	if w.err() != nil {
		return chain.Address{}
	}
	return chain.NewAddress(word[padding:])
}

// errForeignChain marks a chain id that no chain of the protocol can have.
var errForeignChain = errors.New("chain id exceeds 63 bits")

func (w words) chainID(i int) chain.ID {
	n, fits := w.amount(i).Uint64()
	if !fits || n>>63 != 0 {
		w.fail(errForeignChain)
		return 0
	}
	return chain.ID(n)
}

// tail returns the data from where word i points to.
func (w words) tail(i int) words {
	offset, fits := w.amount(i).Uint64()
	if !fits || offset > uint64(len(w.data)) {
		w.fail(fmt.Errorf("word %d points beyond %d bytes", i, len(w.data)))
		return words{nil, w.mistake}
	}
	return words{w.data[offset:], w.mistake}
}

// bytes returns a copy of the byte string that word i points to; it is never nil.
func (w words) bytes(i int) []byte {
	tail := w.tail(i)
	length, fits := tail.amount(0).Uint64()
	if w.err() != nil {
		return nil
	}
	content := tail.data[wordSize:]
	if !fits || length > uint64(len(content)) {
		w.fail(fmt.Errorf("byte string at word %d is longer than the %d bytes left", i, len(content)))
		return nil
	}
	return append([]byte{}, content[:length]...)
}

// party returns an address of either chain: a byte string, empty when absent.
func (w words) party(i int) chain.Address { return chain.NewAddress(w.bytes(i)) }
