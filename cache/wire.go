package cache

import (
	"encoding/binary"
	"errors"
	"time"

	"crossgate/cache/shared"
)

// Codec encodes values for the shared cache.
type Codec[V any] struct {
	// Encode encodes a value. It returns nothing for a value that is not for other replicas.
	Encode func(V) []byte
	// Decode decodes a value of a life and age. Any client of the server may have written the bytes.
	Decode func([]byte, Life, time.Duration) (V, error)
}

var errMalformed = errors.New("malformed value in the shared cache")

// appendLife appends the life that precedes an encoded value.
func appendLife(out []byte, l Life) []byte {
	for _, span := range []time.Duration{l.Fresh, l.Stale, l.IfError} {
		out = binary.AppendUvarint(out, uint64(max(span, 0)/time.Millisecond))
	}
	return out
}

// cutLife decodes what appendLife wrote and returns the rest.
func cutLife(text []byte) (l Life, rest []byte, err error) {
	for _, span := range []*time.Duration{&l.Fresh, &l.Stale, &l.IfError} {
		milliseconds, n := binary.Uvarint(text)
		if n <= 0 || milliseconds > uint64(shared.LongestLife/time.Millisecond) {
			return Life{}, nil, errMalformed
		}
		*span, text = time.Duration(milliseconds)*time.Millisecond, text[n:]
	}
	return l, text, nil
}
