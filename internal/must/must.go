// Package must ends a test at an error that leaves it nothing to go on with.
package must

import "testing"

// Do ends the test at an error.
func Do(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Get is the value of a call that may fail: file := must.Get(os.Open(path))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		Do(tb, err)
		return value
	}
}
