package shared

// notice is a message between replicas: a purge, or the release of a fill lock.
type notice struct {
	from      string // the replica that purged, which ignores it
	how       Purge
	keys      []Key // purged; none: everything
	isRelease bool  // the one key's fill lock is free, and nothing is purged
}

// The first byte of a notice.
const (
	noticeHard    = 'h'
	noticeSoft    = 's'
	noticeRelease = 'd'
)

const replicaText = 22 // length of a replica's name

// text encodes a notice: its first byte, for a purge the replica, the keys.
func (n notice) text() string {
	text := make([]byte, 0, 1+replicaText+keyText*len(n.keys))
	switch {
	case n.isRelease:
		text = append(text, noticeRelease)
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

// parseNotice decodes a notice, which may come from anybody who can write to the server.
func parseNotice(text string) (n notice, ok bool) {
	if text == "" {
		return notice{}, false
	}
	kind, rest := text[0], text[1:]
	switch kind {
	case noticeRelease:
		n.isRelease = true
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
	return n, ok && (!n.isRelease || len(n.keys) == 1)
}
