package cache

import (
	"encoding/binary"
	"errors"
	"time"
)

// wireVersion is part of every name in the shared level. It counts up with each change of what stands there, so that
// two releases beside each other do not read each other's.
const wireVersion = "2"

// Limits of what is put into the shared level.
const (
	mostWireBytes = 1 << 20
	mostWireTags  = 1000 // fewer than Lua's unpack can take
	longestLife   = 48 * time.Hour
)

var errMalformed = errors.New("no value as it is written here")

// appendLife begins the bytes of a value.
func appendLife(out []byte, l Life) []byte {
	for _, span := range []time.Duration{l.Fresh, l.Stale, l.IfError} {
		out = binary.AppendUvarint(out, uint64(max(span, 0)/time.Millisecond))
	}
	return out
}

// cutLife reads what appendLife wrote and returns what follows.
func cutLife(text []byte) (l Life, rest []byte, err error) {
	for _, span := range []*time.Duration{&l.Fresh, &l.Stale, &l.IfError} {
		milliseconds, n := binary.Uvarint(text)
		if n <= 0 || milliseconds > uint64(longestLife/time.Millisecond) {
			return Life{}, nil, errMalformed
		}
		*span, text = time.Duration(milliseconds)*time.Millisecond, text[n:]
	}
	return l, text, nil
}

// Codec is how values become bytes of the shared level, and values again.
type Codec[V any] struct {
	// Encode returns the bytes of a value, nothing for one that others must not have.
	Encode func(V) []byte
	// Decode makes the value of bytes, which may come from anybody who can write to the shared level, with its life and
	// its age.
	Decode func([]byte, Life, time.Duration) (V, error)
}

// notice is what replicas tell each other: a purge, or that a lease has been given back.
type notice struct {
	from string // replica that purged; who it is knows already
	how  Purge
	keys []Key // purged; none: everything
	done bool  // the lease of the one key is free, and nothing is purged
}

// Letters that notices begin with.
const (
	noticeHard = 'h'
	noticeSoft = 's'
	noticeDone = 'd'
)

const replicaText = 22 // length of a replica's name

// text writes a notice: its letter, for a purge the replica, the keys.
func (n notice) text() string {
	text := make([]byte, 0, 1+replicaText+keyText*len(n.keys))
	switch {
	case n.done:
		text = append(text, noticeDone)
	case n.how == Hard:
		text = append(append(text, noticeHard), n.from...)
	default:
		text = append(append(text, noticeSoft), n.from...)
	}
	for _, key := range n.keys {
		text = append(text, key.text()...)
	}
	return string(text)
}

// parseNotice reads what text wrote. Anybody who can write to the server may have said something else.
func parseNotice(text string) (n notice, ok bool) {
	if text == "" {
		return notice{}, false
	}
	kind, rest := text[0], text[1:]
	switch kind {
	case noticeDone:
		n.done = true
	case noticeHard, noticeSoft:
		if len(rest) < replicaText {
			return notice{}, false
		}
		n.from, rest = rest[:replicaText], rest[replicaText:]
		if kind == noticeHard {
			n.how = Hard
		}
	default:
		return notice{}, false
	}
	n.keys, ok = parseKeys(rest)
	return n, ok && (!n.done || len(n.keys) == 1)
}
