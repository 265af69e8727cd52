package words

import "github.com/ethereum/go-ethereum/crypto"

// Selector names a function of a contract; calldata begins with it.
type Selector [4]byte

// SelectorOf is that of a signature such as "transfer(address,uint256)".
func SelectorOf(signature string) Selector { return Selector(crypto.Keccak256([]byte(signature))) }

// Call is the calldata of a function with arguments that Encode takes.
func (s Selector) Call(arguments ...any) []byte {
	return appendAll(append(make([]byte, 0, len(s)+usualLength), s[:]...), arguments)
}

// Call is the calldata of a function, by its signature, with arguments that Encode takes.
func Call(signature string, arguments ...any) []byte { return SelectorOf(signature).Call(arguments...) }
