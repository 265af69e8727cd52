package proxy

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/wire"
)

// Kind is a documented error.
type Kind struct {
	Status int
	code   int    // errorCode of the swap API
	ID     string // errorId
	Text   string // what the client reads unless the problem has its own message
}

// The numbers below 1000 and their ids are the hosted service's (recorded and documented errors of
// dln.debridge.finance); it does not publish the numbers of its other ids. Numbers from 1000 are Crossgate's own.
var (
	InvalidParameters = Kind{400, 2, "INVALID_QUERY_PARAMETERS", "invalid query parameters"}

	lowAmount = Kind{400, 12, "ERROR_LOW_GIVE_AMOUNT", "nothing is left to swap: the sender has no tokenIn, or no more of the coin than the transaction may cost"}

	AffiliatePercentNotSet   = Kind{400, 1001, "AFFILIATE_FEE_PERCENT_NOT_SET", "affiliateFeeRecipient requires affiliateFeePercent"}
	AffiliateRecipientNotSet = Kind{400, 1002, "AFFILIATE_FEE_RECIPIENT_NOT_SET", "affiliateFeePercent requires affiliateFeeRecipient"}
	unsupportedTokenIn       = Kind{400, 1003, "UNSUPPORTED_TOKEN_IN", "the input is not a token on its chain, or no venue trades it; /v1.0/token-list has the tokens of each chain"}
	unsupportedTokenOut      = Kind{400, 1004, "UNSUPPORTED_TOKEN_OUT", "the output is not a token on its chain, or no venue trades it; /v1.0/token-list has the tokens of each chain"}
	internalError            = Kind{500, 1005, "INTERNAL_SERVER_ERROR", "internal server error; report the reqId so that it can be found in the log"}

	unsupportedChain = Kind{400, 1101, "UNSUPPORTED_CHAIN", "no venue serves this chain; /v1.0/supported-chains-info lists those that are served"}
	noSwapRoute      = Kind{400, 1102, "NO_ROUTE", "no venue has a route for this swap at this amount; try another amount, or see /v1.0/chain/transaction/explain or, for orders, /v1.0/dln/order/create-tx/explain"}
	noAffiliate      = Kind{400, 1102, noSwapRoute.ID, "no venue for this swap pays affiliateFeePercent to affiliateFeeRecipient; lower affiliateFeePercent or leave both out, or see /v1.0/chain/transaction/explain"}
	wouldRevert      = Kind{400, 1103, "TRANSACTION_WOULD_REVERT", "the transaction would revert, or pay less than its minimum, as with a token that takes a share of transfers; /v1.0/chain/transaction/explain or, for orders, /v1.0/dln/order/create-tx/explain has the reason; a new request or, for swaps, a larger slippage may help"}

	SameChains          = Kind{400, 25, "SAME_SOURCE_AND_DESTINATION_CHAINS", "srcChainId and dstChainId must differ; /v1.0/chain/transaction swaps on one chain"}
	SenderEmpty         = Kind{400, 1105, "SENDER_ADDRESS_EMPTY", "senderAddress is required by enableEstimate and by an amount of max"}
	impossibleRoute     = Kind{400, 1106, "IMPOSSIBLE_ROUTE", "no route between these tokens: see /v1.0/dln/order/create-tx/explain for which side has none"}
	swapFirst           = Kind{400, 1106, impossibleRoute.ID, "no swap goes before this order: the source chain has no public router, or a transaction has no room for both; swap into a reserve token by /v1.0/chain/transaction first, and create an order of that"}
	noCreation          = Kind{400, 1106, impossibleRoute.ID, "orders from this chain can be quoted here, not created"}
	lowGiveAmount       = Kind{400, 12, "ERROR_LOW_GIVE_AMOUNT", "Amount less than a taker's expenses, so that nothing is left for the recipient; /v1.0/dln/order/create-tx/explain has them"}
	intermediaryUnknown = Kind{400, 1107, "INTERMEDIARY_TOKEN_NOT_CONFIGURED", "intermediary tokens must be equal reserve tokens of their chains"}
	estimationFailed    = Kind{502, 1108, "ESTIMATION_FAILED", "fees or prices that determine a taker's expenses could not be read; retry later"}
	recipientRefuses    = Kind{400, 1109, "RECIPIENT_REFUSES_COIN", "dstChainTokenOutRecipient is a contract that refuses the coin, so that the order could never be filled"}
	notDelivered        = Kind{400, 1004, unsupportedTokenOut.ID, "dstChainTokenOut takes a share of transfers, or is not paid to dstChainTokenOutRecipient, so that the order could never be filled"}
	notRefundable       = Kind{400, 2, InvalidParameters.ID, "srcAllowedCancelBeneficiary must not be a contract that refuses the coin, or a refund would fail"}
	keyless             = Kind{400, 2, InvalidParameters.ID, "srcChainOrderAuthorityAddress, dstChainOrderAuthorityAddress and srcAllowedCancelBeneficiary must be able to sign on Solana: wallets or vaults, not programs, tokens or accounts of tokens"}
	callsNothing        = Kind{400, 1110, "EXTERNAL_CALL_WITHOUT_CODE", "the hook calls an address without a contract, so that it would do nothing"}
	callNeverRun        = Kind{400, 2, InvalidParameters.ID, "the hook's reward must not exceed the amount that the order takes, or the call could never be run"}
	longCall            = Kind{400, 2, InvalidParameters.ID, "the hook is too long for a transaction on Solana; choose a shorter one"}
	tooLarge            = Kind{400, 2, InvalidParameters.ID, "the amounts must be smaller: an order's metadata has 160 bits for each"}
	belowRent           = Kind{400, 12, lowGiveAmount.ID, "Amount less than the 890880 lamports of SOL that it takes to open dstChainTokenOutRecipient's missing account on Solana"}
	notClaimable        = Kind{400, 1111, "GIVE_TOKEN_NOT_CLAIMABLE", "no taker could be paid for an order of this token with an affiliate; leave affiliateFeePercent out"}
	senderLacks         = Kind{400, 1104, "INSUFFICIENT_BALANCE", "senderAddress lacks the input, or the coin for fees and accounts; name a sender who has them or a smaller amount, or ask /v1.0/chain/estimation or /v1.0/dln/order/quote for a price"}
	noPayee             = Kind{400, 2, InvalidParameters.ID, "affiliateFeeRecipient has no account for tokenIn, and none is opened at the sender's expense; open one, or name a wallet, a Jupiter referral account or a token account that has one"}
	noMinimum           = Kind{400, 2, InvalidParameters.ID, "slippage leaves no minimum of tokenOut at this amount; choose a smaller slippage"}

	notACreation   = Kind{400, 1121, "NOT_AN_ORDER_CREATION", "the transaction creates no order: it calls neither DlnSource nor the public router for one, and on the chain it makes none"}
	ChainNotServed = Kind{400, 1122, "CHAIN_NOT_SERVED", "the chain is not served here: its orders are neither checked nor cancelled"}
	orderFulfilled = Kind{400, 1123, "ORDER_ALREADY_FULFILLED", "the order is fulfilled, so it cannot be cancelled"}
	orderCancelled = Kind{400, 1124, "ORDER_ALREADY_CANCELLED", "the order is cancelled"}
	callAbsent     = Kind{400, 1125, "NO_EXTERNALCALL_ATTACHED", "the order has no external call"}
	callExecuted   = Kind{400, 1126, "EXTERNALCALL_ALREADY_EXECUTED", "the external call is executed"}
	callNotOpen    = Kind{400, 1127, "EXTERNALCALL_CANNOT_BE_DETACHED", "the external call is not awaiting execution; before the order is fulfilled, cancel the order"}
	callNotKnown   = Kind{400, 1128, "EXTERNALCALL_NOT_KNOWN", "only the hash of the order's external call is known, and cancelling requires the call itself"}
	refundLost     = Kind{400, 1131, "REFUND_LOST", "the refund of a cancel would go to the zero address, or to a contract that refuses the coin, so that it would be lost"}
	orderNotOwed   = Kind{400, 1129, "ORDER_NOT_AWAITING_UNLOCK", "an order is not delivered yet, or its unlock was already sent"}
	ordersNotAlike = Kind{400, 1130, "ORDERS_NOT_UNLOCKED_TOGETHER", "one message unlocks 10 orders at most, of one unlock authority and one pair of chains; from Solana 7, of one give token; ask for each group by itself"}

	MalformedHash    = Kind{400, 1201, "MALFORMED_TRANSACTION_HASH", "a transaction hash must be 0x followed by 64 hex digits, or a base58 signature of 64 bytes"}
	MalformedAddress = Kind{400, 1202, "MALFORMED_ADDRESS", "takerAddress must be 0x followed by 40 hex digits, or a base58 address on Solana or TRON"}
	MalformedOrderID = Kind{400, 1203, "MALFORMED_ORDER_ID", "an order id must be 0x followed by 64 hex digits"}
	UnknownTx        = Kind{404, 1204, "TRANSACTION_NOT_FOUND", "transaction not found on any chain of this gateway; retry if it was sent just now"}
	TxWithoutOrder   = Kind{404, 1205, "TRANSACTION_WITHOUT_ORDER", "the transaction did not create an order; ask by the transaction that did, or by the order's id"}
	OrderOutOfRange  = Kind{404, 1206, "ORDER_INDEX_OUT_OF_RANGE", "index exceeds the number of orders that the transaction created"}
	InvalidBody      = Kind{400, 1207, "INVALID_BODY", "invalid request body"}

	MalformedSwapID = Kind{400, 1209, "MALFORMED_SWAP_ID", "a swap id must be 0x followed by 64 hex digits"}
	UnknownSwap     = Kind{422, 1210, "SWAP_NOT_FOUND", "swap not found"} // clients of the hosted service expect 422
	SwapOutOfRange  = Kind{404, 1211, "SWAP_INDEX_OUT_OF_RANGE", "index exceeds the number of swaps that the transaction made"}

	UnknownOrder  = Kind{404, 15, "UNKNOWN_ORDER", "Order not found."}
	UnknownStatus = Kind{400, 15, UnknownOrder.ID, UnknownOrder.Text} // 400 in the swap API

	chainUnreachable    = Kind{503, 1301, "CHAIN_UNREACHABLE", "a chain that may hold the answer is unreachable; retry later"}
	upstreamFailed      = Kind{502, 1302, "UPSTREAM_FAILED", "no upstream returned a usable response; retry later"}
	upstreamUnavailable = Kind{503, 1303, "UPSTREAM_UNAVAILABLE", "every upstream is failing, rate limited or cordoned; retry later"}
	upstreamTimeout     = Kind{504, 1304, "UPSTREAM_TIMEOUT", "no upstream responded in time; retry later"}
	indexUnavailable    = Kind{503, 1305, "INDEX_UNAVAILABLE", "the order index is unavailable; retry later"}
	indexEmpty          = Kind{503, 1306, "INDEX_EMPTY", "the order index has not caught up with any chain yet; retry later"}
	ordersUncounted     = Kind{503, 1311, "ORDERS_NOT_COUNTED_YET", "statistics are still catching up with the index; retry later"}
	unsimulated         = Kind{502, 1309, "TRANSACTION_NOT_SIMULATED", "the transaction could not be simulated, so it was withheld; see /v1.0/chain/transaction/explain or, for orders, /v1.0/dln/order/create-tx/explain; retry later, or as a sender who has the input"}
	Unapproved          = Kind{400, 1309, unsimulated.ID, "the input has to be approved before the transaction can be simulated"}
	tooManyStreams      = Kind{503, 1307, "TOO_MANY_STREAMS", "too many open streams; retry later, or poll without Accept: text/event-stream"}
	overloaded          = Kind{503, 1308, "OVERLOADED", "server is at its load limit; retry later"}

	CursorExpired = Kind{410, 1416, "CURSOR_EXPIRED", "events after this cursor are no longer kept; begin anew: ask /v1.0/events without a cursor for next, read /api/Orders/filteredList, go on from next"}
	CursorUnknown = Kind{400, 1417, "CURSOR_UNKNOWN", "cursor is of another database, or of before this one was restored; begin anew: ask /v1.0/events without a cursor for next, read /api/Orders/filteredList, go on from next"}

	UnknownPath      = Kind{404, 1401, "PATH_NOT_FOUND", "path not found; /openapi.yaml lists all paths"}
	methodNotAllowed = Kind{405, 1402, "METHOD_NOT_ALLOWED", "method not allowed; Allow lists those that are"}
	urlTooLong       = Kind{414, 1403, "URI_TOO_LONG", "URL too long; path and query are limited to 16384 bytes each"}
	clientLeft       = Kind{499, 1404, "CLIENT_CLOSED_REQUEST", "the client closed the connection before the response was ready"}
	quotaExceeded    = Kind{429, 1405, "QUOTA_EXCEEDED", "quota exceeded; retry after Retry-After seconds, see RateLimit-Policy"}
	unreadable       = Kind{400, 1406, "REQUEST_UNREADABLE", "malformed HTTP/1.1 request"}
	notSecured       = Kind{400, 1415, "HTTPS_REQUIRED", "plain HTTP was sent to a port that speaks HTTPS; use https:// in place of http://"}
	requestTooSlow   = Kind{408, 1407, "REQUEST_TOO_SLOW", "the request did not arrive in time"}
	bodyTooLong      = Kind{413, 1408, "BODY_TOO_LONG", "request body too large; no path reads more than 64 KiB"}
	headerTooLong    = Kind{431, 1409, "HEADER_TOO_LONG", "request header too large; request line and header are limited to 24576 bytes together"}
	unknownVersion   = Kind{505, 1410, "HTTP_VERSION_NOT_SUPPORTED", "HTTP version not supported; use HTTP/1.1, HTTP/1.0 or HTTP/2"}
	notCached        = Kind{504, 1414, "NOT_CACHED", "nothing is cached for this request, and only-if-cached forbids forwarding it"}
	unmetExpectation = Kind{417, 1411, "EXPECTATION_FAILED", "the Expect header asks for something other than 100-continue; leave it out"}
	unknownCoding    = Kind{501, 1412, "TRANSFER_CODING_NOT_SUPPORTED", "transfer coding not supported; use chunked or Content-Length"}

	tooManyConnections = Kind{429, 1413, "TOO_MANY_CONNECTIONS", "too many open connections, or requests under way over HTTP/2, from this address; use the connections that are open, or close some"}
)

// problem is an error response.
type problem struct {
	Kind
	message    string        // replaces the kind's text
	retryAfter time.Duration // for statuses with Retry-After
	Unheard    []chain.ID    // chains that might have the answer but did not reply
	Orders     []order.ID    // orders that the transaction is a later step of
	cause      error         // for the log only
}

// remembered returns how long the cache answers equal requests with the problem; zero means that it is not cached.
func (p *problem) remembered() time.Duration {
	switch p.ID {
	case UnknownTx.ID, TxWithoutOrder.ID, UnknownOrder.ID, UnknownSwap.ID:
		return UnknownLife.Fresh
	}
	return 0
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.ID + ": " + p.cause.Error()
	}
	return p.ID
}

func (p *problem) Unwrap() error { return p.cause }

// PublicText returns the message that the client reads.
func (p *problem) PublicText() string { return cmp.Or(p.message, p.Text) }

// Because returns a problem of this kind with its own message, or with the kind's text if message is empty.
func (k Kind) Because(message string) *problem { return &problem{Kind: k, message: message} }

// From returns a problem of this kind with its cause.
func (k Kind) From(cause error) *problem { return &problem{Kind: k, cause: cause} }

// Dialect is the API whose error numbers a path uses.
type Dialect uint8

const (
	Tracking Dialect = iota // errorCode is the HTTP status
	Swapping                // errorCode is the kind's own number
)

func (d Dialect) code(k Kind) int {
	if d == Swapping {
		return k.code
	}
	return k.Status
}

func dialectAt(path string) Dialect {
	const swaps = "/v1.0/"
	if len(path) >= len(swaps) && strings.EqualFold(path[:len(swaps)], swaps) {
		return Swapping
	}
	return Tracking
}

// Malformed returns the problem of a path with an invalid id or hash. The swap API has one errorId for all of these.
func (d Dialect) Malformed(k Kind, cause error) *problem {
	if d == Swapping {
		return &problem{Kind: InvalidParameters, message: k.Text, cause: cause}
	}
	return k.From(cause)
}

// Fail sends err as a problem and ends the request's handling.
func (s *Server) Fail(c *gin.Context, d Dialect, err error) { s.fail(c, d, ProblemOf(err)) }

// fail sends p as the response and ends the request's handling.
func (s *Server) fail(c *gin.Context, d Dialect, p *problem) {
	c.Abort()
	p.logCause(c)
	p.write(c.Writer, d)
}

// write sends p with the request's id as reqId.
func (p *problem) write(w http.ResponseWriter, d Dialect) {
	header := w.Header()
	body := wire.AppendProblem(nil, wire.Problem{
		Code: d.code(p.Kind), ID: p.ID, Message: p.PublicText(), RequestID: header.Get(requestIDHeader),
	})
	header["Content-Type"], header["Cache-Control"] = jsonType, noStore
	if remembered := p.remembered(); remembered > 0 {
		header["Cache-Control"] = cacheControl(cache.Life{Fresh: remembered})
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	p.Explain(header)
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// Explain adds the headers that carry more than the body does.
func (p *problem) Explain(header http.Header) {
	if len(p.Unheard) > 0 {
		header[chainsUnheard] = unheardValue(p.Unheard)
	}
	if len(p.Orders) > 0 {
		header["Link"] = []string{relatedLink(p.Orders)}
	}
	if isRetryable(p.Status) {
		header["Retry-After"] = []string{strconv.Itoa(p.retrySeconds())}
	}
}

// relatedLink returns the Link header of the first orders, relative to the path of a creation.
func relatedLink(ids []order.ID) string {
	const most = 10
	var links []string
	for _, id := range ids[:min(len(ids), most)] {
		links = append(links, "<../"+id.String()+`>; rel="related"`)
	}
	return strings.Join(links, ", ")
}

// retrySeconds returns the Retry-After value of a problem that may pass.
func (p *problem) retrySeconds() int {
	const shortest = 1
	return max(int((p.retryAfter+time.Second-1)/time.Second), shortest)
}

// logCause adds the cause of a server error to the request's log line.
func (p *problem) logCause(c *gin.Context) {
	if p.cause != nil && p.Status >= http.StatusInternalServerError {
		_ = c.Error(p.cause) // gin returns its argument
	}
}

// isRetryable reports whether the same request may succeed later.
func isRetryable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// methodNotAllowed rejects a method that the path does not support. Of a path with GET, gin has set the Allow header.
func (s *Server) methodNotAllowed(c *gin.Context) {
	if allowed, is := s.router.allowed[c.Request.URL.Path]; is {
		c.Writer.Header().Set("Allow", allowed)
	}
	s.TurnAway(c, methodNotAllowed.Because(""))
}

func refusalKind(status int) Kind {
	p := unreadable
	for _, other := range []Kind{
		requestTooSlow, bodyTooLong, unmetExpectation, tooManyConnections, headerTooLong, unknownCoding, overloaded,
		unknownVersion,
	} {
		if other.Status == status {
			p = other
		}
	}
	return p
}

// refuse rejects requests without a path, and thus without an API to number the error by: those that cannot be parsed
// or are plain HTTP on an HTTPS port, and connections over the limit.
func refuse(w http.ResponseWriter, p Kind) {
	header := w.Header()
	header[requestIDHeader], header["X-Content-Type-Options"] = []string{requestID(nil)}, noSniff
	header["Access-Control-Allow-Origin"] = anyOrigin
	p.Because("").write(w, Tracking)
}
