package transport

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"crossgate/internal/golden"
	"crossgate/internal/must"
)

// requests must be understood as by net/http, or be refused by both. Several in a row are a pipeline.
var requests = map[string]string{
	"plain":                "GET /api/Orders/0x01?index=1 HTTP/1.1\r\nHost: crossgate\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n\r\n",
	"1.0":                  "GET / HTTP/1.0\r\n\r\n",
	"1.2":                  "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
	"escapes":              "GET /a%2Fb%20c/d%C3%A9?x=%20+&y HTTP/1.1\r\nHost: h\r\n\r\n",
	"odd characters":       "GET /a;b=c/d,e:@!$&'()*+ HTTP/1.1\r\nHost: h\r\n\r\n",
	"two slashes":          "GET //a//b HTTP/1.1\r\nHost: h\r\n\r\n",
	"dots":                 "GET /a/../b/./c HTTP/1.1\r\nHost: h\r\n\r\n",
	"empty query":          "GET /a? HTTP/1.1\r\nHost: h\r\n\r\n",
	"question marks":       "GET /a?b?c=? HTTP/1.1\r\nHost: h\r\n\r\n",
	"fragment":             "GET /a?b#c HTTP/1.1\r\nHost: h\r\n\r\n",
	"UTF-8 in the query":   "GET /a?b=\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n",
	"absolute":             "GET http://other:80/a?b HTTP/1.1\r\nHost: h\r\n\r\n",
	"asterisk":             "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
	"authority":            "CONNECT a:443 HTTP/1.1\r\nHost: h\r\n\r\n",
	"authority, no host":   "CONNECT a:443 HTTP/1.1\r\n\r\n",
	"empty host":           "GET / HTTP/1.1\r\nHost:\r\n\r\n",
	"lower case":           "GET / HTTP/1.1\r\nhost: h\r\nif-none-match: \"x\"\r\nUSER-AGENT: me\r\n\r\n",
	"blanks around values": "GET / HTTP/1.1\r\nHost: h\r\nAccept: \t */* \t\r\n\r\n",
	"no value":             "GET / HTTP/1.1\r\nHost: h\r\nAccept:\r\n\r\n",
	"cookies":              "GET / HTTP/1.1\r\nHost: h\r\nCookie: a=1;b=2\r\nCookie: c\r\n\r\n",
	"pragma":               "GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n",
	"another method":       "PROPFIND /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"latin-1":              "GET / HTTP/1.1\r\nHost: h\r\nX-Name: \xe9\r\n\r\n",
	"many lines":           "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X-A: 1\r\nX-B: 2\r\n", 200) + "\r\n",

	"several lines":                  "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nx-forwarded-for: 2.2.2.2\r\n\r\n",
	"several lines, no chunks":       "POST / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1\r\nX-Forwarded-For: 2\r\nX-Forwarded-For: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"several lines after the coding": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Forwarded-For: 1\r\nX-Forwarded-For: 2\r\n\r\n0\r\n\r\n",
	"several lines, some chunks":     "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\nX-Forwarded-For: 1\r\nX-Forwarded-For: 2\r\n\r\n1\r\na\r\n0\r\n\r\n",

	"body":                    "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
	"body of GET":             "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
	"empty body":              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
	"long body":               "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("b", 60_000),
	"body cut short":          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhell",
	"chunks":                  chunked("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
	"chunks cut short":        chunked("5\r\nhello\r\n"),
	"chunks in 16 digits":     chunked("0000000000000005\r\nhello\r\n0\r\n\r\n"),
	"chunks in 17 digits":     chunked("00000000000000005\r\nhello\r\n0\r\n\r\n"),
	"chunks past 64 bits":     chunked("ffffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
	"chunk that wraps":        chunked("ffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
	"chunk in 0x":             chunked("0x5\r\nhello\r\n0\r\n\r\n"),
	"chunk with a sign":       chunked("+5\r\nhello\r\n0\r\n\r\n"),
	"chunk with a score":      chunked("0_5\r\nhello\r\n0\r\n\r\n"),
	"chunk with an extension": chunked("5;a=b;c\r\nhello\r\n0;d\r\n\r\n"),
	"blank before a chunk":    chunked(" 5\r\nhello\r\n0\r\n\r\n"),
	"chunk with blanks":       chunked("5 \t\r\nhello\r\n0\r\n\r\n"),
	"long chunk line":         chunked("5;" + strings.Repeat("x", 2000) + "\r\nhello\r\n0\r\n\r\n"),
	"chunk without digits":    chunked("x\r\n\r\n"),
	"empty chunk line":        chunked("\r\n\r\n"),
	"chunk too short":         chunked("4\r\nhello\r\n0\r\n\r\n"),
	"chunk too long":          chunked("6\r\nhello\r\n0\r\n\r\n"),
	"long extension":          chunked("5;" + strings.Repeat("x", 5000) + "\r\nhello\r\n0\r\n\r\n"),
	"much overhead":           chunked(strings.Repeat("1;"+strings.Repeat("x", 900)+"\r\nh\r\n", 40) + "0\r\n\r\n"),
	"some overhead":           chunked(strings.Repeat("1\r\nh\r\n", 900) + "0\r\n\r\n"),

	"chunk line with a bare LF":         chunked("5\nhello\r\n0\r\n\r\n"),
	"chunk with a bare LF":              chunked("5\r\nhello\n0\r\n\r\n"),
	"chunk line with a bare CR":         chunked("5\rX\r\nhello\r\n0\r\n\r\n"),
	"last chunk with a bare LF":         chunked("5\r\nhello\r\n0\n\r\n"),
	"extension with a bare CR":          chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"),
	"end of the trailer with a bare LF": chunked("5\r\nhello\r\n0\r\n\n"),

	"trailer":                    chunked("5\r\nhello\r\n0\r\nX-Forwarded-For: 6.6.6.6\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n"),
	"trailer that was announced": "POST / HTTP/1.1\r\nHost: h\r\nTrailer: X-Sum, x-other\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 1\r\n\r\n",
	"trailer without chunks":     "POST / HTTP/1.1\r\nHost: h\r\nTrailer: X-Sum\r\nContent-Length: 1\r\n\r\na",
	"trailer about the length":   "POST / HTTP/1.1\r\nHost: h\r\nTrailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"trailer without a colon":    chunked("0\r\nX-Sum\r\n\r\n"),
	"long trailer":               chunked("0\r\nX-Sum: " + strings.Repeat("x", 5000) + "\r\n\r\n"),

	"bare LF":                    "GET / HTTP/1.1\nHost: h\nAccept: x\n\n",
	"bare LF before the end":     "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n",
	"bare LF at the end":         "GET / HTTP/1.1\r\nHost: h\r\n\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n",
	"bare LF before a length":    "POST / HTTP/1.1\r\nHost: h\r\nX-A: 1\nContent-Length: 5\r\n\r\nhello",
	"two CRs":                    "GET / HTTP/1.1\r\nHost: h\r\nAccept: x\r\r\n\r\n",
	"CR in a value":              "GET / HTTP/1.1\r\nHost: h\r\nAccept: x\ry\r\n\r\n",
	"CR in the target":           "GET /\r HTTP/1.1\r\nHost: h\r\n\r\n",
	"control in the query":       "GET /?\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
	"empty line first":           "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"empty line after POST":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"empty line after GET":       "GET / HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"only an end after POST":     "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na\r\n",
	"close":                      "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /not HTTP/1.1\r\nHost: h\r\n\r\n",
	"close, first of two":        "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nConnection: keep-alive\r\n\r\nGET /not HTTP/1.1\r\nHost: h\r\n\r\n",
	"close, second of two":       "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: TE, Close\r\n\r\nGET /not HTTP/1.1\r\nHost: h\r\n\r\n",
	"1.0 ends":                   "GET / HTTP/1.0\r\n\r\nGET /not HTTP/1.0\r\n\r\n",
	"1.0 goes on":                "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /next HTTP/1.0\r\n\r\n",
	"pipeline":                   "GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhiHEAD /c HTTP/1.1\r\nHost: h\r\n\r\n",
	"pipeline of chunks":         chunked("5\r\nhello\r\n0\r\nA: b\r\n\r\n") + chunked("0\r\n\r\n") + "GET /c HTTP/1.1\r\nHost: h\r\n\r\n",
	"pipeline with a mistake":    "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nAccept\r\n\r\nGET /c HTTP/1.1\r\nHost: h\r\n\r\n",
	"expectation":                "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
	"expectation, no body":       "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n\r\n",
	"expectation of 1.0":         "POST / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
	"unknown expectation":        "POST / HTTP/1.1\r\nHost: h\r\nExpect: coffee\r\nContent-Length: 5\r\n\r\nhello",
	"unknown, of 1.0":            "POST / HTTP/1.0\r\nHost: h\r\nExpect: coffee\r\nContent-Length: 5\r\n\r\nhello",
	"no host":                    "GET / HTTP/1.1\r\n\r\n",
	"two hosts":                  "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	"two hosts, same":            "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
	"odd host":                   "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
	"blank before colon":         "GET / HTTP/1.1\r\nHost: h\r\nAccept : x\r\n\r\n",
	"blank before a length":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello",
	"blank before the first":     "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
	"no name":                    "GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n",
	"no colon":                   "GET / HTTP/1.1\r\nHost: h\r\nAccept\r\n\r\n",
	"NUL":                        "GET / HTTP/1.1\r\nHost: h\r\nAccept: \x00\r\n\r\n",
	"NUL in a name":              "GET / HTTP/1.1\r\nHost: h\r\nAcc\x00ept: x\r\n\r\n",
	"two lengths":                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
	"list of lengths":            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nhello",
	"no length":                  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhello",
	"negative length":            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nhello",
	"length with a sign":         "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
	"length in hex":              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello",
	"length past 64 bits":        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551621\r\n\r\nhello",
	"identity":                   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
	"unknown coding":             "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"two codings":                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"no coding":                  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n",
	"coding with a blank":        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chun ked\r\n\r\n0\r\n\r\n",
	"coding with a vertical tab": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
	"Coding":                     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
	"blank in the target":        "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
	"two blanks":                 "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
	"tab":                        "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n",
	"no target":                  "GET HTTP/1.1\r\nHost: h\r\n\r\n",
	"no version":                 "GET /\r\nHost: h\r\n\r\n",
	"relative":                   "GET a HTTP/1.1\r\nHost: h\r\n\r\n",
	"undecodable":                "GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n",
	"odd method":                 "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
	"HTTP/0.9":                   "GET / HTTP/0.9\r\nHost: h\r\n\r\n",
	"HTTP/3":                     "GET / HTTP/3.0\r\nHost: h\r\n\r\n",
	"HTTP/1.10":                  "GET / HTTP/1.10\r\nHost: h\r\n\r\n",
	"http/1.1":                   "GET / http/1.1\r\nHost: h\r\n\r\n",
	"no HTTP":                    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
}

// stricter are requests that net/http repairs. RFC 9112 lets a server refuse them.
var stricter = map[string]string{
	"length and chunks":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",         // 6.1
	"chunks of 1.0":          "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",               // 6.1
	"folded line":            "GET / HTTP/1.1\r\nHost: h\r\nAccept: x,\r\n y\r\n\r\n",                                                  // 5.2
	"folded coding":          "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",                          // 5.2
	"two lengths, same":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",                      // 6.3
	"blank and extension":    chunked("5 ;x\r\nhello\r\n0\r\n\r\n"),                                                                    // 7.1.1
	"trailer with a bare LF": chunked("0\r\nX-Sum: 1\nX-Other: 2\r\n\r\n"),                                                             // 7.1
	"two expectations":       "POST / HTTP/1.1\r\nHost: h\r\nExpect: coffee\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", // RFC 9110, 10.1.1
}

func chunked(body string) string {
	return "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body
}

// TestRequestsAreThoseOfNetHTTP sends the same bytes to net/http's server.
func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	ours, theirs := bothListen(t)
	for name, sent := range requests {
		got, answer := ours.hear([]byte(sent))
		want, wantAnswer := theirs.hear([]byte(sent))
		if n := len(want); n > 0 && want[n-1].Failed {
			want = want[:n-1] // this server reads a body before it calls a handler
		}
		if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
			t.Errorf("%s: handlers are given\n%s\nnet/http's client is told\n%s", name, difference, wantAnswer)
		}
		if wantAnswers := answers(wantAnswer); cmp.Diff(answers(answer), wantAnswers) != "" {
			t.Errorf("%s: the client is told\n%s\nwant\n%s", name, answer, wantAnswer)
		}
	}
}

// answers returns the final status codes on a connection.
func answers(sent []byte) (statuses []string) {
	for line := range strings.Lines(string(sent)) {
		if rest, is := strings.CutPrefix(line, "HTTP/1."); is && rest[2] > '1' {
			statuses = append(statuses, rest[2:5])
		}
	}
	return statuses
}

func TestWhatNetHTTPRepairsIsRefused(t *testing.T) {
	ours, _ := bothListen(t)
	for name, sent := range stricter {
		heard, answer := ours.hear([]byte(sent + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"))
		if len(heard) > 0 || !strings.HasPrefix(string(answer), "HTTP/1.1 4") || strings.Count(string(answer), "HTTP/1.1") > 1 {
			t.Errorf("%s: handlers are given %+v, the client is told\n%s\nwant one refusal", name, heard, answer)
		}
	}
}

// TestRequestArrivesInAnyPieces sends requests with several parts byte by byte.
func TestRequestArrivesInAnyPieces(t *testing.T) {
	sent := requests["pipeline of chunks"] + requests["trailer"] + requests["several lines"]
	ours, _ := bothListen(t)
	want, _ := ours.hear([]byte(sent))
	if len(want) != 5 {
		t.Fatalf("%d requests, want 5", len(want))
	}
	for most := 1; most < 80; most += 3 {
		got, _ := ours.hearInPieces([]byte(sent), most)
		golden.Same(t, fmt.Sprint(most, " bytes at a time"), want, got, cmpopts.EquateEmpty())
	}
}

func TestClientThatWaitsIsToldToSendItsBody(t *testing.T) {
	_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	for proto, framing := range map[string][2]string{
		"Content-Length: 5":          {"hello", "hello"},
		"Transfer-Encoding: chunked": {"5\r\nhello\r\n0\r\n\r\n", "hello"},
	} {
		connection := listener.dial()
		must.Get(io.WriteString(connection, "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"+proto+"\r\n\r\n"))(t)
		told := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
		if _, err := io.ReadFull(connection, told); err != nil || string(told) != "HTTP/1.1 100 Continue\r\n\r\n" {
			t.Fatalf("%q (%v)", told, err)
		}
		must.Get(io.WriteString(connection, framing[0]))(t)
		response := must.Get(http.ReadResponse(bufio.NewReader(connection), nil))(t)
		if answer := string(must.Get(io.ReadAll(response.Body))(t)); answer != framing[1] {
			t.Errorf("%s: %q, want %q", proto, answer, framing[1])
		}
		connection.Close()
	}
}

// FuzzRequest sends arbitrary bytes to this server and to net/http's. What a handler receives here it must receive
// there, in the same order.
func FuzzRequest(f *testing.F) {
	for _, table := range []map[string]string{requests, stricter} {
		for _, sent := range table {
			f.Add([]byte(sent))
		}
	}
	ours, theirs := bothListen(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		got, answer := ours.hear(sent)
		if len(got) == 0 {
			return
		}
		want, wantAnswer := theirs.hear(sent)
		if len(want) > len(got) {
			want = want[:len(got)] // refused here
		}
		if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
			t.Errorf("%q\n%s\nanswered\n%s\nby net/http\n%s", sent, difference, answer, wantAnswer)
		}
	})
}
