package solana

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

var errShort = errors.New("unexpected end of file")

// cursor reads a transaction from its front; once something is missing it gives zeros.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.rest) {
		c.rest, c.short = nil, true
		return make([]byte, n)
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// count reads a compact-u16.
func (c *cursor) count() int {
	n, size := binary.Uvarint(c.rest[:min(3, len(c.rest))])
	if size <= 0 || n > maxTransactionBytes {
		c.rest, c.short = nil, true
		return 0
	}
	c.rest = c.rest[size:]
	return int(n)
}

func (c *cursor) vector() []byte { return bytes.Clone(c.take(c.count())) }

func (c *cursor) keys(n int) []Key {
	keys := make([]Key, 0, min(n, len(c.rest)/len(Key{})))
	for range n {
		if c.short {
			break
		}
		keys = append(keys, Key(c.take(len(Key{}))))
	}
	return keys
}

// readTransaction reads what somebody sends, without what lookup tables hold.
func readTransaction(raw []byte) (*recorded, error) {
	if len(raw) > maxTransactionBytes {
		return nil, fmt.Errorf("transaction of %d bytes, %d fit", len(raw), maxTransactionBytes)
	}
	c := &cursor{rest: raw}
	r := &recorded{message: &message{}}
	for range c.count() {
		r.signatures = append(r.signatures, Signature(c.take(len(Signature{}))))
	}
	c.message(r.message)
	switch {
	case c.short:
		return nil, errShort
	case len(c.rest) > 0:
		return nil, fmt.Errorf("%d bytes follow the transaction", len(c.rest))
	}
	return r, r.sane()
}

func (c *cursor) message(m *message) {
	const version0, versioned = 0x80, 0x80
	first := c.take(1)[0]
	if m.versioned = first&versioned != 0; m.versioned {
		c.short = c.short || first != version0
		first = c.take(1)[0]
	}
	m.signed, m.readonlySigned, m.readonlyUnsigned = int(first), int(c.take(1)[0]), int(c.take(1)[0])
	m.static = c.keys(c.count())
	m.blockhash = [32]byte(c.take(32))
	for range c.count() {
		in := compiled{program: int(c.take(1)[0]), height: 1}
		in.accounts, in.data = c.vector(), c.vector()
		m.instructions = append(m.instructions, in)
	}
	if !m.versioned {
		return
	}
	for range c.count() {
		l := lookup{table: Key(c.take(len(Key{})))}
		l.writable, l.readonly = c.vector(), c.vector()
		m.lookups = append(m.lookups, l)
	}
}

// sane refuses a transaction whose indexes lead nowhere: solana-message, sanitize.
func (r *recorded) sane() error {
	m := r.message
	all := len(m.static)
	for _, l := range m.lookups {
		all += len(l.writable) + len(l.readonly)
	}
	isSane := m.signed > 0 && m.readonlySigned < m.signed && m.signed+m.readonlyUnsigned <= len(m.static) && len(r.signatures) == m.signed
	for _, in := range m.instructions {
		isSane = isSane && in.program > 0 && in.program < len(m.static)
		for _, account := range in.accounts {
			isSane = isSane && int(account) < all
		}
	}
	if !isSane {
		return errors.New("transaction failed to sanitize accounts offsets correctly")
	}
	return nil
}

// resolve fetches what the message looks up in tables; otherwise it says which error the runtime has for that.
func (m *message) resolve(table func(Key) []Key) (rejected any) {
	for _, l := range m.lookups {
		holds := table(l.table)
		if holds == nil {
			return "AddressLookupTableNotFound"
		}
		for _, index := range append(bytes.Clone(l.writable), l.readonly...) {
			if int(index) >= len(holds) {
				return "InvalidAddressLookupTableIndex"
			}
		}
		for _, index := range l.writable {
			m.loadedWritable = append(m.loadedWritable, holds[index])
		}
		for _, index := range l.readonly {
			m.loadedReadonly = append(m.loadedReadonly, holds[index])
		}
	}
	return nil
}

// calls are the instructions of the message, whose accounts sign and are written as the message says.
func (m *message) calls() []Instruction {
	keys := m.keys()
	calls := make([]Instruction, len(m.instructions))
	for n, in := range m.instructions {
		calls[n] = Instruction{Program: keys[in.program], Data: in.data}
		for _, index := range in.accounts {
			at := int(index)
			calls[n].Accounts = append(calls[n].Accounts, Meta{Key: keys[at], Signer: at < m.signed, Writable: m.writable(at)})
		}
	}
	return calls
}
