package words

import (
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
)

// Tuple is a value that is a tuple containing byte strings.
type Tuple []any

// Record is a value that is a tuple of words, which are encoded in its place.
type Record []any

// List is a value that is a list of values of one type.
type List []any

// Encode encodes values like arguments in the contract ABI. Byte strings, texts, tuples, lists and []chain.Address
// follow the words, and a word points to each. Words are of type bool, int, uint64, chain.Amount, chain.Hash, or
// chain.Address, whose last 20 bytes are written.
func Encode(values ...any) []byte { return appendAll(make([]byte, 0, usualLength), values) }

// usualLength is the length that most arguments stay below, in bytes.
const usualLength = 16 * Size

func appendAll(dst []byte, values []any) []byte {
	begin := len(dst)
	for _, value := range values {
		words := 1
		if record, is := value.(Record); is {
			words = len(record)
		}
		dst = append(dst, make([]byte, words*Size)...)
	}
	at := begin
	write := func(w [Size]byte) { at += copy(dst[at:], w[:]) }
	for _, value := range values {
		if record, is := value.(Record); is {
			for _, each := range record {
				write(word(each))
			}
			continue
		}
		place := number(len(dst) - begin)
		longer, isBehind := appendBehind(dst, value)
		if dst = longer; !isBehind {
			place = word(value)
		}
		write(place)
	}
	return dst
}

// appendBehind appends the data of a value that follows the words, if it has any.
func appendBehind(dst []byte, value any) (longer []byte, is bool) {
	switch value := value.(type) {
	case string:
		return appendBehind(dst, []byte(value))
	case []byte:
		length := number(len(value))
		padding := -len(value) & (Size - 1)
		return append(append(append(dst, length[:]...), value...), make([]byte, padding)...), true
	case Tuple:
		return appendAll(dst, value), true
	case []chain.Address:
		length := number(len(value))
		dst = append(dst, length[:]...)
		for _, each := range value {
			place := word(each)
			dst = append(dst, place[:]...)
		}
		return dst, true
	case List:
		length := number(len(value))
		return appendAll(append(dst, length[:]...), value), true
	}
	return dst, false
}

func number(n int) [Size]byte { return chain.NewAmount(uint64(n)).Bytes32() }

func word(value any) (w [Size]byte) {
	const addressLength = 20
	switch value := value.(type) {
	case bool:
		if value {
			w[Size-1] = 1
		}
	case int:
		w = number(value)
	case uint64:
		w = chain.NewAmount(value).Bytes32()
	case chain.Amount:
		w = value.Bytes32()
	case chain.Hash:
		w = value
	case chain.Address:
		end := value.AppendTo(make([]byte, 0, Size))
		end = end[max(0, len(end)-addressLength):]
		copy(w[Size-len(end):], end)
	default:
		panic(fmt.Sprintf("words: cannot encode a %T", value))
	}
	return w
}

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
