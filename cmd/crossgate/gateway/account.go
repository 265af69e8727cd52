package gateway

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/index"
)

// AccountDiagnosis is about the endpoints that spend one plan together: those of a known provider with the same key, or
// without one, on whatever chains. Endpoints whose plan is configured are left out.
type AccountDiagnosis struct {
	Provider string   `json:"provider"`
	Keyed    bool     `json:"keyed"`
	Chains   []string `json:"chains"` // their names
	// UnitsPerDay are the provider's own: what following these chains takes while nobody asks about them, as if no
	// others answered.
	UnitsPerDay uint64   `json:"unitsPerDay"`
	Verdict     []string `json:"verdict"` // in words
}

// account adds up what the endpoints of an AccountDiagnosis spend.
type account struct {
	plan        freePlan
	isKeyed     bool
	chains      []string
	perDay      float64 // units
	perSecond   float64 // units that the endpoints with a rate may spend
	isUnlimited bool    // one of them has no rate
}

// add counts an endpoint of a chain; what following the chain takes counts once for all of them.
func (a *account) add(name string, e config.Endpoint, following index.Projection) {
	units := following.Units(a.plan.Costs)
	if !slices.Contains(a.chains, name) {
		a.chains = append(a.chains, name)
		a.perDay += units
	}
	perRequest := units / max(following.Total(), 1)
	if e.Costs != nil {
		perRequest = 1 // the rate is in units
	}
	a.perSecond += e.RequestsPerSecond * perRequest
	a.isUnlimited = a.isUnlimited || e.RequestsPerSecond == 0
}

func (a *account) diagnosis() AccountDiagnosis {
	by := a.chains[0] + " alone"
	if len(a.chains) > 1 {
		by = fmt.Sprintf("its %d chains together", len(a.chains))
	}
	return AccountDiagnosis{
		Provider: a.plan.Provider, Keyed: a.isKeyed, Chains: a.chains, UnitsPerDay: uint64(a.perDay),
		Verdict: []string{a.plan.verdict(a.perDay, by), a.rateVerdict()},
	}
}

// rateVerdict says whether the plan carries what the endpoints may ask in a second.
func (a *account) rateVerdict() string {
	given := a.plan.PerSecond
	switch {
	case given == 0:
		return "how much it gives in a second is not known"
	case a.isUnlimited:
		return fmt.Sprintf("it gives %d units a second, and an endpoint has no requestsPerSecond", given)
	case a.perSecond > float64(given):
		return fmt.Sprintf("it gives %d units a second, and requestsPerSecond allows %.0f", given, a.perSecond)
	}
	return fmt.Sprintf("it gives %d units a second, of which requestsPerSecond allows %.0f", given, a.perSecond)
}

// diagnoseAccounts judges the free plans of known providers, for all chains that spend one. every is the time between
// two looks at a chain.
func diagnoseAccounts(registry chain.Registry, chains []config.Chain, every func(chain.Chain) time.Duration) (told []AccountDiagnosis) {
	type id struct{ provider, credentials string }
	found := make(map[id]*account)
	var accounts []*account // in the sequence in which they were found
	plans := freePlans()
	for _, own := range chains {
		known, _ := registry.Chain(own.ID)
		following := index.Project(known, every(known), len(own.Endpoints))
		for _, e := range own.Endpoints {
			at := slices.IndexFunc(plans, func(p freePlan) bool { return p.isOf(e) })
			if at < 0 || e.Monthly != 0 {
				continue
			}
			whose := id{plans[at].Provider, credentials(e)}
			if found[whose] == nil {
				found[whose] = &account{plan: plans[at], isKeyed: whose.credentials != ""}
				accounts = append(accounts, found[whose])
			}
			found[whose].add(known.Name, e, following)
		}
	}
	for _, each := range accounts {
		told = append(told, each.diagnosis())
	}
	return told
}

// shortestKey is shorter than providers' keys, of 32 characters and more, and longer than what else paths hold:
// versions and names of chains.
const shortestKey = 20

// credentials are what tells an endpoint's provider who we are, in one text: whatever in its URL and headers is as long
// as a key. Empty: there is nothing, and it knows our address alone.
func credentials(e config.Endpoint) string {
	at, err := url.Parse(e.URL.Reveal())
	if err != nil {
		return ""
	}
	parts := strings.Split(at.Path, "/")
	if password, has := at.User.Password(); has {
		parts = append(parts, password)
	}
	query := at.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parts = append(parts, query[name]...)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		parts = append(parts, e.Headers[name].Reveal())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return len(part) < shortestKey }), "\n")
}
