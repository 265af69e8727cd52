package venue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
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
		v, err := venue.New(s.Name, o)
		if err != nil {
			t.Fatal(err)
		}
		services, profiles[s.Name] = append(services, s), v.Profile()
	}
	want := venuesPage(services, profiles)
	path := filepath.Join("..", "..", "docs", "venues.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the venues declare: go test ./upstream/venue -update (-want +got):\n%s", path, diff)
	}
}

func venuesPage(services []venue.Service, profiles map[string]quote.Profile) string {
	var page strings.Builder
	page.WriteString(`# Venues

Written by ` + "`go test ./upstream/venue -update`" + ` from what the venues declare; a test compares the two.

## Who they are

A venue with an address is a service; one without is read from its contracts, through the endpoints of its chains.
*Key* says whether an API key is needed, may be given, or is not taken. *Affiliate* is the largest share of the input
that the venue itself gives an affiliate in direct execution; the public on-chain router takes any share up to 10 %
for all of them, and on Solana the gateway pays it. Who *pays two* can divide it between an affiliate and the operator
([0017](decisions/0017-operators-fee.md)). A *fallback* is asked only when fewer than two others have quoted. *Approves* is what a wallet
approves for a token input in direct execution.

| Venue | Address | Key | Affiliate | Approves | |
|---|---|---|---|---|---|
`)
	for _, s := range services {
		p := profiles[s.Name]
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s | %s |\n", s.Name, s.URL, keyOf(s), shareOf(p), spenderOf(p), remark(p))
	}
	page.WriteString("\n## Who serves which chain\n\n| Chain | Name | Services | Services with a key | Contracts |\n|---|---|---|---|---|\n")
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
	page.WriteString("\nA chain without any venue is answered with UNSUPPORTED_CHAIN.\n")
	page.WriteString("\n## Where addresses come from\n\nThose of exchanges stand in `upstream/venue/exchanges.json`, each with its source.\n\n")
	page.WriteString("| Service | Published by |\n|---|---|\n")
	for _, s := range services {
		if s.URL != "" {
			fmt.Fprintf(&page, "| %s | %s |\n", s.Name, s.Source)
		}
	}
	page.WriteString(notAsked)
	return page.String()
}

// notAsked says which facts lack of venues that would need no agreement.
const notAsked = `
## Who is not asked

| Service | What is not known |
|---|---|
| nordstern | The least that comes out, which its answers do not say, and the layout of its packed calldata: what it would enforce cannot be told. Its contracts, but for the one on Base in the only recorded answer (github withfabricxyz/spandex @5aafcac): elsewhere a list of another project has that address under another name. How it refuses; and whether it makes a transaction for a sender who is not the recipient: ` + "`from`" + ` is both |
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
