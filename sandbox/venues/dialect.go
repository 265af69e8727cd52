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
	// refusals are its answers to requests that it cannot serve: the first one with a matching cause applies. The last
	// one matches everything, above all the venue's own faults.
	refusals []refusal
	// problem returns the body of a refusal's response.
	problem func(*request, refusal) any
	// limited is the body of its response to rate-limited callers.
	limited any
	// routers returns its contracts on a chain, which all swap; the first one is the one usually called. On Solana it
	// is the venue's program, in base58.
	routers func(chain uint64) []string
	// call returns the calldata of an order for its routers; nil if it hands out no calldata.
	call func(RouterOrder) []byte
	// approval returns the contract that users approve on a chain, if it is not the router.
	approval func(chain uint64) string
	key      string // required API key, in the form of the gateway's configuration
	keptBps  uint16 // kept from every output
}

// endpoints are handlers by pattern of http.ServeMux. Each returns the body of a response with status 200.
type endpoints map[string]func(*request) (any, error)

// refusal is a venue's way to decline a request.
type refusal struct {
	cause   error  // errNoRoute, errUnlisted, errUnauthorized, an invalid or errInvalid for any invalid; nil: any error
	status  int    // HTTP status
	code    any    // the API's error code, if it has one
	message string // empty: the cause's
}

func (r refusal) Error() string { return r.message }

// refuse returns the refusal for an endpoint's error, unless the error already is one.
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

// IDs of chains of other families, which this package uses instead of EIP-155 IDs.
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

// Names returns the venues that swap.
func Names() []string { return slices.Sorted(maps.Keys(dialects)) }

// Serving returns the venues that swap on a chain, given its EIP-155 ID or the protocol's ID of Solana.
func Serving(chain uint64) []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return len(Routers(name, chain)) == 0 })
}

// Routers returns the contracts of a venue on the chain with an EIP-155 ID, in 0x hex, or its program on Solana, in
// base58. The first one is the one usually called. It returns none if the venue does not serve the chain.
func Routers(venue string, chain uint64) []string { return dialects[venue].routers(chain) }

// Approval returns the contract that users of a venue approve on a chain, in 0x hex; empty if it is the router.
func Approval(venue string, chain uint64) string {
	if d := dialects[venue]; d.approval != nil {
		return d.approval(chain)
	}
	return ""
}

// Key returns the API key that a venue requires, in the form of the gateway's configuration, or "".
func Key(venue string) string { return dialects[venue].key }

// Limited answers every request as the venue answers rate-limited callers.
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
