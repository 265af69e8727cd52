package onchain_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readShared reads a file of the recorded material, and skips the test where that does not lie beside the
// repository's checkout.
func readShared(t *testing.T, path string, into any) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "shared", path)
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there: the recorded material lies in a folder named shared beside the checkout of this repository", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// hexBytes is a byte string that JSON holds as 0x hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*b = raw
	return err
}
