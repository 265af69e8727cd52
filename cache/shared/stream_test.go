package shared_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// TestStreamIsReadByOthers appends to a stream, goes on after a restart of either side, and has redis-cli and a consumer
// group read it.
func TestStreamIsReadByOthers(t *testing.T) {
	server := redistest.Serve(t)
	s := must.Get(shared.NewStream(server.URL(), "events"))(t)
	defer s.Close()
	if last, err := s.Last(t.Context()); last != 0 || err != nil {
		t.Fatalf("Last of none = %d, %v", last, err)
	}
	const begin = 1_784_948_740_000_000
	entry := func(n uint64) shared.StreamEntry {
		return shared.StreamEntry{Number: begin + n, Fields: []string{"event", fmt.Sprintf(`{"n":%d}`, n)}}
	}
	must.Do(t, s.Append(t.Context(), []shared.StreamEntry{entry(1), entry(2)}, 0))
	if err := s.Append(t.Context(), []shared.StreamEntry{entry(2)}, 0); err == nil {
		t.Error("an entry is there twice")
	}
	s.Close() // a process that begins
	if last, err := s.Last(t.Context()); last != begin+2 || err != nil {
		t.Fatalf("Last = %d, %v, want %d", last, err, begin+2)
	}
	client, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not there; Debian and Ubuntu: apt-get install redis-tools")
	}
	read := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), client, append([]string{"-s", strings.TrimPrefix(server.URL(), "unix://")}, arguments...)...)
		return string(must.Get(command.Output())(t))
	}
	if got := read("XRANGE", "events", "-", "+"); !strings.Contains(got, fmt.Sprint(begin+1, "-0\nevent\n{\"n\":1}")) || !strings.Contains(got, `{"n":2}`) {
		t.Errorf("redis-cli reads %q", got)
	}
	read("XGROUP", "CREATE", "events", "shop", "0")
	if got := read("XREADGROUP", "GROUP", "shop", "one", "COUNT", "1", "STREAMS", "events", ">"); !strings.Contains(got, `{"n":1}`) || strings.Contains(got, `{"n":2}`) {
		t.Errorf("the group's first consumer reads %q", got)
	}
	if got := read("XREADGROUP", "GROUP", "shop", "two", "STREAMS", "events", ">"); !strings.Contains(got, `{"n":2}`) || strings.Contains(got, `{"n":1}`) {
		t.Errorf("the group's second consumer reads %q", got)
	}
	if got := read("XACK", "events", "shop", fmt.Sprint(begin+1, "-0")); strings.TrimSpace(got) != "1" {
		t.Errorf("XACK: %q", got)
	}
	for n := uint64(3); n < 300; n++ { // whole nodes of a hundred entries are dropped
		must.Do(t, s.Append(t.Context(), []shared.StreamEntry{entry(n)}, begin+290))
	}
	if got := strings.TrimSpace(read("XLEN", "events")); len(got) > 2 && got > "199" {
		t.Errorf("XLEN %s: old entries are kept", got)
	}
}
