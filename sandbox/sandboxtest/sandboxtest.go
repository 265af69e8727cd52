// Package sandboxtest starts worlds for tests. A world takes a second of processor time: tests that only read one share
// it.
package sandboxtest

import (
	"context"
	"sync"
	"testing"

	"crossgate/sandbox"
)

// Start runs a world until the test ends.
func Start(t testing.TB, o sandbox.Options) *sandbox.World {
	t.Helper()
	world, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	return world
}

// Shared returns the one world of the test binary, which lives as long as the process. Tests that use it send no
// transaction, mine no block and set no fault.
func Shared(t testing.TB) *sandbox.World {
	t.Helper()
	world, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return world
}

var shared = sync.OnceValues(func() (*sandbox.World, error) {
	return sandbox.Start(context.Background(), sandbox.Options{})
})
