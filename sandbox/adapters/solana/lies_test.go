package solana_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	wire "crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/sandbox/jsonrpc"
	sandbox "crossgate/sandbox/solana"
	"crossgate/upstream/solana"
)

// liar is the ledger's node with altered answers to one method.
type liar struct {
	world  *world
	method string
	alter  func(result json.RawMessage) json.RawMessage
}

func (l liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	jsonrpc.Each(w, r, mostBytes, func(one *http.Request, call jsonrpc.Request, _ int) *jsonrpc.Recorder {
		told := jsonrpc.Record(l.world.Chain, one)
		var answer struct{ Result json.RawMessage }
		if call.Method != l.method || json.Unmarshal(told.Body.Bytes(), &answer) != nil {
			return told
		}
		return jsonrpc.Answer(call, `"result":`+string(l.alter(answer.Result)))
	})
}

// TestLiesGoToTheNextNode proves that the second node's answers replace the first one's wrong ones.
func TestLiesGoToTheNextNode(t *testing.T) {
	w := newWorld(t)
	made, another := w.create(sandbox.Way{}), w.create(sandbox.Way{})
	anotherText := w.raw("getTransaction", another.Creation.String(), map[string]any{"encoding": "base64", "maxSupportedTransactionVersion": 0})
	replace := func(before, after string) func(json.RawMessage) json.RawMessage {
		return func(result json.RawMessage) json.RawMessage {
			if !strings.Contains(string(result), before) {
				t.Errorf("%q is not in %.300s", before, result)
			}
			return json.RawMessage(strings.Replace(string(result), before, after, 1))
		}
	}
	for name, l := range map[string]liar{
		"another transaction":       {w, "getTransaction", func(json.RawMessage) json.RawMessage { return anotherText }},
		"no outcome":                {w, "getTransaction", replace(`"meta":{`, `"mega":{`)},
		"no slot":                   {w, "getTransaction", replace(`"slot":`, `"slat":`)},
		"a slot to come":            {w, "getTransaction", replace(`"slot":3`, `"slot":93`)},
		"transaction cut short":     {w, "getTransaction", replace(`"transaction":["`, `"transaction":["AAAA`)},
		"other encoding":            {w, "getTransaction", replace(`"base64"]`, `"base58"]`)},
		"accounts from nowhere":     {w, "getTransaction", replace(`"readonly":[`, `"readonly":["11111111111111111111111111111111"`)},
		"no such transaction":       {w, "getTransaction", func(json.RawMessage) json.RawMessage { return json.RawMessage("null") }},
		"block without hash":        {w, "getBlock", replace(`"blockhash"`, `"blockHush"`)},
		"block that does not exist": {w, "getBlock", func(json.RawMessage) json.RawMessage { return json.RawMessage("null") }},
	} {
		read, err := w.chain(l).EventsIn(t.Context(), txOf(made.Creation))
		events := read.Events
		if err != nil || len(events) != 1 || events[0].Order != made.Terms.ID() || events[0].At.BlockHash.IsAbsent() {
			t.Errorf("EventsIn after %s = %+v, %v, want the creation", name, events, err)
		}
	}
	devnet := liar{w, "getGenesisHash", func(json.RawMessage) json.RawMessage {
		return json.RawMessage(`"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"`)
	}}
	trips := w.tripsOf(func() {
		if events, err := w.chain(devnet).EventsIn(t.Context(), txOf(made.Creation)); err != nil || len(events.Events) != 1 {
			t.Errorf("EventsIn after a node of another cluster = %+v, %v, want the creation", events, err)
		}
	})
	if trips == 0 {
		t.Error("a node of another cluster was believed")
	}
	head := w.Head()
	for name, l := range map[string]liar{
		"signatures out of order": {w, "getSignaturesForAddress", func(result json.RawMessage) json.RawMessage {
			return append(append(json.RawMessage("["), bytes.Trim(result, "[]")...), json.RawMessage(`,{"signature":"`+made.Creation.String()+`","slot":9999999999}]`)...)
		}},
		"no signature": {w, "getSignaturesForAddress", func(json.RawMessage) json.RawMessage { return json.RawMessage(`[{"slot":1}]`) }},
	} {
		events, err := w.chain(l).Events(t.Context(), head-20, head)
		if err != nil || len(events) != 2 {
			t.Errorf("Events after %s = %+v, %v, want two", name, facts(events), err)
		}
	}
}

// TestFeesThatOneNodeReportsAreNotBelieved covers a node that reports another creation fee, which only the logs
// contain, or another block time.
func TestFeesThatOneNodeReportsAreNotBelieved(t *testing.T) {
	w := newWorld(t)
	from, made := w.Head(), w.create(sandbox.Way{})
	truth := must.Get(w.chain().EventsIn(t.Context(), txOf(made.Creation)))(t).Events[0]
	fee := truth.Fact.(order.Created).FixFee
	lying := liar{w, "getTransaction", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`Program data: [^"]*`).ReplaceAllFunc(result, func(text []byte) []byte {
			event := must.Get(base64.StdEncoding.DecodeString(string(text[len("Program data: "):])))(t)
			own := binary.LittleEndian.AppendUint64(nil, fee.Big().Uint64())
			event = bytes.Replace(event, own, binary.LittleEndian.AppendUint64(nil, 1), 1)
			return []byte("Program data: " + base64.StdEncoding.EncodeToString(event))
		})
	}}
	late := liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`"blockTime":\d`).ReplaceAll(result, []byte(`"blockTime":9`))
	}}
	for name, nodes := range map[string][]http.Handler{"the first": {late, w}, "the second": {w, late}} {
		read, err := w.chainOver(nodes...).History(t.Context(), made.Terms.ID(), order.GiveSide, 0)
		if err != nil || len(read.Events) != 1 || read.Events[0].At.Time != truth.At.Time || read.Standing == order.Single {
			t.Errorf("another time by %s: History = %+v, %v, want that of the transaction, which both have", name, read, err)
		}
	}
	forked := liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`"blockhash":"[^"]*"`).ReplaceAll(result, []byte(`"blockhash":"`+usdc.Mint.String()+`"`))
	}}
	for name, row := range map[string]struct {
		nodes []http.Handler
		want  order.Standing
	}{"one of two": {[]http.Handler{forked, w}, order.Single}, "one of three": {[]http.Handler{forked, w, w}, order.Corroborated}} {
		c := w.chainOver(row.nodes...)
		read := order.Agreed(t.Context(), c, must.Get(c.EventsIn(t.Context(), txOf(made.Creation)))(t))
		if isTrue := read.Events[0].At.BlockHash == truth.At.BlockHash; read.Standing != row.want || row.want > order.Single && !isTrue {
			t.Errorf("another block hash by %s: standing %d, right: %t, want standing %d", name, read.Standing, isTrue, row.want)
		}
		proof := must.Get(c.Verify(t.Context(), from, w.Head(), must.Get(c.Events(t.Context(), from, w.Head()))(t)))(t)
		if isTrue := proof.Events[0].At.BlockHash == truth.At.BlockHash; slices.Contains(proof.Wrong, "node-1") || isTrue != (proof.Standing > order.Single) {
			t.Errorf("another block hash by %s: verified on standing %d, right: %t, %v named", name, proof.Standing, isTrue, proof.Wrong)
		}
	}
	for name, row := range map[string]struct {
		nodes []http.Handler
		want  order.Standing
		wrong []string
	}{
		"a third decides":       {[]http.Handler{lying, w, w}, order.Corroborated, []string{"node-0"}},
		"a third, of the first": {[]http.Handler{w, lying, w}, order.Corroborated, []string{"node-1"}},
		"two agree":             {[]http.Handler{w, w}, order.Corroborated, nil},
		"two":                   {[]http.Handler{w, lying}, order.Single, nil},
		"one":                   {[]http.Handler{w}, order.Single, nil},
	} {
		found := must.Get(w.chainOver(row.nodes...).EventsIn(t.Context(), txOf(made.Creation)))(t).Confirm(t.Context())
		history := must.Get(w.chainOver(row.nodes...).History(t.Context(), made.Terms.ID(), order.GiveSide, 0))(t)
		c := w.chainOver(row.nodes...)
		verified := must.Get(c.Verify(t.Context(), from, w.Head(), must.Get(c.Events(t.Context(), from, w.Head()))(t)))(t)
		verified.Wrong = slices.Compact(slices.Sorted(slices.Values(verified.Wrong)))
		for how, read := range map[string]order.Evidence{"looked up": found, "as history": history, "verified": verified} {
			if got := read.Events[0].Fact.(order.Created).FixFee; got != fee || read.Standing != row.want || !slices.Equal(read.Wrong, row.wrong) {
				t.Errorf("%s, %s: fee %s on standing %d, %v named, want %s on %d and %v",
					name, how, got, read.Standing, read.Wrong, fee, row.want, row.wrong)
			}
		}
	}
	var asked atomic.Int64
	spent := jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getTransaction" && asked.Add(1) > 1 {
			return `"error":{"code":-32005,"message":"rate limit exceeded"}`
		}
		return ""
	})
	emptied := jsonrpc.Altered(liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`"transactions":\[.*\]`).ReplaceAll(result, []byte(`"transactions":[]`))
	}}, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getSignaturesForAddress" {
			return `"result":[]`
		}
		return ""
	})
	refusing := jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getBlock" && strings.Contains(string(call.Params[1]), `"accounts"`) {
			return `"error":{"code":-32603,"message":"internal error"}`
		}
		return ""
	})
	for what, nodes := range map[string][]http.Handler{"transactions": {lying, spent}, "blocks": {emptied, refusing}} {
		proof := must.Get(w.chainOver(nodes...).Verify(t.Context(), from, w.Head(), []order.Event{truth}))(t)
		if proof.Standing != order.Single || len(proof.Wrong) > 0 {
			t.Errorf("%s of the honest one are missing: verified on standing %d, %v named, want the word of one", what, proof.Standing, proof.Wrong)
		}
	}
}

// TestOneNodeEndsNoLookup has a node list a transaction that there is not, or an account that is no order's: what the
// other one says is its word. Lists dated too early leave nothing out.
func TestOneNodeEndsNoLookup(t *testing.T) {
	w := newWorld(t)
	made := w.create(sandbox.Way{})
	id, since := made.Terms.ID(), must.Get(w.chain().EventsIn(t.Context(), txOf(made.Creation)))(t).Events[0].At.Time
	dating := liar{w, "getSignaturesForAddress", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`"blockTime":\d+`).ReplaceAll(result, []byte(`"blockTime":1`))
	}}
	adding := liar{w, "getSignaturesForAddress", func(result json.RawMessage) json.RawMessage {
		var listed []map[string]any
		must.Do(t, json.Unmarshal(result, &listed))
		for i := range listed {
			made := maps.Clone(listed[i])
			made["signature"] = strings.Replace(made["signature"].(string), made["signature"].(string)[40:42], "22", 1)
			listed = append(listed, made)
		}
		slices.SortStableFunc(listed, func(a, b map[string]any) int { return int(b["slot"].(float64) - a["slot"].(float64)) })
		return must.Get(json.Marshal(listed))(t)
	}}
	beyond := w.listingLater(1000)
	account := func(member, as string) liar {
		return liar{w, "getMultipleAccounts", func(result json.RawMessage) json.RawMessage {
			return regexp.MustCompile(member).ReplaceAll(result, []byte(as))
		}}
	}
	delivered, openCall := w.terms(nil), w.terms([]byte("call"))
	w.deliver(sandbox.Way{}, delivered)
	w.deliver(sandbox.Way{}, openCall)
	o, promised := asked(t, usdc, 1_000_000, nil)
	data := must.Get(w.chain().Create(t.Context(), o, promised.ID, nil, quote.Normal))(t)
	tabled := must.Get(wire.ParseUnsigned(must.Get(w.chain().Unlock(t.Context(), w.unlockOf(delivered)))(t).Data))(t)
	asks := map[string]func(*solana.Chain) error{
		"Charges": func(c *solana.Chain) error { return errOf(c.Charges(t.Context(), 1)) },
		"Payee":   func(c *solana.Chain) error { return errOf(c.Payee(t.Context(), o.GiveToken, o.Maker)) },
		"Create":  func(c *solana.Chain) error { return errOf(c.Create(t.Context(), o, promised.ID, nil, quote.Normal)) },
		"Unlock":  func(c *solana.Chain) error { return errOf(c.Unlock(t.Context(), w.unlockOf(delivered))) },
		"LookUp": func(c *solana.Chain) error {
			_, _, err := c.LookUp(t.Context(), tabled)
			return err
		},
		"CancelCall": func(c *solana.Chain) error {
			return errOf(c.CancelCall(t.Context(), order.ID(openCall.ID()), termsOf(openCall)))
		},
		"Forecast": func(c *solana.Chain) error {
			all, err := c.Forecast(t.Context(), creation.Transaction{Data: data})
			if err == nil && (all[0].Refusal != nil || len(all[0].Unknown) > 0) {
				err = fmt.Errorf("%+v, %q", all[0].Refusal, all[0].Unknown)
			}
			return err
		},
	}
	answers := func(c *solana.Chain, name string) {
		for what, ask := range asks {
			if err := ask(c); err != nil {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
	for isSecond := range 2 {
		with := func(node http.Handler) *solana.Chain {
			if isSecond == 1 {
				return w.chainOver(w, node)
			}
			return w.chainOver(node, w)
		}
		reverting := w.instead("simulateTransaction", `{"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}`)
		answers(with(reverting), fmt.Sprintf("node %d has all revert", isSecond))
		dated, err := with(dating).History(t.Context(), id, order.GiveSide, since)
		if err != nil || len(dated.Events) != 1 || dated.Standing == order.Single {
			t.Errorf("node %d dates the list too early: History = %+v, %v, want the creation", isSecond, dated, err)
		}
		read, err := with(adding).History(t.Context(), id, order.GiveSide, 0)
		if err != nil || len(read.Events) != 1 || read.Standing != order.Single {
			t.Errorf("node %d adds a transaction: History = %+v, %v, want the creation", isSecond, read, err)
		}
		if read, err := with(beyond).History(t.Context(), id, order.GiveSide, 0); err != nil || len(read.Events) != 1 {
			t.Errorf("node %d lists slots that are to come: History = %+v, %v, want the creation", isSecond, read, err)
		}
		for name, node := range map[string]http.Handler{
			"a senseless": account(`"data":\["[^"]*"`, `"data":["AAAA"`), "an empty": account(`"data":\["[^"]*"`, `"data":[""`),
			"no": account(`\{[^{}]*"owner"[^{}]*\}`, "null"), "a stranger's": account(`"owner":"[^"]*"`, `"owner":"`+usdc.Mint.String()+`"`),
		} {
			stored, err := with(node).States(t.Context(), []order.ID{id})
			if err != nil || stored[0].State != order.StateCreated || !stored[0].IsSingle {
				t.Errorf("node %d has %s account: States = %+v, %v, want the order's", isSecond, name, stored, err)
			}
			answers(with(node), fmt.Sprintf("node %d has %s account", isSecond, name))
		}
	}
}

func errOf(_ any, err error) error { return err }

// listingLater is the ledger's node that lists all transactions some slots later or, if that is negative, earlier.
func (w *world) listingLater(slots int) http.Handler {
	return liar{w, "getSignaturesForAddress", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`"slot":\d+`).ReplaceAllFunc(result, func(text []byte) []byte {
			return fmt.Appendf(nil, `"slot":%d`, must.Get(strconv.Atoi(string(text[len(`"slot":`):])))(w.t)+slots)
		})
	}}
}

// TestWrongSlotsCostFewCalls has the first node list each of many transactions one slot too late, or one block for all.
func TestWrongSlotsCostFewCalls(t *testing.T) {
	w := newWorld(t)
	from := w.Head()
	for range 12 {
		w.create(sandbox.Way{})
	}
	c := w.chainOver(w.listingLater(1), w)
	if trips := w.tripsOf(func() { _, _ = c.Events(t.Context(), from, w.Head()) }); trips > 20 {
		t.Errorf("%d requests, want few for each answer that is not right", trips)
	}
	same := newCounter(liar{w, "getBlocks", func(result json.RawMessage) json.RawMessage {
		return regexp.MustCompile(`\d+`).ReplaceAll(result, regexp.MustCompile(`\d+`).Find(result))
	}})
	_, _ = w.chainOver(same, w).Events(t.Context(), from, w.Head())
	if asked := same.reset()["getBlock"]; asked > 20 {
		t.Errorf("%d blocks were read where one was listed over and over", asked)
	}
}

// TestNoListBoundsASecondReading has the first node list its transactions fifty slots too early.
func TestNoListBoundsASecondReading(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	slot := must.Get(w.chain().EventsIn(t.Context(), txOf(w.create(sandbox.Way{}).Creation)))(t).Events[0].At.Block
	w.Mine(100)
	c := w.chainOver(w.listingLater(-50), w)
	first := must.Get(c.Events(t.Context(), slot-10, slot+10))(t)
	if proof := must.Get(c.Verify(t.Context(), slot-10, slot+10, first))(t); len(proof.Events) != 1 {
		t.Errorf("verified as %+v, want the creation", proof)
	}
}

// TestNoGapIsQuiet covers a node that continued from a snapshot: it calls the slots that it missed skipped, as those are
// that have no block, and lists none of their transactions.
func TestNoGapIsQuiet(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	first := w.Head() + 1
	w.Mine(200)
	made := w.create(sandbox.Way{})
	w.Mine(200)
	created, last := w.slotOf(made.Creation), w.Head()
	w.Mine(100)
	isMissing := func(slot uint64) bool { return first <= slot && slot <= last }
	jumped := jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		switch call.Method {
		case "getSignaturesForAddress":
			return `"result":[]`
		case "getBlocks":
			var slots []uint64
			must.Do(t, json.Unmarshal(w.raw("getBlocks", call.Params[0], call.Params[1], map[string]any{"commitment": "confirmed"}), &slots))
			return `"result":` + string(must.Get(json.Marshal(slices.DeleteFunc(slots, isMissing)))(t))
		case "getBlock":
			if slot := must.Get(strconv.ParseUint(string(call.Params[0]), 10, 64))(t); isMissing(slot) {
				return fmt.Sprintf(`"error":{"code":-32007,"message":"Slot %d was skipped, or missing due to ledger jump to recent snapshot"}`, slot)
			}
		}
		return ""
	})
	const skipped = 37 // every so many slots have no block
	for name, row := range map[string]struct {
		from, to uint64
		isQuiet  bool // in truth
	}{
		"all of it":                     {first - 20, last + 20, false},
		"within":                        {first + 190, last - 190, false},
		"its beginning":                 {first - 20, last - 190, false},
		"its end":                       {first + 190, last + 20, false},
		"its last slot":                 {last, last, false},
		"before it":                     {first - 90, first - 1, true},
		"after it":                      {last + 1, last + 90, true},
		"a slot in truth without block": {(last/skipped + 1) * skipped, (last/skipped + 1) * skipped, true},
	} {
		alone, beside := w.chainOver(jumped), w.chainOver(jumped, w)
		for _, c := range []*solana.Chain{alone, beside} {
			must.Get(c.Head(t.Context()))(t)
		}
		if events, err := alone.Events(t.Context(), row.from, row.to); (err == nil) != row.isQuiet {
			t.Errorf("%s: Events = %v, %v", name, facts(events), err)
		}
		if proof, err := alone.Verify(t.Context(), row.from, row.to, nil); (err == nil) != row.isQuiet {
			t.Errorf("%s: Verify = %v, %v", name, facts(proof.Events), err)
		}
		events, err := beside.Events(t.Context(), row.from, row.to)
		if isIn := row.from <= created && created <= row.to; err != nil || isIn != (len(events) == 1) {
			t.Errorf("%s, beside another node: Events = %v, %v", name, facts(events), err)
		}
	}
}

// TestABlockThatIsListedIsNoGap covers a node that lists a block after slots without any, and calls it skipped: if
// there is no other node, its lists of transactions count.
func TestABlockThatIsListedIsNoGap(t *testing.T) {
	w := newWorld(t)
	w.Mine(200)
	made := w.create(sandbox.Way{})
	w.Mine(100)
	from := w.slotOf(made.Creation) / 37 * 37 // a slot without a block
	contradicting := jsonrpc.Altered(w, func(call jsonrpc.Request, _ int) string {
		if call.Method == "getBlock" && string(call.Params[0]) == strconv.FormatUint(from+1, 10) {
			return fmt.Sprintf(`"error":{"code":-32007,"message":"Slot %d was skipped, or missing due to ledger jump to recent snapshot"}`, from+1)
		}
		return ""
	})
	for _, c := range []*solana.Chain{w.chainOver(contradicting), w.chainOver(contradicting, w)} {
		must.Get(c.Head(t.Context()))(t)
		if events, err := c.Events(t.Context(), from, from+80); err != nil || len(events) != 1 {
			t.Errorf("Events = %v, %v, want the creation", facts(events), err)
		}
	}
}

// altered returns a transaction with its outcome changed by alter.
func altered(t *testing.T, result json.RawMessage, alter func(meta map[string]json.RawMessage)) json.RawMessage {
	var told, meta map[string]json.RawMessage
	must.Do(t, json.Unmarshal(result, &told))
	must.Do(t, json.Unmarshal(told["meta"], &meta))
	alter(meta)
	told["meta"] = must.Get(json.Marshal(meta))(t)
	return must.Get(json.Marshal(told))(t)
}

// TestTransactionsThatLackPartsAreReadElsewhere covers a first node that omits parts of transactions, which remain
// readable without them.
func TestTransactionsThatLackPartsAreReadElsewhere(t *testing.T) {
	w := newWorld(t)
	from, id := w.Head(), w.fulfil(sandbox.Way{}, nil)
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, id))
	for _, part := range []string{"innerInstructions", "logMessages"} {
		alter := func(result json.RawMessage) json.RawMessage {
			return altered(t, result, func(meta map[string]json.RawMessage) { delete(meta, part) })
		}
		events, err := w.chain(liar{w, "getTransaction", alter}).Events(t.Context(), from, w.Head())
		if err != nil || len(events) != 2 {
			t.Fatalf("Events without %s = %+v, %v, want fulfilment and unlock", part, facts(events), err)
		}
		if sent := events[1].Fact.(order.Sent); sent.Submission.IsAbsent() {
			t.Errorf("Events without %s = %+v, want the other node's, with the message", part, sent)
		}
	}
}

// TestACreationWhoseLogsAreCutLeavesOutNoOthers covers an only node without logs, which only creations need.
func TestACreationWhoseLogsAreCutLeavesOutNoOthers(t *testing.T) {
	w := newWorld(t)
	from := w.Head()
	w.create(sandbox.Way{})
	id := w.fulfil(sandbox.Way{}, nil)
	cut := func(result json.RawMessage) json.RawMessage {
		return altered(t, result, func(meta map[string]json.RawMessage) { meta["logMessages"] = json.RawMessage(`["Log truncated"]`) })
	}
	events, err := w.chainOver(liar{w, "getTransaction", cut}).Events(t.Context(), from, w.Head())
	if diff := cmp.Diff(expect(id, "Fulfilled"), facts(events)); diff != "" || err != nil {
		t.Errorf("Events = %v (-want +got):\n%s", err, diff)
	}
}

// TestATransactionThatCannotBeDecodedStopsNoOthers covers an only node whose logs of one creation make no sense, as after
// a change of the program.
func TestATransactionThatCannotBeDecodedStopsNoOthers(t *testing.T) {
	w := newWorld(t)
	from := w.Head()
	made := w.create(sandbox.Way{})
	id := w.fulfil(sandbox.Way{}, nil)
	strange := func(result json.RawMessage) json.RawMessage {
		return altered(t, result, func(meta map[string]json.RawMessage) {
			meta["logMessages"] = regexp.MustCompile(`(Program data: [^"]{128})[^"]+`).ReplaceAll(meta["logMessages"], []byte("$1"))
		})
	}
	c := w.chainOver(liar{w, "getTransaction", strange})
	events, err := c.Events(t.Context(), from, w.Head())
	aside, is := errors.AsType[*order.AsideError](err)
	if diff := cmp.Diff(expect(id, "Fulfilled"), facts(events)); diff != "" || !is || len(aside.Transactions) != 1 || aside.Transactions[0].Tx != txOf(made.Creation) {
		t.Errorf("Events = %v, %v (-want +got):\n%s", events, err, diff)
	}
	if read, err := c.EventsIn(t.Context(), txOf(made.Creation)); err == nil {
		t.Errorf("EventsIn of it = %v", facts(read.Events))
	}
	if read, err := c.History(t.Context(), made.Terms.ID(), order.GiveSide, 0); err == nil {
		t.Errorf("History of its order = %v", facts(read.Events))
	}
}

// raw calls the ledger's node.
func (w *world) raw(method string, params ...any) json.RawMessage {
	w.t.Helper()
	body := must.Get(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))(w.t)
	told := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	w.Chain.ServeHTTP(told, request)
	var answer struct{ Result json.RawMessage }
	must.Do(w.t, json.Unmarshal(told.Body.Bytes(), &answer))
	return answer.Result
}

// TestAnUnlockIsNotLeftOutForOneNodesGap covers a first node that lists only the batch unlock among an order's steps.
func TestAnUnlockIsNotLeftOutForOneNodesGap(t *testing.T) {
	w := newWorld(t)
	first, second := w.fulfil(sandbox.Way{}, nil), w.fulfil(sandbox.Way{}, nil)
	from := w.Head() + 1
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, first, second))
	listing := func(alter func(list []map[string]any) []map[string]any) liar {
		return liar{w, "getSignaturesForAddress", func(result json.RawMessage) json.RawMessage {
			var list []map[string]any
			must.Do(t, json.Unmarshal(result, &list))
			return must.Get(json.Marshal(alter(list)))(t)
		}}
	}
	newest := listing(func(list []map[string]any) []map[string]any { return list[:min(len(list), 1)] })
	for name, nodes := range map[string][]http.Handler{"the first": {newest, w}, "the second": {w, newest}} {
		events, err := w.chainOver(nodes...).Events(t.Context(), from, w.Head())
		if err != nil || len(events) != 2 {
			t.Errorf("a gap of %s: Events = %v, %v, want the unlock of both orders", name, facts(events), err)
		}
	}
	events := must.Get(w.chain().Events(t.Context(), from, w.Head()))(t)
	for name, node := range map[string]http.Handler{
		"other slots":       w.listingLater(1),
		"the unlock always": listing(func(list []map[string]any) []map[string]any { return slices.Repeat(list[:1], len(list)) }),
		"another delivery": listing(func(list []map[string]any) []map[string]any {
			list[1]["signature"] = strings.Replace(list[1]["signature"].(string), list[1]["signature"].(string)[40:42], "22", 1)
			return list
		}),
	} {
		if read, err := w.chain(node).EventsIn(t.Context(), events[0].At.Tx); err != nil || len(read.Events) != 2 {
			t.Errorf("the first lists %s: EventsIn = %v, %v, want the unlock of both orders", name, facts(read.Events), err)
		}
	}
}
