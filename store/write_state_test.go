package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
)

// TestAFullDiskIsTold limits the size of the file: writes fail, reads continue.
func TestAFullDiskIsTold(t *testing.T) {
	db := openStore(t)
	grow := func() error {
		return db.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO venue_days (day, venue, quoted, won, contested, gain) VALUES (0, $1, 0, 0, 0, 0)`, strings.Repeat("n", 1<<20))
			return err
		})
	}
	for _, step := range []struct {
		pages string
		want  string // part of the error
	}{{"1", "writes have failed since 20"}, {"1", "the disk is full: free some space"}, {"1000000", ""}} {
		must.Get(db.writer.ExecContext(t.Context(), `PRAGMA max_page_count = `+step.pages))(t)
		if err := grow(); (err == nil) != (step.want == "") {
			t.Errorf("a change with %s pages: %v", step.pages, err)
		}
		if err := db.Writable(); (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("Writable with %s pages: %v, want %q", step.pages, err, step.want)
		}
		var lists int
		if _, err := db.QueryRow(t.Context(), []any{&lists}, `SELECT COUNT(*) FROM venue_days`); err != nil {
			t.Errorf("reading with %s pages: %v", step.pages, err)
		}
	}
	if err := db.Update(t.Context(), func(*Tx) error { return sql.ErrNoRows }); !errors.Is(err, sql.ErrNoRows) || db.Writable() != nil {
		t.Errorf("an error of the change's own: %v, Writable %v", err, db.Writable())
	}
}

// TestAFlappingFailureIsLoggedNowAndThen lets every other attempt fail for three minutes, and none after that.
func TestAFlappingFailureIsLoggedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Failure
		var log bytes.Buffer
		to := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			return map[string]slog.Attr{slog.MessageKey: a}[a.Key]
		}}))
		const failing, attempts = 18, 26
		for i := range attempts {
			f.Log(t.Context(), to, map[bool]error{true: sql.ErrTxDone}[i%2 == 0 && i < failing], "fails", "again")
			time.Sleep(10 * time.Second)
		}
		if got := strings.Fields(log.String()); !slices.Equal(got, []string{"msg=fails", "msg=again", "msg=fails", "msg=again"}) {
			t.Errorf("the log has %q", got)
		}
	})
}

// TestAStuckWriteIsTold has a write that takes longer than any batch does.
func TestAStuckWriteIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(writeState)
		end, other := s.begin(), s.begin()
		time.Sleep(stuckAfter)
		other(nil)
		time.Sleep(stuckAfter)
		if err := s.err(); err != nil {
			t.Errorf("%s after another one ended: %v", stuckAfter, err)
		}
		s.begin()(context.DeadlineExceeded) // given up by its caller, which says nothing about the database
		time.Sleep(time.Second)
		if err := s.err(); err == nil || !strings.Contains(err.Error(), "1 writes have been waiting for 31s") {
			t.Errorf("a second later: %v", err)
		}
		end(nil)
		if err := s.err(); err != nil {
			t.Errorf("when it has ended: %v", err)
		}
	})
}

// TestDeadLeaderIsReplacedInTime compares only the constants: TestTwoGatewaysOnOneDatabase of sandbox/processes logs
// the time that it takes on a busy machine.
func TestDeadLeaderIsReplacedInTime(t *testing.T) {
	const limit, reserve = 15 * time.Second, 3 * time.Second // for the database and the chain to answer
	if longest := leaseLife + LeaseInterval; longest > limit-reserve {
		t.Errorf("a lease that nobody renews is claimed %v later at most, want %v", longest, limit-reserve)
	}
	if leaseRenewal > leaseLife/3 {
		t.Errorf("a lease of %v is renewed every %v, so that one late answer loses it", leaseLife, leaseRenewal)
	}
}

// TestLostLeaseFencesOff lets a lease expire and another replica claim it, which releases it.
func TestLostLeaseFencesOff(t *testing.T) {
	url := newDatabase(t)
	old, young := openReplica(t, url), openReplica(t, url)
	const job = "follow 1"
	held, granted, err := old.Claim(t.Context(), job)
	if err != nil || !granted {
		t.Fatalf("Claim = %v, %v", granted, err)
	}
	holding, release := old.Hold(t.Context(), held)
	if _, granted, err := young.Claim(t.Context(), job); err != nil || granted {
		t.Fatalf("Claim of a held lease = %v, %v", granted, err)
	}
	must.Get(old.writer.ExecContext(t.Context(), `UPDATE leases SET expires = 0`))(t)
	taken, granted, err := young.Claim(t.Context(), job)
	if err != nil || !granted {
		t.Fatalf("Claim of an expired lease = %v, %v", granted, err)
	}
	if err := old.UpdateUnder(t.Context(), held, func(*Tx) error { return nil }); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("UpdateUnder of a lost lease = %v, want %v", err, ErrLeaseLost)
	}
	<-holding.Done() // at the next renewal
	must.Do(t, release())
	if _, granted, err := old.Claim(t.Context(), job); err != nil || granted {
		t.Errorf("Claim after the release of a lost lease = %v, %v, want that it is not given back", granted, err)
	}
	_, release = young.Hold(t.Context(), taken)
	must.Do(t, release())
	if _, granted, err := old.Claim(t.Context(), job); err != nil || !granted {
		t.Errorf("Claim of a released lease = %v, %v", granted, err)
	}
}
