package venue_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/sandbox/venues"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

// eachService runs a test for every venue that is a service.
func eachService(t *testing.T, promise func(t *testing.T, s venue.Service)) {
	t.Helper()
	for _, s := range venue.Documented() {
		if s.URL != "" {
			t.Run(s.Name, func(t *testing.T) { promise(t, s) })
		}
	}
}

func TestEveryVenueDeclaresItself(t *testing.T) {
	defaults := must.Get(os.ReadFile("../../../config/default.yaml"))(t)
	eachService(t, func(t *testing.T, s venue.Service) {
		p := open(t, s.Name, http.NotFoundHandler()).Profile()
		if p.Name != s.Name || strings.ToLower(s.Name) != s.Name {
			t.Errorf("Profile().Name = %q, want %q in lower case", p.Name, s.Name)
		}
		if !strings.HasPrefix(p.ImageURL, "https://") {
			t.Errorf("ImageURL = %q, want an https URL", p.ImageURL)
		}
		families := map[chain.Family]bool{}
		for id := range p.Routers {
			families[chain.Documented().Family(id)] = true
		}
		if len(families) != 1 || families[chain.EVM] != slices.Contains(venues.Serving(8453), s.Name) || families[chain.SVM] != isOnSolana(s.Name) {
			t.Errorf("it serves chains of the families %v; in the sandbox it is among %v on Base", families, venues.Serving(8453))
		}
		if !slices.Contains(venues.Names(), s.Name) {
			t.Errorf("the sandbox does not speak its dialect: sandbox/venues has %v", venues.Names())
		}
		if !strings.HasPrefix(s.URL, "https://") {
			t.Errorf("Documented() has %+v, want an https URL", s)
		}
		if s.Source == "" {
			t.Error("nothing says where its contracts are published")
		}
		if s.Keyed == (venues.Key(s.Name) == "") {
			t.Errorf("Keyed is %t, the sandbox wants the key %q", s.Keyed, venues.Key(s.Name))
		}
		if listed := strings.Contains(string(defaults), `"`+s.URL+`"`); listed == s.Keyed {
			t.Errorf("config/default.yaml with the endpoint %s: %t; venues that need no key are in it", s.URL, listed)
		}
	})
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	if _, err := venue.New("odos", venue.Options{}); err == nil || !strings.Contains(err.Error(), "kyberswap") {
		t.Errorf("New(odos) = %v, want an error that lists the venues", err)
	}
	eachService(t, func(t *testing.T, s venue.Service) {
		name := s.Name
		o := venue.Options{Registry: chain.Documented()}
		if _, err := venue.New(name, o); err == nil {
			t.Error("a venue without an endpoint was made")
		}
		o.Pool, o.Key = upstream.NewPool(name), venues.Key(name)
		if o.Key != "" {
			keyless := o
			keyless.Key = ""
			if _, err := venue.New(name, keyless); err == nil || !strings.Contains(err.Error(), "key") {
				t.Errorf("New without a key = %v, want an error that asks for one", err)
			}
		}
		o.Settings = map[string]string{"colour": "red"}
		if _, err := venue.New(name, o); err == nil || !strings.Contains(err.Error(), "colour") {
			t.Errorf("New with setting colour = %v, want an error that names it", err)
		}
	})
}
