package shared

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Key identifies a value, or a tag whose purge reaches several values. As a digest it reveals nothing.
type Key [sha256.Size]byte

// KeyOf returns the key of a kind of value and its fields in their canonical form. Each is preceded by its length, so
// that no two sequences of fields have the same key.
func KeyOf(kind string, fields ...[]byte) Key {
	var space [256]byte // longer keys go to the heap
	text := binary.AppendUvarint(space[:0], uint64(len(kind)))
	text = append(text, kind...)
	for _, field := range fields {
		text = binary.AppendUvarint(text, uint64(len(field)))
		text = append(text, field...)
	}
	return sha256.Sum256(text)
}

// keyText is the length of a key as text. The scripts rely on it, too.
const keyText = 43

func (k Key) text() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// parseKeys parses the concatenated texts of keys.
func parseKeys(text string) (keys []Key, ok bool) {
	if len(text)%keyText != 0 {
		return nil, false
	}
	for ; text != ""; text = text[keyText:] {
		var key Key
		if n, err := base64.RawURLEncoding.Strict().Decode(key[:], []byte(text[:keyText])); err != nil || n != len(key) {
			return nil, false
		}
		keys = append(keys, key)
	}
	return keys, true
}

// Purge is the way to invalidate a value.
type Purge uint8

// The ways to purge.
const (
	Soft Purge = iota // served like a stale value
	Hard              // never served again
)
