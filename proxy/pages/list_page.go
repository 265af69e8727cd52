package pages

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/proxy"
	"crossgate/proxy/orders"
)

// rowsOfPage is how many orders or swaps a page of a list has.
const rowsOfPage = 25

// listPage shows the orders, or the swaps within a chain, that a form's filter holds of. Its fields are members of the
// API's filter with one value each, and two days for the period.
func (s *Pages) listPage(c *gin.Context) {
	form, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		s.server.FailPage(c, proxy.InvalidParameters.Because("the query is not properly URL-encoded"))
		return
	}
	shown := List{Form: form, Chains: s.chains.All(), Origin: originOf(c.Request), Now: time.Now(), Rows: rowsOfPage}
	for _, state := range orders.AllStates {
		shown.States = append(shown.States, state.String())
	}
	body, wrong := filterOf(form)
	m, err := orders.ParseMembers(body)
	if err != nil {
		s.server.FailPage(c, err)
		return
	}
	part, err := orders.ParseOrderList(m)
	shown.Body, shown.Skip = string(body), part.Skip
	shown.Faults = listFaults(append(wrong, m.Wrong...))
	status := http.StatusBadRequest
	if err == nil && len(shown.Faults) == 0 {
		status = s.fillList(c, &shown, part)
	}
	s.server.WritePage(c, status, func(to io.Writer) error { return s.pages.List(to, shown) })
}

// fillList asks the index. It returns the status of the page.
func (s *Pages) fillList(c *gin.Context, shown *List, part orders.Part) int {
	found, from, err := s.orders.OrderListRoute().Ask(c.Request.Context(), s.server, part)
	if err != nil {
		p := proxy.ProblemOf(err)
		p.LogCause(c)
		problem := proxy.ShownProblem(c, p)
		shown.Problem = &problem
		return p.Status
	}
	list := found.Value.(orders.Listed)
	shown.Answer, shown.Gaps = &list, gapsIn(found.Basis, from.Value.Made)
	return http.StatusOK
}

// filterOf is a form as the body of the API's request, and what is wrong with its days.
func filterOf(form url.Values) (body []byte, wrong []string) {
	filter := map[string]any{"take": rowsOfPage, "filterMode": string(orders.CrossChain)}
	for name, member := range map[string]string{"maker": "maker", "taker": "fulfiller", "mode": "filterMode", "skip": "skip"} {
		if value := strings.TrimSpace(form.Get(name)); value != "" {
			filter[member] = value
		}
	}
	for name, member := range map[string]string{"from": "giveChainIds", "to": "takeChainIds", "state": "orderStates"} {
		if value := form.Get(name); value != "" {
			filter[member] = []string{value}
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
	body, err := json.Marshal(filter)
	if err != nil {
		panic("proxy: a filter of texts that JSON cannot hold: " + err.Error())
	}
	return body, wrong
}

// filterFields are fields of the form by member of the API's filter, with what they are called.
var filterFields = map[string]struct{ field, label string }{
	"maker": {"maker", "The maker"}, "fulfiller": {"taker", "The taker"}, "giveChainIds": {"from", "The chain"}, "takeChainIds": {"to", "The chain"},
	"orderStates": {"state", "The state"}, "blockTimestampFrom": {"since", "The first day"}, "blockTimestampTo": {"until", "The last day"},
}

// listFaults tells beside each field what the API would say of its member.
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
