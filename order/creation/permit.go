package creation

import (
	"slices"

	"crossgate/chain"
)

// Permit is an allowance by signature (EIP-2612), as both contracts take it in an envelope of 129 bytes. Its owner is
// the caller of the contract that is called first, which is its spender.
type Permit struct {
	Amount    chain.Amount
	Deadline  chain.Amount // UNIX seconds
	Signature [65]byte     // r, s, v
}

// envelopeLength is that of two words and a signature. Bytes after it are ignored.
const envelopeLength = 2*32 + 65

// leastEnvelope is the length under which an envelope is refused; in one between the contracts read past the end.
const leastEnvelope = 2 * 32

// Envelope is the permit as the contracts take it.
func (p Permit) Envelope() []byte {
	amount, deadline := p.Amount.Bytes32(), p.Deadline.Bytes32()
	return slices.Concat(amount[:], deadline[:], p.Signature[:])
}

// ParsePermit reads an envelope; complete says that nothing is missing of it. What is missing reads as zeros.
func ParsePermit(envelope []byte) (p Permit, complete bool) {
	var whole [envelopeLength]byte
	copy(whole[:], envelope)
	p.Amount, p.Deadline = chain.AmountFromBytes(whole[:32]), chain.AmountFromBytes(whole[32:64])
	copy(p.Signature[:], whole[64:])
	return p, len(envelope) >= envelopeLength
}

// V is the signature's last byte as ecrecover takes it: 0 and 1 are raised by 27, as both contracts do.
func (p Permit) V() byte {
	const least = 27
	if v := p.Signature[64]; v < least {
		return v + least
	}
	return p.Signature[64]
}
