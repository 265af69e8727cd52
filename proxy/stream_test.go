package proxy_test

import (
	"bufio"
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/quote"
)

// running is a server that runs until stop, and a client of it.
func running(t *testing.T, w *world, change ...func(*parts)) (client *http.Client, stop func() error) {
	listener := newNetwork()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := w.server(t, change...)
	go func() { ended <- server.Run(ctx, listener) }()
	t.Cleanup(rest)
	transport := &http.Transport{DialContext: listener.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, func() error { cancel(); return <-ended }
}

// rest lets the goroutines notice that there is nothing left to do which look now and then: those of a bubble must end.
func rest() { <-time.After(time.Minute) }

// streamOf opens the stream of an order and returns its lines.
func streamOf(t *testing.T, client *http.Client, path string, headers ...string) (*http.Response, *bufio.Scanner) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://crossgate"+path, nil))(t)
	request.Header.Set("Accept", "text/event-stream")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response := must.Get(client.Do(request))(t)
	t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return response, lines
}

// event reads the next event with a name; heartbeats are counted.
func event(t *testing.T, lines *bufio.Scanner) (name, id, data string, beats int) {
	t.Helper()
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if value != "" {
				beats++
			} else if name != "" {
				return name, id, data, beats
			}
		}
	}
	return "", "", "", beats
}

func TestStreamTellsEveryChangeUntilTheOrderIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const later = 2 * time.Minute // than one answer may take to be read or written
		began := time.Now()
		client, stop := running(t, newWorld(t), func(o *parts) {
			ordersOf(o).find = func(context.Context, chain.TxHash) ([]*order.Order, error) {
				if time.Since(began) < later {
					return []*order.Order{created(t, order.ID{7}, createdTx, uint64(began.Unix()))}, nil
				}
				return []*order.Order{claimed(t, createdTx, uint64(began.Unix()))}, nil
			}
		})
		response, lines := streamOf(t, client, ordersPath+createdTx)
		if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type = %q", got)
		}
		if name, _, data, _ := event(t, lines); name != "order" || !strings.Contains(data, `"state":"Created"`) {
			t.Fatalf("first event %s %.200s, want the order as it is", name, data)
		}
		name, id, data, beats := event(t, lines)
		if name != "order" || !strings.Contains(data, `"state":"ClaimedUnlock"`) || beats < 7 {
			t.Errorf("after %d heartbeats: %s %.200s, want the order as it has become", beats, name, data)
		}
		if name, _, _, _ := event(t, lines); name != "final" {
			t.Errorf("event %q, want final", name)
		}
		if name, _, _, _ := event(t, lines); name != "" {
			t.Errorf("%s after the final event, want the end", name)
		}
		if again, _ := streamOf(t, client, ordersPath+createdTx, "Last-Event-ID: "+id); again.StatusCode != http.StatusNoContent {
			t.Errorf("a client that has the final order gets %s, want 204", again.Status)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Streams that last as long as their clients want.
var lastingStreams = []string{ordersPath + createdTx, "/api/SameChainSwap/8453/tx/" + freshSwapTx}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	for _, path := range lastingStreams {
		synctest.Test(t, func(t *testing.T) {
			client, stop := running(t, newWorld(t))
			_, lines := streamOf(t, client, path)
			synctest.Wait()
			began, stopped := time.Now(), make(chan error)
			go func() { stopped <- stop() }()
			for name := "any"; name != ""; {
				name, _, _, _ = event(t, lines)
			}
			if err := <-stopped; err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s: the server waited %v for a stream", path, took)
			}
		})
	}
}

// TestEveryStreamTakesAPlace fills the only place with each kind of stream, which keeps out all kinds until it ends. A
// comparison keeps its place until its venues have answered.
func TestEveryStreamTakesAPlace(t *testing.T) {
	all := append([]string{"/swap?chainId=8453&amount=5&tokenIn=USDC&tokenOut=" + wethText}, lastingStreams...)
	for _, taken := range all {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			client, stop := running(t, w, func(o *parts) {
				o.Streams, o.Tokens = 1, listing{w.tokenList}
				o.Swaps = estimates(func(ctx context.Context, _ quote.Request) (quote.Estimate, error) {
					<-ctx.Done()
					return quote.Estimate{}, ctx.Err()
				})
			})
			first, _ := streamOf(t, client, taken)
			if first.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", taken, first.Status)
			}
			for _, path := range all {
				refused, _ := streamOf(t, client, path)
				wantError(t, refused, http.StatusServiceUnavailable, "TOO_MANY_STREAMS")
			}
			first.Body.Close()
			synctest.Wait()
			if next, _ := streamOf(t, client, ordersPath+createdTx); next.StatusCode != http.StatusOK {
				t.Errorf("after %s: %s", taken, next.Status)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOneClientDoesNotTakeAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := running(t, newWorld(t), func(o *parts) {
			o.Streams, o.StreamsPerAddress = 3, 2
			o.Quotas.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		})
		from := func(address string) *http.Response {
			response, lines := streamOf(t, client, ordersPath+severalTx+"?index=1", "X-Forwarded-For: "+address)
			if response.StatusCode == http.StatusOK {
				event(t, lines)
			}
			return response
		}
		first := from("192.0.2.1")
		from("192.0.2.1:1234")
		wantError(t, from("192.0.2.1"), http.StatusServiceUnavailable, "TOO_MANY_STREAMS")
		if other := from("192.0.2.2"); other.StatusCode != http.StatusOK {
			t.Errorf("another client: %s", other.Status)
		}
		wantError(t, from("192.0.2.3"), http.StatusServiceUnavailable, "TOO_MANY_STREAMS")
		first.Body.Close()
		synctest.Wait()
		if again := from("192.0.2.1"); again.StatusCode != http.StatusOK {
			t.Errorf("after one of its streams has ended: %s", again.Status)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStreamOfNothingIsAProblem(t *testing.T) {
	s := newWorld(t).server(t)
	wantError(t, get(s, ordersPath+unknownIs, "Accept: text/event-stream"), http.StatusNotFound, "TRANSACTION_NOT_FOUND")
	wantError(t, get(s, ordersPath+"0x12", "Accept: text/event-stream"), http.StatusBadRequest, "MALFORMED_TRANSACTION_HASH")
	if got := get(s, ordersPath+createdTx).Header.Get("Vary"); !strings.Contains(got, "Accept,") {
		t.Errorf("Vary = %q, want Accept: a stream is under the same URL", got)
	}
}
