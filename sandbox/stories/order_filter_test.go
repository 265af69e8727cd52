package stories_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestListsByTokenAndTheirExportsHoldTheWorldsOrders exports all orders, in both forms, and asks for those of each token
// on each chain and from each of its amounts on, which have to be the same rows; then for those whose value is known.
func TestListsByTokenAndTheirExportsHoldTheWorldsOrders(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	var want, got []string
	for _, o := range front.facts(t).Orders {
		want = append(want, o.OrderID)
	}
	var rows []map[string]string
	get(t, front.url+"/orders.json", &rows)
	_, text := ask(t, http.MethodGet, front.url+"/orders.csv?sort=Oldest", "")
	lines := must.Get(csv.NewReader(strings.NewReader(string(text))).ReadAll())(t)
	for i, row := range rows {
		got = append(got, row["id"])
		if line := lines[len(lines)-1-i]; line[0] != row["id"] || line[8] != row["giveUnits"] {
			t.Errorf("row %d is %v in JSON, and from the end %v in CSV", i, row, line)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(got) < 110 {
		t.Errorf("%d orders are exported, the world has %d", len(got), len(want))
	}
	for _, first := range rows {
		for _, side := range []string{"give", "take"} {
			on, token, from := first[side+"ChainId"], first[side+"Token"], first[side+"Units"]
			var listed struct {
				Orders     []struct{ OrderID encodedJSON }
				TotalCount int
			}
			response, body := ask(t, http.MethodPost, front.url+"/api/Orders/filteredList", fmt.Sprintf(
				`{"%sChainIds":[%s],"%sTokenAddress":%q,"%sAmountFrom":%s,"take":100}`, side, on, side, token, side, from))
			checkDocumented(t, response, body)
			decode(t, "list", body, &listed)
			var found, fits []string
			for _, o := range listed.Orders {
				found = append(found, o.OrderID.StringValue)
			}
			for _, row := range rows {
				least, amount := must.Get(chain.ParseAmount(from))(t), must.Get(chain.ParseAmount(row[side+"Units"]))(t)
				if row[side+"ChainId"] == on && row[side+"Token"] == token && amount.Cmp(least) >= 0 {
					fits = append(fits, row["id"])
				}
			}
			if !slices.Equal(found, fits) || len(fits) == 0 {
				t.Errorf("orders with %s on chain %s from %s on: %v, want %v", token, on, from, found, fits)
			}
		}
	}
	await(t, "valued", func() bool {
		var valued struct{ TotalCount int }
		_, body := ask(t, http.MethodPost, front.url+"/api/Orders/filteredList", `{"usdFrom":0.01,"usdTo":"1000000","sort":"Largest"}`)
		decode(t, "list", body, &valued)
		return valued.TotalCount > 50
	})
}
