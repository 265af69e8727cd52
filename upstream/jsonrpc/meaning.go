package jsonrpc

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"crossgate/upstream"
)

// Meaning is the meaning of an error for the request, or for the endpoint that was asked, in the words of the table
// (meanings.txt) and of the book of behaviours.
type Meaning string

// Meanings of errors.
const (
	Unclear       Meaning = "unclear"        // nothing known
	Reverted      Meaning = "reverted"       // a contract refused the call
	Invalid       Meaning = "invalid"        // the transaction cannot succeed, at any endpoint
	RangeLimit    Meaning = "range limit"    // more blocks than the endpoint searches at once
	ResultLimit   Meaning = "result limit"   // the answer would be longer than the endpoint permits
	BatchLimit    Meaning = "batch limit"    // more calls than the endpoint takes at once
	RateLimit     Meaning = "rate limit"     // asked too often
	QuotaSpent    Meaning = "quota spent"    // the plan's day or month is used up
	KeyRefused    Meaning = "key refused"    // the endpoint answers nothing to us, or to our key
	MethodMissing Meaning = "method missing" // the endpoint does not have the method, or not for us
	Pruned        Meaning = "pruned"         // older than the endpoint's history
	NotYet        Meaning = "not yet known"  // the endpoint does not know the block yet
	TagMissing    Meaning = "tag missing"    // the endpoint does not know the tag, or no block for it
	FieldMissing  Meaning = "field missing"  // the endpoint rejects a field of the parameters, or its length
	Overloaded    Meaning = "overloaded"     // the endpoint failed this time
)

// Class is what to do about an error.
type Class string

// The classes.
const (
	Final     Class = "final"     // about the request: every endpoint would say the same
	Narrower  Class = "narrower"  // ask for less at once
	Slower    Class = "slower"    // ask less often
	Elsewhere Class = "elsewhere" // ask another endpoint, and do not ask this one for the like
	Closed    Class = "closed"    // the endpoint answers nothing for a long time
	Retry     Class = "retry"     // ask another endpoint, or this one a moment later
)

// Class returns the class of a meaning; empty if the table does not have the meaning.
func (m Meaning) Class() Class { return classes[m] }

// Meaning returns the meaning of the error, considering the call that was made if that is known.
func (e *Error) Meaning() Meaning {
	if e.meaning != "" {
		return e.meaning
	}
	meaning, _ := e.read()
	return meaning
}

// read checks structure before text: a contract's reason may contain any words.
func (e *Error) read() (meaning Meaning, field string) {
	isRevert := e.Code == codeReverted && hexText.MatchString(strings.ToLower(string(e.Data)))
	if isRevert && len(e.Data) > len(`"0x"`) { // with that the ZK stack refuses any transaction
		return Reverted, ""
	}
	text := e.text()
	named := text
	if e.method != "" {
		named = strings.ReplaceAll(text, strings.ToLower(e.method), "the named method")
	}
	for i := range rules {
		r := &rules[i]
		if !e.mayMean(r.meaning) || !r.fits(e, text) && (r.meaning != MethodMissing || !r.fits(e, named)) {
			continue
		}
		switch {
		case r.meaning == QuotaSpent && e.isShort():
			return RateLimit, ""
		case slices.Contains(r.conditions, prunedIfDeep) && e.depth > nearHead:
			return Pruned, ""
		case r.meaning == FieldMissing:
			return FieldMissing, strings.TrimPrefix(r.conditions[0], "field ")
		}
		return r.meaning, ""
	}
	if isRevert {
		return Reverted, ""
	}
	return Unclear, ""
}

// mayMean reports whether the HTTP status allows a meaning: 429 is about how often or how much we ask, and 401 about
// us, whatever the text advertises; 405 is about the HTTP method. If a gateway refuses us, the funds that it mentions
// are those of our account.
func (e *Error) mayMean(meaning Meaning) bool {
	switch e.status {
	case http.StatusTooManyRequests:
		return meaning == Reverted || meaning.Class() == Narrower || meaning.Class() == Slower || meaning == QuotaSpent
	case http.StatusUnauthorized:
		return meaning == Reverted || meaning.Class() == Closed
	case http.StatusPaymentRequired, http.StatusForbidden:
		return meaning != Invalid
	case http.StatusMethodNotAllowed:
		return meaning != MethodMissing
	}
	return true
}

// isShort reports whether the error states a wait that is short enough to be about a rate.
func (e *Error) isShort() bool {
	wait, told := e.Wait()
	if e.isDown {
		wait, told = e.saidWait()
	}
	return told && wait <= longestShort
}

var (
	hexText = regexp.MustCompile(`^"?(reverted )?0x[0-9a-f]*"?$`)
	// runsNothing matches the methods that only read; no contract refuses those.
	runsNothing = regexp.MustCompile(`(?i)get|price|history`)
	webPage     = regexp.MustCompile(`https?://\S+`)
)

// text returns everything that the error says, in lower case and without URLs: its message and the strings in its data.
func (e *Error) text() string {
	text := strings.Join(append([]string{e.Message}, e.hints().texts...), " ")
	return webPage.ReplaceAllString(strings.ToLower(text), "")
}

// class returns zero for an error that every endpoint would return, otherwise the class with which the next one is
// asked. A text without an envelope does not count if its meaning is unknown, or if no JSON-RPC is served there.
func (e *Error) class() upstream.Class {
	meaning := e.Meaning()
	switch class := meaning.Class(); {
	case class == Final && !runsNothing.MatchString(e.method):
		return 0
	case class == Slower, meaning == QuotaSpent:
		return upstream.RateLimited
	case class == Retry && e.status >= http.StatusInternalServerError:
		return upstream.ServerError
	case class == Retry && e.isBare && (e.status < http.StatusBadRequest || isElsewhere(e.status)):
		return upstream.BadAnswer
	}
	return upstream.Rejected
}

// isElsewhere reports whether a status says that no JSON-RPC is served at the URL, for now or at all.
func isElsewhere(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone
}

// failure returns the error as one of the endpoint, or nil if it is about the request itself.
func (e *Error) failure() *upstream.Error {
	class := e.class()
	if class == 0 {
		return nil
	}
	failed := &upstream.Error{Class: class, Status: e.status, Err: e, Closed: e.Meaning().Class() == Closed}
	if failed.Status < http.StatusBadRequest {
		failed.Status = 0
	}
	if class == upstream.RateLimited || failed.Closed {
		failed.RetryAfter, _ = e.Wait()
	}
	return failed
}
