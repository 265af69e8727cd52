package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/token"
	"crossgate/token/catalog"
)

func key(t testing.TB, id chain.ID, text string) token.Key {
	t.Helper()
	return token.Key{Chain: id, Address: must.Get(chain.ParseAddress(text, chain.Documented().Family(id)))(t)}
}

const (
	linkText = "0x514910771AF9Ca656af840dff83E8264EcF986CA"
	jupText  = "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN"
	// listedSolana is the chain ID of Solana in lists of tokenlists.org.
	listedSolana = 501000101
)

// entry returns a token as in a list of tokenlists.org.
func entry(id int, address, symbol, name, decimals string) string {
	return fmt.Sprintf(`{"chainId":%d,"address":"%s","symbol":"%s","name":"%s","decimals":%s}`, id, address, symbol, name, decimals)
}

// listOf returns a list of tokenlists.org.
func listOf(entries ...string) string { return `{"tokens":[` + strings.Join(entries, ",") + `]}` }

// jupiterWith returns an answer of Jupiter with its own token and a logo.
func jupiterWith(logo string) string {
	return `[{"id":"` + jupText + `","name":"Jupiter","symbol":"JUP","icon":"` + logo + `","decimals":6}]`
}

func TestParseReadsBothFormats(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want map[token.Key]token.Token
	}{
		"tokenlists.org": {
			`{"name":"a list","version":{"major":1,"minor":0,"patch":0},"tokens":[
				{"chainId":1,"address":"` + linkText + `","symbol":"LINK","name":"Chainlink","decimals":18,"logoURI":"https://logos.example/link.png"},
				` + entry(listedSolana, jupText, "JUP", "Jupiter", "6") + `,
				` + entry(5, linkText, "LINK", "of a chain that nobody knows", "1") + `]}`,
			map[token.Key]token.Token{
				key(t, 1, linkText):           {Decimals: 18, Symbol: "LINK", Name: "Chainlink", LogoURI: "https://logos.example/link.png"},
				key(t, chain.Solana, jupText): {Decimals: 6, Symbol: "JUP", Name: "Jupiter"},
			},
		},
		"Jupiter": {
			` [{"id":"` + jupText + `","name":"Jupiter","symbol":"JUP","icon":"https://static.example/icon.png","decimals":6,"isVerified":true}]`,
			map[token.Key]token.Token{
				key(t, chain.Solana, jupText): {Decimals: 6, Symbol: "JUP", Name: "Jupiter", LogoURI: "https://static.example/icon.png"},
			},
		},
	} {
		got, err := catalog.Parse([]byte(row.text), chain.Documented())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(row.want, got.Tokens, cmp.Comparer(func(a, b chain.Address) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestParseReadsWhatWasPublished parses an excerpt of Uniswap's list and an answer of Jupiter.
func TestParseReadsWhatWasPublished(t *testing.T) {
	for name, want := range map[string]int{"uniswap-default-token-list.excerpt.json": 6, "jupiter-tokens-v2-search.doc-example.json": 1} {
		text := recorded.File(t, "recorded/chains/"+name)
		var known struct {
			Response struct{ Body json.RawMessage }
		}
		must.Do(t, json.Unmarshal(text, &known))
		if known.Response.Body != nil {
			text = known.Response.Body
		}
		got, err := catalog.Parse(text, chain.Documented())
		if err != nil || len(got.Tokens) != want || len(got.LeftOut) != 0 {
			t.Errorf("%s: %d tokens, left out %v, %v; want %d", name, len(got.Tokens), got.LeftOut, err, want)
		}
	}
}

func TestParseLeavesOutWhatIsHostile(t *testing.T) {
	const at = "0x00000000000000000000000000000000000a11ce"
	for _, row := range []struct {
		address, symbol, name, decimals string
		reason                          string // empty: accepted
	}{
		{at, "GOOD", "A good token", "18", ""},
		{at, "$WIF", "Ünïcode Æther 币", "0", ""},
		{at, "币安", "BNB Life", "18", ""},
		{at, "Ξ", "a Greek letter like no Latin one", "18", ""},
		{linkText[:40] + "cA", "GOOD", "wrong checksum", "18", "malformed address"},
		{"0x12", "GOOD", "short", "18", "malformed address"},
		{"0x0000000000000000000000000000000000000000", "GOOD", "the coin", "18", "coin"},
		{at, "GOOD", "none", "null", "decimals"},
		{at, "GOOD", "too many", "78", "decimals"},
		{at, "GOOD", "too few", "-1", "decimals"},
		{at, "", "no symbol", "18", "text"},
		{at, "  ", "no symbol", "18", "text"},
		{at, "GOOD", "", "18", "text"},
		{at, strings.Repeat("A", 21), "long", "18", "text"},
		{at, "GOOD", strings.Repeat("é", 61), "18", "text"},
		{at, `GO\u0000OD`, "control", "18", "text"},
		{at, `GO\nOD`, "line", "18", "text"},
		{at, `\u202eDOOG`, "turned around", "18", "text"},
		{at, "GOOD", `hidden\u200b`, "18", "text"},
		{at, "GOOD", `isolated \u2066`, "18", "text"},
		{at, "GOOD", `broken \ud800`, "18", "text"},
		{at, "GOOD", `z\u0300\u0301\u0302\u0303algo`, "18", "text"},
		{at, "GOOD", `filler \u3164`, "18", "text"},
		{at, "ETH", "Ethereum", "18", "looks like"},
		{at, "eth", "Ethereum", "18", "looks like"},
		{at, "ΕΤΗ", "Greek letters", "18", "looks like"},
		{at, "USDC", "USD Coin", "6", "looks like"},
		{at, "USDС", "a Cyrillic letter", "6", "looks like"},
		{at, "U S D C", "spaces", "6", "looks like"},
		{at, "U$DC", "a dollar sign", "6", "looks like"},
		{at, "ＵＳＤＣ", "full width", "6", "looks like"},
		{at, "РАУ", "Cyrillic that reads as PAY", "6", "looks like"},
	} {
		got, err := catalog.Parse([]byte(listOf(entry(1, row.address, row.symbol, row.name, row.decimals))), chain.Documented())
		if err != nil {
			t.Errorf("%s %s: %v", row.symbol, row.name, err)
			continue
		}
		var reason string
		for reason = range got.LeftOut {
		}
		if len(got.Tokens)+len(got.LeftOut) != 1 || (row.reason == "") != (reason == "") || !strings.Contains(reason, row.reason) {
			t.Errorf("%s %s: kept %d, left out %v; want %q", row.symbol, row.name, len(got.Tokens), got.LeftOut, row.reason)
		}
	}
}

// TestWellKnownTokensPass checks the texts of the well-known tokens themselves.
func TestWellKnownTokensPass(t *testing.T) {
	d := token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented()})
	for _, c := range chain.Documented().All() {
		for _, each := range d.Listed(t.Context(), c.ID) {
			if each.Address.IsNative() || each.Address == c.WrappedCoin {
				continue
			}
			if err := catalog.CheckText(c, each.Key, each.Token); err != nil {
				t.Errorf("%s of chain %d: %v", each.Symbol, c.ID, err)
			}
		}
	}
}

func TestParseKeepsNoLogoThatIsNone(t *testing.T) {
	for logo, want := range map[string]bool{
		"https://logos.example/link.png?x=1": true, "http://logos.example/link.png": false, "javascript:alert(1)": false,
		"data:image/svg+xml,<svg/>": false, "ipfs://abc": false, "https://user:key@logos.example/a.png": false,
		"https://127.0.0.1/a.png": false, "https://localhost/a.png": false, "https://[::1]/a.png": false,
		"https://logos.example:8443/a.png": false, `https://logos.example/\"onerror=x`: false, "//logos.example/a.png": false,
		"https://logos.example/" + strings.Repeat("a", 512): false, "": false,
	} {
		got, err := catalog.Parse([]byte(jupiterWith(logo)), chain.Documented())
		if err != nil {
			t.Fatalf("%s: %v", logo, err)
		}
		if kept := got.Tokens[key(t, chain.Solana, jupText)].LogoURI; (kept != "") != want {
			t.Errorf("logo %q is kept as %q", logo, kept)
		}
	}
}

func TestParseRefusesWhatIsNoList(t *testing.T) {
	link := func(decimals string) string { return entry(1, linkText, "LINK", "Chainlink", decimals) }
	for text, want := range map[string]string{
		``:                            "malformed JSON",
		`<html>secret</html>`:         "malformed JSON",
		`{}`:                          "neither",
		`null`:                        "neither",
		`{"tokens":"secret"}`:         "the wrong type",
		`[{"id":{"secret":true}}`:     "malformed JSON",
		`[{"id":{"secret":true}}]`:    "the wrong type",
		listOf(link("18"), link("8")): "18 and 8 decimals",
		`[` + strings.Repeat(`{},`, catalog.MaxTokens) + `{}]`: "more than",
		`[` + strings.Repeat(` `, catalog.MaxBytes) + `]`:      "more than",
		`{"tokens":` + strings.Repeat(`[`, 100_000):            "malformed JSON",
	} {
		_, err := catalog.Parse([]byte(text), chain.Documented())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%.30s) = %v, want an error about %s", text, err, want)
		}
	}
}

func TestCheckNamesTheTokenWhoseDecimalsAreALie(t *testing.T) {
	link, other := key(t, 1, linkText), key(t, 1, "0x00000000000000000000000000000000000a11ce")
	elsewhere := key(t, 10, linkText)
	l := catalog.List{Tokens: map[token.Key]token.Token{
		link: {Decimals: 18, Symbol: "LINK"}, other: {Decimals: 6, Symbol: "OTHER"}, elsewhere: {Decimals: 1},
	}}
	ethereum, _ := chain.Documented().Chain(1)
	got, err := l.Check(ethereum, map[token.Key]token.Reading{link: {Decimals: new(uint8(18))}, elsewhere: {Decimals: new(uint8(9))}})
	if _, confirmed := got[link]; err != nil || len(got) != 1 || !confirmed {
		t.Errorf("Check = %v, %v, want LINK alone: the other contract is silent", got, err)
	}
	_, err = l.Check(ethereum, map[token.Key]token.Reading{link: {Decimals: new(uint8(18))}, other: {Decimals: new(uint8(18))}})
	const want = "OTHER (0x00000000000000000000000000000000000a11ce) of chain 1 has 6 decimals by the list and 18 by its contract"
	if err == nil || err.Error() != want {
		t.Errorf("Check = %v, want %s", err, want)
	}
}

func TestCatalogKeepsTheFirstListsWord(t *testing.T) {
	var c catalog.Catalog
	link := key(t, 1, linkText)
	c.Replace("unknown", map[token.Key]token.Token{link: {Symbol: "UNKNOWN"}})
	c.SetNames([]string{"one", "two"})
	c.Replace("two", map[token.Key]token.Token{link: {Symbol: "TWO"}, key(t, 1, "0x00000000000000000000000000000000000a11ce"): {}})
	c.Replace("unknown", map[token.Key]token.Token{link: {Symbol: "UNKNOWN"}})
	if got := c.Tokens(1)[link.Address].Symbol; got != "TWO" {
		t.Errorf("LINK is %q, want that of the only list which has it", got)
	}
	c.Replace("one", map[token.Key]token.Token{link: {Symbol: "ONE"}})
	if got := c.Tokens(1); len(got) != 2 || got[link.Address].Symbol != "ONE" {
		t.Errorf("Tokens = %v, want both, LINK of the first", got)
	}
	c.SetNames([]string{"two"})
	if got := c.Tokens(1)[link.Address].Symbol; got != "TWO" || len(c.Tokens(10)) != 0 {
		t.Errorf("LINK is %q, want that of the list which is left", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(listOf(entry(1, linkText, "LINK", "Chainlink", "18"))))
	f.Add([]byte(jupiterWith("https://static.example/icon.png")))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := catalog.Parse(text, chain.Documented())
		if err != nil && got.Tokens != nil {
			t.Fatalf("Parse(%q) = %v beside %v", text, got, err)
		}
		for key, each := range got.Tokens {
			c, known := chain.Documented().Chain(key.Chain)
			if !known || key.Address.IsNative() || catalog.CheckText(c, key, each) != nil || token.CleanText(each.Symbol) != strings.TrimSpace(each.Symbol) {
				t.Errorf("Parse(%q) keeps %+v of chain %d", text, each, key.Chain)
			}
		}
	})
}
