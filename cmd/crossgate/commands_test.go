package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra/doc"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/ledger"
)

// promised are the commands and flags that scripts use; = marks a flag without a value.
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

// values are valid values of flags that do not accept any text.
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

// TestManualPagesAreThoseOfTheCommands compares docs/man with the commands; -update rewrites it.
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
		text = bytes.Replace(text, []byte(then.Format(`"Jan 2006"`)), []byte(`""`), 1) // without a date, so that pages compare
		golden.Check(t, filepath.Join(kept, filepath.Base(page)), string(text))
	}
	old, err := filepath.Glob(filepath.Join(kept, "*.1"))
	if err != nil || len(old) != len(pages) {
		t.Errorf("docs/man has %d pages, the commands have %d: remove those of commands that are gone", len(old), len(pages))
	}
}

func TestStatusTellsWhatWasReadAndWhatWasLeftOut(t *testing.T) {
	status := []audit.Status{
		{
			Chain: 1, Known: true, Proven: 880, Orders: 12, Locked: 3,
			Lag: order.Lag{Head: 902, Indexed: 900, IndexedTime: 1_784_950_000},
		},
		{
			Chain: 137, Known: true, From: order.BlockTime{Number: 70, Time: 1_784_900_000}, Err: errors.New("no route to host"),
			Lag:         order.Lag{Indexed: 700, IndexedTime: 1_784_949_000},
			Quarantined: []ledger.QuarantinedBlock{{Number: 321, Reason: "transaction without its receipt", Since: 1_784_949_100}},
		},
		{Chain: 8453, Lag: order.Lag{Head: 5}},
	}
	var out bytes.Buffer
	writeStatus(&out, chain.Documented(), status)
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"chain head indexed from since (UTC) to as of (UTC) lag proven to quarantined orders locked",
		"Ethereum (1) 902 0 all 900 2026-07-25 03:26:40 2 blocks 880 0 12 3",
		"Polygon (137) unreachable 70 2026-07-24 13:33:20 700 2026-07-25 03:10:00 ? - 1 0 0",
		"Base (8453) 5 0 - 0 - not read yet - 0 0 0",
		"quarantined: Polygon (137) block 321 since 2026-07-25 03:11:40 UTC transaction without its receipt",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("index status wrote\n%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
	}
}

func TestReportNamesWhatIsWrong(t *testing.T) {
	chains := chain.NewRegistry(chain.Chain{ID: 1, Name: "Ethereum"})
	at := order.At{Chain: 1, Block: 17, Tx: chain.NewTxHash(make([]byte, 32))}
	found := audit.Audit{
		Chain: 1, To: 90, Orders: 3, Transactions: 4,
		Differences: []audit.Difference{{
			Order:        order.ID{31: 1},
			Missing:      []order.Event{{At: at, Fact: order.Fulfilled{}}},
			False:        []order.Event{{At: at, Fact: order.Created{}}},
			Contradicted: true, State: order.StateCreated,
		}},
		Unchecked: []audit.Unchecked{{Order: order.ID{31: 2}, Err: errors.New("no archive")}},
	}
	const zeros = "000000000000000000000000000000000000000000000000000000000000"
	const details = `  0x` + zeros + `0001
    missing: Fulfilled in block 17, transaction 0x` + zeros + `0000
    false:   Created in block 17, transaction 0x` + zeros + `0000
    the contract stores Created, and no event accounts for it
  0x` + zeros + `0002: not compared: no archive
`
	for name, test := range map[string]struct {
		print func(io.Writer) error
		want  string
		err   error
	}{
		"sound": {
			func(out io.Writer) error {
				return printAudits(out, []audit.Audit{{Chain: 1, To: 90, Orders: 3, Transactions: 4}}, chains)
			},
			"Ethereum (1), blocks 0 to 90: 3 orders and 4 transactions compared, 0 orders differ, 0 not compared\n", nil,
		},
		"different": {
			func(out io.Writer) error { return printAudits(out, []audit.Audit{found}, chains) },
			"Ethereum (1), blocks 0 to 90: 3 orders and 4 transactions compared, 1 orders differ, 1 not compared\n" + details, errDiffers,
		},
		"ended early": {
			func(out io.Writer) error {
				return printRepairs(out, []audit.Repair{{Chain: 1, Blocks: 2, Added: 1, Wrong: []string{"liar"}, Err: errors.New("no answer")}}, chains)
			},
			"Ethereum (1), blocks 0 to 0: 2 blocks read again, 1 events added, 0 removed, 0 orders corrected; 0 orders differ, 0 not compared\n" +
				"  wrong endpoint: liar\n  ended early: no answer\n", errDiffers,
		},
	} {
		var out bytes.Buffer
		if err := test.print(&out); !errors.Is(err, test.err) || out.String() != test.want {
			t.Errorf("%s: %v, printed\n%s\nwant\n%s", name, err, out.String(), test.want)
		}
	}
}

// TestOldBackupsGo keeps the newest backups and touches nothing else, in a folder whose name is also a pattern.
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

func TestMemoryIsLimited(t *testing.T) {
	gc := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(gc)
		debug.SetMemoryLimit(limit)
	})
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for name, c := range map[string]struct {
		allowed     memlimit.Provider
		environment map[string]string
		limit       int64
		gc          int
	}{
		"a control group":             {memlimit.Limit(1072 << 20), nil, 900 << 20, roomyGC},
		"a small control group":       {memlimit.Limit(100 << 20), nil, 45 << 20, roomyGC},
		"no control group":            {none, nil, math.MaxInt64, 100},
		"a control group that broke":  {func() (uint64, error) { return 0, os.ErrPermission }, nil, math.MaxInt64, 100},
		"a collector set by somebody": {memlimit.Limit(1072 << 20), map[string]string{"GOGC": "50"}, 900 << 20, 100},
		"a limit set by somebody":     {memlimit.Limit(1000 << 20), map[string]string{"GOMEMLIMIT": "1GiB"}, math.MaxInt64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(math.MaxInt64) // the runtime's value from the environment at its start
			for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
				t.Setenv(name, c.environment[name]) // restored afterwards
				if c.environment[name] == "" {
					_ = os.Unsetenv(name)
				}
			}
			limitMemory(t.Context(), c.allowed, slog.New(slog.DiscardHandler))
			if got := debug.SetMemoryLimit(-1); got != c.limit {
				t.Errorf("the limit is %d bytes, want %d", got, c.limit)
			}
			if got := debug.SetGCPercent(100); got != c.gc {
				t.Errorf("the collector's percentage is %d, want %d", got, c.gc)
			}
		})
	}
}
