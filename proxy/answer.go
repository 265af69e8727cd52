package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
)

// answer is what one load made, ready to be copied to any number of clients: one page or several that belong
// together, or a problem, whose body is written for each client since it carries the request's id. It is
// shared and never changed.
type answer struct {
	pages    []page
	problem  *problem
	searched freshness // of all chains, beside a problem: what was not found in them
}

// page is a body with its headers.
type page struct {
	body    []byte
	link    []string // to its neighbours among the pages, nil when there is one page
	etag    []string
	length  []string
	control []string

	final     bool       // nothing can follow what the body tells
	chains    []chain.ID // that the body is about; none: all that are indexed
	freshness freshness

	quoted  time.Time // when the prices in the body were asked for; zero: it has none
	expires time.Time // when the transaction in the body is no longer good for sure; zero: not known
}

// Header values that many answers share.
var (
	jsonType  = []string{"application/json; charset=utf-8"}
	noStore   = []string{"no-store"}
	noSniff   = []string{"nosniff"}
	anyOrigin = []string{"*"}
	exposed   = []string{"Age, Cache-Status, ETag, Link, Retry-After, X-Index-Behind, X-Index-Head, X-Index-Lag, X-Request-Id"}
)

// onePage is what most loads come to.
func onePage(body []byte) []page { return []page{{body: body}} }

// newAnswer makes the headers of pages. Bodies that are not kept here must not be kept elsewhere either.
func newAnswer(pages []page, life cache.Life) answer {
	control := noStore
	if life.Fresh > 0 {
		control = publicFor(life.Fresh)
	}
	for i := range pages {
		p := &pages[i]
		p.length, p.control = []string{strconv.Itoa(len(p.body))}, control
		if life.Fresh > 0 {
			const etagBytes = 16
			digest := sha256.Sum256(p.body)
			p.etag = []string{`"` + hex.EncodeToString(digest[:etagBytes]) + `"`}
		}
	}
	return answer{pages: pages}
}

// publicFor lets caches between here and the client keep an answer.
func publicFor(life time.Duration) []string {
	return []string{"public, max-age=" + strconv.Itoa(int(life/time.Second))}
}

// cost is what the answer takes in memory, bytes.
func (a answer) cost() int64 {
	const headers = 256
	cost := int64(headers)
	for _, p := range a.pages {
		cost += int64(cap(p.body)) + headers
	}
	return cost
}

// tag tells the page from others of its question.
func (p page) tag() string {
	if p.etag == nil {
		return ""
	}
	return strings.Trim(p.etag[0], `"`)
}

// write sends the page, or that the client has it already.
func (p page) write(c *gin.Context, age time.Duration) {
	header := c.Writer.Header()
	header["Cache-Control"] = p.control
	p.freshness.write(header)
	if p.etag != nil {
		header["Etag"] = p.etag
		header["Age"] = []string{strconv.Itoa(int(age / time.Second))}
		if matches(c.Request.Header["If-None-Match"], p.etag[0]) {
			c.Status(http.StatusNotModified)
			return
		}
	}
	if p.link != nil {
		header["Link"] = p.link
	}
	if !p.quoted.IsZero() {
		header["Age"] = []string{strconv.Itoa(int(time.Since(p.quoted) / time.Second))}
	}
	if !p.expires.IsZero() {
		header["Expires"] = []string{p.expires.UTC().Format(http.TimeFormat)}
	}
	header["Content-Type"] = jsonType
	header["Content-Length"] = p.length
	c.Status(http.StatusOK)
	// A client that left is no error of ours, and the log has the bytes sent.
	_, _ = c.Writer.Write(p.body)
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

// Cache-Status values (RFC 9211).
var (
	statusHit    = []string{"crossgate; hit"}
	statusStale  = []string{"crossgate; hit; detail=stale"}
	statusMiss   = []string{"crossgate; fwd=miss"}
	statusShared = []string{"crossgate; fwd=miss; collapsed"}
)

func cacheStatus(outcome cache.Outcome, shared bool) []string {
	switch {
	case outcome == cache.Hit:
		return statusHit
	case outcome == cache.Stale:
		return statusStale
	case shared:
		return statusShared
	}
	return statusMiss
}
