package creation

import (
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
)

// Permit is an allowance by signature (EIP-2612), which both contracts accept in an envelope of 129 bytes. The owner is
// the caller of the contract that is called first, the spender is that contract.
type Permit struct {
	Amount    chain.Amount
	Deadline  chain.Amount // UNIX seconds
	Signature [65]byte     // r, s, v
}

// envelopeLength is the length of two words and a signature. Bytes after it are ignored.
const envelopeLength = 2*32 + 65

// leastEnvelope is the minimum length of an envelope: shorter ones are refused. For one shorter than envelopeLength,
// the contracts read on in their memory.
const leastEnvelope = 2 * 32

// readByRouter returns an envelope as the router reads it, after asking the token for its balance: a short envelope is
// followed by that balance, whose highest byte is 0, and the end of the router's address. In DlnSource, zeros follow.
func readByRouter(envelope []byte, router chain.Address) []byte {
	if len(envelope) < leastEnvelope || len(envelope) >= envelopeLength {
		return envelope
	}
	padding := make([]byte, words.Size-1-(len(envelope)-1)%words.Size)
	return slices.Concat(envelope, padding, make([]byte, words.Size), router.Bytes()[16:])
}

// ParsePermit decodes an envelope; missing bytes read as zeros. complete is false if there are any.
func ParsePermit(envelope []byte) (p Permit, complete bool) {
	var whole [envelopeLength]byte
	copy(whole[:], envelope)
	p.Amount, p.Deadline = chain.AmountFromBytes(whole[:32]), chain.AmountFromBytes(whole[32:64])
	copy(p.Signature[:], whole[64:])
	return p, len(envelope) >= envelopeLength
}

// V returns the signature's last byte as passed to ecrecover: like both contracts, it adds 27 to 0 and 1.
func (p Permit) V() byte {
	const least = 27
	if v := p.Signature[64]; v < least {
		return v + least
	}
	return p.Signature[64]
}
