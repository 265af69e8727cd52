package cache

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Key names a value, or the values that one purge reaches. It has one size whatever it was made of, and tells
// who reads it nothing.
type Key [sha256.Size]byte

// KeyOf returns the key of a kind of question and its fields in their canonical form. Each goes in with its
// length, so that no two sequences of fields have one key.
func KeyOf(kind string, fields ...[]byte) Key {
	var space [256]byte // longer ones than are usual are moved to the heap
	text := binary.AppendUvarint(space[:0], uint64(len(kind)))
	text = append(text, kind...)
	for _, field := range fields {
		text = binary.AppendUvarint(text, uint64(len(field)))
		text = append(text, field...)
	}
	return sha256.Sum256(text)
}

// slot is where ristretto has the key. Two keys of one slot drive each other out; neither is taken for the
// other, since entries hold their key.
func (k Key) slot() uint64 { return binary.NativeEndian.Uint64(k[:8]) }

// keyText is the length of a key as text. The scripts know it too.
const keyText = 43

// text is the key as the shared level has it.
func (k Key) text() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// parseKeys reads the texts of keys, one after the other.
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
