package words

import "github.com/ethereum/go-ethereum/crypto"

// Selector identifies a function of a contract; calldata begins with it.
type Selector [4]byte

// SelectorOf returns the selector of a signature such as "transfer(address,uint256)".
func SelectorOf(signature string) Selector { return Selector(crypto.Keccak256([]byte(signature))) }

// Call returns the calldata of a function with arguments that Encode accepts.
func (s Selector) Call(arguments ...any) []byte {
	return appendAll(append(make([]byte, 0, len(s)+usualLength), s[:]...), arguments)
}

// Call returns the calldata of a function, by its signature, with arguments that Encode accepts.
func Call(signature string, arguments ...any) []byte { return SelectorOf(signature).Call(arguments...) }
