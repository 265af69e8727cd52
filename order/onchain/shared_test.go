package onchain_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readShared reads a file of the recorded material that stands beside the repository on some machines.
func readShared(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", path))
	if err != nil {
		t.Skipf("recorded material not present: %v", err)
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
