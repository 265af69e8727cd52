package recent

import "testing"

func TestMapForgetsWhatIsNotUsed(t *testing.T) {
	m := Map[int, int]{Limit: 100}
	for i := range 1000 {
		m.Put(i, i)
		if held := len(m.young) + len(m.old); held > 2*m.Limit {
			t.Fatalf("%d values are held, want %d at most", held, 2*m.Limit)
		}
		if value, known := m.Get(0); !known || value != 0 {
			t.Fatalf("Get of the value in use = %d, %t after %d others", value, known, i)
		}
	}
	for key, want := range map[int]bool{1: false, 799: false, 902: true, 999: true} {
		if value, known := m.Get(key); known != want || known && value != key {
			t.Errorf("Get(%d) = %d, %t; want it remembered: %t", key, value, known, want)
		}
	}
	var counts Map[string, int]
	for range 3 {
		counts.Update("a", func(n int) int { return n + 1 })
	}
	if n, _ := counts.Get("a"); n != 3 {
		t.Errorf("after three updates: %d", n)
	}
}
