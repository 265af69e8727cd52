package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
)

// answer is what one load made, ready to be copied to any number of clients: one body or several that belong
// together, or a problem, whose body is written for each client since it carries the request's id. It is
// shared and never changed.
type answer struct {
	bodies    []jsonBody
	problem   *problem
	searched  index.Basis // beside a problem: where what is not there was looked for
	freshness freshness   // of that

	subject cache.Key // of the question that the index answered; absent when it was not asked
	made    time.Time // when the load ended
}

// jsonBody is a response body with its headers.
type jsonBody struct {
	text    string
	plain   form     // the body as it is
	forms   *forms   // nil where the body is too short to be compressed
	link    []string // to its neighbours among the bodies, nil when there is one
	control []string

	unheard   []chain.ID  // chains that did not tell what a token of theirs is called
	final     bool        // nothing but a reorg can change the body
	orders    []order.ID  // that it is about
	basis     index.Basis // what the body was read from; empty when that is not the index
	freshness freshness

	quoted      time.Time // when the prices in the body were asked for; zero: it has none
	unsimulated bool      // the transaction in the body was not simulated
	expires     time.Time // when the transaction in the body is no longer good for sure; zero: not known
}

// Header values that many answers share.
var (
	jsonType    = []string{"application/json; charset=utf-8"}
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	anyOrigin   = []string{"*"}
	isTrue      = []string{"true"}
	varyCoding  = []string{"Accept-Encoding"}
	varyReader  = []string{"Accept, Sec-Fetch-Dest"} // what isForPeople looks at
	varyStreams = []string{"Accept, Accept-Encoding"}
	exposed     = []string{"Age, Cache-Status, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, " +
		"X-Chains-Unheard, X-Index-Behind, X-Index-From, X-Index-Head, X-Index-Lag, X-Index-Proven, X-Index-Quarantined, X-Order-Unsearched, X-Request-Id, X-Unsimulated"}
)

// oneBody is what most loads come to.
func oneBody(body []byte) []jsonBody { return []jsonBody{{text: string(body)}} }

// newAnswer makes the headers of bodies. Bodies that are not kept here must not be kept elsewhere either.
func newAnswer(bodies []jsonBody, life cache.Life, made time.Time) answer {
	control := cacheControl(life)
	for i := range bodies {
		b := &bodies[i]
		b.control = control
		b.freshness = freshnessOf(b.basis, made)
		b.plain = form{body: b.text, length: []string{strconv.Itoa(len(b.text))}}
		if life.Fresh > 0 {
			const etagBytes = 16
			digest := sha256.Sum256([]byte(b.text))
			b.plain.etag = []string{`"` + hex.EncodeToString(digest[:etagBytes]) + `"`}
		}
		if len(b.text) >= smallestEncoded {
			b.forms = new(forms)
		}
	}
	return answer{bodies: bodies, made: made}
}

// isEmpty says of an answer that it is none.
func (a answer) isEmpty() bool { return a.bodies == nil && a.problem == nil }

// cost is what the answer takes in memory at most, bytes: each compressed form is half as long as the body or
// is not kept.
func (a answer) cost() int64 {
	const headers, perChain = 512, 300
	cost := int64(headers)
	for _, b := range a.bodies {
		cost += 2*int64(len(b.text)) + headers + perChain*int64(len(b.basis.Chains))
	}
	return cost
}

// without is the body, with its life, as it is where metadata of tokens on some chains is missing.
func (b jsonBody) without(unread []chain.ID, life cache.Life) ([]jsonBody, cache.Life, error) {
	if b.unheard = unread; len(unread) > 0 {
		life = noLife
	}
	return []jsonBody{b}, life, nil
}

// holds reports whether no new head has made the answer wrong.
func (a answer) holds() bool {
	for i := range a.bodies {
		if !a.bodies[i].basis.Holds() {
			return false
		}
	}
	return true
}

// isSettled reports whether nothing can make the answer wrong.
func (a answer) isSettled() bool {
	return !slices.ContainsFunc(a.bodies, func(b jsonBody) bool { return !b.final || !b.basis.IsFinal() })
}

// tag identifies this version of the body.
func (b *jsonBody) tag() string {
	if b.plain.etag == nil {
		return ""
	}
	return strings.Trim(b.plain.etag[0], `"`)
}

// write sends the body in the coding that the client prefers, or 304 when the client has it already.
func (b *jsonBody) write(c *gin.Context, age time.Duration) {
	header := c.Writer.Header()
	header["Cache-Control"] = b.control
	b.freshness.write(header)
	if len(b.unheard) > 0 {
		header[chainsUnheard] = unheardValue(b.unheard)
	}
	sent := b.in(acceptedEncoding(c.Request.Header["Accept-Encoding"]))
	if sent.etag != nil {
		header["Etag"] = sent.etag
		header["Age"] = ageOf(age)
		if c.Request.Method != http.MethodPost && matches(c.Request.Header["If-None-Match"], sent.etag[0]) {
			c.Status(http.StatusNotModified)
			return
		}
	}
	if b.link != nil {
		header["Link"] = b.link
	}
	if !b.quoted.IsZero() {
		header["Age"] = ageOf(time.Since(b.quoted))
	}
	if b.unsimulated {
		header["X-Unsimulated"] = isTrue
	}
	if !b.expires.IsZero() {
		header["Expires"] = []string{b.expires.UTC().Format(http.TimeFormat)}
	}
	if sent.coding != nil {
		header["Content-Encoding"] = sent.coding
	}
	header["Content-Type"] = jsonType
	header["Content-Length"] = sent.length
	c.Status(http.StatusOK)
	// A client that left is no error of ours, and the log has the bytes sent.
	_, _ = c.Writer.Write(unsafe.Slice(unsafe.StringData(sent.body), len(sent.body))) // which does not change it
}

// matches reports whether an If-None-Match header names etag, by weak comparison (RFC 9110 section 13.1.2).
func matches(conditions []string, etag string) bool {
	for _, condition := range conditions {
		for tag := range strings.SplitSeq(condition, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}
