package venues

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"crossgate/chain"
)

// dialect is the API of one venue.
type dialect struct {
	endpoints endpoints
	// refusals are what it says when it cannot serve a request: the first one whose cause fits. The last one fits
	// everything, most of all a fault of its own.
	refusals []refusal
	// problem is the body of a refusal's answer.
	problem func(*request, refusal) any
	// limited is the body of its answer to a caller who asks too often.
	limited any
	// routers are its contracts on a chain, all of which swap; the first one is what it mostly calls. On Solana it is
	// its program, in base58.
	routers func(chain uint64) []string
	// call is the calldata of an order, as its routers take it; nil where it makes none.
	call func(RouterOrder) []byte
	// approval is what users approve on a chain, where it is not the router.
	approval func(chain uint64) string
	key      string // that it wants, in the form of the gateway's configuration
	keptBps  uint16 // of every outcome, for itself
}

// endpoints are calls by pattern of http.ServeMux. Each returns the body of an answer with status 200.
type endpoints map[string]func(*request) (any, error)

// refusal is how a venue declines a request in words of its own.
type refusal struct {
	cause   error  // errNoRoute, errUnlisted, errUnauthorized, an invalid or errInvalid for all of them; nil: any
	status  int    // of HTTP
	code    any    // by which the API tells refusals apart, where it does
	message string // empty: the cause's
}

func (r refusal) Error() string { return r.message }

// refuse finds the words for what made an endpoint fail, unless it has found them itself.
func (d *dialect) refuse(err error) refusal {
	words, inItsWords := errors.AsType[refusal](err)
	if !inItsWords {
		fits := func(f refusal) bool { return f.cause == nil || errors.Is(err, f.cause) }
		words = d.refusals[slices.IndexFunc(d.refusals, fits)]
	}
	words.message = cmp.Or(words.message, err.Error())
	return words
}

var dialects = map[string]*dialect{
	"kyberswap": &kyber,
	"velora":    &velora,
	"openocean": &openOcean,
	"sushiswap": &sushi,
	"lifi":      &lifi,
	"0x":        &zeroEx,
	"1inch":     &oneInch,
	"enso":      &enso,
	"okx":       &okx,
	"jupiter":   &jupiter,
	"dflow":     &dflow,
	"relay":     &relay,
	"fly":       &fly,
	"fabric":    &fabric,
	Sunio:       &sunio,
}

// handler serves the dialect's endpoints over a market.
func (d *dialect) handler(m *market) http.Handler {
	mux := http.NewServeMux()
	for pattern, endpoint := range d.endpoints {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, httpRequest *http.Request) {
			r := &request{Request: httpRequest, market: m, venue: d, query: httpRequest.URL.Query()}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			body, err := endpoint(r)
			if err == nil {
				answer(w, http.StatusOK, body)
				return
			}
			refused := d.refuse(err)
			answer(w, refused.status, d.problem(r, refused))
		})
	}
	return mux
}

// Chains of other families, by the numbers that this package uses in place of EIP-155 ids.
const (
	tronID   = 728126428
	solanaID = uint64(chain.Solana)
)

// everywhere is for venues whose contracts have the same addresses on every EVM chain.
func everywhere(routers ...string) func(uint64) []string {
	return func(chain uint64) []string {
		if chain == tronID || chain == solanaID {
			return nil
		}
		return routers
	}
}

// only is for venues of a single chain.
func only(served uint64, routers ...string) func(uint64) []string {
	return func(chain uint64) []string {
		if chain != served {
			return nil
		}
		return routers
	}
}

// Names lists the venues that swap.
func Names() []string { return slices.Sorted(maps.Keys(dialects)) }

// Serving lists the venues that swap on the chain with an EIP-155 id, or on Solana under the protocol's id of it.
func Serving(chain uint64) []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return len(Routers(name, chain)) == 0 })
}

// Routers are the contracts of a venue on the chain with an EIP-155 id, 0x hex, or its program on Solana, base58; the
// first one is what it mostly calls. None: it does not serve the chain.
func Routers(venue string, chain uint64) []string { return dialects[venue].routers(chain) }

// Approval is the contract that users of a venue approve on a chain, 0x hex; empty where it is the router.
func Approval(venue string, chain uint64) string {
	if d := dialects[venue]; d.approval != nil {
		return d.approval(chain)
	}
	return ""
}

// Key is the API key that a venue wants, in the form of the gateway's configuration; empty when it wants none.
func Key(venue string) string { return dialects[venue].key }

// Limited answers every request as the venue does to a caller who asks too often.
func Limited(venue string, retryAfter time.Duration) http.Handler {
	var body any = object{"message": "too many requests"}
	if d, known := dialects[venue]; known {
		body = d.limited
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Round(time.Second).Seconds())))
		answer(w, http.StatusTooManyRequests, body)
	})
}
