// Package recorded lets tests read the recorded material, which is in a folder named shared beside the checkout.
package recorded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"crossgate/internal/must"
)

// File returns a file of the material. It skips the test if the file does not exist.
func File(tb testing.TB, path string) []byte {
	tb.Helper()
	for at := must.Get(os.Getwd())(tb); at != filepath.Dir(at); at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, "shared", filepath.FromSlash(path))); err == nil {
			return text
		}
	}
	tb.Skipf("%s is not there: the recorded material lies in a folder named shared beside the checkout of this repository", path)
	return nil
}

// JSON decodes a file of the material.
func JSON(tb testing.TB, path string, into any) {
	tb.Helper()
	must.Do(tb, json.Unmarshal(File(tb, path), into))
}
