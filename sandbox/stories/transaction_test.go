package stories_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
	"crossgate/store"
)

// stepsOfOrders are the kinds of an order's transactions that the index distinguishes, and those of its external call.
var stepsOfOrders = map[chain.Family][]string{
	chain.EVM: {
		"created", "give_increased", "take_decreased", "fulfilled", "sent 1", "claimed 1", "sent 2", "claimed 2", "external_call",
	},
	chain.SVM: {
		"created", "give_increased", "take_decreased", "fulfilled", "sent 1", "claimed 1", "cancelled", "sent 2", "claimed 2",
	},
	chain.TVM: {"created", "give_increased", "take_decreased", "fulfilled", "sent 1", "claimed 1", "sent 2", "claimed 2"},
}

// stepTx is a transaction and the orders that it is a step of.
type stepTx struct {
	kind, hash string
	orders     []string
}

// TestEachTransactionOfAnOrderLeadsToIt requests one transaction of each kind on each family of chains, and one of each
// that is a step of several orders, from a gateway that has indexed everything and from one that has indexed nothing.
func TestEachTransactionOfAnOrderLeadsToIt(t *testing.T) {
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	g, warm := serveConfig(t, c)
	must.Do(t, g.AwaitIndexed(t.Context()))
	steps := stepsIn(t, c.Index.Path)
	for name, at := range map[string]string{"indexed": warm, "cold": serveSwaps(t, world, func(*config.Config) {})} {
		for _, step := range steps {
			t.Run(name+" "+step.kind, func(t *testing.T) { step.check(t, at) })
		}
	}
}

// check requests a transaction in each way.
func (s stepTx) check(t *testing.T, at string) {
	var ids struct{ OrderIDs []encodedJSON }
	var texts struct{ OrderIDs []string }
	get(t, at+"/api/Transaction/"+s.hash+"/orderIds", &ids)
	get(t, at+"/v1.0/dln/tx/"+s.hash+"/order-ids", &texts)
	for i := range ids.OrderIDs {
		if ids.OrderIDs[i].StringValue != texts.OrderIDs[i] {
			t.Errorf("orderIds has %v, order-ids %v", ids.OrderIDs, texts.OrderIDs)
		}
	}
	s.want(t, "order-ids", texts.OrderIDs)

	response, body := ask(t, http.MethodGet, at+"/api/Orders/creationTxHash/"+s.hash, "")
	links := strings.Join(response.Header.Values("Link"), ",")
	isNamed := func(format string, in string) bool {
		return slices.ContainsFunc(s.orders, func(id string) bool { return strings.Contains(in, fmt.Sprintf(format, id)) })
	}
	isCreation := strings.HasSuffix(s.kind, "created")
	switch {
	case isCreation && (response.StatusCode != http.StatusOK || !isNamed("%s", string(body))):
		t.Errorf("creationTxHash = %d, %.300s, want one of %s", response.StatusCode, body, s.orders)
	case !isCreation && (response.StatusCode != http.StatusNotFound || !isNamed(`<../%s>; rel="related"`, links)):
		t.Errorf("creationTxHash = %d, Link %q, %.300s, want 404 with links to %s", response.StatusCode, links, body, s.orders)
	}

	response, body = ask(t, http.MethodGet, at+"/search?query="+url.QueryEscape(s.hash), "")
	if response.StatusCode != http.StatusOK || !isNamed("<title>Order %.6s", string(body)) {
		t.Errorf("search = %d, %.300s, want the page of an order of %v", response.StatusCode, body, s.orders)
	}

	response, body = ask(t, http.MethodPost, at+"/api/Orders/filteredList", fmt.Sprintf(`{"filter":%q,"take":100}`, s.hash))
	checkDocumented(t, response, body)
	var list struct {
		Orders     []struct{ OrderID encodedJSON }
		TotalCount int
	}
	must.Do(t, json.Unmarshal(body, &list))
	var listed []string
	for _, o := range list.Orders {
		listed = append(listed, o.OrderID.StringValue)
	}
	if s.want(t, "filteredList", listed); list.TotalCount != len(s.orders) {
		t.Errorf("filteredList counts %d, want %d", list.TotalCount, len(s.orders))
	}
}

// want compares IDs in any order.
func (s stepTx) want(t *testing.T, what string, got []string) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, s.orders) {
		t.Errorf("%s of %s, %s, are %v, want %v", what, s.hash, s.kind, got, s.orders)
	}
}

// stepsIn reads transactions from an index: of each kind the first with one order, and the first with several.
func stepsIn(t *testing.T, path string) (steps []stepTx) {
	db := must.Get(store.OpenSQLite(t.Context(), path))(t)
	defer db.Close()
	type key struct {
		chain    chain.ID
		tx, kind string
	}
	orders, sequence := map[key][]string{}, []key{}
	err := db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		var k key
		var tx chain.TxHash
		var id chain.Hash
		if err := rows.Scan(&k.chain, store.TxHashColumn(&tx), &k.kind, store.HashColumn(&id)); err != nil {
			return err
		}
		if k.tx = tx.String(); orders[k] == nil {
			sequence = append(sequence, k)
		}
		orders[k] = append(orders[k], id.String())
		return nil
	}, `SELECT chain, tx, CASE kind WHEN 1 THEN 'created' WHEN 2 THEN 'give_increased' WHEN 3 THEN 'take_decreased'
		WHEN 4 THEN 'fulfilled' WHEN 5 THEN 'sent ' || ltrim(hex(substr(fact, 1, 1)), '0') WHEN 6 THEN 'claimed ' || ltrim(hex(substr(fact, 1, 1)), '0')
		WHEN 7 THEN 'cancelled' WHEN 8 THEN 'external_call' END, id FROM events JOIN orders ON number = order_number ORDER BY chain, block, log_index`)
	must.Do(t, err)
	chosen := map[string]bool{}
	for _, k := range sequence {
		ids := slices.Compact(slices.Sorted(slices.Values(orders[k])))
		name := chain.Documented().Family(k.chain).String() + " " + k.kind
		if len(ids) > 1 {
			name = "several " + name
		}
		if !chosen[name] {
			chosen[name] = true
			steps = append(steps, stepTx{name, k.tx, ids})
		}
	}
	for family, kinds := range stepsOfOrders {
		for _, kind := range kinds {
			if !chosen[family.String()+" "+kind] {
				t.Errorf("the world has no transaction of %s on %s", kind, family)
			}
		}
	}
	return steps
}
