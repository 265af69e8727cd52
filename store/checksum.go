package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A backup's checksum is in a file beside it, as sha256sum writes and reads it.
const checksumSuffix = ".sha256"

func writeChecksum(file string) error {
	sum, err := sumOf(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file+checksumSuffix, []byte(sum+"  "+filepath.Base(file)+"\n"), 0o644)
}

// verifyChecksum refuses a file that is not what its checksum says. Backups of earlier releases have none.
func verifyChecksum(file string, say Say) error {
	line, err := os.ReadFile(file + checksumSuffix)
	if errors.Is(err, os.ErrNotExist) {
		say("%s: no checksum beside it", file)
		return nil
	}
	if err != nil {
		return err
	}
	want, _, _ := strings.Cut(string(line), " ")
	got, err := sumOf(file)
	if err == nil && !strings.EqualFold(got, strings.TrimSpace(want)) {
		err = fmt.Errorf("it is damaged: it has another checksum than %s says; restore another copy", filepath.Base(file)+checksumSuffix)
	}
	return err
}

func sumOf(file string) (sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
