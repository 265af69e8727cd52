package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"

	"crossgate/internal/golden"
	"crossgate/internal/must"
)

// promised are the commands and flags that scripts use, with a value that each takes; = is a flag without one.
var promised = map[string]string{
	"serve":          "config listen log-format",
	"check":          "config",
	"doctor":         "config json=",
	"schema":         "",
	"backfill":       "config",
	"index status":   "config",
	"index audit":    "config order taker chain since until",
	"index repair":   "config order taker chain since until from to",
	"index backup":   "config file",
	"index restore":  "config file",
	"index withdraw": "config chain from",
	"upgrade-check":  "config",
	"healthcheck":    "config listen",
}

// values are those of flags that do not take any text.
var values = map[string]string{
	"log-format": "json", "listen": "127.0.0.1:8080",
	"order": "0x" + strings.Repeat("ab", 32), "taker": "0x" + strings.Repeat("ab", 20), "chain": "1", "from": "0x10", "to": "7",
	"since": "2026-01-31", "until": "2026-01-31T12:00:00Z",
}

func TestPromisedFlagsAreTakenInEverySpelling(t *testing.T) {
	for name, flags := range promised {
		for each := range strings.FieldsSeq(flags) {
			flag, alone := strings.CutSuffix(each, "=")
			value, given := values[flag]
			if !given {
				value = "some-text"
			}
			spellings := [][]string{{"--" + flag, value}, {"--" + flag + "=" + value}}
			if alone {
				spellings = [][]string{{"--" + flag}, {"--" + flag + "=true"}}
			}
			for _, spelled := range spellings {
				root := newRoot()
				line := append(strings.Fields(name), spelled...)
				found, rest, err := root.Find(line)
				if err != nil || found.CommandPath() != "crossgate "+name {
					t.Fatalf("%q is the command %q: %v", line, found.CommandPath(), err)
				}
				if err := found.ParseFlags(rest); err != nil || !found.Flags().Changed(flag) || found.Flags().NArg() > 0 {
					t.Errorf("crossgate %s %q: flag %s given: %t; %v", name, spelled, flag, found.Flags().Changed(flag), err)
				}
			}
		}
	}
}

// TestManualPagesAreThoseOfTheCommands compares docs/man with the commands; -update writes it anew.
func TestManualPagesAreThoseOfTheCommands(t *testing.T) {
	made, kept := t.TempDir(), filepath.Join("..", "..", "docs", "man")
	root := newRoot()
	root.DisableAutoGenTag = true
	then := time.Unix(0, 0).UTC()
	must.Do(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Crossgate", Manual: "Crossgate", Date: &then}, made))
	pages, err := filepath.Glob(filepath.Join(made, "*.1"))
	if err != nil || len(pages) < len(promised) {
		t.Fatalf("%d manual pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		text = bytes.Replace(text, []byte(then.Format(`"Jan 2006"`)), []byte(`""`), 1) // one that changes with the day could not be compared
		golden.Check(t, filepath.Join(kept, filepath.Base(page)), string(text))
	}
	old, err := filepath.Glob(filepath.Join(kept, "*.1"))
	if err != nil || len(old) != len(pages) {
		t.Errorf("docs/man has %d pages, the commands have %d: remove those of commands that are gone", len(old), len(pages))
	}
}
