package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"crossgate/internal/must"
)

// TestOldBackupsGo keeps the newest backups and touches nothing else, in a folder whose name is a pattern too.
func TestOldBackupsGo(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "back[up]s*")
	must.Do(t, os.Mkdir(directory, 0o700))
	file := filepath.Join(directory, "crossgate.db")
	others := []string{"crossgate.db", "crossgate-notes.db", "other-20260101T000000Z.db", "crossgate-20261301T000000Z.db"}
	for _, name := range others {
		write(t, filepath.Join(directory, name), "")
	}
	for day := range 5 {
		write(t, dated(file, time.Date(2025, 12, 30+day, 3, 17, 0, 0, time.UTC)), "")
	}
	must.Do(t, prune(file, 2))
	var left []string
	entries, err := os.ReadDir(directory)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := append(others, "crossgate-20260102T031700Z.db", "crossgate-20260103T031700Z.db")
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("prune leaves %q, %v, want %q", left, err, want)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
}
