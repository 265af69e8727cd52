package venue_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

// TestVenuesAreDocumented holds docs/venues.md against what the venues declare; -update writes it.
func TestVenuesAreDocumented(t *testing.T) {
	var services []venue.Service
	profiles := map[string]quote.Profile{}
	for _, s := range venue.Documented() {
		o := venue.Options{Registry: chain.Documented(), Contracts: silent}
		if s.URL != "" {
			o.Pool, o.Key = upstream.NewPool(s.Name), venue.Keys[s.Name]
		}
		v := must.Get(venue.New(s.Name, o))(t)
		services, profiles[s.Name] = append(services, s), v.Profile()
	}
	golden.Check(t, filepath.Join("..", "..", "docs", "venues.md"), venuesPage(services, profiles))
}

func venuesPage(services []venue.Service, profiles map[string]quote.Profile) string {
	var page strings.Builder
	page.WriteString(`# Venues

Written by ` + "`go test ./upstream/venue -update`" + ` from what the venues declare; a test compares the two.

## Services

*Key*: needed, optional, or not taken. *Affiliate* is the largest share of the input in direct execution; the public router pays up to
10 % with any venue, and on Solana the gateway pays. *Pays two*: affiliate and operator ([0017](decisions/0017-operators-fee.md)). A
*fallback* is asked only if fewer than two others have quoted. *Approves* is for direct swaps of tokens. Exchanges of
upstream/venue/exchanges.json, which has the sources of their addresses, are read through the chains' endpoints and approve the contract
that the transaction calls.

| Venue | Address | Key | Affiliate | Approves | |
|---|---|---|---|---|---|
`)
	for _, s := range services {
		p := profiles[s.Name]
		if s.URL == "" && remark(p) == "" {
			continue
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s | %s |\n", s.Name, s.URL, keyOf(s), shareOf(p), spenderOf(p), remark(p))
	}
	page.WriteString("\n## Chains\n\n| Chain | Name | Services | Services with a key | Contracts |\n|---|---|---|---|---|\n")
	for _, c := range chain.Documented().All() {
		var free, keyed, contracts []string
		for _, s := range services {
			_, served := profiles[s.Name].Routers[c.ID]
			switch {
			case !served:
			case s.URL == "":
				contracts = append(contracts, s.Name)
			case s.Keyed:
				keyed = append(keyed, s.Name)
			default:
				free = append(free, s.Name)
			}
		}
		fmt.Fprintf(&page, "| %d | %s | %s | %s | %s |\n", c.ID, c.Name, listed(free), listed(keyed), listed(contracts))
	}
	page.WriteString("\nA chain without venues is UNSUPPORTED_CHAIN.\n")
	page.WriteString("\n## Sources of addresses\n\n")
	page.WriteString("| Service | Published by |\n|---|---|\n")
	for _, s := range services {
		if s.URL != "" {
			fmt.Fprintf(&page, "| %s | %s |\n", s.Name, s.Source)
		}
	}
	page.WriteString(notAsked)
	return page.String()
}

// notAsked names venues that take no agreement to use, with the facts that are missing.
const notAsked = `
## Not supported

| Service | Unknown |
|---|---|
| nordstern | the minimum and the layout of its packed calldata, so the guard could not read it; its contracts on most chains; its refusals; whether sender and recipient may differ |
`

func keyOf(s venue.Service) string {
	switch {
	case s.Keyed:
		return "needed"
	case s.URL == "":
		return "–"
	}
	_, err := venue.New(s.Name, venue.Options{Pool: upstream.NewPool(s.Name), Registry: chain.Documented(), Key: "key"})
	if err != nil {
		return "–"
	}
	return "optional"
}

func shareOf(p quote.Profile) string {
	if p.MaxAffiliatePercent.IsZero() {
		return "–"
	}
	return p.MaxAffiliatePercent.String() + " %"
}

func spenderOf(p quote.Profile) string {
	switch {
	case p.Wraps:
		return "nothing"
	case len(p.Approves) > 0:
		return "another contract"
	}
	return "`tx.to`"
}

func remark(p quote.Profile) string {
	switch {
	case p.Fallback:
		return "fallback"
	case p.Wraps:
		return "for the sender alone"
	case p.SharesOfCoin:
		return "pays two, of the coin alone"
	case p.PaysTwo:
		return "pays two"
	}
	return ""
}

func listed(names []string) string {
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}
