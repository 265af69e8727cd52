package venues

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"crossgate/sandbox/solana"
)

// dialect is the API of one venue.
type dialect struct {
	open func(*floor) http.Handler
	// routers are its contracts on a chain, all of which swap; the first one is what it mostly calls. On Solana it is
	// its program, in base58.
	routers func(chain uint64) []string
	// approval is what users approve on a chain, where it is not the router.
	approval func(chain uint64) string
	key      string // that it wants, in the form of the gateway's configuration
	// limited is what it answers to a caller who asks too often.
	limited any
}

var dialects = map[string]dialect{
	"kyberswap": {
		open: newKyber, routers: everywhere(kyberRouter),
		limited: map[string]any{"status": http.StatusTooManyRequests, "message": "too many requests"},
	},
	"velora": {open: newVelora, routers: everywhere(veloraRouter), limited: veloraFailure{"Rate limited"}},
	"openocean": {
		open: newOpenOcean, routers: everywhere(openOceanRouter),
		limited: openOceanAnswer{Code: http.StatusTooManyRequests, Error: "too many requests"},
	},
	"sushiswap": {
		open: newSushi, routers: everywhere(sushiRouter),
		limited: newSushiProblem(http.StatusTooManyRequests, "Rate Limit Exceeded", "API key rate limit exceeded"),
	},
	"lifi": {open: newLifi, routers: everywhere(lifiRouter), limited: lifiFailure{Message: "Rate limit exceeded", Code: lifiRateLimit}},
	"0x": {
		open: newZeroEx, routers: everywhere(zeroExRouter), key: zeroExKey,
		limited: zeroExFailure{Name: "TOO_MANY_REQUESTS", Message: "Rate limit exceeded"},
	},
	"1inch": {
		open: newOneInch, routers: everywhere(oneInchRouter), key: oneInchKey,
		limited: oneInchFailure{StatusCode: http.StatusTooManyRequests, Error: "Too Many Requests"},
	},
	"enso": {
		open: newEnso, routers: everywhere(ensoRouter), key: ensoKey,
		limited: ensoFailure{Message: "ThrottlerException: Too Many Requests", StatusCode: http.StatusTooManyRequests},
	},
	"okx": {
		open: newOKX, routers: okxRouters, approval: okxApproval, key: okxKey + ":" + okxSecret + ":" + okxPassphrase,
		limited: okxAnswer{Code: "50011", Data: []okxOffer{}, Msg: "Rate limit reached."},
	},
	"jupiter": {open: newJupiter, routers: onSolana(solana.Jupiter()), limited: jupiterFailure{Error: "Too many requests"}},
	"dflow":   {open: newDFlow, routers: onSolana(solana.DFlow()), limited: dflowFailure{"Rate limit exceeded", "rate_limited"}},
	"relay":   {open: newRelay, routers: everywhere(relayProxy, relayRouter), limited: relayFailure{Message: "Too many requests"}},
	Sunio:     {open: newSunio, routers: onTron(sunioRouter), limited: sunioAnswer{Code: http.StatusTooManyRequests, Message: "too many requests"}},
}

// everywhere is for venues whose contracts have the same addresses on every EVM chain.
func everywhere(routers ...string) func(uint64) []string {
	return func(chain uint64) []string {
		if chain == tronNative || chain == solanaID {
			return nil
		}
		return routers
	}
}

func onTron(routers ...string) func(uint64) []string {
	return func(chain uint64) []string {
		if chain != tronNative {
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
	var body any = map[string]any{"message": "too many requests"}
	if d, known := dialects[venue]; known {
		body = d.limited
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Round(time.Second).Seconds())))
		answer(w, http.StatusTooManyRequests, body)
	})
}
