package evm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Recorded is the folder of the recorded material, which may be missing.
var Recorded = filepath.Join("..", "..", "..", "shared")

// NeedRecorded skips the test if a file or folder of the recorded material is missing.
func NeedRecorded(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there: the recorded material lies in a folder named shared beside the checkout of this repository", path)
	} else if err != nil {
		t.Fatal(err)
	}
}
