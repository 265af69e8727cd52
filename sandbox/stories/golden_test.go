package stories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/internal/must"
)

// TestGoldenLedgers asks two gateways about the golden ledgers: one traces each order directly on the chains, the other
// has indexed them all.
func TestGoldenLedgers(t *testing.T) {
	t.Parallel()
	ledgers := replayLedgers(t)
	for _, l := range ledgers {
		l.second = strings.Replace(l.rpc, "127.0.0.1", "localhost", 1)
	}
	t.Run("traced", func(t *testing.T) {
		front := startGolden(t, ledgers, 1)
		t.Run("orders", front.orders)
		t.Run("cases", front.particular)
	})
	t.Run("indexed", func(t *testing.T) {
		front := startGolden(t, ledgers, 0)
		t.Run("finality", front.finality)
		t.Run("orders", front.orders)
		t.Run("cases", front.particular)
		t.Run("lists", front.lists)
		t.Run("locked", front.locked)
		t.Run("locked cases", front.lockedCases)
	})
	t.Run("old blocks", func(t *testing.T) { checkStale(t, ledgers) })
}

// orders compares every order of the golden ledgers, by its creation and by its id.
func (f goldenFront) orders(t *testing.T) {
	for _, want := range readExpectation(t).Orders {
		var byCreation, byID map[string]any
		get(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", f.url, want.CreationTxHash, want.IndexInTx), &byCreation)
		get(t, f.url+"/api/Orders/"+want.OrderID, &byID)
		compare(t, want.OrderID, byCreation, want.json())
		compare(t, want.OrderID, byID, byCreation)
	}
}

// lists finds every order of the golden ledgers in the whole list, page by page, and compares it with its record.
func (f goldenFront) lists(t *testing.T) {
	const pageLength = 40
	listed := map[string]map[string]any{}
	for skip := 0; ; skip += pageLength {
		var page struct {
			Orders     []map[string]any
			TotalCount int
		}
		response, body := ask(t, http.MethodPost, f.url+"/api/Orders/filteredList", fmt.Sprintf(`{"skip":%d,"take":%d}`, skip, pageLength))
		checkDocumented(t, response, body)
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&page); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for _, each := range page.Orders {
			listed[each["orderId"].(map[string]any)["stringValue"].(string)] = each
		}
		if len(page.Orders) < pageLength {
			if page.TotalCount != len(listed) {
				t.Errorf("%d different orders are listed, of %d", len(listed), page.TotalCount)
			}
			break
		}
	}
	orders := readExpectation(t).Orders
	for _, want := range orders {
		var record map[string]any
		get(t, f.url+"/api/Orders/"+want.OrderID, &record)
		found := map[string]any{}
		for _, member := range []string{
			"orderId", "giveOfferWithMetadata", "takeOfferWithMetadata", "state", "externalCallState", "finalPercentFee", "fixFee", "preswapData",
		} {
			found[member] = record[member]
		}
		compare(t, want.OrderID, listed[want.OrderID], found)
	}
	if len(listed) != len(orders) {
		t.Errorf("%d orders are listed, want %d", len(listed), len(orders))
	}
}

func (f goldenFront) locked(t *testing.T) {
	for _, e := range readExpectation(t).Locked {
		var got []any
		get(t, f.url+"/api/Satistics/"+e.Taker+"/lockedAssets", &got)
		compare(t, e.Taker, got, lockedJSON(e.Chains))
	}
}

// goldenCases are hashes and orders of the golden ledgers with some peculiarity.
type goldenCases struct {
	UnknownHash, MalformedHash                              []string
	UpperCaseHashOfKnownTx                                  string
	FailedTx, NoDlnTx, ForeignEmitterTx, DlnTxButNoCreation []struct{ Tx string }

	MultiOrderTx []struct {
		Tx       string
		OrderIDs []string
	}
	CreateAndFulfilInOneTx []struct{ Tx, CreatedOrderID, FulfilledOrderID string }
	BatchUnlockTx          []struct {
		Tx, SubmissionID string
		OrderIDs         []string
	}
	SeveralClaimsInOneTx []struct {
		Tx     string
		Claims []struct{ OrderID, SubmissionID string }
	}
	TakeChainNotConfigured   []struct{ Tx, OrderID string }
	FulfilledButNeverCreated []struct{ OrderID, UnlockAuthority string }
	GiveChainNotConfigured   []struct{ OrderID, UnlockAuthority string }
	AddressWithNothingLocked []string
	EventAfterFinalized      []string
	CreatedAfterFinalized    []string
}

// goldenFront is a gateway in front of the golden ledgers, with the cases to ask about.
type goldenFront struct {
	url       string
	cases     goldenCases
	creations map[string]string // creation hash by order id
}

func startGolden(t *testing.T, ledgers []*ledger, lookback int) goldenFront {
	t.Helper()
	front := goldenFront{creations: map[string]string{}}
	readGolden(t, filepath.Join(golden, "ledgers-A", "cases-A.json"), &front.cases)
	for _, o := range readExpectation(t).Orders {
		front.creations[o.OrderID] = o.CreationTxHash
	}
	g, url := serveGateway(t, replayConfig(t, ledgers, lookback))
	must.Do(t, g.AwaitIndexed(t.Context()))
	front.url = url
	return front
}

// order fetches the record of a creation hash.
func (f goldenFront) order(t *testing.T, creation string) map[string]any {
	t.Helper()
	var record map[string]any
	get(t, f.url+"/api/Orders/creationTxHash/"+creation, &record)
	return record
}

// refused requires a problem instead of a record.
func (f goldenFront) refused(t *testing.T, creation string, status int, errorID string) {
	t.Helper()
	problem := problemAt(t, f.url+"/api/Orders/creationTxHash/"+creation)
	if problem.status != status || problem.ErrorID != errorID || problem.Message == "" || problem.ReqID == "" {
		t.Errorf("%s: %+v, want %d %s", creation, problem, status, errorID)
	}
}

func (f goldenFront) particular(t *testing.T) {
	t.Run("no order", f.refusals)
	t.Run("one transaction, several orders", f.shared)
	t.Run("spellings", func(t *testing.T) {
		upper := f.cases.UpperCaseHashOfKnownTx
		compare(t, upper, f.order(t, upper), f.order(t, strings.ToLower(upper)))
		bare := strings.TrimPrefix(upper, "0x")
		compare(t, bare, f.order(t, bare), f.order(t, upper))
	})
	t.Run("a chain that is not configured", func(t *testing.T) {
		for _, c := range f.cases.TakeChainNotConfigured {
			compare(t, c.Tx, f.order(t, c.Tx), map[string]any{
				"orderId": hashJSON(unhex(c.OrderID)), "state": "Created", "fulfilledDstEventMetadata": nil,
			})
		}
	})
}

func (f goldenFront) refusals(t *testing.T) {
	for _, hash := range f.cases.UnknownHash {
		f.refused(t, hash, http.StatusNotFound, "TRANSACTION_NOT_FOUND")
	}
	for _, hash := range f.cases.MalformedHash {
		if strings.HasPrefix(hash, "0X") { // which is read like 0x
			f.refused(t, hash, http.StatusNotFound, "TRANSACTION_NOT_FOUND")
			continue
		}
		f.refused(t, hash, http.StatusBadRequest, "MALFORMED_TRANSACTION_HASH")
	}
	for _, list := range [][]struct{ Tx string }{
		f.cases.FailedTx, f.cases.NoDlnTx, f.cases.ForeignEmitterTx, f.cases.DlnTxButNoCreation,
	} {
		for _, c := range list {
			f.refused(t, c.Tx, http.StatusNotFound, "TRANSACTION_WITHOUT_ORDER")
		}
	}
}

// shared asks about transactions that affected several orders.
func (f goldenFront) shared(t *testing.T) {
	for _, c := range f.cases.MultiOrderTx {
		compare(t, c.Tx, f.order(t, c.Tx)["orderId"], hashJSON(unhex(c.OrderIDs[0])))
		var list struct{ OrderIDs []any }
		get(t, f.url+"/api/Transaction/"+c.Tx+"/orderIds", &list)
		var want []any
		for _, id := range c.OrderIDs {
			want = append(want, hashJSON(unhex(id)))
		}
		compare(t, c.Tx, list.OrderIDs, want)
	}
	for _, c := range f.cases.CreateAndFulfilInOneTx {
		compare(t, c.Tx, f.order(t, c.Tx)["orderId"], hashJSON(unhex(c.CreatedOrderID)))
		fulfilled := f.order(t, f.creations[c.FulfilledOrderID])
		compare(t, c.Tx, fulfilled["fulfilledDstEventMetadata"], map[string]any{"transactionHash": hashJSON(unhex(c.Tx))})
	}
	happened := func(tx, submission string) map[string]any {
		return map[string]any{
			"transactionMetadata": map[string]any{"transactionHash": hashJSON(unhex(tx))}, "submissionId": hashJSON(unhex(submission)),
		}
	}
	for _, c := range f.cases.BatchUnlockTx {
		for _, id := range c.OrderIDs {
			compare(t, id, f.order(t, f.creations[id])["sentUnlockDstEventInfo"], happened(c.Tx, c.SubmissionID))
		}
	}
	for _, c := range f.cases.SeveralClaimsInOneTx {
		for _, claim := range c.Claims {
			record := f.order(t, f.creations[claim.OrderID])
			info := record["claimedUnlockSrcEventInfo"]
			if record["state"] == "ClaimedOrderCancel" {
				info = record["claimedOrderCancelSrcEventInfo"]
			}
			compare(t, claim.OrderID, info, happened(c.Tx, claim.SubmissionID))
		}
	}
}

func (f goldenFront) lockedCases(t *testing.T) {
	for _, address := range f.cases.AddressWithNothingLocked {
		var got []any
		get(t, f.url+"/api/Satistics/"+address+"/lockedAssets", &got)
		if got == nil || len(got) != 0 {
			t.Errorf("locked for %s: %v, want an empty list", address, got)
		}
	}
	for _, list := range [][]struct{ OrderID, UnlockAuthority string }{
		f.cases.FulfilledButNeverCreated, f.cases.GiveChainNotConfigured,
	} {
		for _, c := range list {
			var got []any
			get(t, f.url+"/api/Satistics/"+common.HexToAddress(c.UnlockAuthority).Hex()+"/lockedAssets", &got)
			if strings.Contains(fmt.Sprint(got), c.OrderID) {
				t.Errorf("order %s is locked for %s, and was never created on a chain that is read", c.OrderID, c.UnlockAuthority)
			}
		}
	}
}

// finality checks how long answers may be cached: long if nothing can follow, no reorg can revert anything and
// everything is proven; else for a moment. Blocks are proven after they were read.
func (f goldenFront) finality(t *testing.T) {
	await(t, "an order that is kept for long, and one for a moment", func() bool { return len(f.lives(t)) == 2 })
}

// lives returns which lifetimes answers have.
func (f goldenFront) lives(t *testing.T) map[string]bool {
	kept := map[string]bool{}
	for _, o := range readExpectation(t).Orders {
		if o.OrdersInTx > 1 {
			continue // their answers are cached together
		}
		life := "public, max-age=2, stale-while-revalidate=2, stale-if-error=300"
		headers := headersAt(t, f.url+"/api/Orders/creationTxHash/"+o.CreationTxHash)
		if o.isProven(t, headers.Get("Index-Basis")) && (o.Record["state"] == "ClaimedUnlock" || o.Record["state"] == "ClaimedOrderCancel") &&
			o.Record["externalCallState"] != "AwaitingExecution" && !slices.Contains(f.cases.EventAfterFinalized, o.OrderID) {
			life = "public, max-age=3600, stale-while-revalidate=3600, stale-if-error=79200"
		}
		if got := headers.Get("Cache-Control"); got != life {
			t.Errorf("order %s, %s: Cache-Control %q, want %q", o.OrderID, o.Record["state"], got, life)
		}
		kept[life] = true
	}
	return kept
}

// isProven reports whether an answer's basis has the blocks of all steps of an order on its chains as proven.
func (o goldenOrder) isProven(t *testing.T, basis string) bool {
	t.Helper()
	for name, step := range o.Record {
		id := o.SourceChainID
		if strings.Contains(name, "Dst") {
			id = o.TakeChainID
		}
		at, _ := step.(map[string]any)
		if inner, isNested := at["transactionMetadata"].(map[string]any); isNested {
			at = inner
		}
		number, isStep := at["blockNumber"].(json.Number)
		if isStep && basisBlock(t, basis, id.String(), "block") > 0 &&
			must.Get(strconv.ParseUint(number.String(), 10, 64))(t) > basisBlock(t, basis, id.String(), "proven") {
			return false
		}
	}
	return true
}

func headersAt(t *testing.T, url string) http.Header {
	t.Helper()
	response, _ := ask(t, http.MethodHead, url, "")
	return response.Header
}
