package cache

import (
	"encoding/binary"

	"crossgate/cache/shared"
)

// The words that a cache has in common with the shared one behind it.
type (
	// Key names a value, or the tag by which one purge reaches several.
	Key = shared.Key
	// Purge is how a value is declared out of date.
	Purge = shared.Purge
)

// The ways to purge.
const (
	Soft = shared.Soft // served as a stale value is
	Hard = shared.Hard // never served again
)

// KeyOf returns the key of a kind of value and its fields in their canonical form.
func KeyOf(kind string, fields ...[]byte) Key { return shared.KeyOf(kind, fields...) }

// slotOf is where ristretto has a key. Keys of one slot evict each other; entries hold their key.
func slotOf(key Key) uint64 { return binary.NativeEndian.Uint64(key[:8]) }
