package jsonrpc

import (
	"net/http"
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
	Skipped                      // the slot has no block, or the endpoint does not keep it
	NotYet                       // the endpoint does not know the block yet
	TagMissing                   // the endpoint does not know the tag, or no block for it
	FieldMissing                 // the endpoint does not take a field of the parameters, or not so much in it
	Overloaded                   // the endpoint could not do it this time
)

var meaningNames = [...]string{
	"unclear", "reverted", "invalid", "range limit", "result limit", "batch limit", "rate limit", "quota spent",
	"key refused", "method missing", "pruned", "skipped", "not yet known", "tag missing", "field missing", "overloaded",
}

// String is the meaning in words, as in the book of behaviours.
func (m Meaning) String() string { return meaningNames[m] }

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
	if invalidWords.MatchString(text) && !e.isClosing() {
		return Invalid
	}
	named := text
	if e.method != "" {
		named = strings.ReplaceAll(text, strings.ToLower(e.method), "the named method")
	}
	for _, each := range signs {
		if !e.mayMean(each.meaning) || !each.isIn(text) && (each.meaning != MethodMissing || !each.isIn(named)) {
			continue
		}
		switch {
		case each.meaning == QuotaSpent && e.isShort():
			return RateLimit
		case each.meaning == NotYet && each.isOfAge && e.depth > nearHead:
			return Pruned // a block that is that deep is not to come
		}
		return each.meaning
	}
	if meaning := e.byQuestion(text); meaning != Unclear {
		return meaning
	}
	if known := byCode[e.Code]; known != Unclear {
		return known
	}
	return e.byStatus()
}

// searches are the methods that ranges of blocks are asked by.
var searches = []string{"", "eth_getLogs", "eth_newFilter", "eth_getFilterLogs", "getBlocks", "getBlocksWithLimit"}

// mayMean reports whether the structure allows a meaning: blocks are too many for searches only, HTTP's 429 is about
// how often or how much is asked whatever else the text advertises, and its 405 is about no method of JSON-RPC.
func (e *Error) mayMean(meaning Meaning) bool {
	switch {
	case meaning == FieldMissing:
		return e.missingField() != ""
	case meaning == RangeLimit && !slices.Contains(searches, e.method):
		return false
	case e.status == http.StatusTooManyRequests:
		return slices.Contains([]Meaning{RangeLimit, ResultLimit, BatchLimit, RateLimit, QuotaSpent}, meaning)
	case e.status == http.StatusMethodNotAllowed:
		return meaning != MethodMissing
	}
	return true
}

// missingField is the field of the parameters that is not taken, by the words; empty: none.
func (e *Error) missingField() string {
	for _, field := range e.fields {
		if fieldWords[field].MatchString(e.text()) {
			return field
		}
	}
	return ""
}

// byCode are codes that mean the same wherever they come from if there are no words: JSON-RPC 2.0, section 5.1;
// EIP-4444; HTTP's 429, which some providers repeat here.
var byCode = map[int]Meaning{codeTooManyHTTP: RateLimit, codeMethodMissing: MethodMissing, codePrunedHistory: Pruned}

// byQuestion goes by what was asked where words say too little: what is not there, of old blocks, is not kept; a limit
// that is no search's is one of calls, as is what passes soon.
func (e *Error) byQuestion(text string) Meaning {
	isSearch := slices.Contains(searches, e.method)
	switch {
	case e.depth > nearHead && absentWords.MatchString(text):
		return Pruned
	case e.isShort():
		return RateLimit
	case isSearch: // limits are said of searches, too, where they are not served at all
	case (e.Code == codeLimitExceeded || limitWords.MatchString(text)) && !sizeWords.MatchString(text):
		return RateLimit
	case e.status == http.StatusForbidden && e.depth <= nearHead && slices.Contains(optional, e.method):
		return MethodMissing
	case e.status == http.StatusForbidden && e.depth <= nearHead:
		return KeyRefused
	}
	return Unclear
}

// optional are methods that plans include or not.
var optional = []string{"eth_simulateV1", "eth_getBlockReceipts", "eth_feeHistory"}

// byStatus goes by the HTTP status where words say nothing.
func (e *Error) byStatus() Meaning {
	switch e.status {
	case http.StatusTooManyRequests:
		return RateLimit
	case http.StatusPaymentRequired:
		return QuotaSpent
	case http.StatusUnauthorized, http.StatusUnavailableForLegalReasons:
		return KeyRefused
	case http.StatusForbidden:
		if e.isBare {
			return KeyRefused // whoever stands before the node; a node's own refusal may be of the call
		}
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return Overloaded
	}
	if e.status >= http.StatusInternalServerError || e.Code == codeInternal {
		return Overloaded
	}
	return Unclear
}

// isShort reports whether the error names the seconds after which the endpoint answers again, for their rate.
func (e *Error) isShort() bool {
	wait, told := e.Wait()
	if e.isDown {
		wait, told = e.saidWait()
	}
	return told && wait <= longestShort
}

// isClosing reports whether the HTTP status is one that gateways refuse us with, not one that nodes answer a call with:
// funds and balances are those of our account, then.
func (e *Error) isClosing() bool {
	switch e.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
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
// answer, nor is one where no JSON-RPC is served.
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
		if e.isBare && (e.status < http.StatusBadRequest || isElsewhere(e.status)) {
			return upstream.BadAnswer
		}
	}
	return upstream.Rejected
}

// isElsewhere reports whether a status says that no JSON-RPC is served at the URL, for now or at all.
func isElsewhere(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone
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
