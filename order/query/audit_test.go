package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// keeper is a chain whose contracts return the states of both sides of orders, and whose blocks can be read twice.
type keeper struct {
	*testChain
	lowered map[order.ID]chain.Amount // amounts by which take amounts were lowered
}

func (k keeper) Origin(context.Context) (uint64, error) { return 1, nil }

func (k keeper) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	states := make([]order.StoredState, len(ids))
	for i, id := range ids {
		o, err := k.fold(ctx, id, order.GiveSide)
		if err != nil {
			return nil, err
		}
		if states[i].Err = k.unclear[id]; states[i].Err == nil {
			states[i] = order.StoredState{State: o.State, Amount: o.GiveFinal}
		}
	}
	return states, nil
}

func (k keeper) TakeStates(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	states := make([]order.StoredState, len(ids))
	for i, id := range ids {
		o, err := k.fold(ctx, id, order.TakeSide)
		if err != nil {
			return nil, err
		}
		states[i] = order.StoredState{State: o.State, Amount: k.lowered[id]}
	}
	return states, nil
}

func (k keeper) fold(ctx context.Context, id order.ID, side order.Side) (*order.Order, error) {
	read, err := k.History(ctx, id, side, 0)
	if o, hasTerms := order.Fold(read.Events); hasTerms {
		return o, err
	}
	return &order.Order{}, err
}

// audited is an index of two chains with one order in every state, all of them final.
type audited struct {
	*Index
	give, take keeper
	deals      map[order.State]deal
}

func newAudited(t *testing.T, db *store.DB) *audited {
	t.Helper()
	give, take, deals := keeper{testChain: newTestChain(1)}, keeper{newTestChain(137), map[order.ID]chain.Amount{}}, map[order.State]deal{}
	for i, state := range []order.State{order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock} {
		d := newDeal(byte(i+1), 1, 137)
		deals[state] = d
		give.mine([]told{d.created()})
		if state >= order.StateFulfilled {
			take.mine([]told{d.fulfilled()})
		}
		if state >= order.StateSentUnlock {
			take.mine([]told{d.sentUnlock()})
		}
		if state == order.StateClaimedUnlock {
			give.mine([]told{d.claimedUnlock()})
		}
	}
	give.mineEmpty(10)
	take.mineEmpty(10)
	x := newIndex(db, map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	return &audited{x, give, take, deals}
}

// differences returns the differences that an audit finds, and fails if anything could not be compared.
func (a *audited) differences(t *testing.T, of ledger.Selection) []audit.Difference {
	t.Helper()
	audits := must.Get(audit.Of(a.Chains).Audit(t.Context(), of, func(audit.Progress) {}))(t)
	var all []audit.Difference
	for _, each := range audits {
		if each.Err != nil || len(each.Unchecked) > 0 {
			t.Fatalf("audit of chain %d: %v, unchecked %v", each.Chain, each.Err, each.Unchecked)
		}
		all = append(all, each.Differences...)
	}
	return all
}

// damage is a way in which the store can be wrong about one order.
type damage struct {
	name           string
	statement      string
	state          order.State // of the damaged order
	missing, false int
}

var damages = []damage{
	{"nothing", `DELETE FROM events WHERE chain = 5`, order.None, 0, 0},
	{"a lost fulfilment", `DELETE FROM events WHERE kind = 4 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateFulfilled, 1, 0},
	{"a lost creation", `DELETE FROM events WHERE kind = 1 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateSentUnlock, 1, 0},
	{"a lost claim", `DELETE FROM events WHERE kind = 6 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateClaimedUnlock, 1, 0},
	{"all that the take chain said", `DELETE FROM events WHERE chain = 137 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateClaimedUnlock, 2, 0},
	{"an altered fact", `UPDATE events SET kind = 7, fact = substr(fact, 1, 0) WHERE kind = 5 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateSentUnlock, 1, 1},
	{"another transaction", `UPDATE events SET log_index = log_index + 7 WHERE kind = 5 AND order_number = (SELECT number FROM orders WHERE id = $1)`, order.StateSentUnlock, 1, 1},
}

func TestAuditNamesAndRepairMendsWhatDiffers(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		a := newAudited(t, db)
		a.give.mine([]told{newDeal(101, 1, 137).created()}, []told{newDeal(102, 1, 137).created()}) // of one block
		a.give.mineEmpty(10)
		followAll(t, a.Index)
		sound := dump(t, a.store)
		for _, damage := range damages { // each is mended before the next one
			t.Run(damage.name, func(t *testing.T) {
				d := a.deals[damage.state]
				damageStore(t, a.store, damage.statement, d.id)
				var missing, wrong int
				for _, each := range a.differences(t, ledger.Selection{}) {
					if each.Order != d.id || each.Contradicted {
						t.Errorf("found %+v, want order %s only, and all of it explained", each, d.id)
					}
					missing, wrong = missing+len(each.Missing), wrong+len(each.False)
				}
				if missing != damage.missing || wrong != damage.false {
					t.Errorf("%d events missing, %d false, want %d and %d", missing, wrong, damage.missing, damage.false)
				}
				a.mustRepair(t, ledger.Selection{}, uint64(damage.missing), uint64(damage.false))
				if got := dump(t, a.store); !slices.Equal(got, sound) {
					t.Errorf("after the repair the store holds %d rows, want the %d of before", len(got), len(sound))
				}
			})
		}
	})
}

// TestALostPatchOfTheTakeAmountIsFound: the state does not show the patch, but the contract's sum of patches does.
func TestALostPatchOfTheTakeAmountIsFound(t *testing.T) {
	a := newAudited(t, openStore(t))
	d := a.deals[order.StateCreated]
	final, lowered := d.terms.Take.Amount.Sub(chain.NewAmount(1)), chain.NewAmount(1)
	a.take.mine([]told{{d.id, order.TakeDecreased{Final: final}}})
	a.take.mineEmpty(10)
	a.take.lowered[d.id] = lowered
	followAll(t, a.Index)
	if got := a.differences(t, ledger.Selection{}); len(got) != 0 {
		t.Errorf("differences %+v, want none", got)
	}
	damageStore(t, a.store, `DELETE FROM events WHERE kind = 3 AND order_number = (SELECT number FROM orders WHERE id = $1)`, d.id)
	if got := a.differences(t, ledger.Selection{}); len(got) != 1 || len(got[0].Missing) != 1 || got[0].Contradicted {
		t.Errorf("differences %+v, want the patch", got)
	}
	a.mustRepair(t, ledger.Selection{}, 1, 0)
}

// An order whose state in the contracts is not clear leaves the comparison of others as it is.
func TestAuditNamesOrdersWhoseStateIsUnclear(t *testing.T) {
	a := newAudited(t, openStore(t))
	unclear, damaged := a.deals[order.StateClaimedUnlock].id, a.deals[order.StateSentUnlock].id
	a.give.unclear = map[order.ID]error{unclear: errors.New("status 4 is unknown")}
	damageStore(t, a.store, damages[2].statement, damaged)
	got := must.Get(audit.Of(a.Chains).Audit(t.Context(), ledger.Selection{Chain: 1, StatesAlone: true}, func(audit.Progress) {}))(t)[0]
	if got.Err != nil || len(got.Unchecked) != 1 || got.Unchecked[0].Order != unclear || len(got.Differences) != 1 || got.Differences[0].Order != damaged {
		t.Errorf("Audit() = %+v, want order %s unchecked and %s to differ", got, unclear, damaged)
	}
}

// damageStore changes events, and then folds their order as a gateway would.
func damageStore(t *testing.T, s ledger.Ledger, statement string, id order.ID) {
	t.Helper()
	must.Get(s.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
		args := []any{id[:]}
		if id.IsAbsent() {
			args = nil
		}
		if _, err := tx.ExecContext(t.Context(), statement, args...); err != nil {
			return err
		}
		for _, table := range []string{"locks", "orders"} {
			_, err := tx.ExecContext(t.Context(), `DELETE FROM `+table+` WHERE id NOT IN (SELECT id FROM orders JOIN events ON number = order_number)`)
			if err != nil {
				return err
			}
		}
		left, err := ledger.EventsOfAll(t.Context(), tx, []order.ID{id})
		if err != nil {
			return err
		}
		return tx.Correct(t.Context(), ledger.Correction{Wrong: left[id], Missing: left[id]})
	}))(t)
}

// dump returns all events and orders as text.
func dump(t *testing.T, s ledger.Ledger) (rows []string) {
	t.Helper()
	var folded []string
	for _, id := range []chain.ID{1, 137} {
		events := must.Get(s.EventsBetween(t.Context(), id, ledger.Range{From: 0, To: 1000}))(t)
		for _, e := range events {
			text := must.Get(json.Marshal(e))(t)
			rows = append(rows, string(text))
		}
		ids := must.Get(s.Selected(t.Context(), id, ledger.Selection{}))(t)
		for _, order := range ids {
			folded = append(folded, order.String())
		}
	}
	return append(rows, folded...)
}

func (a *audited) mustRepair(t *testing.T, of ledger.Selection, added, removed uint64) {
	t.Helper()
	repairs := must.Get(audit.Of(a.Chains).Repair(t.Context(), of, func(audit.Progress) {}))(t)
	var gotAdded, gotRemoved uint64
	for _, r := range repairs {
		if !r.IsWhole() {
			t.Errorf("repair of chain %d left %+v, %v", r.Chain, r.Left, r.Err)
		}
		gotAdded, gotRemoved = gotAdded+r.Added, gotRemoved+r.Removed
	}
	if gotAdded != added || gotRemoved != removed {
		t.Errorf("the repair added %d events and removed %d, want %d and %d", gotAdded, gotRemoved, added, removed)
	}
}

func TestAuditSelects(t *testing.T) {
	a := newAudited(t, openStore(t))
	for _, d := range a.deals {
		damageStore(t, a.store, `DELETE FROM events WHERE kind = 1 AND order_number = (SELECT number FROM orders WHERE id = $1)`, d.id)
	}
	created, fulfilled := a.deals[order.StateCreated].id, a.deals[order.StateFulfilled].id
	sent, claimed := a.deals[order.StateSentUnlock].id, a.deals[order.StateClaimedUnlock].id
	for name, test := range map[string]struct {
		of   ledger.Selection
		want []order.ID
	}{
		"everything":              {ledger.Selection{}, []order.ID{fulfilled, sent, claimed}},
		"a chain":                 {ledger.Selection{Chain: 1}, []order.ID{fulfilled, sent, claimed}},
		"the other chain":         {ledger.Selection{Chain: 137}, nil},
		"an order":                {ledger.Selection{Orders: []order.ID{sent}}, []order.ID{sent}},
		"an order without events": {ledger.Selection{Orders: []order.ID{created}}, []order.ID{created}},
		"an order of nobody":      {ledger.Selection{Orders: []order.ID{{9}}}, nil},
		"a taker":                 {ledger.Selection{Taker: taker}, []order.ID{fulfilled, sent, claimed}},
		"another taker":           {ledger.Selection{Taker: chain.NewAddress([]byte("somebody"))}, nil},
		"since":                   {ledger.Selection{Since: 1_000_020}, []order.ID{sent, claimed}},
		"until":                   {ledger.Selection{Until: 1_000_010}, []order.ID{fulfilled}},
	} {
		var got []order.ID
		for _, d := range a.differences(t, test.of) {
			got = append(got, d.Order)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: orders %v differ, want %v", name, got, test.want)
		}
	}
}

// TestAuditLeavesOutWhatIsNotRead: blocks that are not yet final, or not yet read, make no difference.
func TestAuditLeavesOutWhatIsNotRead(t *testing.T) {
	a := newAudited(t, openStore(t))
	d := a.deals[order.StateCreated]
	a.take.mine([]told{d.fulfilled()}) // not read by the index
	if got := a.differences(t, ledger.Selection{}); len(got) != 0 {
		t.Errorf("differences %+v, want none", got)
	}
	followAll(t, a.Index)
	damageStore(t, a.store, `DELETE FROM events WHERE kind = 4 AND order_number = (SELECT number FROM orders WHERE id = $1)`, d.id)
	if got := a.differences(t, ledger.Selection{}); len(got) != 0 {
		t.Errorf("differences %+v, want none: the block is not final", got)
	}
	a.take.mineEmpty(10)
	if got := a.differences(t, ledger.Selection{}); len(got) != 1 {
		t.Errorf("differences %+v, want the fulfilment", got)
	}
}

func TestAuditTellsWhatItCouldNotCompare(t *testing.T) {
	a := newAudited(t, openStore(t))
	down := errors.New("no route to host")
	a.take.fail(down)
	audits, err := audit.Of(a.Chains).Audit(t.Context(), ledger.Selection{}, func(audit.Progress) {})
	if err != nil || len(audits) != 2 || !audits[0].IsSound() || !errors.Is(audits[1].Err, down) || audits[1].IsSound() {
		t.Errorf("Audit = %+v, %v, want chain 1 sound and chain 137 not compared", audits, err)
	}
}

// TestRepairOfBlocksProvesWhatAnEarlierVersionRead: an order that the store has lost entirely comes back, and all
// blocks count as proven.
func TestRepairOfBlocksProvesWhatAnEarlierVersionRead(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		a := newAudited(t, db)
		sound := dump(t, a.store)
		damageStore(t, a.store, `DELETE FROM events WHERE order_number = (SELECT number FROM orders WHERE id = $1)`, a.deals[order.StateFulfilled].id)
		execute(t, a.store.DB, `UPDATE checkpoints SET proven_from = 11, proven_end = 11`)
		repairs := must.Get(audit.Of(a.Chains).RepairBlocks(t.Context(), 0, 0, 1<<62, func(audit.Progress) {}))(t)
		for _, r := range repairs {
			position, _, err := a.store.Checkpoint(t.Context(), r.Chain)
			if err != nil || !r.IsWhole() || r.Added != 1 || r.Blocks != r.To || r.From != 0 || position.ProvenFrom != 0 {
				t.Errorf("repair %+v, %v, want one event added and all final blocks from the origin on verified", r, err)
			}
			if position.Reorgs != 1 {
				t.Errorf("chain %d: answers were withdrawn %d times, want once", r.Chain, position.Reorgs)
			}
		}
		if got := dump(t, a.store); !slices.Equal(got, sound) {
			t.Errorf("after the repair the store holds %d rows, want the %d of before", len(got), len(sound))
		}
	})
}

func TestJoinProven(t *testing.T) {
	for _, test := range []struct {
		name               string
		proven, r          ledger.Range // proven.To is the end
		wantFrom, wantUpTo uint64
	}{
		{"right before", ledger.Range{From: 50, To: 60}, ledger.Range{From: 40, To: 49}, 40, 60},
		{"right after", ledger.Range{From: 50, To: 60}, ledger.Range{From: 60, To: 69}, 50, 70},
		{"over it", ledger.Range{From: 50, To: 60}, ledger.Range{From: 40, To: 79}, 40, 80},
		{"within", ledger.Range{From: 50, To: 60}, ledger.Range{From: 52, To: 55}, 50, 60},
		{"apart, before", ledger.Range{From: 50, To: 60}, ledger.Range{From: 30, To: 48}, 50, 60},
		{"apart, after", ledger.Range{From: 50, To: 60}, ledger.Range{From: 61, To: 70}, 50, 60},
		{"nothing is proven", ledger.Range{From: 101, To: 101}, ledger.Range{From: 0, To: 100}, 0, 101},
	} {
		db := openStore(t)
		execute(t, db, `INSERT INTO checkpoints (chain, first_block, first_time, block, block_time) VALUES (1, 0, 0, 100, 0)`)
		_, err := ledger.Ledger{DB: db}.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
			if _, err := tx.ExecContext(t.Context(), `UPDATE checkpoints SET proven_from = $1, proven_end = $2`,
				int64(test.proven.From), int64(test.proven.To)); err != nil {
				return err
			}
			return tx.JoinProven(t.Context(), 1, test.r)
		})
		position, _, readErr := ledger.Ledger{DB: db}.Checkpoint(t.Context(), 1)
		if err != nil || readErr != nil || position.ProvenFrom != test.wantFrom || position.ProvenEnd != test.wantUpTo {
			t.Errorf("%s: proven from %d to before %d, %v, %v, want %d and %d", test.name, position.ProvenFrom, position.ProvenEnd,
				err, readErr, test.wantFrom, test.wantUpTo)
		}
	}
}

// TestAFollowerTakesOverWhatARepairMoved: a follower about to store a range looks again, and invalidates the answers
// that its gateway keeps.
func TestAFollowerTakesOverWhatARepairMoved(t *testing.T) {
	a := newAudited(t, openStore(t))
	ended := 0
	f := a.Of(137)
	f.Observer = observed{branch: func(chain.ID) { ended++ }}
	damageStore(t, a.store, `DELETE FROM events WHERE kind = 4 AND order_number = (SELECT number FROM orders WHERE id = $1)`, a.deals[order.StateFulfilled].id)
	position, _, err := a.store.Checkpoint(t.Context(), 137)
	if err != nil {
		t.Fatal(err)
	}
	a.mustRepair(t, ledger.Selection{}, 1, 0)
	a.take.mine()
	head := must.Get(a.take.Head(t.Context()))(t)
	if _, err := f.ReadOn(t.Context(), position, position.Block, head); !errors.Is(err, ledger.ErrMoved) {
		t.Errorf("a range read before the repair was stored after it: %v, want errMoved", err)
	}
	catchUp(t, f)
	if ended == 0 {
		t.Error("kept answers were not ended")
	}
}

// contested is a chain with one endpoint that contradicts the others about transactions and histories.
type contested struct {
	keeper
	standing order.Standing // of the others' agreement
	err      error          // of transactions, with nothing for the others to confirm; nil: none
}

func (c contested) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	truth, err := c.keeper.EventsIn(ctx, tx)
	said := truth
	said.Events, said.Standing = nil, order.Single
	if c.err != nil {
		return said, c.err
	}
	said.Confirm = func(context.Context) order.Evidence {
		if c.standing == order.Single {
			return order.Evidence{Events: said.Events}
		}
		return order.Evidence{Events: truth.Events, Standing: c.standing, Wrong: []string{"liar"}}
	}
	return said, err
}

func (c contested) Attest(_ context.Context, events []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: events, Standing: order.Corroborated}, nil
}

func (c contested) History(ctx context.Context, id order.ID, side order.Side, since uint64) (order.Evidence, error) {
	read, err := c.keeper.History(ctx, id, side, since)
	if read.Standing = c.standing; c.standing == order.Single {
		read.Events = nil
	}
	return read, err
}

func (c contested) Verify(ctx context.Context, from, to uint64, _ []order.Event) (order.Evidence, error) {
	p, err := c.keeper.Verify(ctx, from, to, nil)
	if p.Standing = c.standing; c.standing == order.Single {
		p.Events = nil
	}
	return p, err
}

// TestOneEndpointsWordIsNoDifference audits and repairs a sound store, whose blocks two endpoints have read, on chains
// where one endpoint contradicts it: if the others answer it is named, and if it is the only one nothing is changed.
func TestOneEndpointsWordIsNoDifference(t *testing.T) {
	for name, test := range map[string]contested{
		"others answer":                       {standing: order.Corroborated},
		"it is alone":                         {standing: order.Single},
		"it is alone, and has pruned history": {standing: order.Single, err: order.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			standing := test.standing
			a, said := newAudited(t, openStore(t)), new(bytes.Buffer)
			sound := dump(t, a.store)
			if _, err := audit.Of(a.Chains).RepairBlocks(t.Context(), 0, 0, 1000, func(audit.Progress) {}); err != nil {
				t.Fatal(err)
			}
			x := newIndex(a.store.DB, map[chain.ID]order.Source{1: contested{a.give, standing, test.err}, 137: contested{a.take, standing, test.err}},
				follow.Options{Chains: evmChains(1, 137), Logger: slog.New(slog.NewTextHandler(said, nil))})
			repairs, err := audit.Of(x.Chains).Repair(t.Context(), ledger.Selection{}, func(audit.Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, each := range repairs {
				isSure := len(each.Left.Unchecked) == 0
				if each.Err != nil || each.Added+each.Removed > 0 || len(each.Left.Differences) > 0 || isSure != (standing > order.Single) {
					t.Errorf("repair of chain %d: %+v, left %+v", each.Chain, each, each.Left)
				}
			}
			if got := dump(t, a.store); !slices.Equal(got, sound) {
				t.Errorf("the store holds %d rows, want the %d of before", len(got), len(sound))
			}
			if isNamed := strings.Contains(said.String(), "endpoints=liar"); isNamed != (standing > order.Single) {
				t.Errorf("the endpoint is named: %t in %s", isNamed, said)
			}
		})
	}
}
