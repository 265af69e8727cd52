package creation

import (
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
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

// leastEnvelope is the length under which an envelope is refused; of one between the contracts read on into their
// memory.
const leastEnvelope = 2 * 32

// readByRouter is an envelope as the router reads it, which asks the token for its balance before: behind a short one
// lie that balance, whose highest byte is 0, and the last bytes of the router's address. Behind DlnSource's lie zeros.
func readByRouter(envelope []byte, router chain.Address) []byte {
	if len(envelope) < leastEnvelope || len(envelope) >= envelopeLength {
		return envelope
	}
	padding := make([]byte, words.Size-1-(len(envelope)-1)%words.Size)
	return slices.Concat(envelope, padding, make([]byte, words.Size), router.Bytes()[16:])
}

// ParsePermit reads an envelope; complete says that nothing is missing of it. Missing bytes read as zeros.
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
