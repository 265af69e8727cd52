package venue_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
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

func TestEveryVenueBuildsWhatItQuotes(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name))
		s := swapBy(t, name, wrapText, usdcText, 1)
		q := must.Get(v.Quote(t.Context(), s))(t)
		if q.Venue != name || q.AmountOut.IsZero() || (q.Gas == 0) != tellsNoGas(name) || !q.Expires.After(noon) {
			t.Errorf("Quote = %+v, want a venue, an amount, gas and an end", q)
		}
		other := s
		other.Sender, other.Recipient = addressBy(t, name, affiliate), addressBy(t, name, sender)
		if paysSenderAlone[name] {
			other.Recipient = other.Sender
		}
		for _, s := range []quote.Swap{s, other} { // for the wallet that asked, and for another
			checkTx(t, v, s, must.Get(v.Build(t.Context(), s, q))(t))
		}
		if _, err := v.Build(t.Context(), s, quote.Quote{Venue: "another"}); err == nil {
			t.Error("a quote of another venue was built")
		}
		s.Chain, _ = chain.Documented().Chain(map[bool]chain.ID{true: 8453, false: chain.Solana}[isOnSolana(name)])
		if _, err := v.Quote(t.Context(), s); !errors.Is(err, quote.ErrUnsupportedChain) {
			t.Errorf("Quote on chain %d = %v, want ErrUnsupportedChain", s.Chain.ID, err)
		}
	})
}

// checkTx requires a call of the venue's router, or a message that calls its program, with the recipient in it.
func checkTx(t *testing.T, v quote.Venue, s quote.Swap, tx quote.Tx) {
	t.Helper()
	router := v.Profile().Routers[s.Chain.ID]
	switch onSolana := s.Chain.Family == chain.SVM; {
	case onSolana && (!tx.To.IsAbsent() || !tx.Value.IsZero() || !bytes.Contains(tx.Data, router.Bytes())):
		t.Errorf("transaction to %s with value %s, want a message alone that calls %s", tx.To, tx.Value, router)
	case !onSolana && (!v.Profile().Calls(s.Chain.ID, tx.To) || !tx.Value.IsZero()):
		t.Errorf("transaction to %s with value %s, want a router of the venue's and nothing", tx.To, tx.Value)
	}
	if !bytes.Contains(tx.Data, s.Recipient.Bytes()) {
		t.Error("the calldata does not name the recipient")
	}
}

func TestEveryVenueSaysNoRoute(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name))
		for range 20 { // far more failures than a circuit breaker tolerates
			if _, err := v.Quote(t.Context(), swapBy(t, name, lonelyText, usdcText, 1)); !errors.Is(err, quote.ErrNoRoute) {
				t.Fatalf("Quote = %v, want ErrNoRoute", err)
			}
		}
		if _, err := v.Quote(t.Context(), swapBy(t, name, wrapText, usdcText, 1)); err != nil {
			t.Errorf("Quote after pairs without a route = %v, want a price", err)
		}
	})
}

func TestBuildNeverPaysLessThanQuoted(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		h := newHall()
		v := open(t, name, h.handler(name))
		s := swapBy(t, name, wrapText, usdcText, 1)
		q := must.Get(v.Quote(t.Context(), s))(t)
		h.fall()
		_, err := v.Build(t.Context(), s, q)
		// Some build for the price they quoted, whatever has happened since: its minimum protects the sender.
		if boundByPrice[name] {
			if err != nil {
				t.Errorf("Build of a price that binds = %v, want a transaction", err)
			}
			if paysSenderAlone[name] {
				s.Sender = addressBy(t, name, affiliate)
			}
			s.Recipient = s.Sender
			_, err = v.Build(t.Context(), s, q)
		}
		if !boundByRoute[name] && !errors.Is(err, venue.ErrPriceMoved) {
			t.Errorf("Build after a fall of the price = %v, want ErrPriceMoved", err)
		}
	})
}

// tellsNoGas reports whether a venue's answers lack gas, so that a typical figure replaces it.
func tellsNoGas(name string) bool { return isOnSolana(name) || name == "fabric" }

// boundByPrice are the venues whose transaction comes with its price or derives from it; boundByRoute derive other
// wallets' transactions from it too.
var (
	boundByPrice = map[string]bool{"velora": true, "relay": true, "fly": true, "fabric": true, "lifi": true, "enso": true, "okx": true, "jupiter": true, "dflow": true}
	boundByRoute = map[string]bool{"velora": true}
)

func TestEveryVenueClassesFailures(t *testing.T) {
	status := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		})
	}
	each(t, func(t *testing.T, name string) {
		tests := []struct {
			name    string
			handler http.Handler
			want    upstream.Class
		}{
			{"too many requests", venues.Limited(name, time.Minute), upstream.RateLimited},
			{"a page", status(http.StatusOK, "<html>"), upstream.BadAnswer},
			{"nothing", status(http.StatusOK, ""), upstream.BadAnswer},
			{"an empty object", status(http.StatusOK, "{}"), upstream.BadAnswer},
			{"a wall", status(http.StatusForbidden, "<html>"), upstream.Rejected},
			{"broken", status(http.StatusBadGateway, "{}"), upstream.ServerError},
		}
		for _, c := range tests {
			_, err := open(t, name, c.handler).Quote(t.Context(), swapBy(t, name, wrapText, usdcText, 1))
			var failed *upstream.Error
			if !errors.As(err, &failed) || failed.Class != c.want {
				t.Errorf("%s: Quote = %v, want %v", c.name, err, c.want)
			}
		}
	})
}
