package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"crossgate/internal/golden"
	"crossgate/internal/must"
)

// streaming makes handlers read every body.
func streaming(o *Options) { o.Stream = func(*http.Request) bool { return true } }

// TestStreamedBodiesAreThoseOfNetHTTP sends the same bytes to net/http's server, which streams all bodies. Mistakes
// refused before the handler runs, if bodies are read first, surface here while the body is read, as they do there.
func TestStreamedBodiesAreThoseOfNetHTTP(t *testing.T) {
	ours := listeningTo(t, func(t testing.TB, handler http.HandlerFunc) *lines {
		t.Helper()
		_, listener := serving(t, handler, streaming)
		return listener
	})
	theirs := listeningTo(t, reference)
	for name, sent := range requests {
		want, wantAnswer := theirs.hear([]byte(sent))
		for _, most := range []int{len(sent), 3} {
			got, answer := ours.hearInPieces([]byte(sent), most)
			if n := len(got); n > 0 && n == len(want) && got[n-1].Failed && want[n-1].Failed {
				got[n-1].Body = want[n-1].Body // where a reader notices a mistake is its own affair
			}
			if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("%s, %d bytes at a time: handlers are given\n%s\nnet/http's client is told\n%s", name, most, difference, wantAnswer)
			}
			if difference := cmp.Diff(answers(wantAnswer), answers(answer)); difference != "" {
				t.Errorf("%s, %d bytes at a time: the client is told\n%s\nwant\n%s", name, most, answer, wantAnswer)
			}
		}
	}
	for name, sent := range stricter {
		heard, answer := ours.hear([]byte(sent + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"))
		isRefused := len(heard) == 0 || len(heard) == 1 && heard[0].Failed
		if !isRefused || strings.Count(string(answer), "HTTP/1.1") > 1 {
			t.Errorf("%s: handlers are given %+v, the client is told\n%s", name, heard, answer)
		}
	}
}

// TestBodyIsReadWhileItIsAnswered has a client and a handler take turns.
func TestBodyIsReadWhileItIsAnswered(t *testing.T) {
	_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			_, _ = io.WriteString(w, lines.Text())
			w.(http.Flusher).Flush()
		}
		w.Header()[http.TrailerPrefix+"X-Sum"] = []string{"9"}
		w.Header()[http.TrailerPrefix+"Content-Length"] = []string{"9"}
	}, streaming)
	connection := listener.dial()
	defer connection.Close()
	write := func(text string) {
		must.Get(io.WriteString(connection, text))(t)
	}
	write("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n")
	reader := bufio.NewReader(connection)
	response := must.Get(http.ReadResponse(reader, nil))(t)
	heard := make([]byte, 1)
	for _, text := range []string{"a", "b", "c"} {
		if _, err := io.ReadFull(response.Body, heard); err != nil || string(heard) != text {
			t.Fatalf("%q, %v, want %s", heard, err, text)
		}
		next := map[string]string{"a": "2\r\nb\n\r\n", "b": "2\r\nc\n\r\n", "c": "0\r\n\r\n"}[text]
		write(next)
	}
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v after the last", rest, err)
	}
	golden.Same(t, "trailer", http.Header{"X-Sum": {"9"}}, response.Trailer)
	write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nd\n")
	response = must.Get(http.ReadResponse(reader, nil))(t)
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "d" {
		t.Errorf("the next request of the connection: %q, %v", rest, err)
	}
}

// TestBodyThatIsNotReadEndsItsConnection answers before a body arrives, which must not be taken for a request.
func TestBodyThatIsNotReadEndsItsConnection(t *testing.T) {
	asked := 0
	_, listener := serving(t, func(http.ResponseWriter, *http.Request) { asked++ }, streaming)
	connection := listener.dial()
	defer connection.Close()
	go func() {
		_, _ = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\n"+requests["plain"])
	}()
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || !response.Close {
		t.Fatalf("%v, %v, want an answer that ends the connection", response, err)
	}
	connection.Close()
	if asked != 1 {
		t.Errorf("%d requests, want 1", asked)
	}
}

func TestStreamsHaveLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			ended := ctx.Done()
			_, err := io.Copy(io.Discard, r.Body)
			<-ended
			failed <- errors.Join(err, ctx.Err())
		}, streaming)
		for name, say := range map[string]func(io.WriteCloser){
			"a client that is silent": func(io.WriteCloser) {},
			"a client that leaves":    func(c io.WriteCloser) { _ = c.Close() },
		} {
			connection := listener.dial()
			began := time.Now()
			must.Get(io.WriteString(connection, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhell"))(t)
			for range 3 { // slow, but not silent
				<-time.After(9 * time.Second)
				must.Get(io.WriteString(connection, "o"))(t)
			}
			say(connection)
			if err := <-failed; !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			connection.Close()
		}
	})
}

// TestReaderThatOutlivesItsHandler reads a body in another goroutine, as clients of net/http do.
func TestReaderThatOutlivesItsHandler(t *testing.T) {
	ended := make(chan error, 1)
	_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
		begun := make(chan struct{})
		go func() {
			part := make([]byte, 1)
			_, _ = r.Body.Read(part)
			close(begun)
			_, err := r.Body.Read(part)
			ended <- err
		}()
		<-begun
	}, streaming)
	connection := listener.dial()
	defer connection.Close()
	must.Get(io.WriteString(connection, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na"))(t)
	if response, err := http.ReadResponse(bufio.NewReader(connection), nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", response, err)
	}
	if err := <-ended; err == nil {
		t.Error("the body is read although its handler has returned")
	}
}
