package stories_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/proxy/admin"
	"crossgate/sandbox/sandboxtest"
)

// publish serves one token list.
func publish(t *testing.T, list string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(list)) }))
	t.Cleanup(server.Close)
	return server
}

// listText returns a token list: chain, address, symbol and decimals of each.
func listText(tokens ...string) string {
	var entries []string
	for _, each := range tokens {
		var id int
		var address, symbol string
		var decimals int
		if _, err := fmt.Sscan(each, &id, &address, &symbol, &decimals); err != nil {
			panic(err)
		}
		entries = append(entries, fmt.Sprintf(`{"chainId":%d,"address":"%s","symbol":"%s","name":"%s","decimals":%d}`,
			id, address, symbol, symbol, decimals))
	}
	return `{"name":"a list","tokens":[` + strings.Join(entries, ",") + `]}`
}

// awaitLists returns what operators see of the token lists once all are read.
func awaitLists(t *testing.T, g *gateway.Gateway) map[string]admin.Dependency {
	t.Helper()
	lists := map[string]admin.Dependency{}
	await(t, "read all lists", func() bool {
		isRead := true
		for _, each := range g.Dependencies(t.Context()) {
			if each.Kind == "token list" {
				lists[each.Name] = each
				isRead = isRead && each.State != "not read yet"
			}
		}
		return isRead
	})
	return lists
}

// TestTokenListsAreCheckedAgainstTheChains has one correct list, and one that lies about one of its tokens.
func TestTokenListsAreCheckedAgainstTheChains(t *testing.T) {
	t.Parallel()
	const maker, nowhere = "0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2", "0x00000000000000000000000000000000000a11ce"
	world := sandboxtest.Shared(t)
	sonic := factsOf(t, world).token(t, 100000014, "MKR") // which no order of the world is about: it would be listed for that
	honest := publish(t, listText("1 "+maker+" MKR 18", "1 "+nowhere+" NOWHERE 18", "42161 "+maker+" UNREAD 18"))
	lying := publish(t, listText("146 "+sonic+" MKR 18", "1 "+maker+" MKR 6"))
	path := filepath.Join(t.TempDir(), "orders.db")
	c := must.Get(config.Parse([]byte(string(world.Config(path)) + `
tokens:
  lists:
    - {name: honest, endpoints: [{url: "` + honest.URL + `"}]}
    - {name: lying, endpoints: [{url: "` + lying.URL + `"}]}
`)))(t)
	c = tested(c)
	c.Index.Lookback, c.Tokens.Refresh = 1, 0
	check := func(t *testing.T) {
		g, address := serveConfig(t, c)
		lists := awaitLists(t, g)
		if l := lists["honest"]; !l.OK || !strings.Contains(l.State, "1 tokens") {
			t.Errorf("the honest list: %+v", l)
		}
		lie := "MKR (" + strings.ToLower(maker) + ") of chain 1 has 6 decimals by the list and 18 by its contract"
		if l := lists["lying"]; l.OK || !strings.Contains(l.State, lie) {
			t.Errorf("the list that lies: %+v, want %s", l, lie)
		}
		var listed struct {
			Tokens map[string]struct {
				Symbol   string
				Decimals int
			}
		}
		get(t, address+"/v1.0/token-list?chainId=1", &listed)
		for _, want := range []struct {
			address, symbol string
			decimals        int
		}{
			{maker, "MKR", 18}, {"0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC", 6}, {"0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", "WBTC", 8},
		} {
			if got := listed.Tokens[strings.ToLower(want.address)]; got.Symbol != want.symbol || got.Decimals != want.decimals {
				t.Errorf("%s is listed as %+v", want.symbol, got)
			}
		}
		if got, isListed := listed.Tokens[nowhere]; isListed {
			t.Errorf("a token without a contract is listed: %+v", got)
		}
		get(t, address+"/v1.0/token-list?chainId=100000014", &listed)
		if got, isListed := listed.Tokens[strings.ToLower(sonic)]; isListed {
			t.Errorf("a token of the list that lies is listed: %+v", got)
		}
	}
	t.Run("fresh", func(t *testing.T) { check(t) })
	t.Run("restarted", func(t *testing.T) { check(t) })
}

// TestPricesFromTheChainAlone reads prices only from contracts, on a chain that has them and on one that does not: a
// missing price fails no swap.
func TestPricesFromTheChainAlone(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	address := serveSwaps(t, world, func(c *config.Config) { c.Prices = config.Prices{Feeds: true} })
	for _, chain := range world.Chains() {
		if chain.Facts.ID != 1 && chain.Facts.ID != 8453 {
			continue
		}
		trader := newTrader(t, world, chain, address)
		var swap struct {
			TokenIn, TokenOut struct{ ApproximateUSDValue float64 }
		}
		get(t, address+"/v1.0/chain/transaction?"+trader.query(swapCases[0]).Encode(), &swap)
		in, out := swap.TokenIn.ApproximateUSDValue, swap.TokenOut.ApproximateUSDValue
		priced := in > 0 && out > in*0.97 && out < in*1.01
		if has := chain.Facts.ID == 1; priced != has {
			t.Errorf("chain %d: USD = %v in, %v out; prices on the chain: %v", chain.Facts.ID, in, out, has)
		}
	}
}
