package ledger

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order"
	"crossgate/store"
)

// postgres is the server that all tests share.
var postgres = sync.OnceValues(postgrestest.Start)

func TestMain(m *testing.M) {
	code := m.Run()
	if server, err := postgres(); err == nil {
		_ = server.Remove()
	}
	os.Exit(code)
}

// open opens an empty database of each kind that is available.
func open(t *testing.T) map[string]Ledger {
	t.Helper()
	all := map[string]Ledger{}
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { db.Close() })
	all["SQLite"] = Ledger{DB: db}
	server, err := postgres()
	if err != nil {
		t.Logf("PostgreSQL is left out: %v", err)
		return all
	}
	url, err := server.Create(strings.ToLower(t.Name()))
	if err == nil {
		db, err = store.OpenPostgres(t.Context(), url, store.PostgresOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	all["PostgreSQL"] = Ledger{DB: db}
	return all
}

// everyFact returns facts of each kind, with and without their optional parts.
func everyFact() []order.Fact {
	who, one := chain.NewAddress([]byte("unlock authority 20b")), chain.NewAmount
	terms := order.Terms{
		Nonce: 1, Maker: chain.NewAddress([]byte("maker")),
		Give: order.Offer{Chain: 1, Token: chain.NewAddress([]byte("give token")), Amount: one(1000)},
		Take: order.Offer{Chain: 137, Token: chain.NewAddress([]byte("take token")), Amount: one(900)},
	}
	actual := terms.Take.Amount
	whole := order.Created{
		Terms: terms, FixFee: one(1), PercentFee: one(2), ReferralCode: 3, Metadata: []byte{},
		Affiliate: &order.Affiliate{Beneficiary: who, Amount: one(4)},
		Preswap:   &order.Preswap{TokenIn: who, AmountIn: one(5), AmountOut: one(6)},
	}
	whole.Terms.ExternalCall, whole.Terms.Authorities.AllowedTaker = []byte{0xca, 0x11}, who
	return []order.Fact{
		whole,
		order.Created{Terms: terms},
		order.GiveIncreased{Final: one(7), FinalPercentFee: one(8)},
		order.TakeDecreased{Final: one(9)},
		order.Fulfilled{Terms: terms, ActualAmount: &actual, Taker: who, UnlockAuthority: who},
		order.Fulfilled{Terms: terms},
		order.Sent{Kind: order.Unlock, Beneficiary: who, Submission: chain.Hash{9}},
		order.Claimed{Kind: order.Unlock, Beneficiary: who, Paid: one(1000), Submission: chain.Hash{9}},
		order.Cancelled{},
		order.ExternalCall{Step: order.CallFailed},
		order.ExternalCall{Step: order.CallFallenBack, By: who},
	}
}

func TestFactsSurviveTheStore(t *testing.T) {
	for name, l := range open(t) {
		var want []order.Event
		for i, fact := range everyFact() {
			want = append(want, order.Event{Order: order.ID{1}, Fact: fact, At: order.At{
				Chain: 1, Block: 2, BlockHash: chain.Hash{3}, Time: 4, Tx: chain.NewTxHash(make([]byte, 32)),
				Initiator: chain.NewAddress([]byte("initiator")), LogIndex: uint(i),
			}})
		}
		must.Get(l.Write(t.Context(), store.Lease{}, func(tx *Tx) error { tx.Add(want...); return nil }))(t)
		got := must.Get(l.EventsBetween(t.Context(), 1, Range{From: 2, To: 2}))(t)
		if differing := Correct(got, want); !differing.IsEmpty() || len(got) != len(want) {
			t.Errorf("%s: %d of %d events; differing %+v", name, len(got), len(want), differing)
		}
		later := want[0]
		later.At.Block = 5
		must.Get(l.Write(t.Context(), store.Lease{}, func(tx *Tx) error { tx.Add(later); return nil }))(t)
		for most, to := range map[int]uint64{1: 2, len(want): 4, len(want) + 1: 9} {
			if got := must.Get(l.Beginning(t.Context(), 1, Range{From: 2, To: 9}, most))(t); got != (Range{From: 2, To: to}) {
				t.Errorf("%s: blocks 2 to 9 with at most %d events: %v, want those to %d", name, most, got, to)
			}
		}
	}
}

// TestStoredFormStays fails if a change of a fact's Go type changes its stored form, in which case existing files could
// no longer be read; what is damaged is not.
func TestStoredFormStays(t *testing.T) {
	var got strings.Builder
	for _, fact := range everyFact() {
		kind, raw := encodeFact(fact, nil, nil)
		fmt.Fprintf(&got, "%d %x\n", kind, raw)
		if cut, err := decodeFact(kind, raw[:max(len(raw), 1)-1], nil, nil); err == nil && len(raw) > 0 {
			t.Errorf("%T that ends early is read as %+v", fact, cut)
		}
	}
	golden.Check(t, "testdata/facts.txt", got.String())
}

func TestProvenBlocksAreThoseFromTheFirstOn(t *testing.T) {
	for _, test := range []struct {
		c    Checkpoint
		want uint64
	}{
		{Checkpoint{First: 10, Block: 40, ProvenFrom: 10, ProvenEnd: 21}, 20},
		{Checkpoint{First: 10, Block: 40, ProvenFrom: 10, ProvenEnd: 21, SingleFrom: 15}, 14},
		{Checkpoint{First: 10, Block: 40, ProvenFrom: 10, ProvenEnd: 21, SingleFrom: 10}, 0},
		{Checkpoint{First: 10, Block: 40, ProvenFrom: 12, ProvenEnd: 21}, 0},
	} {
		got := test.c.ProvenTo()
		if isProven := test.c.IsProven(test.want); got != test.want || isProven != (got > 0) || test.c.IsProven(test.want+1) {
			t.Errorf("%+v: ProvenTo() = %d, itself proven: %v, want %d", test.c, got, isProven, test.want)
		}
	}
}

// TestLocksAreOfTheirTokens has orders that lock two different tokens, and one whose creation is unknown.
func TestLocksAreOfTheirTokens(t *testing.T) {
	taker := chain.NewAddress([]byte("unlock authority 20b"))
	for name, l := range open(t) {
		var events []order.Event
		var want []order.Lock
		for i, token := range []string{"token a", "token a", "token b", "token c"} {
			terms := order.Terms{
				Give: order.Offer{Chain: 1, Token: chain.NewAddress([]byte(token)), Amount: chain.NewAmount(uint64(1000 + i))},
				Take: order.Offer{Chain: 137, Token: taker, Amount: chain.NewAmount(900)},
			}
			lock := order.Lock{Order: order.ID{byte(1 + i)}, Give: terms.Give, TakeChain: 137}
			want = append(want, lock)
			at := order.At{Chain: 1, Block: 2, BlockHash: chain.Hash{3}, Tx: chain.NewTxHash(make([]byte, 32)), LogIndex: uint(i)}
			if i < 3 {
				events = append(events, order.Event{Order: lock.Order, Fact: order.Created{Terms: terms}, At: at})
			}
			at.Chain = 137
			events = append(events, order.Event{Order: lock.Order, Fact: order.Fulfilled{Terms: terms, UnlockAuthority: taker}, At: at})
		}
		must.Get(l.Write(t.Context(), store.Lease{}, func(tx *Tx) error { tx.Add(events...); return nil }))(t)
		certain, unconfirmed, err := l.Locks(t.Context(), taker)
		if err != nil || !slices.Equal(certain, want[:3]) || !slices.Equal(unconfirmed, want[3:]) {
			t.Errorf("%s: Locks = %v, %v, %v, want %v and %v", name, certain, unconfirmed, err, want[:3], want[3:])
		}
		if counted, err := l.CountOrders(t.Context()); err != nil || !slices.Equal(counted, []Counted{{1, 137, 4, 3}}) {
			t.Errorf("%s: CountOrders = %v, %v, want four that give on 1 and take on 137, three of them locked", name, counted, err)
		}
	}
}

// TestStatementsReadTheirIndexes checks query plans: locks are read only from their index, and of a chain's events only
// those that are not final. PostgreSQL would scan a table of a few rows if it were not kept from it.
func TestStatementsReadTheirIndexes(t *testing.T) {
	for name, l := range open(t) {
		for statement, isIndexed := range map[string]func(plan string) bool{
			lockedOrdersOf: func(plan string) bool {
				return plan == "SEARCH locks USING COVERING INDEX locks_of (unlock_authority=?)" ||
					strings.Contains(plan, "Index Only Scan using locks_of") && !strings.Contains(plan, "Sort")
			},
			`UPDATE events SET open = 0` + areFinal: func(plan string) bool { return strings.Contains(plan, "events_open") },
			`SELECT fact` + fromEvents + areFinal:   func(plan string) bool { return strings.Contains(plan, "events_open") },
		} {
			if plan, err := planOf(t, l, statement); err != nil || !isIndexed(plan) {
				t.Errorf("%s: %s: %v\n%s", name, statement, err, plan)
			}
		}
	}
}

func planOf(t *testing.T, l Ledger, statement string) (plan string, err error) {
	t.Helper()
	var steps []string
	err = l.Update(t.Context(), func(tx *store.Tx) error {
		read := func(rows *sql.Rows) error {
			var step string
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			cells := make([]any, len(columns))
			for i := range cells {
				cells[i] = new(any)
			}
			cells[len(cells)-1] = &step
			err = rows.Scan(cells...)
			steps = append(steps, step)
			return err
		}
		if !l.IsReplicated() {
			return tx.ForEachRow(t.Context(), read, "EXPLAIN QUERY PLAN "+statement, []any{[]byte("x"), 1}[:strings.Count(statement, "$")]...)
		}
		if _, err := tx.ExecContext(t.Context(), `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`); err != nil {
			return err
		}
		return tx.ForEachRow(t.Context(), read, "EXPLAIN "+strings.NewReplacer("$1", "'1'", "$2", "'2'").Replace(statement))
	})
	return strings.Join(steps, "\n"), err
}

// TestCorrectionsOfWhatIsFinalAreMarked withdraws an event before and after the log has it as final, and one too old for
// the log to have it.
func TestCorrectionsOfWhatIsFinalAreMarked(t *testing.T) {
	for name, l := range open(t) {
		l.Keep = time.Hour
		for block, isFinal := range []bool{false, true, true} {
			age := time.Duration(max(block-1, 0)) * 2 * l.Keep
			e := order.Event{Order: order.ID{9}, Fact: order.Created{}, At: order.At{
				Chain: 1, Block: uint64(block), Time: uint64(time.Now().Add(-age).Unix()),
			}}
			write := func(steps func(*Tx) error) { must.Get(l.Write(t.Context(), store.Lease{}, steps))(t) }
			write(func(tx *Tx) error { tx.Add(e); return nil })
			if isFinal { // and stays so when its sender is corrected
				settle := func(tx *Tx) error { tx.settled = ChainBlock{1, Block{Number: 5}}; return nil }
				write(settle)
				told, lie := must.Get(l.Entries(t.Context(), 0, e.Order, 9))(t), e
				e.At.Initiator = chain.NewAddress([]byte("sender"))
				write(func(tx *Tx) error {
					return tx.Correct(t.Context(), Correction{Wrong: []order.Event{lie}, Missing: []order.Event{e}})
				})
				write(func(tx *Tx) error { // another process found it missing before
					return tx.Correct(t.Context(), Correction{Missing: []order.Event{e}})
				})
				write(settle)
				if again := must.Get(l.Entries(t.Context(), 0, e.Order, 9))(t); len(again) != len(told) {
					t.Errorf("%s: %d entries after its sender was corrected, want %d", name, len(again), len(told))
				}
			}
			write(func(tx *Tx) error { return tx.Correct(t.Context(), Correction{Wrong: []order.Event{e}}) })
			all := must.Get(l.Entries(t.Context(), 0, e.Order, 9))(t)
			if last := all[len(all)-1]; last.Step != order.Retracted || last.IsFinal != isFinal || last.At.Block != uint64(block) {
				t.Errorf("%s: block %d: %d entries, the last %s of %d, final %t", name, block, len(all), last.Step, last.At.Block, last.IsFinal)
			}
			write(func(tx *Tx) error { return tx.Correct(t.Context(), Correction{Wrong: []order.Event{e}}) }) // as another process did
			if again := must.Get(l.Entries(t.Context(), 0, e.Order, 9))(t); len(again) != len(all) {
				t.Errorf("%s: block %d: taken back twice", name, block)
			}
		}
	}
}

// TestChangesNameEverybodyWhoseAnswersEnd replaces events by those of other parties and transactions.
func TestChangesNameEverybodyWhoseAnswersEnd(t *testing.T) {
	id := order.ID{9}
	event := func(block uint64, n byte, fact order.Fact) order.Event {
		return order.Event{Order: id, Fact: fact, At: order.At{Chain: 1, Block: block, Tx: chain.NewTxHash([]byte{n, 31: 1})}}
	}
	fulfilled := func(n byte) order.Fact { return order.Fulfilled{UnlockAuthority: chain.NewAddress([]byte{n, 19: 1})} }
	was := []order.Event{event(1, 1, order.Created{}), event(2, 3, fulfilled(1))}
	is := []order.Event{event(1, 2, order.Created{}), event(2, 3, fulfilled(2))}
	for name, l := range open(t) {
		must.Get(l.Write(t.Context(), store.Lease{}, func(tx *Tx) error { tx.Add(was...); return nil }))(t)
		changes := must.Get(l.Write(t.Context(), store.Lease{}, func(tx *Tx) error {
			return tx.Correct(t.Context(), Correction{Wrong: was, Missing: is})
		}))(t)
		for i, each := range [][]order.Event{was, is} {
			tx, taker := each[0].At.Tx, each[1].Fact.(order.Fulfilled).UnlockAuthority
			if !slices.ContainsFunc(changes, func(c order.Change) bool { return c.Order == id && c.Creation == tx }) ||
				!slices.ContainsFunc(changes, func(c order.Change) bool { return c.Order == id && c.Taker == taker }) {
				t.Errorf("%s: changes %+v lack the creation %s or the taker %s, %d", name, changes, tx, taker, i)
			}
		}
	}
}

// TestAnyTextOfAnEndpointIsStored quarantines a block for a reason that is not valid text.
func TestAnyTextOfAnEndpointIsStored(t *testing.T) {
	for name, l := range open(t) {
		_, err := l.Write(t.Context(), store.Lease{}, func(tx *Tx) error {
			return tx.Quarantine(t.Context(), 1, []QuarantinedBlock{{Number: 5, Reason: "RPC error -32000: \x00\xff block"}})
		})
		list, readErr := l.Quarantined(t.Context(), 1, Range{0, 9})
		if err != nil || readErr != nil || len(list) != 1 || !strings.Contains(list[0].Reason, "block") {
			t.Errorf("%s: %v, %v, %+v", name, err, readErr, list)
		}
	}
}

// FuzzFacts decodes damaged facts: one that can be decoded survives being encoded and decoded again.
func FuzzFacts(f *testing.F) {
	terms, party := encodeTerms(everyFact()[0].(order.Created).Terms), []byte("unlock authority 20b")
	for _, fact := range everyFact() {
		kind, raw := encodeFact(fact, terms, party)
		f.Add(kind, raw)
	}
	f.Fuzz(func(t *testing.T, kind int, raw []byte) {
		fact, err := decodeFact(kind, raw, terms, party)
		if err != nil {
			return
		}
		kind, written := encodeFact(fact, terms, party)
		again, err := decodeFact(kind, written, terms, party)
		if err != nil || !reflect.DeepEqual(again, fact) {
			t.Errorf("%x is %+v, written again %+v, %v", raw, fact, again, err)
		}
	})
}
