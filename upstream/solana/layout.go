package solana

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// layout is where an instruction of an aggregator has its accounts and amounts.
type layout struct {
	user, source, destination int // places among the accounts
	redirect                  int // of another destination, which is the program's own address where there is none
	// terms is where the input's amount begins, counted from the end where it is negative: the input, the quoted
	// output and the slippage in basis points stand one after the other, then what a platform takes in feeBytes: its
	// fee, and in the second versions its share of what comes out above the quote.
	terms, feeBytes int
}

// programLayouts are the instructions of a program by the first eight bytes of their data.
type programLayouts map[[8]byte]layout

// noRedirect is for instructions that have one destination alone.
const noRedirect = -1

// layouts are the programs whose instructions are known: no other may be called of them. They are of Jupiter's IDL
// (jupiter 6: route, shared_accounts_route and their second versions).
var layouts = map[chain.Address]programLayouts{
	solana.MustAccount("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"): {
		anchorName("route"):                    {1, 2, 3, 4, -routeTail, 1},
		anchorName("shared_accounts_route"):    {2, 3, 6, noRedirect, -routeTail, 1},
		anchorName("route_v2"):                 {0, 1, 2, 7, 8, 4},
		anchorName("shared_accounts_route_v2"): {1, 2, 5, noRedirect, 9, 4},
	},
}

const (
	termsSize = 8 + 8 + 2
	routeTail = termsSize + 1 // behind the route of the first versions
)

// anchorName is how Anchor numbers an instruction.
func anchorName(name string) [8]byte {
	hash := sha256.Sum256([]byte("global:" + name))
	return [8]byte(hash[:8])
}

// read returns the minimum of an instruction that takes the swap's input from the sender's account, and pays into the
// recipient's.
func (p programLayouts) read(s quote.Swap, m solana.Message, i solana.CompiledInstruction) (chain.Amount, error) {
	if len(i.Data) < 8 {
		return chain.Amount{}, errors.New("it gives the venue's program no instruction")
	}
	l, known := p[[8]byte(i.Data[:8])]
	if !known {
		return chain.Amount{}, fmt.Errorf("it calls an unknown instruction of the venue's program: 0x%x", i.Data[:8])
	}
	at := func(place int) chain.Address {
		if place >= len(i.Accounts) {
			return chain.Address{}
		}
		return m.Account(int(i.Accounts[place]))
	}
	in := s.In.Address
	if in.IsNative() {
		in = s.Chain.WrappedCoin
	}
	switch {
	case at(l.user) != s.Sender:
		return chain.Amount{}, errors.New("another than the sender swaps")
	case !slices.Contains(holdings(in, s.Sender)[1:], at(l.source)):
		return chain.Amount{}, errors.New("it takes the input from another account")
	case !slices.Contains(payable(s), at(l.destination)):
		return chain.Amount{}, errors.New("it pays a stranger")
	case l.redirect != noRedirect && at(l.redirect) != m.Account(i.Program) && at(l.redirect) != at(l.destination):
		return chain.Amount{}, errors.New("it pays a stranger in the end")
	}
	return l.minimum(s, i.Data)
}

// minimum reads the amounts.
func (l layout) minimum(s quote.Swap, data []byte) (chain.Amount, error) {
	start := l.terms
	if start < 0 {
		start += len(data)
	}
	if start < 8 || start+termsSize+l.feeBytes > len(data) {
		return chain.Amount{}, errors.New("it has no amounts")
	}
	terms, fee := data[start:], data[start+termsSize:start+termsSize+l.feeBytes]
	quoted, slippage := binary.LittleEndian.Uint64(terms[8:]), binary.LittleEndian.Uint16(terms[16:])
	const whole = 10_000
	switch amount := chain.NewAmount(binary.LittleEndian.Uint64(terms)); {
	case amount != s.In.Amount:
		return chain.Amount{}, fmt.Errorf("it takes %s of the input in place of %s", amount, s.In.Amount)
	case slippage > whole:
		return chain.Amount{}, errors.New("it has a slippage above all of it")
	case !bytes.Equal(fee, make([]byte, len(fee))):
		return chain.Amount{}, errors.New("it takes a fee for a platform")
	}
	lost := chain.NewAmount(quoted).MulDiv(uint64(slippage), whole)
	return chain.NewAmount(quoted).Sub(lost), nil
}
