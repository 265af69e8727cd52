package jsonrpc

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"crossgate/upstream"
)

// Meaning is what an error says of the question, or of the endpoint that was asked.
type Meaning uint8

// The meanings. Only Reverted and Invalid are about the question: every endpoint would say the same.
const (
	Unclear       Meaning = iota // nothing that is known
	Reverted                     // a contract refused
	Invalid                      // what the transaction would do cannot be done, whoever is asked
	RangeLimit                   // more blocks than the endpoint searches at once
	ResultLimit                  // the answer would be longer than the endpoint gives
	BatchLimit                   // more calls than the endpoint takes at once
	RateLimit                    // asked too often
	QuotaSpent                   // the plan's day or month is used up
	KeyRefused                   // nothing is answered to us, or to our key
	MethodMissing                // the endpoint does not have the method, or not for us
	Pruned                       // the endpoint does not keep what is that old
	NotYet                       // the endpoint does not know the block yet
	TagMissing                   // the endpoint does not know the tag, or no block for it
	Overloaded                   // the endpoint could not do it this time
)

var meaningNames = [...]string{
	"unclear", "reverted", "invalid", "range limit", "result limit", "batch limit", "rate limit", "quota spent",
	"key refused", "method missing", "pruned", "not yet known", "tag missing", "overloaded",
}

// String is the meaning in words, as in the book of behaviours.
func (m Meaning) String() string { return meaningNames[m] }

// sign is how an error is recognised. Nodes and providers mostly tell causes apart by text alone: these are words of
// go-ethereum, Erigon, Nethermind, Besu, reth, coreth, nitro, java-tron and Agave, and of large providers, in lower
// case. Codes are used in contradictory ways and count only where nobody uses them for anything else.
type sign struct {
	meaning Meaning
	words   *regexp.Regexp
	but     *regexp.Regexp // words with which it means something else; nil: none
}

// signs are in the order in which they count: what is said of blocks and of states before what is said of limits, since
// providers advertise their plans in any text, and limits before keys.
var signs = []sign{
	{TagMissing, words(`(safe|finalized|pending|earliest) block (is )?not (found|available)`, `\btag\b.*(not supported|unsupported|invalid|unknown)`,
		`just support tag`, `(invalid|unknown|unsupported) (block )?tag`), nil},
	{NotYet, words(`beyond (the )?(current|latest)`, `after last accepted`, `unfinalized data`, `doesn't exist yet`, `does not exist yet`,
		`not (yet )?available for slot`, `not been reached`, `unsolidified`, `min(imum)? context slot`, `(in|from) the future`, `future block`,
		`(above|ahead of|higher than|greater than|past) (the )?(current |latest |chain )?(head|tip|block number|block height)`, `not yet (indexed|synced|known|processed)`), nil},
	{MethodMissing, words(`method[^.]*?(not (found|supported|available|allowed|enabled|implemented|whitelisted)|does ?n[o']t exist|disabled|unsupported|unavailable|blocked|restricted|requires)`,
		`(unsupported|unknown|invalid|disabled|restricted) (rpc )?method`, `not supported on this (network|chain)`, `transaction history is not available`,
		`(eth|debug|trace|net)_\w+ (is |are )?(not (supported|available|allowed|enabled)|disabled|unavailable)`), words(`unavailable for key`)},
	{Pruned, words(`missing trie node`, `pruned`, `pruning`, `\barchiv`, `historical`, `state .*(not|un)available`, `state .*not (found|stored|present)`,
		`no state`, `unknown state`, `missing state`, `metadata is not found`, `state histor`, `cleaned up`, `first available`, `lowest height`, `base height`,
		`(neither|not) stored`, `(retained|oldest|earliest)( available)? (block|slot|height)`, `history (is |has been )?(un|not )available`, `long-term storage`,
		`ledger jump`, `older than`, `too old`, `proof window`, `suitable provider`, `height .*is not available`), nil},
	{NotYet, words(`unknown block`, `invalid blockhash`, `block( with .*)? not found`, `header not found`, `header for hash not found`, `block requested not found`,
		`cannot find block`, `no block (with|found|for)`, `block (is )?not available`, `block status not yet`, `could not find block`, `blocks? .*cannot be found`), nil},
	{BatchLimit, words(`batch`), words(`per (second|minute)|rate`)},
	{QuotaSpent, words(`(daily|monthly|day'?s|month'?s) .*(limit|quota|count|capacity|credit|exceed|reached|used)`, `per (day|month)\b`, `24 ?h`,
		`quota`, `max(imum)? usage`, `usage (limit|cap)`, `(out of|insufficient|no more|not enough|exhausted|used (up )?(all )?(your )?) ?credits?`,
		`credits? (are |is |have been |has been )?(exhausted|used up|depleted|spent)`, `billing`, `payment required`), nil},
	{RateLimit, words(`rate.?limit`, `too many (request|connection|call|concurrent)`, `(requests?|calls?|queries) (limit|rate)`, `(per|/) ?s(ec(ond)?)?\b`,
		`per minute`, `\brps\b`, `\bqps\b`, `allowed_rps`, `frequency limit`, `rate (has |is )?exceed`, `compute units`, `\bcu limit`, `request count exceeded`,
		`throughput`, `capacity exceeded`, `throttl`, `lack of computing resources`, `slow down`, `request too fast`, `concurren`), words(`block range|per second exceeded by the range`)},
	{ResultLimit, words(`(more|greater) than [\d,]+[km]? (results|logs|events|entries|items)`, `too many (results|logs|events)`, `max(imum)? (results|logs)`,
		`(response|payload|body|output|reply|results?|content) (size |length |set )?(is |was |are )?(too (large|big|long)|(is )?limited|(has )?exceed|over)`, `response (size )?(limit|cap)`, `(exceed\w*|over|above) .*(response size|size of the response|number of (logs|results|events)|[\d,]+[km]? (logs|results|events))`,
		`query (timeout|timed out)`, `logs matched`, `too large response`, `[\d,]+[km]? (logs|results|events) (limit|max)`), words(`^(eth_)?getlogs[^.]*(range|blocks)`)},
	{RangeLimit, words(`(block|slot|range|span|distance|getlogs query).*(limit|exceed|maximum|\bmax\b|too (large|wide|big|many|long)|greater|larger|bigger|longer|wider|smaller|restrict|up to|at most|\bover\b|allowed|only)`,
		`(limit|exceed|maximum|\bmax\b|too (large|wide|big|many|long)|more than|up to|at most|\bover\b|restrict|narrow|reduce|smaller).*(block|range|span|distance)`, `limit the query`), nil},
	{
		Overloaded, words(`time(d)? ?out`, `overload`, `\bbusy\b`, `healthy`, `try again`, `(service|server|backend|upstream|node|temporarily) (is )?unavailable`, `cannot fulfill`, `\bbehind\b`,
			`syncing`, `not (fully )?synced`, `internal (server )?error`, `(bad|no) (gateway|backend|upstream)`, `no (available|healthy|response)`, `connection (refused|reset)`, `maintenance`, `server error`, `(not enough|no) (effective )?connection`),
		words(`unauthori[sz]ed|api.?key|denied|forbidden|blocked`),
	},
	{KeyRefused, words(`unauthori[sz]ed`, `api.?key`, `authenticat`, `authori[sz]ation`, `access denied`, `forbidden`, `(request|ip|access|account|origin|country|region) (is |has been |was )?(blocked|banned|suspended|disabled|not allowed|denied)`,
		`(invalid|missing|expired|unknown|wrong|bad) (api |access |project )?(key|token|credential|project|app)`, `personal token`, `project.?id`, `(key|token) (is )?(invalid|missing|expired|unknown|not)`, `(free|paid|current) (plan|tier)`, `free ?tier`,
		`not (on|in) (the )?(white|allow)list`, `subscription`, `whitelist`), nil},
}

func words(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}

var (
	// revertWords begin what nodes say of a contract that refused. The reason after them is the contract's own text.
	revertWords = words(`^(vm )?execution (was )?revert`, `^revert`, `execution reverted`, `vm exception while processing`, `revert opcode executed`,
		`transaction (has been )?reverted`, `^vm execution error`, `^call reverted`)
	// invalidWords are what execution comes to before or without a contract, the same at every node.
	invalidWords = words(`insufficient funds for`, `insufficient (sender )?balance for`, `gas required exceeds`, `out of gas`, `intrinsic gas too low`,
		`invalid opcode`, `stack (under|over)flow`, `invalid jump`, `nonce too low`, `max fee per gas less than`, `contract is not exist`,
		`no contract or not a valid smart contract`)
	hexText = regexp.MustCompile(`^"?(reverted )?0x[0-9a-f]*"?$`)
	webPage = regexp.MustCompile(`https?://\S+`)
)

// searches are the methods that ranges of blocks are asked by.
var searches = []string{"", "eth_getLogs", "eth_newFilter", "eth_getFilterLogs", "getBlocks", "getBlocksWithLimit"}

// Meaning is what the error says. It goes by the method that was asked where that is known.
func (e *Error) Meaning() Meaning {
	if e.isRead {
		return e.meaning
	}
	return e.read()
}

func (e *Error) read() Meaning {
	if e.isRevert() {
		return Reverted
	}
	text := e.text()
	if invalidWords.MatchString(text) {
		return Invalid
	}
	if known := byCode[e.Code]; known != Unclear && known != RateLimit {
		return known
	}
	for _, each := range signs {
		if !each.words.MatchString(text) || each.but != nil && each.but.MatchString(text) {
			continue
		}
		if each.meaning == RangeLimit && !slices.Contains(searches, e.method) {
			continue
		}
		if each.meaning == QuotaSpent && e.isShort() {
			return RateLimit
		}
		return each.meaning
	}
	if e.Code == codeLimitExceeded && e.method != "" && !slices.Contains(searches, e.method) {
		return RateLimit // it is said of searches, too, where they are not served at all
	}
	if known := byCode[e.Code]; known != Unclear {
		return known
	}
	return e.byStatus()
}

// byCode are codes that mean the same wherever they come from: JSON-RPC 2.0, section 5.1; EIP-4444; HTTP's 429, which
// some providers repeat here.
var byCode = map[int]Meaning{codeTooManyHTTP: RateLimit, codeMethodMissing: MethodMissing, codePrunedHistory: Pruned}

// byStatus goes by the HTTP status where words say nothing.
func (e *Error) byStatus() Meaning {
	switch e.status {
	case http.StatusTooManyRequests:
		return RateLimit
	case http.StatusUnauthorized, http.StatusPaymentRequired:
		return KeyRefused
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return Overloaded
	}
	if e.status >= http.StatusInternalServerError || e.Code == codeInternal {
		return Overloaded
	}
	return Unclear
}

// isShort reports whether the error names the seconds after which the endpoint answers again.
func (e *Error) isShort() bool {
	wait, told := e.Wait()
	return told && wait <= longestShort
}

// isRevert goes by structure first: a contract's reason may hold any words.
func (e *Error) isRevert() bool {
	if revertWords.MatchString(strings.ToLower(e.Message)) {
		return true
	}
	return e.Code == codeReverted && len(e.Data) > 2 && hexText.MatchString(strings.ToLower(string(e.Data)))
}

// text is all that the error says, in lower case and without addresses of web pages: its message and the texts in its
// data.
func (e *Error) text() string {
	text := e.Message
	for _, each := range e.hints().texts {
		text += " " + each
	}
	return webPage.ReplaceAllString(strings.ToLower(text), "")
}

// class returns zero for an error that every endpoint would give, otherwise the class under which the next endpoint is
// asked. What is Rejected is not held against the endpoint. A text that is in no envelope and says nothing known is no
// answer.
func (e *Error) class() upstream.Class {
	switch e.Meaning() {
	case Reverted, Invalid:
		return 0
	case RateLimit, QuotaSpent:
		return upstream.RateLimited
	case Overloaded, Unclear:
		if e.status >= http.StatusInternalServerError {
			return upstream.ServerError
		}
		if e.isBare && e.status < http.StatusBadRequest {
			return upstream.BadAnswer
		}
	}
	return upstream.Rejected
}

// failure is the error as that of an endpoint, nil when it is the question's own.
func (e *Error) failure() *upstream.Error {
	class := e.class()
	if class == 0 {
		return nil
	}
	meaning := e.Meaning()
	failed := &upstream.Error{Class: class, Status: e.status, Err: e, Closed: meaning == QuotaSpent || meaning == KeyRefused}
	if failed.Status < http.StatusBadRequest {
		failed.Status = 0
	}
	if class == upstream.RateLimited || failed.Closed {
		failed.RetryAfter, _ = e.Wait()
	}
	return failed
}
