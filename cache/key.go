package cache

import (
	"encoding/binary"

	"crossgate/cache/shared"
)

// Types shared with the shared cache behind this one.
type (
	// Key identifies a value, or a tag whose purge reaches several values.
	Key = shared.Key
	// Purge is the way to invalidate a value.
	Purge = shared.Purge
)

// The ways to purge.
const (
	Soft = shared.Soft // served like a stale value
	Hard = shared.Hard // never served again
)

// KeyOf returns the key of a kind of value and its fields in their canonical form.
func KeyOf(kind string, fields ...[]byte) Key { return shared.KeyOf(kind, fields...) }

// slotOf returns a key's slot in ristretto. Keys with the same slot evict each other; entries record their key.
func slotOf(key Key) uint64 { return binary.NativeEndian.Uint64(key[:8]) }
