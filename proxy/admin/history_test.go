package admin

import (
	"testing"
	"time"

	"crossgate/proxy/web"
)

func TestHistoryHasTheLatestSamplesOfWhatIsKnown(t *testing.T) {
	pulse := Pulse{Lag: 7 * time.Second, Calls: 3.5, Unusable: 1}
	var h history
	h.add(web.CacheCounts{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, pulse)
	if got := h.lines(); got != nil {
		t.Errorf("lines of one sample: %v", got)
	}
	h.add(web.CacheCounts{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, Pulse{Lag: -1})
	want := []struct {
		most, newest string
		paths        []string
	}{
		{"10", "0", []string{"0,0.0 1,24.0 "}},
		{"80 %", "–", []string{"0,0.0 "}},
		{"0.5", "0", []string{"0,12.0 1,24.0 "}},
		{"3.5", "0", []string{"0,0.0 1,24.0 "}},
		{"7 s", "–", []string{"0,0.0 "}},
		{"1", "0", []string{"0,0.0 1,24.0 "}},
	}
	for i, line := range h.lines() {
		if line.Most() != want[i].most || line.Newest() != want[i].newest || line.Paths()[0] != want[i].paths[0] {
			t.Errorf("%s: most %s, newest %s, drawn as %q, want %v", line.Name, line.Most(), line.Newest(), line.Paths(), want[i])
		}
	}
	for range mostSamples {
		h.add(web.CacheCounts{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, pulse)
	}
	if got := len(h.lines()[0].Values); got != mostSamples {
		t.Errorf("%d samples are kept, want %d", got, mostSamples)
	}
}
