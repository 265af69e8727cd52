package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/order/ledger"
	"crossgate/proxy/orders"
	"crossgate/quote"
	"crossgate/store"
)

// running returns a server that runs until stop, through a client of it.
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

// rest lets goroutines that check periodically notice that nothing is left to do: those of a bubble must end.
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

// event reads the next named event and counts the heartbeats before it.
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

// kept is a feed of a database in a file, with the ledger that writes to it.
type kept struct {
	*feed.Feed
	ledger ledger.Ledger
}

func newKept(t *testing.T) kept {
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { db.Close() })
	const keep = 100 * 24 * time.Hour
	return kept{feed.New(db, keep, orders.EncodeEntry(chain.Documented())), ledger.Ledger{DB: db, Keep: keep}}
}

// tell stores a chain's events of an order in a block, or that a reorg dropped the block.
func (k kept) tell(t *testing.T, block uint64, id order.ID, isGone bool, facts ...order.Fact) {
	t.Helper()
	must.Get(k.ledger.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
		var events []order.Event
		for i, fact := range facts {
			events = append(events, order.Event{Order: id, Fact: fact, At: order.At{
				Chain: 8453, Block: block, BlockHash: chain.Hash{1}, Time: uint64(time.Now().Unix()), LogIndex: uint(i), Tx: chain.NewTxHash(id[:]),
			}})
		}
		if isGone {
			return tx.Correct(t.Context(), ledger.Correction{Wrong: events})
		}
		tx.Add(events...)
		return nil
	}))(t)
	k.Look()
}

func (k kept) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { k.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func TestStreamTellsWhatHappensToAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t)
		defer k.run(t)()
		of := created(t, order.ID{7}, createdTx, uint64(time.Now().Unix()))
		k.tell(t, 1, order.ID{7}, false, of.Created.Fact)
		k.tell(t, 2, order.ID{8}, false, of.Created.Fact)
		w := newWorld(t)
		client, stop := running(t, w, func(o *parts) { o.Feed = k.Feed })
		response, lines := streamOf(t, client, ordersPath+createdTx)
		if got := response.Header; got.Get("Content-Type") != "text/event-stream" || got.Get("Cache-Control") != "no-store, no-transform" {
			t.Errorf("the stream's header is %v", got)
		}
		name, id, data, _ := event(t, lines)
		if name != "happened" || !strings.Contains(data, `"state":"Created"`) {
			t.Fatalf("first event %s %.200s, want the creation", name, data)
		}
		time.AfterFunc(2*time.Minute, func() { k.tell(t, 3, order.ID{7}, false, order.Sent{Kind: order.Cancel}) })
		name, _, data, beats := event(t, lines)
		if name != "happened" || !strings.Contains(data, `"stateBefore":"Created","state":"SentOrderCancel"`) || beats < 7 {
			t.Errorf("after %d heartbeats: %s %.300s, want the cancel", beats, name, data)
		}
		k.tell(t, 3, order.ID{7}, true, order.Sent{Kind: order.Cancel})
		again, more := streamOf(t, client, ordersPath+createdTx, "Last-Event-ID: "+id)
		for _, want := range []string{"happened", "retracted"} {
			if name, _, data, _ := event(t, more); name != want {
				t.Errorf("a client that comes again gets %s %.200s, want %s", name, data, want)
			}
		}
		again.Body.Close()
		k.tell(t, 1, order.ID{7}, true, of.Created.Fact)
		delete(w.orders, createdTx)
		rest() // no answer is kept for so long
		for _, path := range []string{ordersPath + order.ID{7}.String(), "/api/Orders/" + order.ID{7}.String()} {
			_, gone := streamOf(t, client, path, "Last-Event-ID: "+id)
			for _, want := range []string{"happened", "retracted", "retracted"} {
				if name, _, data, _ := event(t, gone); name != want {
					t.Errorf("%s, gone: %s %.200s, want %s", path, name, data, want)
				}
			}
		}
		began := time.Now()
		_, fresh := streamOf(t, client, "/v1.0/events")
		for fresh.Scan() && !strings.HasPrefix(fresh.Text(), "id: ") {
		}
		if took := time.Since(began); fresh.Text() == "id: 0" || took > 0 {
			t.Errorf("a new stream says after %v where to resume: %q", took, fresh.Text())
		}
		must.Do(t, stop())
	})
}

// Streams that last until their clients leave.
var lastingStreams = []string{ordersPath + createdTx, "/v1.0/events?maker=0xd8da6bf26964af9d7eed9e03e53415d37aa96045"}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	for _, path := range lastingStreams {
		synctest.Test(t, func(t *testing.T) {
			client, stop := running(t, newWorld(t), func(o *parts) { o.Feed = newKept(t).Feed })
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

// TestEveryStreamTakesAPlace fills the only place with each kind of stream, which excludes all kinds until it ends. A
// comparison keeps its place until its venues have answered.
func TestEveryStreamTakesAPlace(t *testing.T) {
	all := append([]string{"/swap?chainId=8453&amount=5&tokenIn=USDC&tokenOut=" + wethText}, lastingStreams...)
	for _, taken := range all {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			client, stop := running(t, w, func(o *parts) {
				o.Streams, o.Tokens, o.Feed = 1, listing{w.tokenList}, newKept(t).Feed
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
			must.Do(t, stop())
		})
	}
}

func TestOneClientDoesNotTakeAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := running(t, newWorld(t), func(o *parts) {
			o.Streams, o.StreamsPerAddress, o.Feed = 3, 2, newKept(t).Feed
			o.Quotas.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		})
		from := func(address string) *http.Response {
			response, lines := streamOf(t, client, ordersPath+severalTx+"?index=1", "X-Forwarded-For: "+address)
			if response.StatusCode == http.StatusOK {
				lines.Scan() // it has a place
			}
			return response
		}
		first := from("192.0.2.1")
		from("192.0.2.1:1234")
		wantError(t, from("192.0.2.1"), http.StatusServiceUnavailable, "TOO_MANY_STREAMS")
		wantStatus(t, "another client", from("192.0.2.2"), http.StatusOK)
		wantError(t, from("192.0.2.3"), http.StatusServiceUnavailable, "TOO_MANY_STREAMS")
		first.Body.Close()
		synctest.Wait()
		wantStatus(t, "after one of its streams has ended", from("192.0.2.1"), http.StatusOK)
		must.Do(t, stop())
	})
}

func TestStreamOfNothingIsAProblem(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) { o.Feed = newKept(t).Feed })
	wantError(t, get(s, ordersPath+unknownIs, "Accept: text/event-stream"), http.StatusNotFound, "TRANSACTION_NOT_FOUND")
	wantError(t, get(s, ordersPath+"0x12", "Accept: text/event-stream"), http.StatusBadRequest, "MALFORMED_TRANSACTION_HASH")
	golden.Contains(t, "Vary", get(s, ordersPath+createdTx).Header.Get("Vary"), "Accept,") // a stream is under the same URL
}

// TestEventsByCursor pages through the feed by filters, and sends invalid requests.
func TestEventsByCursor(t *testing.T) {
	k := newKept(t)
	s := newWorld(t).server(t, func(o *parts) { o.Feed = k.Feed })
	now := uint64(time.Now().Unix())
	cursorOf := func(query string) (ids []string, next string) {
		var part struct {
			Events []struct{ ID, OrderID string }
			Next   string
		}
		response := get(s, "/v1.0/events?"+query)
		must.Do(t, json.NewDecoder(response.Body).Decode(&part))
		for _, e := range part.Events {
			ids = append(ids, e.OrderID[:4])
		}
		return ids, part.Next
	}
	_, begin := cursorOf("")
	for i := range byte(5) {
		k.tell(t, uint64(i), order.ID{i + 1}, false, created(t, order.ID{i + 1}, createdTx, now).Created.Fact)
	}
	first, next := cursorOf("limit=2&cursor=" + begin)
	second, _ := cursorOf("limit=10&cursor=" + next)
	if got := strings.Join(append(first, second...), " "); got != "0x01 0x02 0x03 0x04 0x05" || begin != "0" {
		t.Errorf("from %s on: %s, want five orders", begin, got)
	}
	one, _ := cursorOf("cursor=0&orderId=" + order.ID{4}.String())
	none, end := cursorOf("cursor=0&orderStates=Fulfilled,ClaimedUnlock")
	final, _ := cursorOf("cursor=0&delivery=final")
	if len(one) != 1 || one[0] != "0x04" || len(none)+len(final) > 0 || end == "0" {
		t.Errorf("one order %v, fulfilled %v up to %s, final %v", one, none, end, final)
	}
	wantError(t, get(s, "/v1.0/events?cursor="+end+"1"), http.StatusBadRequest, "CURSOR_UNKNOWN")
	wantError(t, get(s, "/v1.0/events?cursor=-1&maker=0x12&delivery=soon"), http.StatusBadRequest, "INVALID_QUERY_PARAMETERS")
	for i := range byte(20) {
		k.tell(t, uint64(5+i), order.ID{i + 6}, false, created(t, order.ID{i + 6}, createdTx, now).Created.Fact)
	}
	_, most := cursorOf("cursor=0&limit=20")
	if found, next := cursorOf("cursor=0&limit=1&taker=" + nobody); len(found) > 0 || next != most {
		t.Errorf("a search of 20 parts of one event: %v, next %s, want %s", found, next, most)
	}
	_, end = cursorOf("cursor=" + most)
	k.ledger.Keep = -time.Hour
	must.Do(t, k.ledger.Expire(t.Context()))
	wantError(t, get(s, "/v1.0/events?cursor="+next), http.StatusGone, "CURSOR_EXPIRED")
	wantError(t, get(s, "/v1.0/events?cursor="+next, "Accept: text/event-stream"), http.StatusGone, "CURSOR_EXPIRED")
	if _, next := cursorOf("cursor=" + end); next != end {
		t.Errorf("at the end: next %s, want %s", next, end)
	}
}
