package proxy

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/proxy/wire"
)

// kind is one way in which a request can go without an answer.
type kind struct {
	status int
	code   int    // errorCode of the swap API
	id     string // errorId
	text   string // what the client is told, unless the problem knows better
	// remember is how long the same question gets the same problem without being asked again.
	remember time.Duration
}

// The numbers below 1000 and the ids beside them are the hosted service's (recorded and documented errors
// of dln.debridge.finance); the numbers of its other ids are not published. Ours begin at 1000.
var (
	invalidParameters = kind{status: 400, code: 2, id: "INVALID_QUERY_PARAMETERS", text: "invalid query parameters"}

	lowAmount = kind{status: 400, code: 12, id: "ERROR_LOW_GIVE_AMOUNT", text: "the sender has nothing to swap after paying for the transaction"}

	affiliatePercentNotSet   = kind{status: 400, code: 1001, id: "AFFILIATE_FEE_PERCENT_NOT_SET", text: "affiliateFeePercent must be set when affiliateFeeRecipient is"}
	affiliateRecipientNotSet = kind{status: 400, code: 1002, id: "AFFILIATE_FEE_RECIPIENT_NOT_SET", text: "affiliateFeeRecipient must be set when affiliateFeePercent is"}
	unsupportedTokenIn       = kind{status: 400, code: 1003, id: "UNSUPPORTED_TOKEN_IN", text: "tokenIn is no token of this chain, or none that a venue knows"}
	unsupportedTokenOut      = kind{status: 400, code: 1004, id: "UNSUPPORTED_TOKEN_OUT", text: "tokenOut is no token of this chain, or none that a venue knows"}
	internalError            = kind{status: 500, code: 1005, id: "INTERNAL_SERVER_ERROR", text: "internal error; the log has it under this reqId"}

	unsupportedChain = kind{status: 400, code: 1101, id: "UNSUPPORTED_CHAIN", text: "no venue serves this chain here"}
	noRoute          = kind{status: 400, code: 1102, id: "NO_ROUTE", text: "no venue has a route for this swap at this amount"}
	wouldRevert      = kind{status: 400, code: 1103, id: "TRANSACTION_WOULD_REVERT", text: "the swap's transaction would revert"}

	malformedHash    = kind{status: 400, code: 1201, id: "MALFORMED_TRANSACTION_HASH", text: "a transaction hash is 0x and 64 hex digits, or a base58 signature of 64 bytes"}
	malformedAddress = kind{status: 400, code: 1202, id: "MALFORMED_ADDRESS", text: "takerAddress must be 0x and 40 hex digits, or base58 of a Solana or TRON address"}
	malformedOrderID = kind{status: 400, code: 1203, id: "MALFORMED_ORDER_ID", text: "an order id is 0x and 64 hex digits"}
	unknownTx        = kind{status: 404, code: 1204, id: "TRANSACTION_NOT_FOUND", text: "no chain knows this transaction yet", remember: unknownLife.Fresh}
	txWithoutOrder   = kind{status: 404, code: 1205, id: "TRANSACTION_WITHOUT_ORDER", text: "the transaction created no order", remember: unknownLife.Fresh}
	orderOutOfRange  = kind{status: 404, code: 1206, id: "ORDER_INDEX_OUT_OF_RANGE", text: "the transaction created fewer orders"}
	unknownOrder     = kind{status: 404, code: 15, id: "UNKNOWN_ORDER", text: "no order with this id has been indexed", remember: unknownLife.Fresh}
	unknownStatus    = kind{status: 400, code: 15, id: unknownOrder.id, text: unknownOrder.text, remember: unknownLife.Fresh} // as the swap API has it

	chainUnreachable    = kind{status: 503, code: 1301, id: "CHAIN_UNREACHABLE", text: "a chain that could hold the answer cannot be reached"}
	upstreamFailed      = kind{status: 502, code: 1302, id: "UPSTREAM_FAILED", text: "no upstream gave a usable answer"}
	upstreamUnavailable = kind{
		status: 503, code: 1303, id: "UPSTREAM_UNAVAILABLE",
		text: "every upstream has failed too often lately, is over its rate limit or is kept out of use",
	}
	upstreamTimeout  = kind{status: 504, code: 1304, id: "UPSTREAM_TIMEOUT", text: "no upstream answered in time"}
	indexUnavailable = kind{status: 503, code: 1305, id: "INDEX_UNAVAILABLE", text: "the index of orders cannot be read at the moment"}
	indexEmpty       = kind{status: 503, code: 1306, id: "INDEX_EMPTY", text: "no chain has been read so far, so nothing is known of any order"}

	tooManyStreams = kind{status: 503, code: 1307, id: "TOO_MANY_STREAMS", text: "as many clients as this server serves follow an order at the moment"}

	overloaded    = kind{status: 503, code: 1308, id: "OVERLOADED", text: "as many answers as this server makes at a time are being made; what is kept is served"}
	quotaExceeded = kind{status: 429, code: 1405, id: "QUOTA_EXCEEDED", text: "this client has used up its quota for now; RateLimit-Policy tells it"}

	unknownPath      = kind{status: 404, code: 1401, id: "PATH_NOT_FOUND", text: "there is nothing at this path"}
	methodNotAllowed = kind{status: 405, code: 1402, id: "METHOD_NOT_ALLOWED", text: "this path takes GET, HEAD and OPTIONS"}
	urlTooLong       = kind{status: 414, code: 1403, id: "URI_TOO_LONG", text: "path and query may have 8192 bytes each"}
	clientLeft       = kind{status: 499, code: 1404, id: "CLIENT_CLOSED_REQUEST", text: "the client left before the answer was ready"}

	unreadable     = kind{status: 400, code: 1406, id: "REQUEST_UNREADABLE", text: "this is no HTTP/1.1 request as RFC 9112 has it"}
	requestTooSlow = kind{status: 408, code: 1407, id: "REQUEST_TOO_SLOW", text: "the request did not arrive in time"}
	bodyTooLong    = kind{status: 413, code: 1408, id: "BODY_TOO_LONG", text: "no path reads a body"}
	headerTooLong  = kind{status: 431, code: 1409, id: "HEADER_TOO_LONG", text: "the request line and the header may have 12288 bytes together"}
	unknownVersion = kind{status: 505, code: 1410, id: "HTTP_VERSION_NOT_SUPPORTED", text: "HTTP/1.1 and HTTP/1.0 are spoken here"}
)

// problem is a kind as it happened. It is an error so that parsing can return it.
type problem struct {
	kind
	message    string        // instead of the kind's text
	retryAfter time.Duration // for the statuses that ask to come again
	cause      error         // for the log only
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.id + ": " + p.cause.Error()
	}
	return p.id
}

func (p *problem) Unwrap() error { return p.cause }

// said is what the client is told.
func (p *problem) said() string { return cmp.Or(p.message, p.text) }

// because is a problem of this kind that says more than the kind's text.
func (k kind) because(message string) *problem { return &problem{kind: k, message: message} }

// from is a problem of this kind with the error that led to it.
func (k kind) from(cause error) *problem { return &problem{kind: k, cause: cause} }

// dialect is how an API numbers its errors.
type dialect uint8

const (
	tracking dialect = iota // the HTTP status
	swapping                // its own numbers
)

func (d dialect) code(k kind) int {
	if d == swapping {
		return k.code
	}
	return k.status
}

// Limits of Retry-After, seconds. Who was not told when to come again comes again soon.
const (
	shortestRetry = 1
	longestRetry  = 300
)

// fail sends p instead of an answer. Nothing more is done for the request.
func (s *Server) fail(c *gin.Context, d dialect, p *problem) {
	c.Abort()
	p.note(c)
	p.write(c.Writer, d)
}

// write sends p, with the id that the request has by its header.
func (p *problem) write(w http.ResponseWriter, d dialect) {
	header := w.Header()
	var id string
	if given := header[requestIDHeader]; len(given) > 0 {
		id = given[0]
	}
	body := wire.AppendProblem(nil, wire.Problem{Code: d.code(p.kind), ID: p.id, Message: p.said(), RequestID: id})
	header["Content-Type"], header["Cache-Control"] = jsonType, noStore
	if p.remember > 0 {
		header["Cache-Control"] = cacheControl(cache.Life{Fresh: p.remember})
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	if comesAgain(p.status) {
		seconds := int((p.retryAfter + time.Second - 1) / time.Second)
		header["Retry-After"] = []string{strconv.Itoa(min(max(seconds, shortestRetry), longestRetry))}
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(body)
}

// note keeps the cause of what is no mistake of the client's for the request's line in the log.
func (p *problem) note(c *gin.Context) {
	if p.cause != nil && p.status >= http.StatusInternalServerError {
		_ = c.Error(p.cause) // gin returns what it was given
	}
}

// comesAgain reports whether the same request may fare better later.
func comesAgain(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

func (s *Server) noRoute(c *gin.Context) { s.fail(c, tracking, unknownPath.because("")) }

// noMethod answers for a path that takes other methods, which gin has put into the Allow header.
func (s *Server) noMethod(c *gin.Context) { s.fail(c, tracking, methodNotAllowed.because("")) }

// refuse answers for a request that could not be read, so that nobody knows which API it is about.
func refuse(w http.ResponseWriter, status int) {
	p := unreadable
	for _, other := range []kind{requestTooSlow, bodyTooLong, headerTooLong, unknownVersion} {
		if other.status == status {
			p = other
		}
	}
	header := w.Header()
	header[requestIDHeader], header["X-Content-Type-Options"] = []string{requestID(nil)}, noSniff
	header["Access-Control-Allow-Origin"] = anyOrigin
	p.because("").write(w, tracking)
}
