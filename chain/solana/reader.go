package solana

import (
	"errors"
	"fmt"

	"crossgate/chain"
)

// Reader reads Solana's binary formats and borsh (borsh.io). Err keeps the first error, after which reads return zero.
type Reader struct {
	Rest []byte
	Err  error
}

// Fail sets Err to err unless there was an error before.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
}

// Take returns the next length bytes without copying them, nil if there are fewer.
func (r *Reader) Take(length uint64) []byte {
	if r.Err == nil && length > uint64(len(r.Rest)) {
		r.Fail(fmt.Errorf("want %d bytes, %d are left", length, len(r.Rest)))
	}
	if r.Err != nil {
		return nil
	}
	taken := r.Rest[:length]
	r.Rest = r.Rest[length:]
	return taken
}

// number reads a little-endian number of size bytes.
func (r *Reader) number(size uint64) (n uint64) {
	for i, b := range r.Take(size) {
		n |= uint64(b) << (8 * i)
	}
	return n
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 { return uint8(r.number(1)) }

// Uint16 reads two bytes, little-endian.
func (r *Reader) Uint16() uint16 { return uint16(r.number(2)) }

// Uint32 reads four bytes, little-endian.
func (r *Reader) Uint32() uint32 { return uint32(r.number(4)) }

// Uint64 reads eight bytes, little-endian.
func (r *Reader) Uint64() uint64 { return r.number(8) }

// Key reads the address of an account.
func (r *Reader) Key() chain.Address { return chain.NewAddress(r.Take(KeySize)) }

// compactU16 reads a length as transactions encode it: seven bits per byte, lowest first, at most three bytes.
func (r *Reader) compactU16() uint64 {
	length := uint64(0)
	for shift := 0; shift <= 14; shift += 7 {
		next := r.Uint8()
		length |= uint64(next&0x7f) << shift
		if next&0x80 == 0 {
			return length
		}
	}
	r.Fail(errors.New("length of more than three bytes"))
	return 0
}

// bytes reads a byte string that follows its compact length.
func (r *Reader) bytes() []byte { return r.Take(r.compactU16()) }
