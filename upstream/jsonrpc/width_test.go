package jsonrpc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream/jsonrpc"
)

func TestWidthLearnsAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := jsonrpc.NewWidth(100)
		expect := func(want uint64) {
			t.Helper()
			if got := w.Now(); got != want {
				t.Errorf("Now() = %d, want %d", got, want)
			}
		}
		expect(100)
		w.Refused(100)
		w.Refused(100) // one that was asked before the first refusal came
		expect(50)
		w.Refused(1)
		expect(1)
		<-time.After(10 * time.Minute)
		expect(100)
	})
}

func TestWidthGrowsBack(t *testing.T) {
	w := jsonrpc.NewWidth(1000)
	accept := func(times int) {
		for range times {
			w.Accepted(w.Now())
		}
	}
	w.Refused(1000)
	w.Fits(100)
	accept(7)
	w.Accepted(3) // less than the width says nothing of it
	if got := w.Now(); got != 100 {
		t.Errorf("Now() = %d before it was accepted often enough, want 100", got)
	}
	accept(1)
	if got := w.Now(); got != 200 {
		t.Errorf("Now() = %d, want 200", got)
	}
	w.Limited(150)
	accept(100)
	if got := w.Now(); got != 150 {
		t.Errorf("Now() = %d, want the limit that was told: 150", got)
	}
	w.Refused(150)
	accept(100)
	if got := w.Now(); got != 150 {
		t.Errorf("Now() = %d, want to be back at 150", got)
	}
}
