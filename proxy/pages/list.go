package pages

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/reference"
	"crossgate/proxy/web"
	"crossgate/token"
)

const rowsOfPage = 25

// listPage shows the orders, or swaps within a chain, that match a form's filter. The form's fields are members of the
// API's filter with one value each, and two days for the period.
func (s *Pages) listPage(c *gin.Context) {
	form := formOf(c)
	shown := List{Form: form, Chains: s.chains.All(), Origin: OriginOf(c.Request), Now: time.Now(), Rows: rowsOfPage}
	for _, state := range orders.AllStates[1:] { // no order is in the first
		shown.States = append(shown.States, state.String())
	}
	part, body, wrong := s.partOf(c.Request.Context(), form)
	shown.Body, shown.Skip, shown.Faults = string(body), part.Skip, listFaults(wrong)
	status := http.StatusBadRequest
	if len(wrong) == 0 {
		status = s.fillList(c, &shown, part)
	}
	s.server.WritePage(c, status, func(to io.Writer) error { return s.pages.List(to, shown) })
}

// ofOrders are the form's fields that swaps within a chain lack.
var ofOrders = []string{"to", "state", "taker", "usdFrom", "usdTo"}

// formOf reads the form of a list, of swaps without the fields that these lack.
func formOf(c *gin.Context) url.Values {
	form := proxy.ReadForm(c.Request.URL.RawQuery)
	if isOfSwaps(form) {
		for _, name := range ofOrders {
			delete(form, name)
		}
	}
	return form
}

func isOfSwaps(form url.Values) bool { return strings.EqualFold(form.Get("mode"), swapsMode) }

// fillList queries the index and returns the status of the page.
func (s *Pages) fillList(c *gin.Context, shown *List, part orders.Part) int {
	found, from, err := s.orders.OrderListRoute().Ask(c.Request.Context(), s.server, part)
	if err != nil {
		problem := proxy.ShownProblem(c, err)
		shown.Problem = &problem
		return problem.Status
	}
	list := found.Value.(orders.Listed)
	shown.Answer, shown.Gaps = &list, gapsIn(found.Basis, from.Value.Made)
	return http.StatusOK
}

// partOf reads a form as a question and as the body of an API request. wrong lists everything wrong with it.
func (s *Pages) partOf(ctx context.Context, form url.Values) (part orders.Part, body []byte, wrong []string) {
	filter, wrong := filterOf(form)
	wrong = append(wrong, s.tokensOf(ctx, form, filter)...)
	body, err := json.Marshal(filter)
	if err != nil {
		panic("proxy: a filter of texts that JSON cannot hold: " + err.Error())
	}
	m, err := orders.ParseMembers(body)
	if err != nil {
		return part, body, append(wrong, proxy.ProblemOf(err).PublicText())
	}
	part, _ = orders.ParseOrderList(m)
	return part, body, append(wrong, m.Wrong...)
}

// tokensOf resolves symbols and names of tokens on the form's chains to addresses, and converts whole tokens to
// smallest units by the tokens' decimals.
func (s *Pages) tokensOf(ctx context.Context, form url.Values, filter map[string]any) (wrong []string) {
	tokens := s.options().Tokens
	sides := []struct{ name, chain string }{{"give", "from"}, {"take", "to"}}
	if isOfSwaps(form) {
		sides[1].chain = "from"
	}
	for _, side := range sides {
		text, _ := filter[side.name+"TokenAddress"].(string)
		id, unchained := chain.ParseID(form.Get(side.chain))
		address, _, err := chain.ParseAnyAddress(text)
		if err != nil && text != "" && unchained == nil {
			if named := token.Named(tokens.Listed(ctx, id), text); len(named) == 1 {
				address, err = named[0].Address, nil
				filter[side.name+"TokenAddress"] = address.Format(s.chains.Family(id))
			}
		}
		if err != nil && text != "" {
			wrong = append(wrong, side.name+"TokenAddress must be an address, or with its chain the symbol or name of one token there")
		}
		for _, end := range []string{"From", "To"} {
			whole, member := strings.TrimSpace(form.Get(side.name+end)), side.name+"Amount"+end
			if whole == "" {
				continue
			}
			var known []token.Token
			if err == nil && unchained == nil {
				known, err = tokens.Lookup(ctx, id, address)
			}
			if err != nil || len(known) == 0 || known[0].Symbol == "" {
				wrong = append(wrong, member+" needs a chain and one of its tokens")
				continue
			}
			units, err := web.UnitsOf(whole, known[0].Decimals)
			if err != nil {
				wrong = append(wrong, member+" "+err.Error())
			}
			filter[member] = units.String()
		}
	}
	return wrong
}

// filterOf converts a form except token amounts to members of the API's request. wrong are faults of its days.
func filterOf(form url.Values) (filter map[string]any, wrong []string) {
	filter = map[string]any{"take": rowsOfPage, "filterMode": string(orders.CrossChain)}
	for name, member := range map[string]string{
		"maker": "maker", "receiver": "receiver", "taker": "fulfiller", "filter": "filter", "giveToken": "giveTokenAddress",
		"takeToken": "takeTokenAddress", "usdFrom": "usdFrom", "usdTo": "usdTo", "sort": "sort", "mode": "filterMode", "skip": "skip",
	} {
		if value := strings.TrimSpace(form.Get(name)); value != "" {
			filter[member] = value
		}
	}
	for name, member := range map[string]string{"from": "giveChainIds", "to": "takeChainIds", "state": "orderStates"} {
		values := slices.DeleteFunc(slices.Clone(form[name]), func(value string) bool { return value == "" })
		if len(values) > 0 {
			filter[member] = values
		}
	}
	for name, of := range map[string]struct {
		member string
		more   time.Duration
	}{"since": {"blockTimestampFrom", 0}, "until": {"blockTimestampTo", 24*time.Hour - time.Second}} {
		value := form.Get(name)
		if value == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, value)
		if err != nil || day.Unix() < 0 {
			wrong = append(wrong, of.member+" must be a day such as 2026-11-23")
			continue
		}
		filter[of.member] = strconv.FormatInt(day.Add(of.more).Unix(), 10)
	}
	return filter, wrong
}

var textFields = []struct{ Name, Label, Holder string }{
	{"maker", "Maker", "address"},
	{"receiver", "Receiver", "address"},
	{"taker", "Taker", "address"},
	{"filter", "Transaction", "hash or id"},
	{"giveToken", "Token given", "symbol or address"},
	{"giveFrom", "Given from", "amount"},
	{"giveTo", "Given to", "amount"},
	{"takeToken", "Token received", "symbol or address"},
	{"takeFrom", "Received from", "amount"},
	{"takeTo", "Received to", "amount"},
	{"usdFrom", "Value from", "USD"},
	{"usdTo", "Value to", "USD"},
}

// filterFields maps members of the API's filter to the form's fields and their labels.
var filterFields = map[string]struct{ field, label string }{
	"maker": {"maker", "The maker"}, "fulfiller": {"taker", "The taker"}, "giveChainIds": {"from", "The chain"}, "takeChainIds": {"to", "The chain"},
	"receiver": {"receiver", "The receiver"}, "filter": {"filter", "The transaction"}, "giveTokenAddress": {"giveToken", "The token"},
	"takeTokenAddress": {"takeToken", "The token"}, "giveAmountFrom": {"giveFrom", "The amount"}, "giveAmountTo": {"giveTo", "The amount"},
	"takeAmountFrom": {"takeFrom", "The amount"}, "takeAmountTo": {"takeTo", "The amount"}, "usdFrom": {"usdFrom", "The value"},
	"usdTo": {"usdTo", "The value"}, "sort": {"sort", "The sort order"},
	"orderStates": {"state", "The state"}, "blockTimestampFrom": {"since", "The first day"}, "blockTimestampTo": {"until", "The last day"},
}

// listFaults assigns the API's errors to fields.
func listFaults(wrong []string) (faults []Fault) {
	for _, each := range wrong {
		member, rest, _ := strings.Cut(each, " ")
		if known, isField := filterFields[member]; isField {
			faults = append(faults, Fault{Field: known.field, Message: known.label + " " + rest + "."})
		} else {
			faults = append(faults, Fault{Message: each + "."})
		}
	}
	return faults
}

// List is the content of the page of a list of orders or of swaps within a chain.
type List struct {
	Form    url.Values // as the visitor filled it in
	Chains  []chain.Chain
	States  []string // that orders can be in
	Faults  []Fault  // of the form; those without a field concern all of it
	Problem *web.Problem
	Answer  *orders.Listed // nil if the list is unavailable
	Gaps    []Gap
	Skip    uint64 // rows before the first one
	Rows    int    // maximum per page
	Body    string // of the request to the API
	Origin  string
	Now     time.Time
}

type listView struct {
	List
	Wrong      map[string]*Fault // by field
	IsSwaps    bool
	Clear      string // path of the unfiltered list; empty if it is not filtered
	Listed     []listed
	Total      uint64
	From, To   uint64 // the rows of this page, counted from one
	OrdersURL  string // orders with the same filter
	SwapsURL   string // swaps within a chain with the same filter
	Prev, Next string // paths of the previous and next page; empty if there is none
	Command    string // shell command that queries the API
	Export     string // query of the export
}

// swapsMode is the form's value for swaps within a chain (filterMode of the API).
const swapsMode = "SameChain"

// List writes the page of a list.
func (p *Views) List(to io.Writer, l List) error {
	v := listView{List: l, Wrong: Faults(l.Faults), IsSwaps: isOfSwaps(l.Form)}
	v.Command = commandOf(l.Origin, reference.Request{Target: "/api/Orders/filteredList", Type: "application/json", Body: l.Body})
	v.OrdersURL, v.SwapsURL = withField(l.Form, "mode", ""), withField(l.Form, "mode", swapsMode)
	filtered, whole := withField(l.Form, "skip", ""), withField(nil, "mode", l.Form.Get("mode"))
	if v.Export = strings.TrimPrefix(filtered, "/orders"); filtered != whole {
		v.Clear = whole
	}
	if l.Answer != nil {
		v.Listed, v.Total = p.rows(l.Answer), l.Answer.Total
		v.From, v.To = v.Skip+1, v.Skip+uint64(len(v.Listed))
		rows := uint64(v.Rows)
		if v.Skip > 0 {
			v.Prev = withField(v.Form, "skip", strconv.FormatUint(v.Skip-min(rows, v.Skip), 10))
		}
		if v.To < v.Total && len(v.Listed) > 0 {
			v.Next = withField(v.Form, "skip", strconv.FormatUint(v.To, 10))
		}
	}
	title := "Orders"
	if v.IsSwaps {
		title = "Swaps"
	}
	return p.Write(to, "list", web.View{Title: title, At: "order", Root: l.Origin, Now: l.Now, Page: v})
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

// Faults returns the first fault of each field of a form.
func Faults(all []Fault) map[string]*Fault {
	first := make(map[string]*Fault, len(all))
	for i, each := range all {
		if first[each.Field] == nil { // one thing at a time
			first[each.Field] = &all[i]
		}
	}
	return first
}

func (p *Views) Listing(t token.Listing) TokenView { return p.tokenOf(t.Chain, t.Address, t.Token) }

// Fault is a fault of a form's field as a sentence. Choices are what the visitor may have meant.
type Fault struct {
	Field, Message string
	Choices        []FoundToken
}
