package shared

import "strings"

type notice struct {
	kind byte
	from string // the replica that sent it
	keys []Key  // one of a release; none means everything
}

// Kinds of notices: purges, which their sender ignores, and the release of a key's fill lock.
const (
	purgedHard   = 'h'
	purgedSoftly = 's'
	released     = 'd'
)

const replicaText = 22 // length of a replica's name

func (n notice) text() string {
	var text strings.Builder
	text.WriteByte(n.kind)
	text.WriteString(n.from)
	for _, key := range n.keys {
		text.WriteString(key.text())
	}
	return text.String()
}

// parseNotice decodes a notice. Any client of the server may have written it.
func parseNotice(text string) (n notice, ok bool) {
	if len(text) < 1+replicaText {
		return notice{}, false
	}
	n.kind, n.from = text[0], text[1:1+replicaText]
	n.keys, ok = parseKeys(text[1+replicaText:])
	return n, ok && (n.kind == purgedHard || n.kind == purgedSoftly || n.kind == released && len(n.keys) == 1)
}
