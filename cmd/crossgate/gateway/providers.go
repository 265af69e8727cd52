package gateway

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"

	"crossgate/config"
)

//go:embed providers.json
var providersText []byte

// freePlan is what a known provider gives for nothing, by its public documentation.
type freePlan struct {
	Provider string         `json:"provider"`
	Hosts    []string       `json:"hosts"` // of its endpoints, or the ends of their names
	Units    uint64         `json:"units"` // that are given each time
	Days     uint64         `json:"days"`  // between two times
	Costs    map[string]int `json:"costs"` // units of a call by its method; *: of any other
	// PerSecond is how many units are given in a second; 0: not known
	PerSecond uint64 `json:"perSecond"`
	Source    string `json:"source"`
	Seen      string `json:"seen"` // year, or year-month
}

// freePlans are those of the providers that are known.
func freePlans() (plans []freePlan) {
	if err := json.Unmarshal(providersText, &plans); err != nil {
		panic("gateway: providers.json: " + err.Error())
	}
	return plans
}

// isOf reports whether an endpoint is the provider's.
func (p freePlan) isOf(e config.Endpoint) bool {
	at, err := url.Parse(e.URL.Reveal())
	if err != nil {
		return false
	}
	for _, host := range p.Hosts {
		if isBelow(at.Hostname(), host) {
			return true
		}
	}
	return false
}

// verdict says whether the plan carries so many units a day, spent by the chains that are named.
func (p freePlan) verdict(unitsPerDay float64, by string) string {
	given := float64(p.Units)
	lasts := given / max(unitsPerDay, 1)
	switch {
	case lasts >= float64(p.Days):
		return fmt.Sprintf("the free plan of %s carries this: %.0f %% of it are spent by %s", p.Provider, 100*float64(p.Days)/lasts, by)
	case p.Days == 1:
		return fmt.Sprintf("the free plan of %s is exceeded after %.0f hours of each day by %s", p.Provider, 24*lasts, by)
	}
	return fmt.Sprintf("the free plan of %s is exceeded on day %d by %s", p.Provider, int(lasts)+1, by)
}

// sharedFates names the known providers of which a chain has several endpoints.
func sharedFates(own config.Chain) (said []string) {
	for _, plan := range freePlans() {
		endpoints := 0
		for _, each := range own.Endpoints {
			if plan.isOf(each) {
				endpoints++
			}
		}
		if endpoints > 1 {
			said = append(said, fmt.Sprintf("%d endpoints are of %s and fail together", endpoints, plan.Provider))
		}
	}
	return said
}
