package passthrough

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"crossgate/internal/must"
)

// TestOneRequestForAllWhoAskMeanwhile has 10,000 callers request something that is not stored yet.
func TestOneRequestForAllWhoAskMeanwhile(t *testing.T) {
	release := make(chan struct{})
	w := open(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		cached(w, "")
		_, _ = io.WriteString(w, "one for all")
	})
	if seen := w.together(10_000, release); len(seen) != 1 || !seen["1 one for all"] || w.asked.Load() != 1 {
		t.Errorf("%d requests at the origin, answers %v, want one", w.asked.Load(), seen)
	}
}

// together has so many callers ask for one path, lets the origin go on when all of them wait, and returns which of its
// responses they got, by number and body.
func (w *world) together(callers int, release chan struct{}) (seen map[string]bool) {
	var waiting sync.WaitGroup
	answers := make(chan string, callers)
	for range callers {
		waiting.Go(func() {
			recorder := httptest.NewRecorder()
			w.serve(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
			answers <- recorder.Header().Get("Number") + " " + recorder.Body.String()
		})
	}
	for w.waiters() < callers {
		runtime.Gosched()
	}
	close(release)
	waiting.Wait()
	seen = map[string]bool{}
	for range callers {
		seen[<-answers] = true
	}
	return seen
}

// waiters returns the number of waiters for fills in flight.
func (w *world) waiters() (all int) {
	w.handler.mu.Lock()
	defer w.handler.mu.Unlock()
	for _, f := range w.handler.fills {
		all += f.waiters
	}
	return all
}

// TestWhatCannotBeStoredHoldsNobodyUp has callers wait for a response that turns out to be for one of them only.
func TestWhatCannotBeStoredHoldsNobodyUp(t *testing.T) {
	const callers = 20
	release := make(chan struct{})
	w := open(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Cache-Control", "private")
		_, _ = io.WriteString(w, "yours")
	})
	if seen := w.together(callers, release); len(seen) != callers {
		t.Errorf("responses %v, want %d different ones", seen, callers)
	}
}

// TestNoFillIsBegunForWhatHasJustCome ends a fill between a request's lookup and its own fill.
func TestNoFillIsBegunForWhatHasJustCome(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, _ *http.Request) { cached(w, "") })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/", nil)
	host := w.handler.hosts.Load().find(r.Host)
	x := &exchange{r: r, host: host, header: r.Header, path: "/", key: keyOf(host, "", "/", "")}
	w.get("/")
	w.handler.works.Wait()
	if f, _ := w.handler.join(x, nil, false); f != nil {
		t.Error("the origin is asked for what is stored")
	}
}

// TestSlowClientHoldsNobodyUp proves that a fill continues if the client that began it reads nothing.
func TestSlowClientHoldsNobodyUp(t *testing.T) {
	const size = 4 << 20 // more than sockets buffer
	w := open(t, func(w http.ResponseWriter, _ *http.Request) {
		cached(w, "Content-Length: "+strconv.Itoa(size))
		_, _ = w.Write(make([]byte, size))
	}, func(h *Host) { h.MaxBody = size })
	w.handler.options.MaxBytes = 64 << 20 // the bound of bodies that are being read
	slow, reader := w.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	defer slow.Close()
	if line, err := reader.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	w.handler.works.Wait()
	if asked := w.asked.Load(); asked != 1 {
		t.Errorf("%d requests at the origin, want 1", asked)
	}
}

// TestFillOutlivesTheClientThatBeganIt has that client leave while others wait, and before any other does.
func TestFillOutlivesTheClientThatBeganIt(t *testing.T) {
	release := make(chan struct{})
	left := make(chan struct{}, 1)
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		cached(w, "")
		select {
		case <-release:
			_, _ = io.WriteString(w, "late")
		case <-r.Context().Done():
			left <- struct{}{}
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	}()
	for w.waiters() < 1 {
		runtime.Gosched()
	}
	second := make(chan answer)
	go func() { second <- w.get("/") }()
	for w.waiters() < 2 {
		runtime.Gosched()
	}
	leave()
	<-gone
	close(release)
	if got := <-second; got.body != "late" || w.asked.Load() != 1 {
		t.Errorf("%q after %d requests", got.body, w.asked.Load())
	}

	release = make(chan struct{})
	ctx, leave = context.WithCancel(t.Context())
	go func() {
		for w.asked.Load() < 2 {
			runtime.Gosched()
		}
		leave()
	}()
	w.serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/other", nil).WithContext(ctx))
	<-left // without waiters the origin need not continue
}

// TestBodiesOfAnyLengthTakeLittleMemory streams 64 MB in both directions concurrently.
func TestBodiesOfAnyLengthTakeLittleMemory(t *testing.T) {
	const size, most = 64 << 20, 24 << 20
	for method, length := range map[string]int64{http.MethodGet: size, http.MethodPost: -1} {
		var highest uint64
		watch := func() {
			runtime.GC() // which a loaded machine does late
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapAlloc)
		}
		w := open(t, func(w http.ResponseWriter, r *http.Request) {
			cached(w, "")
			if n, err := io.Copy(io.Discard, r.Body); err != nil || r.Method == http.MethodPost && n != size {
				t.Errorf("the origin got %d bytes, %v", n, err)
			}
			if length > 0 {
				w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
			}
			_, _ = io.CopyN(w, zeros{}, size)
		})
		watch()
		before := highest
		var body io.Reader
		if method == http.MethodPost {
			body = io.LimitReader(zeros{}, size)
		}
		response := must.Get(client.Do(must.Get(http.NewRequestWithContext(t.Context(), method, w.url, body))(t)))(t)
		got, err := int64(0), error(nil)
		for part := make([]byte, 1<<20); err == nil; {
			var n int
			n, err = io.ReadFull(response.Body, part)
			if got += int64(n); got%(10<<20) == 0 {
				watch()
			}
		}
		_ = response.Body.Close()
		if got != size {
			t.Errorf("%s: %d bytes of %d", method, got, size)
		}
		if highest-before > most {
			t.Errorf("%s: %d bytes of memory more than before, want %d at most", method, highest-before, most)
		}
		if stored := w.handler.held.Load(); stored != 0 {
			t.Errorf("%d bytes are still counted as being read", stored)
		}
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestVariantsAreBounded(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, _ *http.Request) { cached(w, "Vary: A") })
	for i := range mostVariants + 2 {
		w.ask("GET", "/", fmt.Sprintf("A: %d", i))
		w.handler.works.Wait() // clients have a whole body before it is stored
	}
	for i := range mostVariants + 2 {
		got := w.ask("GET", "/", fmt.Sprintf("A: %d\nCache-Control: only-if-cached", i))
		if (got.status == http.StatusOK) != (i >= 2) {
			t.Errorf("variant %d: %d", i, got.status)
		}
	}
}

// TestHalfAResponseIsNone has the origin break off within a body.
func TestHalfAResponseIsNone(t *testing.T) {
	for name, how := range map[string]string{"of known length": "Content-Length: 20", "in chunks": "A: b", "not to be stored": "Cache-Control: no-store"} {
		w := open(t, func(w http.ResponseWriter, _ *http.Request) {
			cached(w, how)
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		for range 2 {
			_, reader := w.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			response := must.Get(http.ReadResponse(reader, nil))(t)
			if response.StatusCode == http.StatusBadGateway {
				continue // it broke off before the client was answered
			}
			if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v, want that the client sees that it is not all", name, err)
			}
		}
		if asked := w.asked.Load(); asked != 2 {
			t.Errorf("%s: %d requests at the origin, want 2: half a response is not stored", name, asked)
		}
	}
}

// TestWhatGoesOnIsStreamed has both sides take turns, after interim responses and before a trailer.
func TestWhatGoesOnIsStreamed(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, 3)); err != nil {
			t.Error(err)
		}
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "Sum")
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.WriteString(w, "one ")
		_ = http.NewResponseController(w).Flush()
		rest, _ := io.ReadAll(r.Body)
		_, _ = w.Write(rest)
		w.Header().Set("Sum", "9")
	})
	connection, reader := w.send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
	early, err := http.ReadResponse(reader, nil)
	if err != nil || early.StatusCode != http.StatusEarlyHints || early.Header.Get("Link") != "</a>" {
		t.Fatalf("%+v, %v, want early hints", early, err)
	}
	response := must.Get(http.ReadResponse(reader, nil))(t)
	first := make([]byte, 4)
	if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "one " {
		t.Fatalf("%q, %v", first, err)
	}
	must.Get(io.WriteString(connection, "3\r\ntwo\r\n0\r\n\r\n"))(t)
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "two" || response.Trailer.Get("Sum") != "9" {
		t.Errorf("%q, %v, trailer %v", rest, err, response.Trailer)
	}
}

// TestNoProtocolIsSwitched covers clients that ask for another protocol, and an origin that switches unasked.
func TestNoProtocolIsSwitched(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header["Upgrade"] != nil || r.Header["Http2-Settings"] != nil {
			t.Errorf("the origin is asked to switch: %v", r.Header)
		}
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
	})
	for _, method := range []string{"GET", "PUT"} {
		_, reader := w.send(method + " / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
		if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %+v, %v, want 502", method, response, err)
		}
	}
}
