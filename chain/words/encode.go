package words

import (
	"fmt"

	"crossgate/chain"
)

// Tuple is a value that is a tuple with byte strings in it.
type Tuple []any

// Encode writes values as the contract ABI lays out arguments. Byte strings, texts and tuples stand behind the words,
// and a word points to each. Words are of type bool, int, uint64, chain.Amount, chain.Hash, or chain.Address: its last
// 20 bytes are written.
func Encode(values ...any) []byte {
	written, behind := make([]byte, 0, len(values)*Size), []byte{}
	for _, value := range values {
		if content, isBehind := pointed(value); isBehind {
			value = cap(written) + len(behind)
			behind = append(behind, content...)
		}
		w := word(value)
		written = append(written, w[:]...)
	}
	return append(written, behind...)
}

// pointed returns the content behind the words that a value needs a pointer to.
func pointed(value any) (content []byte, is bool) {
	switch value := value.(type) {
	case string:
		return pointed([]byte(value))
	case []byte:
		length := word(len(value))
		padding := -len(value) & (Size - 1)
		return append(append(length[:], value...), make([]byte, padding)...), true
	case Tuple:
		return Encode(value...), true
	}
	return nil, false
}

func word(value any) (w [Size]byte) {
	const addressLength = 20
	switch value := value.(type) {
	case bool:
		if value {
			w[Size-1] = 1
		}
	case int:
		w = chain.NewAmount(uint64(value)).Bytes32()
	case uint64:
		w = chain.NewAmount(value).Bytes32()
	case chain.Amount:
		w = value.Bytes32()
	case chain.Hash:
		w = value
	case chain.Address:
		end := value.Bytes()
		end = end[max(0, len(end)-addressLength):]
		copy(w[Size-len(end):], end)
	default:
		panic(fmt.Sprintf("words: cannot encode a %T", value))
	}
	return w
}
