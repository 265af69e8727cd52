package pages

import (
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
)

// List is the content of the page of a list of orders, or of swaps within a chain.
type List struct {
	Form    url.Values // as the visitor filled it in
	Chains  []chain.Chain
	States  []string // that orders can be in
	Faults  []Fault  // of the form; without a field: of all of it
	Problem *web.Problem
	Answer  *orders.Listed // nil when the list could not be had
	Gaps    []Gap
	Skip    uint64 // rows before the first one
	Rows    int    // of a page at most
	Body    string // of the request to the API
	Origin  string
	Now     time.Time
}

type listView struct {
	List
	Wrong      map[string]*faultView // by field
	IsSwaps    bool
	Clear      string // path of the list without a filter; empty: it has none
	Tabs       []tab
	States     []stateChoice
	Listed     []listed
	Total      uint64
	From, To   uint64 // the rows of this page, counted from one
	Prev, Next string // paths of the pages before and after; empty: there is none
	Path       string
}

// tab is one of several views of the same thing.
type tab struct {
	Name, URL string
	Current   bool
}

type stateChoice struct{ State, Word string }

// swapsMode is how the form says that swaps within a chain are listed (filterMode of the API).
const swapsMode = "SameChain"

// List writes the page of a list.
func (p *Views) List(to io.Writer, l List) error {
	v := listView{List: l, Wrong: p.faults(l.Faults), IsSwaps: strings.EqualFold(l.Form.Get("mode"), swapsMode), Path: "/api/Orders/filteredList"}
	v.Tabs = []tab{
		{"Cross-chain orders", withoutField(l.Form, "mode"), !v.IsSwaps},
		{"Swaps within a chain", withField(l.Form, "mode", swapsMode), v.IsSwaps},
	}
	v.Clear = clearOf(l.Form, v.IsSwaps)
	for _, state := range l.States {
		v.States = append(v.States, stateChoice{state, stateWords[state].brief})
	}
	if l.Answer != nil {
		v.Listed, v.Total = p.rows(l.Answer), l.Answer.Total
		v.turn()
	}
	title := "Orders"
	if v.IsSwaps {
		title = "Swaps"
	}
	return p.Write(to, "list", web.View{Title: title, At: "order", Root: l.Origin, Now: l.Now, Page: v})
}

// clearOf is the path of the list without the filter that the form holds; empty where it holds none.
func clearOf(form url.Values, isSwaps bool) string {
	for name := range form {
		if name == "mode" || name == "skip" || form.Get(name) == "" {
			continue
		}
		if isSwaps {
			return withField(nil, "mode", swapsMode)
		}
		return "/orders"
	}
	return ""
}

// turn says which rows these are, and where the others are.
func (v *listView) turn() {
	v.From, v.To = v.Skip+1, v.Skip+uint64(len(v.Listed))
	rows := uint64(v.Rows)
	if v.Skip > 0 {
		v.Prev = withField(v.Form, "skip", strconv.FormatUint(v.Skip-min(rows, v.Skip), 10))
	}
	if v.To < v.Total && len(v.Listed) > 0 {
		v.Next = withField(v.Form, "skip", strconv.FormatUint(v.To, 10))
	}
}

// withField is the page with another value in the form; but for skip itself it begins at the first row.
func withField(form url.Values, name, value string) string {
	query := url.Values{}
	for each, values := range form {
		if each != "skip" && len(values) > 0 && values[0] != "" {
			query[each] = values
		}
	}
	if value != "" && value != "0" {
		query.Set(name, value)
	} else {
		query.Del(name)
	}
	if len(query) == 0 {
		return "/orders"
	}
	return "/orders?" + query.Encode()
}

func withoutField(form url.Values, name string) string { return withField(form, name, "") }
