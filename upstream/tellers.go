package upstream

import (
	"slices"
	"sync"
)

// tellersKept is of how many things it is remembered who told of them.
const tellersKept = 8192

// Tellers remembers which endpoints told of what, by keys of the caller's making. The zero value is empty; safe for
// concurrent use.
type Tellers struct {
	mu   sync.Mutex
	of   map[string][]string
	kept []string // keys, the oldest first
}

// Heard takes note that an endpoint told of something.
func (t *Tellers) Heard(of, by string) {
	if by == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	names, known := t.of[of]
	if slices.Contains(names, by) {
		return
	}
	if !known {
		t.makeRoomLocked()
		t.kept = append(t.kept, of)
	}
	t.of[of] = append(names, by)
}

// makeRoomLocked forgets a quarter of what is remembered when there is no room for more. The mutex is held.
func (t *Tellers) makeRoomLocked() {
	if t.of == nil {
		t.of = make(map[string][]string)
	}
	if len(t.kept) < tellersKept {
		return
	}
	const part = tellersKept / 4
	for _, oldest := range t.kept[:part] {
		delete(t.of, oldest)
	}
	t.kept = slices.Delete(t.kept, 0, part)
}

// Of lists who told of something, each once, as far as that is remembered.
func (t *Tellers) Of(of string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.of[of])
}
