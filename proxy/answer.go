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
)

// answer is the result of one load, ready to be copied to any number of clients: one body or several that belong
// together, or a problem, whose body is written per client because it carries the request's id. It is shared and
// immutable.
type answer struct {
	Bodies    []Body
	problem   *problem
	Searched  order.Basis // set with a problem: where the answer was looked for
	freshness freshness   // of Searched

	subject cache.Key // of the question that the index answered; zero if the index was not asked
	Made    time.Time // when the load ended
}

// Body is a response body with its headers.
type Body struct {
	Value   any      `json:"-"` // the source of Text, for pages; nil in answers to API clients
	Text    string   `json:"-"`
	plain   form     // uncompressed
	packed  *packed  // nil if the body is too short to compress
	Link    []string // to the neighbouring bodies, nil if there is only one
	control []string

	unheard   []chain.ID  // chains whose token metadata is missing
	Final     bool        // only a reorg can change the body
	Orders    []order.ID  // that the body is about
	Basis     order.Basis // of the body; empty if it does not come from the index
	freshness freshness

	Quoted      time.Time // when the prices in the body were quoted; zero if it has none
	Unsimulated bool      // the transaction in the body was not simulated
	Expires     time.Time // when the transaction in the body is certain to have expired; zero if unknown
}

// Header values that many answers share.
var (
	jsonType    = []string{"application/json; charset=utf-8"}
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	anyOrigin   = []string{"*"}
	isTrue      = []string{"true"}
	varyCoding  = []string{"Accept-Encoding"}
	varyReader  = []string{"Accept, Sec-Fetch-Dest"} // what TurnAway looks at
	varyStreams = []string{"Accept, Accept-Encoding"}
	exposed     = []string{"Age, Cache-Status, ETag, Index-Basis, Link, RateLimit, RateLimit-Policy, Retry-After, " +
		"X-Chains-Unheard, X-Order-Unsearched, X-Request-Id, X-Unsimulated"}
)

// OneBody returns body as the only body of an answer.
func OneBody(body []byte) []Body { return []Body{{Text: string(body)}} }

// newAnswer sets the headers of bodies. Bodies that are not cached here must not be cached elsewhere either.
func newAnswer(bodies []Body, life cache.Life, made time.Time) answer {
	control := cacheControl(life)
	for i := range bodies {
		b := &bodies[i]
		b.control = control
		b.freshness = freshnessOf(b.Basis, made)
		b.plain = form{body: b.Text, length: []string{strconv.Itoa(len(b.Text))}}
		if life.Fresh > 0 {
			b.plain.etag = []string{etagOf(sha256.Sum256([]byte(b.Text)))}
		}
		if len(b.Text) >= smallestEncoded {
			b.packed = new(packed)
		}
	}
	return answer{Bodies: bodies, Made: made}
}

func etagOf(digest [sha256.Size]byte) string {
	const size = 16
	return `"` + hex.EncodeToString(digest[:size]) + `"`
}

// cost returns an upper bound of the answer's memory in bytes. A compressed form is kept only if it halves the body.
func (a answer) cost() int64 {
	const headers, perChain = 512, 300
	cost := int64(headers)
	for _, b := range a.Bodies {
		if b.Value != nil {
			cost += max(int64(len(b.Text)), 4<<10) // more than its source takes
		}
		cost += 2*int64(len(b.Text)) + headers + perChain*int64(len(b.Basis.Chains))
	}
	return cost
}

// Without returns the body and its life, NoLife if token metadata is missing on some chains.
func (b Body) Without(unread []chain.ID, life cache.Life) ([]Body, cache.Life, error) {
	if b.unheard = unread; len(unread) > 0 {
		life = NoLife
	}
	return []Body{b}, life, nil
}

// holds reports whether no new head contradicts the answer.
func (a answer) holds() bool {
	for i := range a.Bodies {
		if !a.Bodies[i].Basis.Holds() {
			return false
		}
	}
	return true
}

// isSettled reports whether nothing can change the answer any more.
func (a answer) isSettled() bool {
	return !slices.ContainsFunc(a.Bodies, func(b Body) bool { return !b.Final || !b.Basis.IsFinal() })
}

// write sends the body in the client's preferred coding, or 304 if the client already has it.
func (b *Body) write(c *gin.Context, age time.Duration) {
	header := c.Writer.Header()
	header["Cache-Control"] = b.control
	b.freshness.write(header)
	if len(b.unheard) > 0 {
		header[chainsUnheard] = unheardValue(b.unheard)
	}
	sent := b.in(acceptsGzip(c.Request.Header["Accept-Encoding"]))
	if !b.Quoted.IsZero() {
		age = time.Since(b.Quoted)
	}
	if sent.etag != nil || !b.Quoted.IsZero() {
		header["Age"] = ageOf(age)
	}
	if sent.etag != nil {
		header["Etag"] = sent.etag
		if c.Request.Method != http.MethodPost && matches(c.Request.Header["If-None-Match"], sent.etag[0]) {
			c.Status(http.StatusNotModified)
			return
		}
	}
	if b.Link != nil {
		header["Link"] = b.Link
	}
	if b.Unsimulated {
		header["X-Unsimulated"] = isTrue
	}
	if !b.Expires.IsZero() {
		header["Expires"] = []string{b.Expires.UTC().Format(http.TimeFormat)}
	}
	if sent.coding != nil {
		header["Content-Encoding"] = sent.coding
	}
	header["Content-Type"] = jsonType
	header["Content-Length"] = sent.length
	c.Status(http.StatusOK)
	// A client that left is not a server error, and the log line counts the bytes sent.
	_, _ = c.Writer.Write(unsafe.Slice(unsafe.StringData(sent.body), len(sent.body))) // Write does not modify it
}

// matches reports whether an If-None-Match header lists etag, by weak comparison (RFC 9110 section 13.1.2).
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
