package cache

import (
	"encoding/binary"
	"errors"
	"time"

	"crossgate/cache/shared"
)

// Codec encodes values for the shared cache.
type Codec[V any] struct {
	// Encode returns the bytes of a value; none for one that is not for other replicas.
	Encode func(V) []byte
	// Decode returns the value of bytes, which any client of the server may have written, with its life and age.
	Decode func([]byte, Life, time.Duration) (V, error)
}

var errMalformed = errors.New("malformed value in the shared cache")

// appendLife begins the bytes of a value.
func appendLife(out []byte, l Life) []byte {
	for _, span := range []time.Duration{l.Fresh, l.Stale, l.IfError} {
		out = binary.AppendUvarint(out, uint64(max(span, 0)/time.Millisecond))
	}
	return out
}

// cutLife decodes what appendLife wrote and returns what follows.
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
