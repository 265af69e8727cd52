package pages

import (
	"fmt"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/proxy/wire"
)

func listPage(t *testing.T, l List) string {
	t.Helper()
	l.Now, l.Chains, l.Rows = Noon, chain.Documented().All(), 25
	pages := NewViews(Explored())
	return Render(t, func(to io.Writer) error { return pages.List(to, l) })
}

func TestListsAreTurnedByLinks(t *testing.T) {
	rows := twoOf1234()
	page := listPage(t, List{Answer: rows, Skip: 50, Form: url.Values{"state": {"Created"}, "skip": {"50"}, "maker": {""}}})
	golden.Contains(t, "the page", page, `href="/orders?skip=25&amp;state=Created" rel="prev"`, `href="/orders?skip=52&amp;state=Created" rel="next"`, `href="/orders?mode=SameChain&amp;state=Created"`)
	first, last := listPage(t, List{Answer: rows}), listPage(t, List{Answer: rows, Skip: 1232})
	if strings.Contains(first, `rel="prev"`) || !strings.Contains(first, `href="/orders?skip=2" rel="next"`) {
		t.Errorf("the first page: %s", first)
	}
	if !strings.Contains(last, `href="/orders?skip=1207" rel="prev"`) || strings.Contains(last, `rel="next"`) {
		t.Errorf("the last page: %s", last)
	}
}

// TestTheCommandOfAListIsOneWhateverIsSearchedFor proves that the command quotes what a link has put into the form.
func TestTheCommandOfAListIsOneWhateverIsSearchedFor(t *testing.T) {
	page := listPage(t, List{Answer: twoOf1234(), Origin: "https://gate.example", Body: `{"filter":"'; echo paid; '"}`})
	const want = "curl 'https://gate.example/api/Orders/filteredList' \\\n  -H 'Content-Type: application/json' \\\n" +
		`  -d '{"filter":"'\''; echo paid; '\''"}'`
	if !strings.Contains(html.UnescapeString(page), "<code>"+want+"</code>") {
		t.Errorf("the page lacks %s: %s", want, page[strings.Index(page, "curl"):])
	}
}

// TestFiltersAreFoldedUntilOneIsSet folds what would fill the first screen of a phone.
func TestFiltersAreFoldedUntilOneIsSet(t *testing.T) {
	rows := twoOf1234()
	for query, clear := range map[string]string{
		"": "", "skip=25": "", "mode=SameChain&maker=": "",
		"state=Created&skip=25": "/orders", "mode=SameChain&maker=0x12": "/orders?mode=SameChain",
	} {
		page := listPage(t, List{Answer: rows, Form: must.Get(url.ParseQuery(query))(t)})
		if isOpen := strings.Contains(page, `<details class="folds" open>`); isOpen != (clear != "") {
			t.Errorf("%s: the filters are unfolded: %t", query, isOpen)
		}
		if link := `<a href="` + clear + `">Clear the filter</a>`; strings.Contains(page, "Clear the filter") != (clear != "") || clear != "" && !strings.Contains(page, link) {
			t.Errorf("%s: the page lacks %s, or has one too many", query, link)
		}
	}
}

// TestOnlySpreadsheetsGetSymbolsWithoutFormulas exports a token whose symbol a spreadsheet would execute.
func TestOnlySpreadsheetsGetSymbolsWithoutFormulas(t *testing.T) {
	record := recordOf("created")
	record.Give.Symbol = "=HYPERLINK(1);=1"
	row := NewViews(Explored()).exported(wire.Listed{Order: record})
	if at := slices.Index(exportColumns, "giveSymbol"); row[at] != "=HYPERLINK(1);=1" || inert(row)[at] != "'=HYPERLINK(1);'=1" {
		t.Errorf("%q in JSON, %q in CSV", row[at], inert(row)[at])
	}
}

func TestFilterHasEveryStateOfTheForm(t *testing.T) {
	filter, wrong := filterOf(url.Values{"state": {"", "Fulfilled", "SentUnlock"}, "from": {""}})
	if got := fmt.Sprint(filter["orderStates"], filter["giveChainIds"], wrong); got != "[Fulfilled SentUnlock] <nil> []" {
		t.Errorf("states, chains and faults: %s", got)
	}
}
