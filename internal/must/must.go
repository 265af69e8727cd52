// Package must ends tests that cannot continue: on errors, and where something does not come about.
package must

import (
	"testing"
	"time"
)

// Do ends the test if err is not nil.
func Do(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Get returns the value of a call that may fail: file := must.Get(os.Open(path))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		Do(tb, err)
		return value
	}
}

// Await ends the test if a condition does not hold within a time that only a very busy machine needs.
func Await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("waited a minute for: %s", what)
		}
	}
}
